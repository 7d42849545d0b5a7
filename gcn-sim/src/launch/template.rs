//! A spec to fill in.

use gcn_emit::metadata::KernelArg;
use serde_json::{Map, Value, json};

use super::{Program, kernarg};

/// A spec with every argument of the kernel, as JSON.
pub(crate) fn of(program: &Program) -> String {
    let required = program.metadata().and_then(|m| m.reqd_workgroup_size);
    let args: Vec<&KernelArg> = program.args().collect();
    let mut lines =
        vec![format!("  \"kernel\": {}", json!(program.name())), "  \"grid\": [1, 1, 1]".to_owned()];
    lines.push(format!("  \"workgroup\": {}", list(required.unwrap_or([64, 1, 1]))));
    let padding = |a: &&KernelArg| a.name.as_deref().is_some_and(|n| n.trim_matches('_').starts_with("pad"));
    if args.iter().any(padding) {
        lines.push("  \"rest\": \"zero\"".to_owned());
    }
    let names: Vec<String> = (0..args.len()).map(|at| key(&args, at)).collect();
    let shown = args.iter().enumerate().filter(|(_, a)| !padding(a));
    let rows: Vec<String> =
        shown.map(|(at, arg)| format!("    {}: {}", json!(names.get(at)), value(arg))).collect();
    lines.push(if rows.is_empty() {
        "  \"args\": {}".to_owned()
    } else {
        format!("  \"args\": {{\n{}\n  }}", rows.join(",\n"))
    });
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn list(sizes: [u32; 3]) -> String {
    let [x, y, z] = sizes;
    format!("[{x}, {y}, {z}]")
}

/// The name, or the position of an argument whose name is not its own.
fn key(args: &[&KernelArg], at: usize) -> String {
    let name = args.get(at).and_then(|a| a.name.as_deref()).filter(|n| !n.is_empty());
    let unique = |n: &&str| args.iter().filter(|a| a.name.as_deref() == Some(n)).count() == 1;
    name.filter(unique).map_or_else(|| at.to_string(), str::to_owned)
}

/// A value of the right kind. On one line, in the order in which a reader expects the keys.
fn value(arg: &KernelArg) -> String {
    if kernarg::is_pointer(arg) {
        let out = if arg.is_const == Some(true) || arg.actual_access.as_deref() == Some("read_only") {
            ""
        } else {
            ", \"out\": true"
        };
        let element = pointee(arg).unwrap_or("f32");
        return format!("{{\"buffer\": \"{element}\", \"count\": 64, \"init\": \"zeros\"{out}}}");
    }
    let element = kernarg::scalar(arg).unwrap_or_else(|| kernarg::guess(arg.size));
    let fits = element.bytes() == arg.size || kernarg::scalar(arg).is_some();
    let value = if fits {
        Value::Object(Map::from_iter([(element.name().to_owned(), json!(0))]))
    } else {
        json!({ "bytes": "00".repeat(arg.size as usize) })
    };
    value.to_string()
}

/// The type of a pointer's elements by the source type, such as `float*` or `&[f32]`.
fn pointee(arg: &KernelArg) -> Option<&'static str> {
    let name = arg.type_name.as_deref()?;
    let name = name.trim_start_matches(['&', '[']).trim_end_matches(['*', ']', ' ']);
    let name = name.trim_start_matches("mut ").trim_start_matches(['[', '*']).trim_start_matches("const ");
    name.parse::<super::Element>().ok().map(super::Element::name)
}
