//! The order of the passes.

use gcn_emit::encode::{EncodeError, Encoded};
use gcn_emit::kernel::{KernelSpec, MAX_WORKGROUP};
use gcn_emit::object::ObjectError;
use gcn_emit::target_id::TargetId;
use gcn_isa::{Target, check};

use super::registers::{self, Registers};
use super::{AsmError, BuildOptions, Built, BuiltKernel, limits};
use crate::ir::{dce, far, gvn, licm, merge, ping_pong, pipeline, private, tails, uniform};
use crate::kernel::debug::Debug;
use crate::kernel::spec;
use crate::lang::{self, Arguments, Signature, TraceError};
use crate::lower::{self, LowerError};
use crate::mir;
use crate::regalloc::AllocError;
use crate::sched;
use crate::sched::wait::{self, WaitOptions};

/// Why a kernel does not build.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// `#[targets(…)]` does not list the target.
    #[error("kernel `{kernel}` is not written for {target}: its `#[targets(…)]` lists {listed}")]
    Target {
        /// Kernel.
        kernel: String,
        /// The target asked for.
        target: Target,
        /// The targets listed.
        listed: String,
    },
    /// The workgroup is empty or too large.
    #[error(
        "kernel `{kernel}`: a workgroup of {x} x {y} x {z} work-items does not exist; every dimension must be at least 1 \
         and their product at most {MAX_WORKGROUP}"
    )]
    Workgroup {
        /// Kernel.
        kernel: String,
        /// Work-items in x.
        x: u32,
        /// Work-items in y.
        y: u32,
        /// Work-items in z.
        z: u32,
    },
    /// The body asked for something that types cannot refuse.
    #[error("kernel `{kernel}`: {error}")]
    Trace {
        /// Kernel.
        kernel: String,
        /// What and where.
        #[source]
        error: TraceError,
    },
    /// The LDS arrays do not fit.
    #[error(
        "kernel `{kernel}`: its LDS arrays take {bytes} bytes, a workgroup has {limit} on {target}; make them smaller or \
         share one array between phases"
    )]
    Lds {
        /// Kernel.
        kernel: String,
        /// Bytes asked for.
        bytes: u32,
        /// Bytes there are.
        limit: u32,
        /// Target.
        target: Target,
    },
    /// An operation has no instructions on the target.
    #[error("kernel `{kernel}`: {error}")]
    Lower {
        /// Kernel.
        kernel: String,
        /// What and where.
        #[source]
        error: LowerError,
    },
    /// `#[max_registers(…)]` or `#[min_occupancy(…)]` asks for what does not exist.
    #[error("kernel `{kernel}`: {what}")]
    Limits {
        /// Kernel.
        kernel: String,
        /// What and what to do.
        what: String,
    },
    /// The registers do not suffice.
    #[error(transparent)]
    Registers(#[from] Box<AllocError>),
    /// An instruction cannot be encoded, for example a branch over too much code.
    #[error("kernel `{kernel}`: {error}")]
    Encode {
        /// Kernel.
        kernel: String,
        /// What and where.
        #[source]
        error: Box<EncodeError>,
    },
    /// The code object cannot be written.
    #[error("kernel `{kernel}`: {error}")]
    Object {
        /// Kernel.
        kernel: String,
        /// Why.
        #[source]
        error: Box<ObjectError>,
    },
    /// The assembly of a `gcn_asm!` kernel.
    #[error("kernel `{kernel}`: {error}")]
    Assembly {
        /// Kernel.
        kernel: String,
        /// Why.
        #[source]
        error: AsmError,
    },
    /// An `interleave!` that cannot be followed.
    #[error("kernel `{kernel}`: {error}")]
    Interleave {
        /// Kernel.
        kernel: String,
        /// What and where.
        #[source]
        error: sched::list::MissingClass,
    },
    /// A `#[pipeline]` on a loop without a load that could run ahead.
    #[error("kernel `{kernel}`: {error}")]
    Pipeline {
        /// Kernel.
        kernel: String,
        /// What and where.
        #[source]
        error: pipeline::NoLoadAhead,
    },
    /// A `#[ping_pong]` loop whose barriers would not pair.
    #[error("kernel `{kernel}`: {error}")]
    PingPong {
        /// Kernel.
        kernel: String,
        /// What and where.
        #[source]
        error: ping_pong::UnpairedBarriers,
    },
    /// A manual schedule that makes no sense on its instructions.
    #[error("kernel `{kernel}`: {error}")]
    Schedule {
        /// Kernel.
        kernel: String,
        /// What and where.
        #[source]
        error: sched::manual::WrongCounter,
    },
    /// The independent checker objects to the waits: a fault of this crate, reported instead of a wrong
    /// kernel.
    #[error("kernel `{kernel}`: the checker objects to the inserted waits; please report this: {finding}")]
    Hazard {
        /// Kernel.
        kernel: String,
        /// The checker's first finding.
        finding: String,
    },
}

/// Builds the kernel of this signature, whose body `trace` appends.
pub(crate) fn build(
    mut signature: Signature,
    trace: impl FnOnce(&mut Arguments),
    target: Target,
    options: &BuildOptions,
    observe: &mut dyn FnMut(&'static str),
) -> Result<BuiltKernel, BuildError> {
    signature.registers = signature.registers.replaced_by(options.registers);
    let name = || signature.name.clone();
    check_signature(&signature, target)?;
    let workgroup = signature.workgroup;

    // Tokens became Rust, Rust becomes IR.
    let body = || trace(&mut Arguments::default());
    let mut ir = lang::trace_with(&signature.name, target, workgroup, options.debug, body)
        .map_err(|error| BuildError::Trace { kernel: name(), error })?;
    observe("trace");
    ping_pong::run(&mut ir, target).map_err(|error| BuildError::PingPong { kernel: name(), error })?;
    private::run(&mut ir);
    uniform::run(&mut ir);
    dce::run(&mut ir);
    if options.merge {
        merge::run(&mut ir);
        gvn::run(&mut ir);
        dce::run(&mut ir);
    }
    if tails::run(&mut ir) {
        gvn::run(&mut ir);
        dce::run(&mut ir);
    }
    let (bytes, limit) = (ir.lds_bytes(), target.lds_per_cu());
    if bytes > limit {
        return Err(BuildError::Lds { kernel: name(), bytes, limit, target });
    }
    let room = limits::lds_room(&signature, target, &ir);
    if ir.lds.iter().any(|array| array.dynamic) && room.slots > 0 {
        ir.lds_reserved = room.slot(room.slots);
    }
    far::run(&mut ir);
    gvn::run(&mut ir);
    licm::run(&mut ir);
    let pipelines = pipeline::run(&mut ir).map_err(|error| BuildError::Pipeline { kernel: name(), error })?;
    if !pipelines.is_empty() {
        dce::run(&mut ir);
    }
    observe("ir");
    // IR becomes machine instructions.
    let (mut function, inputs) =
        lower::lower(&ir, target, workgroup).map_err(|error| BuildError::Lower { kernel: name(), error })?;
    mir::dce::run(&mut function);
    mir::constants::run(&mut function);
    observe("lower");
    let limits = limits::of(&signature, target, bytes)?;
    let mut scheduled = options.schedule.then(|| function.clone());
    if let Some(scheduled) = &mut scheduled {
        sched::list::schedule(scheduled).map_err(|error| BuildError::Interleave { kernel: name(), error })?;
        sched::hold::run(scheduled);
        sched::hold::run(&mut function);
    }
    observe("schedule");
    let lds = registers::Lds { room, workgroup };
    let Registers { mut allocated, inputs } = registers::assign(scheduled, function, inputs, &limits, lds)?;
    observe("registers");
    let mut program = allocated.program;
    sched::cold::run(&mut program, &mut allocated.marks);
    sched::manual::resolve(&mut program, &mut allocated.marks)
        .map_err(|error| BuildError::Schedule { kernel: name(), error })?;
    let fill = (options.schedule && options.fill).then(|| sched::fence::fences(&program, &allocated.marks));
    let target_id = TargetId { xnack: options.xnack, ..TargetId::any(target) };
    let rules = options.rules.with_xnack(target_id.may_replay());
    let inserted = wait::insert_waits(&mut program, &WaitOptions { fill, rules, ..WaitOptions::default() });
    observe("waits");
    let memory_model = check::MemoryModel::Strict;
    let waits = check::Options { rules, errata: false, memory_model };
    if let Some(finding) = check::check_with(&program, waits).findings.first() {
        return Err(BuildError::Hazard { kernel: name(), finding: finding.to_string() });
    }

    observe("check");

    // Machine instructions become bytes.
    if !ir.constants.is_empty() {
        lower::constants::resolve(&mut program)
            .map_err(|error| BuildError::Encode { kernel: name(), error: Box::new(error) })?;
    }
    let mut spec = spec::describe(&signature, &ir, inputs, program);
    spec.xnack = options.xnack;
    spec.source_lines = options.source_lines;
    spec.lds_bytes = spec.lds_bytes.max(allocated.spills.lds_end());
    limits::check(&signature, &spec)?;
    let (object, code) = emit(&signature, &spec)?;
    let debug = Debug::of(&spec.program, &code.offsets, &ir.debug);
    observe("emit");
    let built = Built {
        signature,
        ir,
        usage: allocated.usage,
        pressure: allocated.pressure,
        spills: allocated.spills,
        limits,
        pipelines,
        inserted,
        spec,
        code,
        object,
        debug,
    };
    Ok(built.into())
}

/// The code object of a kernel, and its code.
pub(super) fn emit(signature: &Signature, spec: &KernelSpec) -> Result<(Vec<u8>, Encoded), BuildError> {
    let kernel = signature.name.clone();
    match gcn_emit::object::write_with_code(std::slice::from_ref(spec)) {
        Ok(mut written) => Ok((written.object, written.code.swap_remove(0))),
        Err(ObjectError::Encode { error, .. }) => Err(BuildError::Encode { kernel, error }),
        Err(error) => Err(BuildError::Object { kernel, error: error.into() }),
    }
}

fn check_signature(signature: &Signature, target: Target) -> Result<(), BuildError> {
    check_target(signature, target)?;
    check_workgroup(signature)
}

/// Is the kernel written for the target?
pub(crate) fn check_target(signature: &Signature, target: Target) -> Result<(), BuildError> {
    let kernel = || signature.name.clone();
    if !signature.targets.contains(target) {
        let listed: Vec<&str> = signature.targets.iter().map(Target::name).collect();
        return Err(BuildError::Target { kernel: kernel(), target, listed: listed.join(", ") });
    }
    Ok(())
}

/// Can a workgroup be as large as this?
pub(crate) fn check_workgroup(signature: &Signature) -> Result<(), BuildError> {
    let kernel = || signature.name.clone();
    let [x, y, z] = signature.workgroup;
    let items = u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z));
    if items == 0 || items > MAX_WORKGROUP.into() {
        return Err(BuildError::Workgroup { kernel: kernel(), x, y, z });
    }
    Ok(())
}
