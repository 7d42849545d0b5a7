//! A kernel with its only buffer, and its execution on the simulator.

use gcn_emit::kernel::{KernelSpec, UserSgprs, WorkgroupSize};
use gcn_emit::metadata::KernelArg;
use gcn_emit::object::write_code_object;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_sim::launch::Program;
use gcn_sim::{Memory, Options};

/// The kernel's name in every program.
pub const KERNEL: &str = "probe";
/// The number of lanes of a wave.
pub const LANES: u32 = gcn_isa::target::WAVE_SIZE;

/// A kernel whose only argument is the address of a buffer; it accesses no other memory.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program as assembly text.
    pub text: String,
    /// The code object.
    pub code_object: Vec<u8>,
    /// The initial contents of the buffer.
    pub input: Vec<u8>,
    /// The number of workgroups in the grid.
    pub workgroups: u32,
    /// The number of waves in a workgroup.
    pub waves: u32,
}

impl Launch {
    /// A kernel from its assembly text. At its start `s[0:1]` holds the address of the kernel arguments, `s2` the workgroup ID, and v0 the
    /// work-item ID.
    ///
    /// # Errors
    /// Errors of the assembler or the linker.
    pub fn new(
        text: &str,
        target: Target,
        input: Vec<u8>,
        (workgroups, waves): (u32, u32),
        lds_bytes: u32,
    ) -> Result<Launch, String> {
        let program = parse_program(text, target, KERNEL).map_err(|error| error.to_string())?;
        let mut spec = KernelSpec::new(program, WorkgroupSize::Required([waves * LANES, 1, 1]));
        spec.user_sgprs = UserSgprs::KERNARG_SEGMENT_PTR;
        spec.workgroup_ids = [true, false, false];
        spec.kernarg_bytes = 8;
        spec.lds_bytes = lds_bytes;
        spec.args = vec![KernelArg::global_buffer("data", 0)];
        let code_object = write_code_object(&[spec]).map_err(|error| error.to_string())?;
        Ok(Launch { text: text.to_owned(), code_object, input, workgroups, waves })
    }

    /// Grid and workgroup, in workgroups and work-items.
    pub fn sizes(&self) -> ([u32; 3], [u32; 3]) {
        ([self.workgroups, 1, 1], [self.waves * LANES, 1, 1])
    }

    /// Runs the kernel on the simulator and returns the final contents of the buffer.
    ///
    /// # Errors
    /// The reason why the simulator cannot run the kernel.
    pub fn simulate(&self, options: &Options) -> Result<Vec<u8>, String> {
        let program = Program::load(&self.code_object, Some(KERNEL)).map_err(|error| error.to_string())?;
        self.simulate_as(&program, options)
    }

    /// As [`simulate`](Self::simulate), with a program that was already loaded from the code object.
    ///
    /// # Errors
    /// The reason why the simulator cannot run the kernel.
    pub fn simulate_as(&self, program: &Program, options: &Options) -> Result<Vec<u8>, String> {
        let mut memory = Memory::new();
        let buffer = memory.alloc(self.input.len());
        memory.write(buffer, &self.input).map_err(|error| error.to_string())?;
        let (grid, group) = self.sizes();
        gcn_sim::run(program.machine(), &mut memory, grid, group, &buffer.to_le_bytes(), options)
            .map_err(|error| error.to_string())?;
        let after = memory.read(buffer, self.input.len()).map_err(|error| error.to_string())?;
        Ok(after.to_vec())
    }
}

/// A function that runs a kernel the given number of times, or until the callback, which receives the buffer's contents after each run,
/// returns `false`.
pub type Runner<'a> = &'a mut dyn FnMut(&Launch, u32, &mut dyn FnMut(&[u8]) -> bool) -> Result<(), String>;

/// Runs a kernel once and returns the final contents of the buffer.
///
/// # Errors
/// Those of the runner.
pub fn once(run: Runner<'_>, launch: &Launch) -> Result<Vec<u8>, String> {
    let mut seen = Vec::new();
    run(launch, 1, &mut |after| {
        seen = after.to_vec();
        false
    })?;
    Ok(seen)
}
