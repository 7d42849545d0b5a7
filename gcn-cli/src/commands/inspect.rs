//! `gcn inspect`.

use std::fmt::Write as _;

use gcn_emit::descriptor::KernelDescriptor;
use gcn_emit::kernel::{MAX_WORKGROUP, WAVE_SIZE};
use gcn_emit::metadata::{KernelArg, KernelMetadata};
use gcn_emit::object::{CodeObject, KernelCode, SectionView};
use gcn_emit::occupancy::{Occupancy, Usage, occupancy_of};
use gcn_isa::Target;
use serde::Serialize;

use crate::commands::container::{self, Choice, Unpacked};
use crate::failure::Failure;
use crate::{commands, file};

/// Shows the resources that a code object requires: target, kernels, descriptor fields, arguments, registers,
/// LDS, occupancy.
///
/// Of a bundle, or a host library or program of HIP, it shows every code object.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A code object (.hsaco, .co), relocatable object (.o), bundle, or host library or program of HIP,
    /// gzipped or not; `-` for standard input
    #[arg(value_name = "FILE.hsaco")]
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

/// A code object.
#[derive(Serialize)]
struct Report {
    target_id: String,
    /// Version of the code object format, 3 to 6.
    version: u8,
    relocatable: bool,
    /// The sections that are loaded.
    sections: Vec<Section>,
    kernels: Vec<Kernel>,
}

/// A section that is loaded.
#[derive(Serialize)]
struct Section {
    name: String,
    address: u64,
    bytes: u64,
}

/// A kernel.
#[derive(Serialize)]
struct Kernel {
    name: String,
    /// Address of the first instruction in the object.
    address: u64,
    code_bytes: usize,
    vgprs: u32,
    accum_offset: Option<u32>,
    sgprs: u32,
    lds_bytes: u32,
    scratch_bytes: u32,
    kernarg_bytes: u32,
    /// The workgroup size for which the occupancy is computed, in work-items.
    workgroup: u32,
    occupancy: OccupancyReport,
    descriptor: Vec<Field>,
    metadata: Option<KernelMetadata>,
}

/// The occupancy.
#[derive(Serialize)]
struct OccupancyReport {
    waves_per_simd: u32,
    workgroups_per_cu: u32,
    limited_by: String,
}

/// A field of the descriptor.
#[derive(Serialize)]
struct Field {
    name: String,
    value: u64,
    meaning: String,
    /// True if a reserved bit that must be 0 is set.
    wrong: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.choice.list {
        return container::list(&args.file, &args.choice, args.json);
    }
    let (bytes, unpacked) = (file::read_unpacked(&args.file)?, Unpacked::new());
    let name = file::shown(&args.file);
    let mut reports = Vec::new();
    let mut without = None;
    for object in args.choice.select(name, &bytes, &unpacked)? {
        let read = commands::code_object(&object.name, object.bytes)?;
        match args.kernel.as_deref().filter(|kernel| read.kernel(kernel).is_none()) {
            Some(kernel) => without = Some(commands::no_such_kernel(&object.name, kernel, &read)),
            None => reports.push(report(&read, args.kernel.as_deref())),
        }
    }
    if let Some(failure) = without.filter(|_| reports.is_empty()) {
        return Err(failure);
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

fn report(object: &CodeObject<'_>, only: Option<&str>) -> Report {
    let wanted = object.kernels.iter().filter(|k| only.is_none_or(|o| o == k.name));
    let section =
        |s: &SectionView<'_>| Section { name: s.name.to_owned(), address: s.address, bytes: s.size };
    Report {
        target_id: object.target_id.to_string(),
        // Code object V3 has ABI version 1.
        version: object.abi_version.saturating_add(2),
        relocatable: object.is_relocatable,
        sections: object.sections.iter().filter(|s| s.is_loaded() && s.size > 0).map(section).collect(),
        kernels: wanted.map(|k| kernel(k, object.target_id.target)).collect(),
    }
}

fn kernel(kernel: &KernelCode<'_>, target: Target) -> Kernel {
    let settings = kernel.descriptor.settings(target);
    let metadata = kernel.metadata.clone();
    let workgroup = metadata.as_ref().map_or(MAX_WORKGROUP, |m| {
        m.reqd_workgroup_size
            .map_or(m.max_flat_workgroup_size, |[x, y, z]| x.saturating_mul(y).saturating_mul(z))
    });
    let usage = Usage {
        vgprs: settings.vgprs,
        sgprs: settings.sgprs,
        lds_bytes: kernel.descriptor.group_segment_fixed_size,
        waves_per_workgroup: workgroup.div_ceil(WAVE_SIZE).max(1),
    };
    let fields = KernelDescriptor::describe(kernel.descriptor_bytes, target);
    Kernel {
        name: kernel.name.to_owned(),
        address: kernel.address,
        code_bytes: kernel.code.len(),
        vgprs: settings.vgprs,
        accum_offset: settings.accum_offset,
        sgprs: settings.sgprs,
        lds_bytes: usage.lds_bytes,
        scratch_bytes: kernel.descriptor.private_segment_fixed_size,
        kernarg_bytes: kernel.descriptor.kernarg_size,
        workgroup,
        occupancy: occupancy(occupancy_of(target, usage)),
        descriptor: fields
            .into_iter()
            .map(|f| Field { wrong: f.is_wrong(), name: f.name, value: f.value, meaning: f.meaning })
            .collect(),
        metadata,
    }
}

fn occupancy(occupancy: Occupancy) -> OccupancyReport {
    OccupancyReport {
        waves_per_simd: occupancy.waves_per_simd,
        workgroups_per_cu: occupancy.workgroups_per_cu,
        limited_by: occupancy.limited_by.to_string(),
    }
}

fn render(report: &Report) -> String {
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
    if let Some(metadata) = &kernel.metadata {
        render_metadata(out, metadata, kernel.accum_offset.is_some());
        render_arguments(out, &metadata.args);
    } else {
        out.push_str("  no metadata\n");
    }
    out.push_str("  descriptor:\n");
    // Reserved bits matter only if they are set.
    let shown = || kernel.descriptor.iter().filter(|f| f.value != 0 || !f.name.starts_with("RESERVED"));
    let width = shown().map(|f| f.name.len()).max().unwrap_or(0);
    for field in shown() {
        let mark = if field.wrong { "  must be 0" } else { "" };
        let meaning = if field.meaning.is_empty() { String::new() } else { format!("  {}", field.meaning) };
        let _ = writeln!(out, "    {:<width$}  {}{meaning}{mark}", field.name, field.value);
    }
}

/// The facts that only the metadata have.
fn render_metadata(out: &mut String, metadata: &KernelMetadata, unified: bool) {
    let _ = write!(out, "  metadata: workgroups of at most {} work-items", metadata.max_flat_workgroup_size);
    if let Some([x, y, z]) = metadata.reqd_workgroup_size {
        let _ = write!(out, ", exactly {x} x {y} x {z}");
    }
    let _ = write!(out, "; uses {} VGPRs", metadata.vgpr_count);
    if let Some(agprs) = metadata.agpr_count {
        // With an `accum_offset` in the descriptor, registers of both kinds share one file and are counted
        // together.
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
