//! Errors of a build.

use std::fmt;

use gcn_emit::encode::EncodeError;
use gcn_emit::kernel::MAX_WORKGROUP;
use gcn_emit::object::ObjectError;
use gcn_isa::Target;

use super::AsmError;
use crate::ir::text::ParseError;
use crate::ir::verify::Fault;
use crate::ir::{ping_pong, pipeline};
use crate::lang::TraceError;
use crate::lower::LowerError;
use crate::regalloc::AllocError;
use crate::sched;

/// A kernel that does not build: its name and the reason. [`std::error::Error::source`] is the error of the pass, if
/// there is one.
///
/// `Debug` prints the same as `Display`, because `unwrap` and a `main` that returns the error show it to people.
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
    pub(crate) fn of(kernel: &str) -> impl Fn(BuildCause) -> BuildError + use<> {
        let kernel = kernel.to_owned();
        move |cause| BuildError { kernel: kernel.clone(), cause }
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
    /// Waves of the target have another size.
    #[error(
        "is to have waves of {lanes} lanes, and those of {target} have {has}; limit the kernel with `#[targets(…)]`, or say nothing \
         of the wave size"
    )]
    Wave {
        /// The target.
        target: Target,
        /// Lanes asked for.
        lanes: u32,
        /// Lanes of the target's waves.
        has: u32,
    },
    /// The build asks for other waves than the kernel is written for.
    #[error(
        "is written for waves of {says} lanes, `#[wave({says})]`, and the build asks for {asked}; build it without \
         `BuildOptions::wave`, or write it with `wave_size()` and remove the attribute"
    )]
    OtherWave {
        /// Lanes that the kernel's attribute says.
        says: u32,
        /// Lanes that the build asks for.
        asked: u32,
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
    /// The body requested something that types cannot reject.
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
    /// `#[max_registers(…)]` or `#[min_occupancy(…)]` requests something impossible: the problem and the remedy.
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
    /// An `interleave!` that cannot be satisfied.
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
    /// A manual schedule that does not fit its instructions.
    #[error("{0}")]
    Schedule(#[from] sched::manual::WrongCounter),
    /// Text that is not IR, given to [`BuiltKernel::with_ir`](crate::BuiltKernel::with_ir).
    #[error("the IR cannot be read: {0}")]
    Ir(#[from] ParseError),
    /// A pass left IR that breaks a rule of the IR: a fault of this crate, reported instead of a wrong kernel.
    #[error("{0}")]
    Malformed(#[from] Box<Malformed>),
    /// The independent checker objects to the waits, with this finding: a fault of this crate, reported instead of a wrong kernel.
    #[error("the checker objects to the inserted waits; please report this: {0}")]
    Hazard(Box<gcn_isa::check::Finding>),
}

impl From<pipeline::Refused> for BuildCause {
    fn from(refused: pipeline::Refused) -> BuildCause {
        match refused {
            pipeline::Refused::Loads(error) => error.into(),
            pipeline::Refused::Buffers(error) => error.into(),
        }
    }
}

/// A kernel that is not well formed after a pass: a fault of this crate, reported instead of a wrong kernel.
#[derive(Clone, Debug)]
pub struct Malformed {
    /// The pass; `trace` means the functions of the language, which generate the IR.
    pub pass: &'static str,
    /// The rule that it breaks.
    pub fault: Fault,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the IR is malformed after the pass `{}`; please report this: {}", self.pass, self.fault)
    }
}

impl std::error::Error for Malformed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}
