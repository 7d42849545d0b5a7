//! The test harness around the instructions under test: it loads the registers that they use from the wave's section of a buffer, runs
//! them, and stores the registers, LDS and memory back to the buffer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gcn_isa::reg::{self, RegFile, RegUnit};
use gcn_isa::target::{Family, Subtarget};
use gcn_isa::{Inst, Reg};

use crate::launch::{LANES, Launch, Shape};
use crate::random::Random;
use crate::spelling::{Masks, free, settled, spelled, waited};

/// The first VGPR, AGPR and SGPR that instructions under test may use; the harness uses the registers below.
pub const FIRST: [(RegFile, u16); 3] = [(RegFile::Vgpr, 8), (RegFile::Agpr, 0), (RegFile::Sgpr, 16)];
/// One past the last numbered SGPR that instructions under test may use.
pub const SGPR_END: u16 = 96;
/// The byte offset of the lane's block, in the wave's memory and in LDS.
pub const LANE_OFFSET: Reg = Reg::v(2, 1);
/// The address of the lane's block of memory.
pub const LANE_ADDRESS: Reg = Reg::v(4, 2);
/// The address of the wave's memory.
pub const MEMORY_ADDRESS: Reg = Reg::s(6, 2);
/// A buffer resource that covers the wave's memory.
pub const RESOURCE: Reg = Reg::s(8, 4);

/// The size in bytes of one row of the buffer: a vector register of a wave, or all scalars of a wave.
const ROW: u32 = 4 * LANES;
/// Log2 of the size in bytes of a lane's block of memory.
const BLOCK_SHIFT: u32 = 6;
/// The size in bytes of a wave's memory: the lanes' blocks, and a margin for instruction offsets that reach past them.
const MEMORY: u32 = (LANES << BLOCK_SHIFT) + REACH;
const REACH: u32 = 0x400;
/// The size in bytes of a workgroup's LDS, with the same layout.
const LDS: u32 = MEMORY;
/// The dword in the row of scalars at which the named scalars (VCC, EXEC, M0 ...) begin.
const NAMED: u32 = 48;
/// The named scalars that are stored: each name, and the register that holds its value when it is stored.
const RESULTS: [(&str, &str); 7] = [
    ("vcc_lo", "vcc_lo"),
    ("vcc_hi", "vcc_hi"),
    ("exec_lo", "s2"),
    ("exec_hi", "s3"),
    ("m0", "m0"),
    ("scc", "s13"),
    ("mode", "s14"),
];
/// Exclusive upper bound for values that serve as addresses or indices. It keeps accesses within the wave's memory and the registers that
/// the harness saves.
pub const SMALL: u32 = 16;

/// The conditions under which the instructions under test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surroundings {
    /// A single wave on an otherwise idle GPU.
    Alone,
    /// Other waves run the same program on the same compute unit, each with a different delay.
    Busy,
    /// The wave has just waited for memory.
    Stall,
    /// There is a branch between the two instructions.
    Branch,
}

impl Surroundings {
    /// All conditions.
    pub const ALL: [Surroundings; 4] =
        [Surroundings::Alone, Surroundings::Busy, Surroundings::Stall, Surroundings::Branch];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Surroundings::Alone => "alone",
            Surroundings::Busy => "busy",
            Surroundings::Stall => "stall",
            Surroundings::Branch => "branch",
        }
    }
}

/// A random value with which arithmetic gives ordinary results under every interpretation: as f32, as two f16 and as bytes its magnitude is
/// at most 2, and none of them is a NaN.
pub fn plain(random: &mut Random) -> u32 {
    0x3f00_0000 | random.bits() as u32 & 0x807f_3fff
}

/// The harness for a sequence of instructions, with its input data.
#[derive(Debug, Clone)]
pub struct Bench {
    on: Subtarget,
    /// The VGPRs and AGPRs that the instructions use, one entry for each dword.
    vectors: Vec<Reg>,
    scalars: Vec<u16>,
    uses_lds: bool,
    /// The initial contents of a wave's section of the buffer.
    input: Vec<u8>,
}

impl Bench {
    /// The harness for `insts`. Registers in `small` get values below [`SMALL`]. `wider` lists registers that the instructions may access
    /// without naming them.
    pub fn new(
        on: impl Into<Subtarget>,
        insts: &[&Inst],
        small: &[Reg],
        wider: &[Reg],
        random: &mut Random,
    ) -> Bench {
        let on = on.into();
        let used: BTreeSet<Reg> = insts
            .iter()
            .flat_map(|inst| {
                inst.reads().into_iter().map(|u| u.reg).chain(inst.writes().into_iter().map(|u| u.reg))
            })
            .chain(wider.iter().copied())
            .flat_map(|reg| reg.units().map(RegUnit::reg).collect::<Vec<_>>())
            .collect();
        let is_tested = |reg: &&Reg| FIRST.iter().any(|(file, from)| reg.file == *file && reg.index >= *from);
        let tested = used.iter().filter(is_tested);
        let (scalars, vectors): (Vec<Reg>, Vec<Reg>) = tested.partition(|reg| reg.file == RegFile::Sgpr);
        let scalars = scalars.into_iter().map(|reg| reg.index).filter(|index| *index < SGPR_END).collect();
        let uses_lds = insts.iter().any(|inst| {
            use gcn_isa::hazards::{Kinds, View};
            let touches =
                Kinds::DS | Kinds::LDS_DMA | Kinds::M0_LDS | Kinds::M0_BUFFER_LDS | Kinds::M0_DIRECT;
            View::new(on.target, inst).kinds().intersects(touches)
        });
        let mut bench = Bench { on, vectors, scalars, uses_lds, input: Vec::new() };
        bench.input = bench.data(small, random);
        bench
    }

    /// Plain values for the registers and memory, and small ones for registers that serve as addresses.
    fn data(&self, small: &[Reg], random: &mut Random) -> Vec<u8> {
        let low = |random: &mut Random| 4 * random.below((SMALL / 4) as usize) as u32;
        let mut words: Vec<u32> = (0..self.bytes() / 4).map(|_| plain(random)).collect();
        let is_small = |reg: Reg| small.iter().any(|s| s.overlaps(reg));
        for (i, _) in self.vectors.iter().enumerate().filter(|(_, reg)| is_small(**reg)) {
            let row = ((1 + i as u32) * ROW / 4) as usize;
            words[row..row + LANES as usize].iter_mut().for_each(|word| *word = low(random));
        }
        for (i, _) in self.scalars.iter().enumerate().filter(|(_, index)| is_small(Reg::s(**index, 1))) {
            words[i] = low(random);
        }
        let named = NAMED as usize;
        for word in &mut words[named..named + 4] {
            *word = random.bits() as u32;
        }
        // EXEC: some lanes are inactive. Lane 0 is always active, since some instructions read it whatever EXEC is.
        words[named + 2] |= 1 | random.bits() as u32;
        words[named + 3] |= random.bits() as u32;
        words[named + 4] = low(random); // M0
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn rows(&self) -> u32 {
        1 + self.vectors.len() as u32
    }

    /// The offset of the wave's memory in its section of the buffer.
    fn memory_at(&self) -> u32 {
        self.rows() * ROW
    }

    fn results_at(&self) -> u32 {
        self.memory_at() + MEMORY
    }

    /// The size in bytes of a wave's section of the buffer.
    fn bytes(&self) -> u32 {
        self.results_at() + self.rows() * ROW + if self.uses_lds { LDS } else { 0 }
    }

    /// This harness with every lane active.
    #[must_use]
    pub fn with_all_lanes(&self) -> Bench {
        let mut bench = self.clone();
        let exec = 4 * (NAMED as usize + 2);
        bench.input[exec..exec + 8].fill(0xff);
        bench
    }

    /// This harness with the registers as another of its programs left them; those in `old` keep their values.
    #[must_use]
    pub fn after(&self, results: &[u8], old: &[Reg]) -> Bench {
        let mut bench = self.clone();
        let rows = (self.rows() * ROW) as usize;
        let Some(ends) = results.get(self.results_at() as usize..).and_then(|ends| ends.get(..rows)) else {
            return bench;
        };
        bench.input[..rows].copy_from_slice(ends);
        for (at, bytes) in
            old.iter().flat_map(|register| register.units()).filter_map(|unit| self.row_part(unit.reg()))
        {
            let part = at as usize..(at + bytes) as usize;
            bench.input[part.clone()].copy_from_slice(&self.input[part]);
        }
        bench
    }

    /// This harness with each dword of the vector registers replaced by a value of `word`.
    #[must_use]
    pub fn with_vectors(&self, mut word: impl FnMut() -> u32) -> Bench {
        let mut bench = self.clone();
        let end = (self.rows() * ROW) as usize;
        for dword in bench.input[ROW as usize..end].chunks_exact_mut(4) {
            dword.copy_from_slice(&word().to_le_bytes());
        }
        bench
    }

    /// A description for reports of the value at byte `offset` of a wave's results.
    pub fn place(&self, offset: usize) -> String {
        let at = offset as u32;
        let Some(result) = at.checked_sub(self.results_at()) else {
            return match at.checked_sub(self.memory_at()) {
                Some(byte) => format!("byte {byte} of the wave's memory"),
                None => format!("input byte {at}, which no program writes"),
            };
        };
        let (row, lane) = (result / ROW, result % ROW / 4);
        if row >= self.rows() {
            return format!("LDS byte {}", result - self.rows() * ROW);
        }
        if let Some(reg) = row.checked_sub(1).and_then(|row| self.vectors.get(row as usize)) {
            return format!("{reg} of lane {lane}");
        }
        let named = lane.checked_sub(NAMED).and_then(|i| RESULTS.get(i as usize));
        let numbered = self.scalars.get(lane as usize).map(|index| format!("s{index}"));
        named.map(|(name, _)| (*name).to_owned()).or(numbered).unwrap_or_else(|| format!("scalar {lane}"))
    }

    /// The launch of a program that runs `body`, assembly text, under the conditions `around`.
    ///
    /// # Errors
    /// Errors of the assembler or the linker.
    pub fn launch(&self, body: &str, around: Surroundings) -> Result<Launch, String> {
        // All waves of a workgroup share its LDS, so with LDS each workgroup has a single wave.
        let sizes = match (around, self.uses_lds) {
            (Surroundings::Busy, true) => (8, 1),
            (Surroundings::Busy, false) => (2, 4),
            _ => (1, 1),
        };
        let input = self.input.repeat((sizes.0 * sizes.1) as usize);
        let lds_bytes = if self.uses_lds { LDS } else { 0 };
        let (workgroups, waves) = sizes;
        let shape = Shape { on: self.on, workgroups, waves, lds_bytes, one_unit: false, room: 0 };
        Launch::shaped(&self.text(body, around, waves), input, shape)
    }

    /// The assembly text that [`Bench::launch`] assembles, for workgroups of `waves` waves.
    pub fn text(&self, body: &str, around: Surroundings, waves: u32) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let mut line = |what: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{what}");
        };
        let [wait, settle, free] = [waited, settled, free].map(|text| text(self.on.target));
        let masks = Masks::of(self.on.wave);
        let Masks { exec, vcc, bits, .. } = masks;
        let lanes = self.on.wave.lanes();
        // In LDS, the work-items copy a row of one dword each at a time.
        let row = 4 * lanes;
        line(format_args!("{{s_load_dwordx2}} s[4:5], s[0:1], 0x0\nv_lshrrev_b32 v1, {}, v0", lanes.ilog2()));
        line(format_args!("v_and_b32 v0, {}, v0\n{settle}\nv_readfirstlane_b32 s12, v1", lanes - 1));
        line(format_args!(
            "s_mul_i32 s3, s2, {waves}\ns_add_u32 s3, s3, s12\ns_mul_i32 s3, s3, {:#x}",
            self.bytes()
        ));
        line(format_args!("s_add_u32 s4, s4, s3\ns_addc_u32 s5, s5, 0"));
        let memory = self.memory_at();
        line(format_args!("s_add_u32 s6, s4, {memory:#x}\ns_addc_u32 s7, s5, 0"));
        if self.on.family() == Family::GFX9 {
            // Format 0x27000: raw, 32 bits (CDNA3 ISA, buffer resource).
            line(format_args!(
                "s_mov_b32 s8, s6\ns_and_b32 s9, s7, 0xffff\ns_movk_i32 s10, {MEMORY:#x}\ns_mov_b32 s11, 0x27000"
            ));
        }
        line(format_args!("v_lshlrev_b32 v3, 2, v0\nv_lshlrev_b32 v2, {BLOCK_SHIFT}, v0\nv_mov_b32 v5, s7"));
        line(format_args!(
            "{{v_add_co_u32}} v4, {vcc}, s6, v2\n{settle}\n{{v_addc_co_u32}} v5, {vcc}, 0, v5, {vcc}"
        ));
        for i in (0..LDS / row).filter(|_| self.uses_lds) {
            line(format_args!(
                "{free}\n{{v_add_u32}} v6, {:#x}, v3\n{{global_load_dword}} v7, v6, s[4:5]",
                memory + i * row
            ));
            line(format_args!(
                "{free}\n{{v_add_u32}} v6, {:#x}, v3\n{wait}\n{{ds_write_b32}} v6, v7",
                i * row
            ));
        }
        for (i, reg) in self.vectors.iter().enumerate() {
            line(format_args!("{free}\n{{v_add_u32}} v6, {:#x}, v3", (1 + i as u32) * ROW));
            match reg.file {
                RegFile::Agpr => line(format_args!(
                    "{{global_load_dword}} v7, v6, s[4:5]\n{settle}\nv_accvgpr_write_b32 {reg}, v7"
                )),
                _ => line(format_args!("{{global_load_dword}} {reg}, v6, s[4:5]")),
            }
        }
        for (i, index) in self.scalars.iter().enumerate() {
            line(format_args!("{{s_load_dword}} s{index}, s[4:5], {:#x}", 4 * i));
        }
        line(format_args!("{{s_load_dwordx4}} s[12:15], s[4:5], {:#x}", 4 * NAMED));
        line(format_args!("{{s_load_dwordx2}} s[2:3], s[4:5], {:#x}\n{settle}", 4 * NAMED + 16));
        if around == Surroundings::Busy {
            // Each wave of a workgroup runs this loop a different number of times, so that they get out of step.
            line(format_args!("v_readfirstlane_b32 s0, v1\ns_nop 7"));
            line(format_args!("late:\nv_mul_f32 v6, v6, v7\ns_sub_u32 s0, s0, 1\ns_cbranch_scc0 late"));
        }
        line(format_args!("s_mov_b32 m0, s2\ns_mov_b32 vcc_lo, s12\ns_mov_b32 vcc_hi, s13"));
        line(format_args!("s_getreg_b32 s12, hwreg(HW_REG_MODE)\ns_mov_{bits} {exec}, {}", masks.at(14)));
        line(format_args!("s_bitcmp1_b32 s3, 0\n{settle}"));
        if around == Surroundings::Stall {
            line(format_args!("{{global_load_dword}} v7, v3, s[4:5]\n{wait}"));
        }
        line(format_args!("{body}\n{settle}\ns_cselect_b32 s13, 1, 0\ns_getreg_b32 s14, hwreg(HW_REG_MODE)"));
        line(format_args!(
            "s_nop 7\ns_setreg_b32 hwreg(HW_REG_MODE), s12\ns_mov_{bits} {}, {exec}",
            masks.at(2)
        ));
        line(format_args!("s_mov_{bits} {exec}, -1\n{settle}"));
        let results = self.results_at();
        for (i, reg) in self.vectors.iter().enumerate() {
            line(format_args!("{free}\n{{v_add_u32}} v6, {:#x}, v3", results + (1 + i as u32) * ROW));
            match reg.file {
                RegFile::Agpr => line(format_args!(
                    "v_accvgpr_read_b32 v7, {reg}\n{settle}\n{{global_store_dword}} v6, v7, s[4:5]\n{wait}"
                )),
                _ => line(format_args!("{{global_store_dword}} v6, {reg}, s[4:5]")),
            }
        }
        let numbered = self.scalars.iter().enumerate().map(|(i, index)| (i as u32, format!("s{index}")));
        let named = RESULTS.iter().map(|(_, register)| (*register).to_owned());
        for (i, name) in numbered.chain((NAMED..).zip(named)) {
            line(format_args!("{free}\nv_mov_b32 v7, {name}\nv_mov_b32 v6, {:#x}", results + 4 * i));
            line(format_args!("{{global_store_dword}} v6, v7, s[4:5]"));
        }
        for i in (0..LDS / row).filter(|_| self.uses_lds) {
            line(format_args!("{free}\n{{v_add_u32}} v6, {:#x}, v3\n{{ds_read_b32}} v7, v6", i * row));
            line(format_args!(
                "{free}\n{{v_add_u32}} v6, {:#x}, v3\n{wait}",
                results + self.rows() * ROW + i * row
            ));
            line(format_args!("{{global_store_dword}} v6, v7, s[4:5]\n{wait}"));
        }
        line(format_args!("s_endpgm"));
        // Every target has the instructions of the harness.
        spelled(&text, self.on.target).unwrap_or_default()
    }

    /// The sections of one wave's results that an instruction that writes these registers may have written: the registers, memory and LDS.
    pub fn written<'a>(&self, registers: &[Reg], after: &'a [u8]) -> Vec<&'a [u8]> {
        let results = self.results_at();
        let part = |at: u32, bytes: u32| after.get(at as usize..(at + bytes) as usize);
        let mut parts = vec![part(self.memory_at(), MEMORY), part(results + self.rows() * ROW, LDS)];
        let places = registers
            .iter()
            .flat_map(|register| register.units())
            .filter_map(|unit| self.row_part(unit.reg()));
        parts.extend(places.map(|(at, bytes)| part(results + at, bytes)));
        parts.into_iter().flatten().collect()
    }

    /// Where a register of one dword is in the rows, of the input as of the results, and its size there, in bytes.
    fn row_part(&self, register: Reg) -> Option<(u32, u32)> {
        let vector = self.vectors.iter().position(|vector| *vector == register);
        let scalar = || self.scalar_place(register).map(|i| (4 * i, 4));
        vector.map(|i| ((1 + i as u32) * ROW, ROW)).or_else(scalar)
    }

    /// The index in dwords of a scalar in the row of scalars; `None` if the harness does not store it.
    fn scalar_place(&self, register: Reg) -> Option<u32> {
        let named = [(reg::VCC, 0), (reg::EXEC, 2), (reg::M0, 4)];
        let named = named.into_iter().find(|(name, _)| name.overlaps(register));
        let numbered = || self.scalars.iter().position(|index| *index == register.index).map(|i| i as u32);
        named.map(|(name, at)| NAMED + at + u32::from(register.index - name.index)).or_else(numbered)
    }

    /// The value of an SGPR or of M0 before the instructions under test, and its value after them according to one wave's results; `None`
    /// if the harness does not store it.
    pub fn scalar(&self, register: Reg, after: &[u8]) -> Option<[u32; 2]> {
        let at = 4 * self.scalar_place(register)?;
        let word = |bytes: &[u8], at: u32| {
            let at = at as usize;
            bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        Some([word(&self.input, at)?, word(after, self.results_at() + at)?])
    }
}
