//! A kernel with its only buffer, and its execution on the simulator.

use gcn_emit::kernel::{KernelSpec, UserSgprs, WorkgroupSize};
use gcn_emit::metadata::KernelArg;
use gcn_emit::object::write_code_object;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::target::Subtarget;
use gcn_sim::launch::Program;
use gcn_sim::{Memory, Options, SimError, timed};

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
    /// Lanes of a wave.
    pub lanes: u32,
    /// The number of uninitialised bytes after `input` in the buffer.
    pub room: u64,
}

/// The launch parameters of a program, apart from its text and its input.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The target and the wave size.
    pub on: Subtarget,
    /// Workgroups of the grid.
    pub workgroups: u32,
    /// Waves of a workgroup.
    pub waves: u32,
    /// LDS of a workgroup in bytes.
    pub lds_bytes: u32,
    /// True if a workgroup must run on one compute unit of a workgroup processor.
    pub one_unit: bool,
    /// The number of uninitialised bytes after the input in the buffer.
    pub room: u64,
}

impl Launch {
    /// A kernel from its assembly text, with `waves` times 64 work-items in a workgroup. At its start `s[0:1]` holds the address of the kernel arguments, `s2` the workgroup ID, and v0 the
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
        let on = Subtarget::from(target);
        let waves = waves * LANES / on.wave.lanes();
        Launch::shaped(text, input, Shape { on, workgroups, waves, lds_bytes, one_unit: false, room: 0 })
    }

    /// Like [`Launch::new`], with the given launch parameters.
    ///
    /// # Errors
    /// Errors of the assembler or the linker.
    pub fn shaped(text: &str, input: Vec<u8>, shape: Shape) -> Result<Launch, String> {
        let Shape { on, workgroups, waves, lds_bytes, one_unit, room } = shape;
        let lanes = on.wave.lanes();
        let program = parse_program(text, on, KERNEL).map_err(|error| error.to_string())?;
        let mut spec = KernelSpec::new(program, WorkgroupSize::Required([waves * lanes, 1, 1]));
        spec.user_sgprs = UserSgprs::KERNARG_SEGMENT_PTR;
        spec.workgroup_ids = [true, false, false];
        spec.kernarg_bytes = 8;
        spec.lds_bytes = lds_bytes;
        spec.scheduling.workgroup_processors &= !(one_unit && on.target.has_workgroup_processors());
        spec.args = vec![KernelArg::global_buffer("data", 0)];
        let code_object = write_code_object(&[spec]).map_err(|error| error.to_string())?;
        Ok(Launch { text: text.to_owned(), code_object, input, workgroups, waves, lanes, room })
    }

    /// Grid and workgroup, in workgroups and work-items.
    pub fn sizes(&self) -> ([u32; 3], [u32; 3]) {
        ([self.workgroups, 1, 1], [self.waves * self.lanes, 1, 1])
    }

    /// Bytes of the buffer.
    pub fn bytes(&self) -> usize {
        self.input.len().saturating_add(usize::try_from(self.room).unwrap_or(usize::MAX))
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
        self.with(|memory, argument| {
            let (grid, group) = self.sizes();
            gcn_sim::run(program.machine(), memory, grid, group, argument, options).map(drop)
        })
    }

    /// The contents of the buffer after a run in timed mode, in which the kernel's clock counts the model's cycles.
    ///
    /// # Errors
    /// The reason why the timed mode cannot run the kernel.
    pub fn simulate_timed(&self, config: &timed::Config) -> Result<Vec<u8>, String> {
        let program = Program::load(&self.code_object, Some(KERNEL)).map_err(|error| error.to_string())?;
        self.with(|memory, argument| {
            let (grid, group) = self.sizes();
            timed::run(program.machine(), memory, grid, group, argument, config).map(drop)
        })
    }

    /// The contents of the buffer after `run`.
    fn with(&self, run: impl FnOnce(&mut Memory, &[u8]) -> Result<(), SimError>) -> Result<Vec<u8>, String> {
        let mut memory = Memory::new();
        let buffer = memory.try_alloc(self.bytes()).map_err(|error| error.to_string())?;
        memory.write(buffer, &self.input).map_err(|error| error.to_string())?;
        run(&mut memory, &buffer.to_le_bytes()).map_err(|error| error.to_string())?;
        let after = memory.read(buffer, self.input.len()).map_err(|error| error.to_string())?;
        Ok(after.to_vec())
    }
}

/// A function that runs a kernel the given number of times, or until the callback, which receives the buffer's contents after each run,
/// returns `false`.
pub type Runner<'a> = &'a mut dyn FnMut(&Launch, u32, Seen<'_>) -> Result<(), String>;

/// Receives the contents of the buffer after a run, and says whether another run is wanted.
pub type Seen<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

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
