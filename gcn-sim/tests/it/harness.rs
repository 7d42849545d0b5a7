//! Runs a few assembled instructions on one wave, between code that loads and code that stores registers.

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_sim::{FloatMode, KernelState, Machine, Memory, Options, SimError, Stats, run};

/// A register of 64 lanes.
pub type Lanes = [u32; 64];

/// Machine code of assembly text.
pub fn assemble(target: Target, text: &str) -> Vec<u8> {
    let program = parse_program(text, target, "test").unwrap_or_else(|e| panic!("{e}\n{text}"));
    encode_program(&program).unwrap_or_else(|e| panic!("{e}\n{text}")).bytes
}

/// The descriptor settings of a kernel that keeps all denormals.
pub fn state() -> KernelState {
    KernelState { float_mode: FloatMode { denorm_32: 3, ..FloatMode::default() }, ..KernelState::default() }
}

/// Registers before the tested instructions.
#[derive(Clone)]
pub struct Case {
    pub target: Target,
    pub state: KernelState,
    pub v: Vec<(u32, Lanes)>,
    pub s: Vec<(u32, u32)>,
    /// See [`Machine::with_mix_rounded_twice`].
    pub mix_rounded_twice: bool,
}

/// Registers after the tested instructions.
pub struct Outcome {
    v: Vec<Lanes>,
    s: Vec<u32>,
    pub scc: bool,
}

/// The number of VGPRs and SGPRs that are stored. The harness itself uses higher ones.
const DUMPED_V: usize = 48;
const DUMPED_S: usize = 32;
/// SGPRs of the harness: the buffer address and temporary values.
const BASE: &str = "s[40:41]";

impl Case {
    pub fn new(target: Target) -> Case {
        Case { target, state: state(), v: Vec::new(), s: Vec::new(), mix_rounded_twice: true }
    }

    pub fn v(mut self, register: u32, lanes: Lanes) -> Case {
        self.v.push((register, lanes));
        self
    }

    pub fn s(mut self, register: u32, value: u32) -> Case {
        self.s.push((register, value));
        self
    }

    /// Runs `body`, which may use SGPRs 16 to 31 and VGPRs 0 to 47.
    pub fn run(&self, body: &str) -> Outcome {
        self.try_run(body).unwrap_or_else(|e| panic!("{e}\n{body}"))
    }

    pub fn try_run(&self, body: &str) -> Result<Outcome, SimError> {
        let mut text =
            format!("s_load_dwordx2 {BASE}, s[0:1], 0x0\nv_lshlrev_b32 v60, 2, v0\ns_waitcnt lgkmcnt(0)\n");
        for (i, (register, _)) in self.v.iter().enumerate() {
            text +=
                &format!("v_add_u32 v61, {:#x}, v60\nglobal_load_dword v{register}, v61, {BASE}\n", i * 256);
        }
        text += "s_waitcnt vmcnt(0)\n";
        for (register, value) in &self.s {
            text += &format!("s_mov_b32 s{register}, {value:#x}\n");
        }
        text += &format!("{body}\n");
        // Saves SCC first, then makes all lanes active to store the registers.
        text += "s_cselect_b32 s42, 1, 0\ns_mov_b64 s[44:45], exec\ns_mov_b64 exec, -1\n";
        for register in 0..DUMPED_V {
            text += &format!(
                "v_add_u32 v61, {:#x}, v60\nglobal_store_dword v61, v{register}, {BASE}\n",
                0x1_0000 + register * 256
            );
        }
        for register in (0..DUMPED_S).chain([42, 44, 45, 106, 107]) {
            let name = match register {
                106 => "vcc_lo".to_owned(),
                107 => "vcc_hi".to_owned(),
                n => format!("s{n}"),
            };
            text += &format!(
                "v_mov_b32 v62, {name}\nv_mov_b32 v61, {:#x}\nglobal_store_dword v61, v62, {BASE}\n",
                0x2_0000 + register * 4
            );
        }
        text += "s_endpgm\n";
        let machine = Machine::new(self.target, &assemble(self.target, &text), self.state.clone())?
            .with_mix_rounded_twice(self.mix_rounded_twice);
        let mut memory = Memory::new();
        let buffer = memory.alloc(0x3_0000);
        for (i, (_, lanes)) in self.v.iter().enumerate() {
            memory.write(buffer + 256 * i as u64, &bytes(lanes))?;
        }
        run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &buffer.to_le_bytes(), &Options::default())?;
        let read = |offset: u64, count: usize| words(&memory.read(buffer + offset, count * 4).unwrap());
        let v = (0..DUMPED_V as u64).map(|r| read(0x1_0000 + 256 * r, 64).try_into().unwrap()).collect();
        let s = read(0x2_0000, 128);
        let scc = s[42] == 1;
        Ok(Outcome { v, s, scc })
    }
}

impl Outcome {
    pub fn v(&self, register: usize) -> Lanes {
        self.v[register]
    }

    pub fn pair(&self, register: usize, lane: usize) -> u64 {
        u64::from(self.v[register][lane]) | u64::from(self.v[register + 1][lane]) << 32
    }

    pub fn s(&self, register: usize) -> u32 {
        self.s[register]
    }

    pub fn s_pair(&self, register: usize) -> u64 {
        u64::from(self.s[register]) | u64::from(self.s[register + 1]) << 32
    }

    pub fn exec(&self) -> u64 {
        self.s_pair(44)
    }

    pub fn vcc(&self) -> u64 {
        self.s_pair(106)
    }
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// A whole kernel with its memory.
pub struct Kernel {
    pub target: Target,
    pub state: KernelState,
    pub text: String,
}

impl Kernel {
    pub fn run(
        &self,
        memory: &mut Memory,
        grid: [u32; 3],
        size: [u32; 3],
        kernarg: &[u64],
        options: &Options,
    ) -> Result<Stats, SimError> {
        let machine = Machine::new(self.target, &assemble(self.target, &self.text), self.state.clone())?;
        let kernarg: Vec<u8> = kernarg.iter().flat_map(|w| w.to_le_bytes()).collect();
        run(&machine, memory, grid, size, &kernarg, options)
    }
}
