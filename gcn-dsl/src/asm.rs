//! Literal assembly: the programs and kernels of the macro [`gcn_asm!`](crate::gcn_asm).
//!
//! `gcn_asm!` parses assembly while the crate compiles: every instruction is checked against its target, every wait
//! against the hazard rules, and an error points at the instruction. There are two forms.
//!
//! # A kernel
//!
//! With a function signature, the macro declares a kernel that is built and launched like a kernel of
//! [`gcn_kernel!`](crate::gcn_kernel):
//!
//! ```
//! use gcn_dsl::prelude::*;
//!
//! gcn_asm! {
//!     /// y[i] = a * x[i] for the 64 elements of each workgroup
//!     #[workgroup(64)]
//!     #[targets(gfx90a, gfx942)]
//!     fn scale(a: f32, x: *const f32, y: *mut f32) {
//!         s_load_dword    s8, s[0:1], a;
//!         s_load_dwordx4  s[4:7], s[0:1], x;
//!         v_lshl_add_u32  v0, s2, 6, v0;          // workgroup * 64 + lane
//!         v_lshlrev_b32   v0, 2, v0;
//!         s_waitcnt       lgkmcnt(0);
//!         global_load_dword v1, v0, s[4:5];
//!         s_waitcnt       vmcnt(0);
//!         v_mul_f32       v1, s8, v1;
//!         global_store_dword v0, v1, s[6:7];
//!         s_endpgm;
//!     }
//! }
//!
//! let device = Device::simulator(Target::GFX942);
//! let (x, y) = (device.alloc::<f32>(128)?, device.alloc::<f32>(128)?);
//! device.write(x, &(0..128).map(|i| i as f32).collect::<Vec<_>>())?;
//! scale.launch(&device, Grid::x(2), (2.5, x, y))?;
//! assert_eq!(device.read(y, 128)?[127], 127.0 * 2.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! When a wave starts, `s[0:1]` is the address of the arguments, and `s2`, `s3` and `s4` contain the workgroup's id in
//! x, y and z. The work-item's id in the workgroup is in `v0` (on targets that pack it: x in bits 9:0, y in 19:10, z in
//! 29:20), or in `v0`, `v1` and `v2`. Only the dimensions that `#[workgroup(…)]` has are set. On RDNA 4 the workgroup's
//! id is elsewhere: x in `ttmp9`, y and z in the halves of `ttmp7`. The name of an argument stands for its byte offset
//! from `s[0:1]`, and `x.len` stands for the byte offset of the length of the slice `x`. Registers are counted
//! automatically; `#[lds(1024)]` reserves LDS; f32 denormals are kept, as in every kernel of this crate.
//!
//! # A program
//!
//! Without a signature, the macro is an expression of type [`AsmProgram`]:
//!
//! ```
//! use gcn_dsl::prelude::*;
//! use gcn_emit::kernel::WorkgroupSize;
//!
//! const STEP: AsmProgram = gcn_asm!(
//!     target = gfx942, check = fix,
//!     "v_mfma_f32_32x32x8_f16 a[0:15], v[16:17], v[18:19], a[0:15]",
//!     "v_accvgpr_read_b32 v0, a0",
//!     "s_endpgm",
//! );
//!
//! let program = STEP.program(Target::GFX942)?;
//! // The result of 8 passes can be read after 11 wait states (cdna3.106).
//! assert_eq!(STEP.assembly(Target::GFX942, Comments::None)?.lines().nth(1), Some("\ts_nop 10"));
//! assert_eq!(program.lines.len(), 4);
//!
//! // Registers are counted from the code; what else a kernel says is up to its maker.
//! let kernel = STEP.kernel("step", Target::GFX942, WorkgroupSize::AtMost(64))?;
//! let object = gcn_emit::object::write_code_object(&[kernel])?;
//! assert_eq!(&object[..4], b"\x7fELF");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Syntax
//!
//! - *Tokens*, as in the kernel above: each instruction ends with `;`, a label is `name:`, comments are Rust's. Errors
//!   point at the operand. Numeric labels such as `1:` are not possible.
//! - *Strings*, as in the program above, each of one line or of several. They contain the syntax of an assembly file:
//!   one instruction per line, `;` begins a comment. rustc can point only at a whole string; for a string of several
//!   lines the error quotes the line.
//!
//! Options of a program come first (`target = gfx942,`); those of a kernel are attributes (`#[targets(gfx942)]`):
//!
//! | program | kernel | meaning |
//! |---|---|---|
//! | `target = gfx942` or `targets = [gfx90a, gfx942]` | `#[targets(gfx90a, gfx942)]` | the targets for which the assembly is checked |
//! | `check = deny` (default) | `#[check(deny)]` | a missing wait is an error, which names the wait to write |
//! | `check = fix` | `#[check(fix)]` | a missing wait is inserted, with its reason as the note of the line |
//! | `wave = 32` or `wave = 64` | `#[wave(32)]`, `#[wave(64)]` | the wave size in lanes, for targets that support both (RDNA); the default is 32 |
//! | `rules = safe` (default), `fast`, `manual`, `certain`, `llvm`, `mesa` | `#[rules(safe)]` | the hazard rules that apply, see [`RuleSet`](gcn_isa::hazards::RuleSet) |
//!
//! # What is checked, and what is not
//!
//! Every rule that [`gcn_isa::check`] knows is checked on every path through the text. The program is assumed to start
//! with no outstanding operations, as a kernel does. If a program is [spliced](AsmProgram::splice) into another, the
//! macro does not know the code around it: check the whole program, or insert its waits, with [`gcn_isa::check::check`]
//! or [`gcn_isa::wait::insert_waits`]. The same applies to code that is reached by jumps to computed addresses
//! (`s_setpc_b64`, `s_swappc_b64`), which [`CheckReport::unknown_exits`](gcn_isa::check::CheckReport::unknown_exits)
//! lists. The use of registers is not checked: reads of registers that were never written are not detected.

use std::collections::HashSet;

use gcn_emit::kernel::{KernelSpec, UserSgprs, WorkItemIds, WorkgroupSize};
use gcn_emit::text::{Comments, parse_program, print_program};
use gcn_isa::Program;
use gcn_isa::operand::Operand;
use gcn_isa::program::{LabelDef, Line, SourceLoc};
use gcn_isa::target::Subtarget;

#[doc(hidden)]
pub use gcn_isa::Target;
#[doc(hidden)]
pub use gcn_isa::target::WaveSize;

pub use crate::kernel::AsmError;

use crate::kernel::{self, BuildCause, BuildError, BuildOptions, BuiltKernel};
use crate::lang::Signature;
use crate::launch::Kernel;

/// A program in assembly for one or several targets, which was checked while the crate compiled. This is the type of
/// the value of [`gcn_asm!`](crate::gcn_asm).
#[derive(Clone, Copy, Debug)]
pub struct AsmProgram {
    file: &'static str,
    parts: &'static [Part],
}

/// The program for one target. The macro constructs values of this type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub target: Target,
    pub wave: WaveSize,
    /// Labels and instructions in canonical text.
    pub text: &'static str,
    pub code: &'static [u8],
    /// The reasons for the instructions that the macro inserted, by line.
    pub notes: &'static [(usize, &'static str)],
    /// The line and the column of each instruction in the user's file; zeros for instructions that the macro inserted.
    pub places: &'static [(u32, u32)],
}

impl AsmProgram {
    #[doc(hidden)]
    pub const fn __new(file: &'static str, parts: &'static [Part]) -> AsmProgram {
        AsmProgram { file, parts }
    }

    /// The targets for which the program is written, in the order of the macro call.
    pub fn targets(&self) -> impl Iterator<Item = Target> + use<> {
        self.parts.iter().map(|p| p.target)
    }

    fn part(&self, target: Target) -> Result<&'static Part, AsmError> {
        let listed = || self.targets().map(Target::name).collect::<Vec<_>>().join(", ");
        let part = self.parts.iter().find(|p| p.target == target);
        part.ok_or_else(|| AsmError::Target { target, listed: listed() })
    }

    /// The machine code, including the waits that `check = fix` inserted.
    ///
    /// # Errors
    /// [`AsmError::Target`] if the program is not written for `target`.
    pub fn code(&self, target: Target) -> Result<&'static [u8], AsmError> {
        self.part(target).map(|p| p.code)
    }

    /// The instructions. Each has its location in the user's file; those that `check = fix` inserted have a note with
    /// the reason instead.
    ///
    /// # Errors
    /// [`AsmError::Target`] if the program is not written for `target`.
    pub fn program(&self, target: Target) -> Result<Program, AsmError> {
        let part = self.part(target)?;
        let on = Subtarget { target, wave: part.wave };
        let mut program = parse_program(part.text, on, "asm").map_err(AsmError::Version)?;
        for (line, (number, column)) in program.lines.iter_mut().zip(part.places) {
            let place = SourceLoc::new(self.file, *number, *column);
            line.loc = (*number > 0).then_some(place);
        }
        for (index, note) in part.notes {
            if let Some(line) = program.lines.get_mut(*index) {
                line.note = Some((*note).into());
            }
        }
        Ok(program)
    }

    /// The labels and instructions as text; with [`Comments::Explain`] each inserted wait has a comment with its
    /// reason.
    ///
    /// # Errors
    /// [`AsmError::Target`] if the program is not written for `target`.
    pub fn assembly(&self, target: Target, comments: Comments) -> Result<String, AsmError> {
        Ok(print_program(&self.program(target)?, comments))
    }

    /// A kernel of this program. Its registers are counted, and everything else has the assembler's defaults; change
    /// the fields of the result to describe another initial state. [`gcn_emit::object::write_code_object`] and
    /// [`gcn_emit::asm_file::assembly_file`] write it to a file's bytes or text.
    ///
    /// # Errors
    /// [`AsmError::Target`] if the program is not written for `target`.
    pub fn kernel(
        &self,
        name: &str,
        target: Target,
        workgroup: WorkgroupSize,
    ) -> Result<KernelSpec, AsmError> {
        let program = Program { name: name.to_owned(), ..self.program(target)? };
        let mut spec = KernelSpec::new(program, workgroup);
        kernel::spec::mind_the_last_register(&mut spec);
        Ok(spec)
    }

    /// Inserts the instructions into `program` before its line `at`; branches to that line execute the inserted
    /// instructions first. Labels are renamed if `program` already has labels of these names. The caller must insert or
    /// check the waits of the whole program, since the waits of each part were determined without the other:
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// use gcn_isa::{check, wait};
    ///
    /// let double = gcn_asm!(target = gfx90a, v_add_f32 v1, v1, v1;);
    /// let text = "global_load_dword v1, v0, s[4:5]\nglobal_store_dword v0, v1, s[4:5]\ns_endpgm";
    /// let mut program = gcn_emit::text::parse_program(text, Target::GFX90A, "k")?;
    /// double.splice(&mut program, 1)?;
    /// assert!(!check::check(&program).is_clean());
    /// wait::insert_waits(&mut program, &wait::WaitOptions::default());
    /// assert!(check::check(&program).is_clean());
    /// assert_eq!(program.lines.len(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AsmError::Target`] if the assembly is not written for the target of `program`, [`AsmError::Place`] if
    /// `program` has fewer than `at` lines, [`AsmError::Wave`] if its wave size differs.
    pub fn splice(&self, program: &mut Program, at: usize) -> Result<(), AsmError> {
        let lines = program.lines.len();
        if at > lines {
            return Err(AsmError::Place { at, lines });
        }
        let own = self.program(program.target)?;
        same_wave(own.wave, program.wave)?;
        let first = program.labels.len() as u32;
        let renumbered = |mut line: Line| {
            for operand in &mut line.inst_mut().operands {
                if let Operand::Label(label) = operand {
                    label.0 += first;
                }
            }
            (at, line)
        };
        program.insert(own.lines.into_iter().map(renumbered).collect());
        let mut taken: HashSet<String> = program.labels.iter().map(|l| l.name.clone()).collect();
        for def in own.labels {
            let mut name = def.name;
            while !taken.insert(name.clone()) {
                name.push_str("_asm");
            }
            program.labels.push(LabelDef { name, at: def.at.map(|own| at + own) });
        }
        Ok(())
    }
}

/// Builds a kernel of `gcn_asm!`, for the macro's output.
#[doc(hidden)]
pub fn __build<K: Kernel>(
    signature: Signature,
    program: &AsmProgram,
    target: Target,
    options: &BuildOptions,
    lds_bytes: u32,
) -> Result<BuiltKernel<K>, BuildError> {
    let failed = BuildError::of(&signature.name);
    build(signature, program, target, options, lds_bytes).map(BuiltKernel::of).map_err(failed)
}

fn build(
    signature: Signature,
    program: &AsmProgram,
    target: Target,
    options: &BuildOptions,
    lds_bytes: u32,
) -> Result<BuiltKernel, BuildCause> {
    kernel::build::check_signature(&signature, target)?;
    let workgroup = WorkgroupSize::Required(signature.workgroup);
    let mut spec = program.kernel(&signature.name, target, workgroup)?;
    same_wave(spec.program.wave, options.wave.unwrap_or(spec.program.wave))?;
    spec.lds_bytes = lds_bytes;
    spec.user_sgprs = UserSgprs::KERNARG_SEGMENT_PTR;
    spec.workgroup_ids = [true; 3];
    spec.work_item_ids = WorkItemIds::of_dimensions(dimensions(signature.workgroup));
    kernel::spec::declare(&signature, &mut spec);
    BuiltKernel::from_assembly(signature, spec)
}

/// Returns an error if the requested wave size differs from the one for which the assembly is written.
fn same_wave(says: WaveSize, asked: WaveSize) -> Result<(), AsmError> {
    if says == asked {
        return Ok(());
    }
    Err(AsmError::Wave { says: says.lanes(), asked: asked.lanes() })
}

/// The number of dimensions of a workgroup.
fn dimensions(workgroup: [u32; 3]) -> u8 {
    match workgroup {
        [_, 1, 1] => 1,
        [_, _, 1] => 2,
        _ => 3,
    }
}
