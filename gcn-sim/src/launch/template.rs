//! Writes a template of a spec for a kernel.

use gcn_emit::metadata::{KernelArg, ValueKind};
use gcn_isa::table::Class;
use serde_json::{Map, Value, json};

use super::program::Program;
use super::{Element, kernarg};

/// The workgroup size if the metadata states no maximum.
const WORKGROUP: u32 = 64;
/// The number of pointers that Triton appends to a kernel's arguments: to scratch memory in global memory, and to the memory of its
/// profiler. Both are null in most launches.
const TRITON_POINTERS: usize = 2;

impl Program {
    /// A spec for this kernel in JSON with every argument, whose values the user fills in.
    pub fn template(&self) -> String {
        of(self)
    }
}

fn of(program: &Program) -> String {
    let workgroup = workgroup(program);
    let args: Vec<&KernelArg> = program.args().collect();
    let mut lines =
        vec![format!("  \"kernel\": {}", json!(program.name())), "  \"grid\": [1, 1, 1]".to_owned()];
    lines.push(format!("  \"workgroup\": {}", list(workgroup)));
    if takes_dynamic_lds(program) {
        lines.push("  \"dynamic_lds\": 0".to_owned());
    }
    let padding = |a: &&KernelArg| a.name.as_deref().is_some_and(|n| n.trim_matches('_').starts_with("pad"));
    if args.iter().any(padding) {
        lines.push("  \"rest\": \"zero\"".to_owned());
    }
    let count = workgroup.iter().fold(1, |n: u32, d| n.saturating_mul(*d));
    let null_from = args.len() - trailing_null(program, &args);
    let names: Vec<String> = (0..args.len()).map(|at| key(&args, at)).collect();
    let value = |at: usize, arg: &KernelArg| match kernarg::counted(&args, arg) {
        _ if at >= null_from => "null".to_owned(),
        Some(of) => json!({ "count": of }).to_string(),
        None => value(arg, count),
    };
    let shown = args.iter().enumerate().filter(|(_, a)| !padding(a));
    let rows: Vec<String> =
        shown.map(|(at, arg)| format!("    {}: {}", json!(names.get(at)), value(at, arg))).collect();
    lines.push(if rows.is_empty() {
        "  \"args\": {}".to_owned()
    } else {
        format!("  \"args\": {{\n{}\n  }}", rows.join(",\n"))
    });
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// The workgroup size that the kernel requires. If it requires none, the maximum size for which it is compiled, in one dimension.
fn workgroup(program: &Program) -> [u32; 3] {
    let metadata = program.metadata();
    let most = metadata.map_or(0, |m| m.max_flat_workgroup_size).min(gcn_emit::kernel::MAX_WORKGROUP);
    let most = if most == 0 { WORKGROUP } else { most };
    metadata.and_then(|m| m.reqd_workgroup_size).unwrap_or([most, 1, 1])
}

/// True if the launch may have to provide dynamic LDS: an argument refers to dynamic LDS, or the code uses LDS although the descriptor
/// allocates none.
fn takes_dynamic_lds(program: &Program) -> bool {
    let dynamic = |kind| matches!(kind, ValueKind::DynamicSharedPointer | ValueKind::HiddenDynamicLdsSize);
    let machine = program.machine();
    program.all_args().iter().any(|a| dynamic(a.value_kind))
        || machine.state().lds_bytes == 0
            && machine.instructions().any(|(_, inst)| accesses_lds(inst.desc.class))
}

fn accesses_lds(class: Class) -> bool {
    matches!(class, Class::LdsRead | Class::LdsWrite | Class::LdsAtomic | Class::LdsAtomicRet)
}

/// The number of trailing arguments that are pointers appended by Triton.
fn trailing_null(program: &Program, args: &[&KernelArg]) -> usize {
    let added = |a: &&&KernelArg| a.name.is_none() && kernarg::is_pointer(a);
    let pointers = args.iter().rev().take(TRITON_POINTERS).take_while(added).count();
    if program.is_triton() { pointers } else { 0 }
}

fn list(sizes: [u32; 3]) -> String {
    let [x, y, z] = sizes;
    format!("[{x}, {y}, {z}]")
}

/// The argument's name, or its position if the name is missing or not unique.
fn key(args: &[&KernelArg], at: usize) -> String {
    let name = args.get(at).and_then(|a| a.name.as_deref()).filter(|n| !n.is_empty());
    let unique = |n: &&str| args.iter().filter(|a| a.name.as_deref() == Some(n)).count() == 1;
    name.filter(unique).map_or_else(|| at.to_string(), str::to_owned)
}

/// A value of the right kind on one line, with the keys in the order that a reader expects; buffers have `count` elements.
fn value(arg: &KernelArg, count: u32) -> String {
    if kernarg::is_pointer(arg) {
        let out = if arg.is_const == Some(true) || arg.actual_access.as_deref() == Some("read_only") {
            ""
        } else {
            ", \"out\": true"
        };
        // One element of the kernel's type for each work-item.
        let (element, numbers) = kernarg::pointee(arg).unwrap_or((Element::F32, 1));
        let count = count.saturating_mul(numbers);
        return format!("{{\"buffer\": \"{element}\", \"count\": {count}, \"init\": \"zeros\"{out}}}");
    }
    let element = kernarg::scalar(arg).unwrap_or_else(|| kernarg::guess(arg.size));
    let fits = element.bytes() == arg.size || kernarg::scalar(arg).is_some();
    let value = if fits {
        Value::Object(Map::from_iter([(element.name().to_owned(), json!(0))]))
    } else {
        json!({ "bytes": "00".repeat((arg.size as usize).min(kernarg::MOST_SEGMENT)) })
    };
    value.to_string()
}
