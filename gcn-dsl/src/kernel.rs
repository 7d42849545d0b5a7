//! A kernel from its declaration to its code object.

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
pub use report::{KernelReport, WaitTotals};

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

/// How to build.
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
    /// Reorder independent instructions within blocks (loads early, work between a matrix instruction and its
    /// reader).
    pub schedule: bool,
    /// With `schedule`: once registers are assigned, move instructions to where wait states would be idle.
    pub fill: bool,
    /// Put in `s_delay_alu`, by which other waves issue while a result of the ALU is still to come (RDNA 3 and later). It is a hint: what
    /// a kernel computes does not depend on it.
    pub delays: bool,
    /// Merge loads and stores of neighbouring elements into wide ones.
    pub merge: bool,
    /// Check after each pass over the IR that it is well formed, and fail to build if it is not. The default is true in programs that
    /// are built without optimisation, and false in release builds.
    pub verify: bool,
    /// `debug_assert!` is checked, and the simulator prints what `dbg!` shows. As in Rust the default is true
    /// in programs that are built without optimisation, and false in release builds.
    pub debug: bool,
    /// Indices are checked: one that is not below the length of its slice, LDS array, private array or row of an element stops the
    /// kernel, and the simulator names the file, the line, the index and the length. On a GPU the trap ends the queue; there is debug
    /// information as with `source_lines`, by which a debugger names the line. By default indices are not checked: a load from outside of
    /// a slice gives 0 and a store does nothing, on which a kernel may rely.
    pub check_bounds: bool,
    /// Debug information says which source line each instruction comes from, for profilers, debuggers and
    /// `llvm-objdump -l -S`: DWARF in the code object, `.loc` in the assembly. DWARF also has the calls of
    /// inlined device functions, the kernel's parameters, and the variables of `let` with the registers that
    /// hold them. What is loaded stays the same.
    pub source_lines: bool,
    /// Which hazard rules the waits follow, and are checked against. Those of XNACK replay count unless
    /// `xnack` is off.
    pub rules: Config,
    /// The XNACK setting that the code is for: [`Feature::Any`] runs with it on and off, so it breaks up the
    /// runs of memory instructions that a replay would spoil; [`Feature::Off`] does without that, and needs a
    /// device with XNACK off.
    pub xnack: Feature,
    /// Limits to the registers; each that is given replaces the kernel's attribute.
    pub registers: RegisterLimits,
    /// The size of waves of a kernel without `#[wave(…)]`. Without it waves have the target's usual size: 64 lanes on GFX9, which has no
    /// others, and 32 on RDNA, which also has 64.
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
    /// What is traced beside the kernel's own instructions.
    fn tracing(&self) -> lang::Tracing {
        lang::Tracing {
            debug: self.debug,
            bounds: self.check_bounds,
            names: self.has_source_lines(),
            wave: self.wave,
        }
    }

    /// True if there is debug information.
    fn has_source_lines(&self) -> bool {
        self.source_lines || self.check_bounds
    }
}

/// A compiled kernel, with every stage that led to it.
///
/// `saxpy.build(target)` gives a `BuiltKernel<saxpy>`, which [`Device::launch`](crate::Device::launch) and
/// [`Stream::launch`](crate::Stream::launch) take for this kernel and for no other. A `BuiltKernel<K>` is a
/// `BuiltKernel` of any kernel wherever a reference to one is asked for; [`BuiltKernel::into_any`] forgets
/// the type for collections.
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
/// The code of another kernel is a compile error:
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

/// Takes the place of a kernel's type: the code of some kernel, which is checked at the launch by name and
/// arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyKernel {}

/// What a [`BuiltKernel`] can be of: a kernel, or [`AnyKernel`].
pub trait Form {
    /// What it is made of.
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

/// What is known of a compiled kernel.
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
    /// A kernel that was never anything but machine instructions.
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

    /// Where LDS that the launch adds begins.
    pub(crate) fn lds_start(&self) -> u32 {
        self.spec.lds_bytes
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.program().target
    }

    /// Lanes of a wave: what [`wave_size()`](crate::lang::wave_size) was while the kernel was built. A launch asks for it where the
    /// number of workgroups follows from the number of waves, for a kernel whose waves have a row each, for example.
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

    /// The same kernel with `program` for its code, for example to see what a missing wait does in the
    /// simulator. Registers, LDS and arguments stay what they are; nobody checks the waits, and
    /// [`BuiltKernel::waits`] is empty.
    ///
    /// # Errors
    /// A [`BuildError`] if an instruction cannot be encoded.
    pub fn with_program(&self, program: Program) -> Result<BuiltKernel, BuildError> {
        let spec = gcn_emit::kernel::KernelSpec { program, ..self.spec.clone() };
        let (object, code) = build::emit(&spec).map_err(BuildError::of(self.name()))?;
        let debug = debug::Debug::of(&spec.program, &code.offsets, &self.ir.debug);
        Ok(Built { spec, code, object, debug, inserted: Vec::new(), ..Built::clone(self) }.into())
    }

    /// Registers, LDS and dispatch state, as the descriptor says them.
    pub fn spec(&self) -> &gcn_emit::kernel::KernelSpec {
        &self.spec
    }

    /// The IR after simplification, as text.
    pub fn ir(&self) -> String {
        self.ir.to_string()
    }

    /// The same kernel from this IR: what [`BuiltKernel::ir`] printed, perhaps changed by hand. It is verified, lowered and scheduled; the
    /// passes over the IR do not run again. Positions in the source are not part of the text, so there is no debug information.
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
    /// A [`BuildError`] if the text is not IR or the IR is malformed, and as of `build`.
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

    /// The schedule as text: block by block the instructions in their order, each with the cycle in which it
    /// issues if nothing but the block itself holds it back, its class, when what it loads is back, what
    /// waits wait for, and the user's lines.
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

    /// The whole assembly file: code, descriptor, metadata. With [`Comments::Explain`] each wait says why it
    /// is there.
    pub fn assembly(&self, comments: Comments) -> String {
        gcn_emit::asm_file::assembly_file(std::slice::from_ref(&self.spec), comments)
    }

    /// The 64 bytes of the kernel descriptor.
    pub fn descriptor(&self) -> [u8; 64] {
        gcn_emit::descriptor::KernelDescriptor::of(&self.spec, 0).to_bytes()
    }

    /// The machine code.
    pub fn code(&self) -> &[u8] {
        &self.code.bytes
    }

    /// The machine code, and after it the tables that it reads, as they stand in the code object.
    pub fn image(&self) -> Vec<u8> {
        gcn_emit::object::with_constants(&self.spec, self.code())
    }

    /// The code object for `hipModuleLoad` or `hipModuleLoadData`.
    pub fn code_object(&self) -> &[u8] {
        &self.object
    }

    /// Every wait that was inserted, with its reasons.
    pub fn waits(&self) -> &[Inserted] {
        &self.inserted
    }

    /// The loops that `#[pipeline]` asked for, inner ones first: which loads run ahead, and which do not and
    /// why.
    pub fn pipelines(&self) -> &[ir::pipeline::Pipelined] {
        &self.pipelines
    }

    /// Where register pressure peaks.
    pub fn pressure(&self) -> &Pressure {
        &self.pressure
    }

    /// What was put in for values that found no register.
    pub fn spills(&self) -> &Spills {
        &self.spills
    }

    /// Where register pressure peaks, in the style of a compiler's message: for each file the line, the lines
    /// whose values are live there, and how many registers they take. Source lines are shown if the files are
    /// found.
    pub fn pressure_report(&self) -> String {
        pressure::report(self)
    }

    /// Registers, LDS, occupancy, instruction and wait counts.
    pub fn report(&self) -> KernelReport {
        KernelReport::of(self)
    }
}
