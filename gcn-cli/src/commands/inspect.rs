//! `gcn inspect`.

use std::fmt::Write as _;

use gcn_emit::metadata::{KernelArg, KernelMetadata};
use gcn_report::container::{code_object, no_such_kernel};
use gcn_report::inspect::{InspectReport, Kernel, report};

use crate::commands::container::{self, Choice};
use crate::failure::Failure;
use crate::{commands, file};

/// Shows the resources that a code object requires: target, kernels, descriptor fields, arguments, registers,
/// LDS, occupancy.
///
/// For a bundle, or a host library or program of HIP, it shows every code object.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A code object (.hsaco, .co), relocatable object (.o), bundle, or host library or program of HIP,
    /// gzipped or not; `-` for standard input
    #[arg(value_name = "FILE.hsaco", value_parser = file::name())]
    file: String,
    /// Show this kernel only
    #[arg(long, value_name = "K")]
    kernel: Option<String>,
    #[command(flatten)]
    choice: Choice,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn inspect kernel.hsaco               every kernel of the file
  gcn inspect kernel.o --kernel saxpy    one kernel of a relocatable object
  gcn inspect fat.bundle --json          every code object of a clang offload bundle
  gcn inspect libgemm.so --list          list the code objects in a host library";

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.choice.list {
        return container::list(&args.file, &args.choice, args.json);
    }
    let (bytes, name) = (file::read_unpacked(&args.file)?, file::shown(&args.file));
    let mut reports = Vec::new();
    let mut without = None;
    args.choice.each(name, &bytes, |object| {
        let read = code_object(&object.name, &object.bytes)?;
        match args.kernel.as_deref().filter(|kernel| read.kernel(kernel).is_none()) {
            Some(kernel) => without = Some(no_such_kernel(&object.name, kernel, &read)),
            None => reports.push(report(&read, args.kernel.as_deref())),
        }
        Ok(())
    })?;
    if let Some(failure) = without.filter(|_| reports.is_empty()) {
        return Err(failure.into());
    }
    let text = if args.json {
        match reports.as_slice() {
            [one] => commands::json(one)?,
            several => commands::json(&several)?,
        }
    } else {
        reports.iter().map(render).collect::<Vec<_>>().join("\n")
    };
    file::print(text.as_bytes())
}

fn render(report: &InspectReport) -> String {
    let kind = if report.relocatable { "relocatable object" } else { "code object" };
    let mut out = format!("{kind} V{} for {}\n", report.version, report.target_id);
    let width = report.sections.iter().map(|s| s.name.len()).max().unwrap_or(0);
    for section in &report.sections {
        let _ =
            writeln!(out, "  {:<width$} {:>7} bytes at {:#x}", section.name, section.bytes, section.address);
    }
    if report.kernels.is_empty() {
        out.push_str("no kernels\n");
    }
    for kernel in &report.kernels {
        render_kernel(&mut out, kernel);
    }
    out
}

fn render_kernel(out: &mut String, kernel: &Kernel) {
    let _ = writeln!(
        out,
        "\nkernel {}\n  code: {} bytes at {:#x}",
        kernel.name, kernel.code_bytes, kernel.address
    );
    let agprs = kernel.accum_offset.map_or(String::new(), |o| format!(", AGPRs from {o} on"));
    let _ = writeln!(out, "  registers: {} VGPRs{agprs}, {} SGPRs", kernel.vgprs, kernel.sgprs);
    let _ = writeln!(
        out,
        "  memory: {} bytes of LDS per workgroup, {} bytes of scratch per work-item, {} bytes of arguments",
        kernel.lds_bytes, kernel.scratch_bytes, kernel.kernarg_bytes
    );
    let _ = writeln!(
        out,
        "  occupancy: {} waves per SIMD, {} workgroups of {} work-items per compute unit, limited by {}",
        kernel.occupancy.waves_per_simd,
        kernel.occupancy.workgroups_per_cu,
        kernel.workgroup,
        kernel.occupancy.limited_by
    );
    for mode in kernel.occupancies.iter().filter(|_| kernel.occupancies.len() > 1) {
        let own = if mode.own { ", as the descriptor asks" } else { "" };
        let _ = writeln!(
            out,
            "    {} lanes, {}: {} waves per SIMD, {} workgroups, limited by {}{own}",
            mode.wave_size,
            mode.mode,
            mode.occupancy.waves_per_simd,
            mode.occupancy.workgroups_per_cu,
            mode.occupancy.limited_by
        );
    }
    if let Some(metadata) = &kernel.metadata {
        render_metadata(out, metadata, kernel.accum_offset.is_some());
        render_arguments(out, &metadata.args);
    } else {
        out.push_str("  no metadata\n");
    }
    out.push_str("  descriptor:\n");
    // Reserved bits are shown only if one of them is set.
    let shown = || kernel.descriptor.iter().filter(|f| f.value != 0 || !f.name.starts_with("RESERVED"));
    let width = shown().map(|f| f.name.len()).max().unwrap_or(0);
    for field in shown() {
        let mark = if field.wrong { "  must be 0" } else { "" };
        let meaning = if field.meaning.is_empty() { String::new() } else { format!("  {}", field.meaning) };
        let _ = writeln!(out, "    {:<width$}  {}{meaning}{mark}", field.name, field.value);
    }
}

/// Facts that are only in the metadata.
fn render_metadata(out: &mut String, metadata: &KernelMetadata, unified: bool) {
    let _ = write!(out, "  metadata: workgroups of at most {} work-items", metadata.max_flat_workgroup_size);
    if let Some([x, y, z]) = metadata.reqd_workgroup_size {
        let _ = write!(out, ", exactly {x} x {y} x {z}");
    }
    let _ = write!(out, "; uses {} VGPRs", metadata.vgpr_count);
    if let Some(agprs) = metadata.agpr_count {
        // If the descriptor has an `accum_offset`, VGPRs and AGPRs share one register file and are counted together.
        let among = if unified { " of them" } else { "" };
        let _ = write!(out, ", {agprs}{among} AGPRs");
    }
    let _ = write!(out, ", {} SGPRs", metadata.sgpr_count);
    for (spilled, kind) in [(metadata.vgpr_spill_count, "VGPRs"), (metadata.sgpr_spill_count, "SGPRs")] {
        if let Some(count @ 1..) = spilled {
            let _ = write!(out, ", {count} {kind} spilled");
        }
    }
    if metadata.uses_dynamic_stack == Some(true) {
        out.push_str("; scratch grows at run time");
    }
    out.push('\n');
}

fn render_arguments(out: &mut String, arguments: &[KernelArg]) {
    if arguments.is_empty() {
        out.push_str("  no arguments\n");
        return;
    }
    out.push_str("  arguments:\n");
    for argument in arguments {
        let kind = serde_json::to_value(argument.value_kind).ok();
        let kind = kind.as_ref().and_then(|k| k.as_str()).unwrap_or("?");
        let name = argument.name.as_deref().unwrap_or("");
        let type_name = argument.type_name.as_deref().map_or(String::new(), |t| format!(" ({t})"));
        let _ =
            writeln!(out, "    {:>4} {:>2} bytes  {kind} {name}{type_name}", argument.offset, argument.size);
    }
}
