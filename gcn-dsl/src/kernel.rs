//! Builds kernels, and the results of a build: the code object with its IR, schedule and reports.

mod asm;
pub(crate) mod build;
pub(crate) mod debug;
mod error;
pub(crate) mod kept;
mod limits;
mod passes;
mod pressure;
mod registers;
mod report;
mod schedule;
pub(crate) mod spec;
mod variables;

use std::fmt;
use std::ops::Deref;

use gcn_emit::target_id::Feature;
use gcn_emit::text::Comments;
use gcn_isa::hazards::Config;
use gcn_isa::target::WaveSize;
use gcn_isa::{Program, RegFile, Target};

pub use asm::AsmError;
pub use error::{BuildCause, BuildError, Malformed};
pub use passes::{passes, run_pass};
pub use report::{DynamicIndex, KernelReport, WaitTotals};

pub use crate::ir::ping_pong::{UnpairedBarriers, UnpairedReason};
pub use crate::ir::pipeline::{NoLoadAhead, OneBuffer, Pipelined, SingleReason, StayingLoad, StaysReason};
pub use crate::ir::text::ParseError;
pub use crate::ir::verify::Fault;
pub use crate::lower::{LowerCause, LowerError};
pub use crate::mir::VReg;
pub use crate::regalloc::{
    AllocError, FilePressure, InstPlace, LdsFrame, LdsRoom, LiveReg, Pressure, Spills, VerifyError,
};
pub use crate::sched::list::MissingClass;
pub use crate::sched::manual::WrongCounter;
pub use crate::sched::wait::{Inserted, InsertedKind};

use crate::ir;
use crate::lang;
use crate::lang::{RegisterLimits, Signature};
use crate::regalloc::{Limits, Usage};

/// Options for building a kernel.
///
/// ```
/// use gcn_dsl::{BuildOptions, Feature, RuleSet};
///
/// let rules = RuleSet::Fast.config(false).with("llvm.exec-vmem")?;
/// let options = BuildOptions { rules, xnack: Feature::Off, ..BuildOptions::default() };
/// # Ok::<(), gcn_isa::hazards::UnknownRule>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// Reorder independent instructions within blocks: loads early, and other work between a matrix instruction and the
    /// reader of its result.
    pub schedule: bool,
    /// With `schedule`: after register allocation, move useful instructions into wait states that would be idle.
    pub fill: bool,
    /// Insert `s_delay_alu`, which lets other waves issue while a result of the ALU is pending (RDNA 3 and later). It
    /// is a hint that does not change results.
    pub delays: bool,
    /// Merge loads and stores of neighbouring elements into wide ones.
    pub merge: bool,
    /// Verify the IR after each pass over it, and fail to build if it is malformed. The default is true in programs
    /// that are built without optimisation, and false in release builds.
    pub verify: bool,
    /// Check `debug_assert!`, and let the simulator print the values of `dbg!`. As in Rust, the default is true in
    /// programs that are built without optimisation, and false in release builds.
    pub debug: bool,
    /// Check indices: an index that is not below the length of its slice, LDS array, private array or row of an element
    /// stops the kernel, and the simulator reports the file, the line, the index and the length. On a GPU the trap ends
    /// the queue; debug information is generated as with `source_lines`, so that a debugger can show the line. By
    /// default indices are not checked: a load outside a slice returns 0, a store outside a slice does nothing, and a
    /// kernel may rely on that.
    pub check_bounds: bool,
    /// Generate debug information with the source line of each instruction, for profilers, debuggers and `llvm-objdump
    /// -l -S`: DWARF in the code object, `.loc` in the assembly. The DWARF also describes the calls of inlined device
    /// functions, the kernel's parameters, and the variables of `let` with their registers. The machine code is the
    /// same as without it.
    pub source_lines: bool,
    /// The hazard rules by which waits are inserted and checked. Rules about XNACK replay apply unless `xnack` is off.
    pub rules: Config,
    /// The XNACK setting for which the code is generated. Code for [`Feature::Any`] runs with XNACK on or off, so it
    /// splits sequences of memory instructions that a replay would corrupt; code for [`Feature::Off`] does not, and
    /// requires a device with XNACK off.
    pub xnack: Feature,
    /// Limits on the registers; each limit that is set replaces the one of the kernel's attribute.
    pub registers: RegisterLimits,
    /// The wave size of a kernel without `#[wave(…)]`. The default is the target's usual size: 64 lanes on GFX9, which
    /// has no other, and 32 on RDNA, which also supports 64.
    pub wave: Option<WaveSize>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            schedule: true,
            fill: true,
            delays: true,
            merge: true,
            verify: cfg!(debug_assertions),
            debug: cfg!(debug_assertions),
            check_bounds: false,
            source_lines: false,
            rules: Config::default(),
            xnack: Feature::Any,
            registers: RegisterLimits::default(),
            wave: None,
        }
    }
}

impl BuildOptions {
    /// The options for tracing the kernel's body: what is added to its own instructions.
    fn tracing(&self) -> lang::Tracing {
        lang::Tracing {
            debug: self.debug,
            bounds: self.check_bounds,
            names: self.has_source_lines(),
            wave: self.wave,
        }
    }

    /// True if debug information is generated.
    fn has_source_lines(&self) -> bool {
        self.source_lines || self.check_bounds
    }
}

/// A compiled kernel, with the results of each stage of the build.
///
/// `saxpy.build(target)` gives a `BuiltKernel<saxpy>`, which [`Device::launch`](crate::Device::launch) and
/// [`Stream::launch`](crate::Stream::launch) accept only for this kernel. If a reference to a `BuiltKernel` of any
/// kernel is expected, a reference to a `BuiltKernel<K>` coerces to it; [`BuiltKernel::into_any`] erases the type for
/// collections.
///
/// ```
/// use gcn_dsl::BuiltKernel;
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(64)]
///     pub fn double(x: &mut [f32]) {
///         let i = global_id().x;
///         x[i] = x[i] * 2.0;
///     }
/// }
/// fn instructions(kernel: &BuiltKernel) -> usize {
///     kernel.program().lines.len()
/// }
/// let built: BuiltKernel<double> = double.build(Target::GFX942)?;
/// assert!(instructions(&built) > 0);
/// let all: Vec<BuiltKernel> = vec![built.into_any()];
/// assert_eq!(all[0].name(), "double");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A launch with the code of a different kernel is a compile error:
///
/// ```compile_fail
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(64)]
///     fn two(x: &mut [u32]) { x[0] = 2; }
///     #[workgroup(64)]
///     fn three(x: &mut [u32]) { x[0] = 3; }
/// }
/// let device = Device::simulator(Target::GFX942);
/// let code = three.build(Target::GFX942).unwrap();
/// device.launch(&two, &code, Grid::x(1), (&mut [0; 1],)).unwrap();
/// ```
pub struct BuiltKernel<K: Form = AnyKernel> {
    pub(crate) inner: K::Inner,
}

/// The type parameter of a [`BuiltKernel`] for code of any kernel: a launch compares the kernel's name and arguments at
/// run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyKernel {}

/// Types that can be the parameter of a [`BuiltKernel`]: the types of kernels, and [`AnyKernel`].
pub trait Form {
    /// The type that a [`BuiltKernel`] wraps and dereferences to.
    #[doc(hidden)]
    type Inner: fmt::Debug + Clone;
}

impl Form for AnyKernel {
    type Inner = Built;
}

impl<K: Form> Deref for BuiltKernel<K> {
    type Target = K::Inner;
    fn deref(&self) -> &K::Inner {
        &self.inner
    }
}

impl<K: Form> Clone for BuiltKernel<K> {
    fn clone(&self) -> Self {
        BuiltKernel { inner: self.inner.clone() }
    }
}

impl<K: Form> fmt::Debug for BuiltKernel<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// The data of a compiled kernel.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Built {
    pub(crate) signature: Signature,
    pub(crate) ir: ir::Kernel,
    pub(crate) usage: Usage,
    pub(crate) pressure: Pressure,
    pub(crate) spills: Spills,
    pub(crate) limits: Limits,
    pub(crate) pipelines: Vec<ir::pipeline::Pipelined>,
    pub(crate) inserted: Vec<Inserted>,
    pub(crate) spec: gcn_emit::kernel::KernelSpec,
    pub(crate) code: gcn_emit::encode::Encoded,
    pub(crate) object: Vec<u8>,
    pub(crate) debug: debug::Debug,
}

impl From<Built> for BuiltKernel {
    fn from(built: Built) -> BuiltKernel {
        BuiltKernel { inner: built }
    }
}

impl BuiltKernel {
    /// A kernel whose machine instructions are from `gcn_asm!`.
    pub(crate) fn from_assembly(
        signature: Signature,
        spec: gcn_emit::kernel::KernelSpec,
    ) -> Result<BuiltKernel, BuildCause> {
        let (object, code) = build::emit(&spec)?;
        let used = spec.resources;
        let count = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let all = |file, peak| FilePressure { file, peak, at: None, live: Vec::new() };
        let built = Built {
            ir: ir::Kernel { name: signature.name.clone(), ..ir::Kernel::default() },
            usage: Usage {
                sgprs: count(used.next_free_sgpr),
                vgprs: count(used.next_free_vgpr),
                agprs: count(used.agprs),
                uses_vcc: used.uses_vcc,
            },
            pressure: Pressure {
                sgpr: all(RegFile::Sgpr, used.next_free_sgpr),
                vgpr: all(RegFile::Vgpr, used.next_free_vgpr),
                agpr: all(RegFile::Agpr, used.agprs),
            },
            spills: Spills::default(),
            limits: Limits::default(),
            pipelines: Vec::new(),
            inserted: Vec::new(),
            signature,
            spec,
            code,
            object,
            debug: debug::Debug::default(),
        };
        Ok(built.into())
    }

    /// Size of the kernel's own LDS in bytes, after which the dynamic LDS of a launch begins.
    pub(crate) fn lds_start(&self) -> u32 {
        self.spec.lds_bytes
    }

    /// The target for which the kernel was built.
    pub fn target(&self) -> Target {
        self.program().target
    }

    /// The number of lanes of a wave, which [`wave_size()`](crate::lang::wave_size) returned while the kernel was
    /// built. A launch needs it if the number of workgroups depends on the number of waves, for example if each wave of
    /// the kernel handles a row.
    pub fn wave_size(&self) -> u32 {
        self.program().wave.lanes()
    }

    /// The symbol name.
    pub fn name(&self) -> &str {
        &self.signature.name
    }

    /// Name, workgroup size and arguments.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The final machine program.
    pub fn program(&self) -> &Program {
        &self.spec.program
    }

    /// The same kernel with `program` as its code, for example to see the effect of a missing wait in the simulator.
    /// Registers, LDS and arguments stay the same; the waits are not checked, and [`BuiltKernel::waits`] is empty.
    ///
    /// # Errors
    /// A [`BuildError`] if an instruction cannot be encoded.
    pub fn with_program(&self, program: Program) -> Result<BuiltKernel, BuildError> {
        let spec = gcn_emit::kernel::KernelSpec { program, ..self.spec.clone() };
        let (object, code) = build::emit(&spec).map_err(BuildError::of(self.name()))?;
        let debug = debug::Debug::of(&spec.program, &code.offsets, &self.ir.debug);
        Ok(Built { spec, code, object, debug, inserted: Vec::new(), ..Built::clone(self) }.into())
    }

    /// The registers, LDS and dispatch state that the kernel descriptor describes.
    pub fn spec(&self) -> &gcn_emit::kernel::KernelSpec {
        &self.spec
    }

    /// The IR as text, after all passes over the IR.
    pub fn ir(&self) -> String {
        self.ir.to_string()
    }

    /// Builds the same kernel from other IR: the text of [`BuiltKernel::ir`], possibly edited. The IR is verified,
    /// lowered and scheduled; the passes over the IR do not run again. The text contains no source locations, so there
    /// is no debug information.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     #[workgroup(64)]
    ///     pub fn double(x: &mut [f32]) {
    ///         let i = local_id().x;
    ///         x[i] = x[i] * 2.0;
    ///     }
    /// }
    /// let kernel = double.build(Target::GFX942)?;
    /// let again = kernel.with_ir(&kernel.ir(), &Default::default())?;
    /// assert_eq!(again.assembly(Comments::None), kernel.assembly(Comments::None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A [`BuildError`] if the text is not IR or the IR is malformed; otherwise the same as for
    /// [`Kernel::build`](crate::Kernel::build).
    pub fn with_ir(&self, text: &str, options: &BuildOptions) -> Result<BuiltKernel, BuildError> {
        let build = || {
            let ir = ir::text::parse(text)?;
            let ir = ir::Kernel { wave: self.ir.wave, ..ir };
            let malformed = |fault| Box::new(Malformed { pass: "parse", fault });
            ir::verify::verify(&ir).map_err(malformed)?;
            build::from_ir(self.signature.clone(), ir, Vec::new(), self.target(), options, &mut |_| {})
        };
        build().map_err(BuildError::of(self.name()))
    }

    /// The schedule as text. For each block it lists the instructions in order. Each has the cycle in which it would
    /// issue if only this block delayed it, its class, the cycle in which a loaded value arrives, the operations for
    /// which it waits (if it is a wait), and the source line.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     #[workgroup(64)]
    ///     pub fn double(x: &mut [f32]) {
    ///         let i = local_id().x;
    ///         x[i] = x[i] * 2.0;
    ///     }
    /// }
    /// let schedule = double.build(Target::GFX942)?.schedule();
    /// assert!(schedule.contains("vmem_read") && schedule.contains("vmcnt(0): v"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn schedule(&self) -> String {
        schedule::text(self)
    }

    /// The kernel as an assembly file: code, descriptor, metadata. With [`Comments::Explain`] each wait has a comment
    /// with its reason.
    pub fn assembly(&self, comments: Comments) -> String {
        gcn_emit::asm_file::assembly_file(std::slice::from_ref(&self.spec), comments)
    }

    /// The 64 bytes of the kernel descriptor.
    pub fn descriptor(&self) -> [u8; 64] {
        gcn_emit::descriptor::KernelDescriptor::of(&self.spec, 0).to_bytes()
    }

    /// The machine code, without the constant tables.
    pub fn code(&self) -> &[u8] {
        &self.code.bytes
    }

    /// The machine code, followed by the constant tables that it reads, as in the code object.
    pub fn image(&self) -> Vec<u8> {
        gcn_emit::object::with_constants(&self.spec, self.code())
    }

    /// The code object for `hipModuleLoad` or `hipModuleLoadData`.
    pub fn code_object(&self) -> &[u8] {
        &self.object
    }

    /// The waits that were inserted, with their reasons.
    pub fn waits(&self) -> &[Inserted] {
        &self.inserted
    }

    /// The loops for which `#[pipeline]` was requested, inner ones first: for each, the loads that run ahead, and the
    /// reasons why other loads do not.
    pub fn pipelines(&self) -> &[ir::pipeline::Pipelined] {
        &self.pipelines
    }

    /// The points of maximum register pressure.
    pub fn pressure(&self) -> &Pressure {
        &self.pressure
    }

    /// The spill code that was inserted for values without a register.
    pub fn spills(&self) -> &Spills {
        &self.spills
    }

    /// The points of maximum register pressure, in the style of a compiler's message: for each register file the source
    /// line of the maximum, the lines whose values are live there, and the number of registers that these values take.
    /// Source lines are quoted if the files are found.
    pub fn pressure_report(&self) -> String {
        pressure::report(self)
    }

    /// Registers, LDS, occupancy, and the numbers of instructions and waits.
    pub fn report(&self) -> KernelReport {
        KernelReport::of(self)
    }
}
