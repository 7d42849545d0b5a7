//! The order of the passes.

use std::fmt;

use gcn_emit::encode::{EncodeError, Encoded};
use gcn_emit::kernel::{KernelSpec, MAX_WORKGROUP};
use gcn_emit::object::ObjectError;
use gcn_emit::target_id::TargetId;
use gcn_isa::{Target, check};

use super::passes::{Malformed, Passes};
use super::registers::{self, Registers};
use super::{AsmError, BuildOptions, Built, BuiltKernel, limits};
use crate::ir::pipeline::Pipelined;
use crate::ir::text::ParseError;
use crate::ir::{self, ping_pong, pipeline};
use crate::kernel::debug::Debug;
use crate::kernel::{spec, variables};
use crate::lang::{self, Arguments, Signature, TraceError};
use crate::lower::{self, LowerError};
use crate::mir;
use crate::regalloc::{self, AllocError};
use crate::sched;
use crate::sched::wait::{self, WaitOptions};

/// A kernel that does not build: which one and why. [`std::error::Error::source`] is the error of the pass, where it is one.
///
/// `Debug` writes what `Display` does, since `unwrap` and a `main` that returns the error show it to people.
#[derive(Clone)]
#[non_exhaustive]
pub struct BuildError {
    /// The kernel.
    pub kernel: String,
    /// Why it does not build.
    pub cause: BuildCause,
}

impl BuildError {
    /// A kernel's error from its cause.
    pub(crate) fn of(kernel: &str) -> impl FnOnce(BuildCause) -> BuildError + use<> {
        let kernel = kernel.to_owned();
        |cause| BuildError { kernel, cause }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            BuildCause::Target { .. } => write!(f, "kernel `{}` {}", self.kernel, self.cause),
            // The allocator's errors name the kernel.
            BuildCause::Registers(error) => error.fmt(f),
            cause => write!(f, "kernel `{}`: {cause}", self.kernel),
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}

/// Why a kernel does not build.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BuildCause {
    /// `#[targets(…)]` does not list the target.
    #[error("is not written for {target}: its `#[targets(…)]` lists {listed}")]
    Target {
        /// The target asked for.
        target: Target,
        /// The targets listed.
        listed: String,
    },
    /// The workgroup is empty or too large.
    #[error(
        "a workgroup of {x} x {y} x {z} work-items does not exist; every dimension must be at least 1 and their \
         product at most {MAX_WORKGROUP}"
    )]
    Workgroup {
        /// Work-items in x.
        x: u32,
        /// Work-items in y.
        y: u32,
        /// Work-items in z.
        z: u32,
    },
    /// The body asked for something that types cannot refuse.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// The LDS arrays do not fit.
    #[error(
        "its LDS arrays take {bytes} bytes, a workgroup has {limit} on {target}; make them smaller or share one array \
         between phases"
    )]
    Lds {
        /// Bytes asked for.
        bytes: u32,
        /// Bytes there are.
        limit: u32,
        /// Target.
        target: Target,
    },
    /// An operation has no instructions on the target.
    #[error("{0}")]
    Lower(#[from] LowerError),
    /// `#[max_registers(…)]` or `#[min_occupancy(…)]` asks for what does not exist: the problem and the remedy.
    #[error("{0}")]
    Limits(String),
    /// The registers do not suffice.
    #[error("{0}")]
    Registers(#[from] Box<AllocError>),
    /// An instruction cannot be encoded, for example a branch over too much code.
    #[error("{0}")]
    Encode(#[from] Box<EncodeError>),
    /// The code object cannot be written.
    #[error("{0}")]
    Object(#[from] Box<ObjectError>),
    /// The assembly of a `gcn_asm!` kernel.
    #[error("{0}")]
    Assembly(#[from] AsmError),
    /// An `interleave!` that cannot be followed.
    #[error("{0}")]
    Interleave(#[from] sched::list::MissingClass),
    /// A `#[pipeline]` on a loop without a load that could run ahead.
    #[error("{0}")]
    Pipeline(#[from] pipeline::NoLoadAhead),
    /// A `#[pipeline(buffers = 2)]` on a loop whose LDS arrays cannot have a second buffer.
    #[error("{0}")]
    Buffers(#[from] pipeline::OneBuffer),
    /// A `#[ping_pong]` loop whose barriers would not pair.
    #[error("{0}")]
    PingPong(#[from] ping_pong::UnpairedBarriers),
    /// A manual schedule that makes no sense on its instructions.
    #[error("{0}")]
    Schedule(#[from] sched::manual::WrongCounter),
    /// Text that is not IR, given to [`BuiltKernel::with_ir`].
    #[error("the IR cannot be read: {0}")]
    Ir(#[from] ParseError),
    /// A pass left IR that breaks a rule of the IR: a fault of this crate, reported instead of a wrong kernel.
    #[error("{0}")]
    Malformed(#[from] Box<Malformed>),
    /// The independent checker objects to the waits, with this finding: a fault of this crate, reported instead of a wrong kernel.
    #[error("the checker objects to the inserted waits; please report this: {0}")]
    Hazard(String),
}

impl From<pipeline::Refused> for BuildCause {
    fn from(refused: pipeline::Refused) -> BuildCause {
        match refused {
            pipeline::Refused::Loads(error) => error.into(),
            pipeline::Refused::Buffers(error) => error.into(),
        }
    }
}

/// Builds the kernel of this signature, whose body `trace` appends. It is not generic, so that the crate of a user does not compile
/// the passes once more for each kernel.
pub(crate) fn build(
    signature: Signature,
    trace: &dyn Fn(&mut Arguments),
    target: Target,
    options: &BuildOptions,
    observe: &mut dyn FnMut(&'static str),
) -> Result<BuiltKernel, BuildError> {
    let failed = BuildError::of(&signature.name);
    from_trace(signature, trace, target, options, observe).map_err(failed)
}

fn from_trace(
    mut signature: Signature,
    trace: &dyn Fn(&mut Arguments),
    target: Target,
    options: &BuildOptions,
    observe: &mut dyn FnMut(&'static str),
) -> Result<BuiltKernel, BuildCause> {
    signature.registers = signature.registers.replaced_by(options.registers);
    check_signature(&signature, target)?;
    let workgroup = signature.workgroup;

    // Tokens became Rust, Rust becomes IR.
    let body = || trace(&mut Arguments::default());
    let mut ir =
        lang::trace_with(&signature.name, target, workgroup, (options.debug, options.source_lines), body)?;
    observe("trace");
    let (bytes, limit) = (ir.lds_bytes(), target.lds_per_cu());
    if bytes > limit {
        return Err(BuildCause::Lds { bytes, limit, target });
    }
    let mut passes = Passes::new(target, &signature, options);
    passes.run(&mut ir)?;
    let pipelines = passes.pipelines;
    observe("ir");
    from_ir(signature, ir, pipelines, target, options, observe)
}

/// Builds the kernel of this signature from IR that has been simplified.
pub(super) fn from_ir(
    signature: Signature,
    ir: ir::Kernel,
    pipelines: Vec<Pipelined>,
    target: Target,
    options: &BuildOptions,
    observe: &mut dyn FnMut(&'static str),
) -> Result<BuiltKernel, BuildCause> {
    let workgroup = signature.workgroup;
    let bytes = ir.lds_bytes();
    let room = limits::lds_room(&signature, target, &ir);
    // IR becomes machine instructions.
    let (mut function, inputs) = lower::lower(&ir, target, workgroup)?;
    mir::dce::run(&mut function);
    mir::constants::run(&mut function);
    observe("lower");
    let limits = limits::of(&signature, target, bytes)?;
    let mut scheduled = options.schedule.then(|| function.clone());
    if let Some(scheduled) = &mut scheduled {
        sched::list::schedule(scheduled)?;
        sched::priority::run(scheduled);
        sched::priority::run(&mut function);
    }
    observe("schedule");
    let lds = registers::Lds { room, workgroup };
    let Registers { mut allocated, inputs } = registers::assign(scheduled, function, inputs, &limits, lds)?;
    observe("registers");
    let mut program = allocated.program;
    let registers = allocated.values;
    regalloc::two_address::run(&mut program, &allocated.long);
    sched::cold::run(&mut program, &mut allocated.marks);
    sched::manual::resolve(&mut program, &mut allocated.marks)?;
    let fill = (options.schedule && options.fill).then(|| sched::fence::fences(&program, &allocated.marks));
    let target_id = TargetId { xnack: options.xnack, ..TargetId::any(target) };
    let rules = options.rules.with_xnack(target_id.may_replay());
    let inserted = wait::insert_waits(&mut program, &WaitOptions { fill, rules, ..WaitOptions::default() });
    observe("waits");
    let memory_model = check::MemoryModel::Strict;
    let waits = check::Options { rules, errata: false, memory_model };
    if let Some(finding) = check::check_with(&program, waits).findings.first() {
        return Err(BuildCause::Hazard(finding.to_string()));
    }

    observe("check");

    // Machine instructions become bytes.
    if !ir.constants.is_empty() {
        lower::constants::resolve(&mut program).map_err(Box::new)?;
    }
    let mut spec = spec::describe(&signature, &ir, inputs, program);
    spec.xnack = options.xnack;
    spec.source_lines = options.source_lines;
    spec.variables = variables::variables(&spec.program, &registers, &ir);
    spec.lds_bytes = spec.lds_bytes.max(allocated.spills.lds_end());
    limits::check(&signature, &spec)?;
    let (object, code) = emit(&spec)?;
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
pub(super) fn emit(spec: &KernelSpec) -> Result<(Vec<u8>, Encoded), BuildCause> {
    match gcn_emit::object::write_with_code(std::slice::from_ref(spec)) {
        Ok(mut written) => Ok((written.object, written.code.swap_remove(0))),
        Err(ObjectError::Encode { error, .. }) => Err(error.into()),
        Err(error) => Err(Box::new(error).into()),
    }
}

/// Is the kernel written for the target, and can a workgroup be as large as its own?
pub(crate) fn check_signature(signature: &Signature, target: Target) -> Result<(), BuildCause> {
    if !signature.targets.contains(target) {
        let listed: Vec<&str> = signature.targets.iter().map(Target::name).collect();
        return Err(BuildCause::Target { target, listed: listed.join(", ") });
    }
    let [x, y, z] = signature.workgroup;
    let items = u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z));
    if items == 0 || items > MAX_WORKGROUP.into() {
        return Err(BuildCause::Workgroup { x, y, z });
    }
    Ok(())
}
