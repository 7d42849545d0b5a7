//! The frame of a program that measures time: sections of code, each between two readings of the clock, for each of a list of arguments.

use std::fmt::Write as _;

use gcn_isa::target::Subtarget;
use gcn_isa::{InstructionSet, WaveSize};

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;

use crate::launch::{KERNEL, Launch, Runner, Shape};

/// Words of an argument, which are in `s[8:15]`.
pub(super) const WORDS: usize = 8;
/// What the code after the end is aligned to.
pub(super) const TAIL: usize = 256;
/// Room before the memory that programs walk through is aligned to this.
const ALIGN: u32 = 4096;

/// What a wave waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing.
    None,
    /// Loads of vectors.
    Loads,
    /// LDS.
    Lds,
    /// Scalar memory and messages.
    Scalar,
    /// Everything.
    All,
}

/// How instructions that differ between targets are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub on: Subtarget,
}

impl Dialect {
    fn set(self) -> InstructionSet {
        self.on.target.instruction_set()
    }

    fn is_rdna(self) -> bool {
        self.on.target.has_workgroup_processors()
    }

    /// Scalar and message counters that waits name apart, instead of one instruction for all.
    pub fn splits_counters(self) -> bool {
        self.is_rdna() && self.set() >= InstructionSet::GFX12
    }

    /// `s_memtime` is the clock; elsewhere it is a hardware register.
    pub fn has_memtime(self) -> bool {
        !self.is_rdna() || self.set() < InstructionSet::GFX11
    }

    /// Bits of the clock that are read.
    pub fn clock_mask(self) -> u32 {
        // RDNA3 ISA, SHADER_CYCLES: 20 bits.
        if self.has_memtime() || self.splits_counters() { u32::MAX } else { (1 << 20) - 1 }
    }

    /// Reads the clock to an SGPR, and the next one.
    pub fn clock(self, sgpr: u32) -> String {
        let last = sgpr + 1;
        match () {
            () if self.has_memtime() => format!("s_memtime s[{sgpr}:{last}]\n"),
            () if self.splits_counters() => format!("s_getreg_b32 s{sgpr}, hwreg(HW_REG_SHADER_CYCLES_LO)\n"),
            () => format!("s_getreg_b32 s{sgpr}, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n"),
        }
    }

    /// Waits.
    pub fn wait(self, wait: Wait) -> String {
        if self.splits_counters() {
            let names: &[&str] = match wait {
                Wait::None => &[],
                Wait::Loads => &["load"],
                Wait::Lds => &["ds"],
                Wait::Scalar => &["km"],
                Wait::All => &["load", "store", "ds", "km"],
            };
            return names.iter().map(|name| format!("s_wait_{name}cnt 0x0\n")).collect();
        }
        let stores = if self.is_rdna() { "s_waitcnt_vscnt null, 0x0\n" } else { "" };
        match wait {
            Wait::None => String::new(),
            Wait::Loads => "s_waitcnt vmcnt(0)\n".to_owned(),
            Wait::Lds | Wait::Scalar => "s_waitcnt lgkmcnt(0)\n".to_owned(),
            Wait::All => format!("s_waitcnt vmcnt(0) lgkmcnt(0)\n{stores}"),
        }
    }

    /// All waves of the workgroup meet.
    pub fn barrier(self) -> &'static str {
        if self.splits_counters() { "s_barrier_signal -1\ns_barrier_wait -1\n" } else { "s_barrier\n" }
    }

    /// Sets EXEC to an operand: a constant, or a pair of SGPRs by its first.
    pub fn exec(self, mask: Mask) -> String {
        let wide = self.on.wave == WaveSize::W64;
        let (bits, exec) = if wide { ("b64", "exec") } else { ("b32", "exec_lo") };
        match mask {
            Mask::All => format!("s_mov_{bits} {exec}, -1\n"),
            Mask::First => format!("s_mov_{bits} {exec}, 1\n"),
            Mask::In(sgpr) if wide => format!("s_mov_{bits} {exec}, s[{sgpr}:{}]\n", sgpr + 1),
            Mask::In(sgpr) => format!("s_mov_{bits} {exec}, s{sgpr}\n"),
        }
    }

    /// What the names of sums without a carry end with.
    pub fn no_carry(self) -> &'static str {
        if self.is_rdna() { "_nc" } else { "" }
    }

    /// Lanes of a wave.
    pub fn lanes(self) -> u32 {
        self.on.wave.lanes()
    }
}

/// Active lanes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mask {
    All,
    First,
    /// Those of the SGPRs from this one on.
    In(u32),
}

/// Code between two readings of the clock.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Instructions before the first reading.
    pub before: String,
    /// Instructions between the readings.
    pub body: String,
    /// What is waited for before the second.
    pub after: Wait,
}

/// A program. Sections may use VGPRs from v8 on, in which they find nothing, and SGPRs from s16 to s43; v1 has the lane, s2 and s3 the
/// workgroup and the wave, `s[8:15]` the argument, and `s[44:45]` the address of memory.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub dialect: Dialect,
    /// How often it runs; the shortest time counts.
    pub times: u32,
    pub workgroups: u32,
    pub waves: u32,
    pub lds_bytes: u32,
    /// A workgroup runs on one compute unit.
    pub one_unit: bool,
    /// Bytes of memory from `s[44:45]` on.
    pub room: u64,
    /// Instructions before everything.
    pub setup: String,
    /// Instructions after everything, before the end, which is at the label `done`.
    pub end: String,
    /// How often each section runs; the last time counts.
    pub trips: u32,
    /// Instructions after the end, from a multiple of [`TAIL`] bytes and the label `tail` on.
    pub tail: String,
    /// Bytes after the results, which instructions may store to at [`Frame::kept_at`].
    pub kept: u32,
    /// Waves meet before each section.
    pub meets: bool,
    /// Instructions before all others.
    pub first: String,
    /// The SGPRs that are stored as the two readings of a section.
    pub stored: [u32; 2],
    pub sections: Vec<Section>,
    pub arguments: Vec<[u32; WORDS]>,
}

impl Frame {
    /// A wave alone, with one argument.
    pub fn new(on: Subtarget, times: u32) -> Frame {
        Frame {
            dialect: Dialect { on },
            times,
            workgroups: 1,
            waves: 1,
            lds_bytes: 0,
            one_unit: false,
            room: 0,
            setup: String::new(),
            end: String::new(),
            // The first brings the code.
            trips: 3,
            tail: String::new(),
            kept: 0,
            meets: true,
            first: String::new(),
            stored: [48, 50],
            sections: Vec::new(),
            arguments: vec![[0; WORDS]],
        }
    }

    /// Adds a section.
    pub fn add(&mut self, body: String, after: Wait) {
        self.sections.push(Section { before: String::new(), body, after });
    }

    fn argument_bytes(&self) -> u32 {
        (self.arguments.len() * WORDS * 4) as u32
    }

    /// Bytes of a round's results.
    fn row(&self) -> u32 {
        self.sections.len() as u32 * 8
    }

    fn result_bytes(&self) -> u32 {
        self.workgroups * self.waves * self.arguments.len() as u32 * self.row()
    }

    /// Where in the buffer the bytes are that are kept.
    pub fn kept_at(&self) -> u32 {
        self.argument_bytes() + self.result_bytes()
    }

    /// The program with its tail, which stands where it has to.
    fn whole(&self) -> Result<String, String> {
        let text = self.text();
        if self.tail.is_empty() {
            return Ok(text);
        }
        let ended = format!("{text}tail:\ns_endpgm\n");
        let program = parse_program(&ended, self.dialect.on, KERNEL).map_err(|error| error.to_string())?;
        let bytes = encode_program(&program).map_err(|error| error.to_string())?.bytes.len() - 4;
        let fill = "s_nop 0\n".repeat((bytes.next_multiple_of(TAIL) - bytes) / 4);
        Ok(format!("{text}{fill}tail:\n{}", self.tail))
    }

    fn text(&self) -> String {
        let d = self.dialect;
        let lanes = d.lanes();
        let mut out = String::new();
        let mut add = |line: std::fmt::Arguments<'_>| {
            // Writing to a string does not fail.
            let _ = out.write_fmt(line);
        };
        let (first, rounds, row) = (self.argument_bytes(), self.arguments.len(), self.row());
        add(format_args!("{}", self.first));
        if d.on.target.has_ids_in_ttmps() {
            add(format_args!("s_mov_b32 s2, ttmp9\n"));
        }
        add(format_args!(
            "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshrrev_b32 v1, {}, v0\ns_nop 1\nv_readfirstlane_b32 s3, v1\n\
             v_and_b32 v1, {}, v0\n{}",
            lanes.ilog2(),
            lanes - 1,
            d.wait(Wait::All)
        ));
        // Where this wave's results begin, and the memory.
        add(format_args!(
            "s_mul_i32 s46, s2, {}\ns_add_u32 s46, s46, s3\ns_mul_i32 s46, s46, {}\ns_add_u32 s46, s46, {first}\n\
             s_add_u32 s44, s4, {}\ns_addc_u32 s45, s5, 0\ns_and_b32 s44, s44, {:#x}\ns_mov_b32 s6, 0\n",
            self.waves,
            rounds as u32 * row,
            self.kept_at() + self.kept + ALIGN - 1,
            !(ALIGN - 1),
        ));
        add(format_args!("{}", self.setup));
        add(format_args!(
            "round:\ns_lshl_b32 s7, s6, 5\ns_add_u32 s48, s4, s7\ns_addc_u32 s49, s5, 0\n\
             s_load_dwordx8 s[8:15], s[48:49], 0x0\n{}s_mov_b32 s7, {}\ntrip:\n",
            d.wait(Wait::All),
            self.trips
        ));
        for (number, section) in self.sections.iter().enumerate() {
            add(format_args!("{}{}", section.before, d.wait(Wait::All)));
            if self.waves > 1 && self.meets {
                add(format_args!("{}", d.barrier()));
            }
            add(format_args!(
                "{}{}{}{}{}",
                d.clock(48),
                section.body,
                d.wait(section.after),
                d.clock(50),
                d.wait(Wait::All),
            ));
            add(format_args!(
                "{}v_mov_b32 v2, s46\nv_mov_b32 v4, s{}\nv_mov_b32 v5, s{}\n\
                 global_store_dwordx2 v2, v[4:5], s[4:5] offset:{}\n{}",
                d.exec(Mask::First),
                self.stored[0],
                self.stored[1],
                number * 8,
                d.exec(Mask::All)
            ));
        }
        add(format_args!(
            "s_sub_u32 s7, s7, 1\ns_cmp_lg_u32 s7, 0\ns_cbranch_scc1 trip\n\
             s_add_u32 s46, s46, {row}\ns_add_u32 s6, s6, 1\ns_cmp_lg_u32 s6, {rounds}\ns_cbranch_scc1 round\n{}{}done:\ns_endpgm\n",
            d.wait(Wait::All),
            self.end
        ));
        out
    }

    /// The program.
    pub fn launch(&self) -> Result<Launch, String> {
        let mut input: Vec<u8> =
            self.arguments.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        input.resize((self.kept_at() + self.kept) as usize, 0);
        let shape = Shape {
            on: self.dialect.on,
            workgroups: self.workgroups,
            waves: self.waves,
            lds_bytes: self.lds_bytes,
            one_unit: self.one_unit,
            room: self.room + u64::from(ALIGN),
        };
        Launch::shaped(&self.whole()?, input, shape)
    }

    /// Runs the program.
    pub fn run(&self, gpu: Runner<'_>) -> Result<Times, String> {
        let launch = self.launch()?;
        let mut best: Option<(f64, Times)> = None;
        gpu(&launch, self.times, &mut |seen| {
            let words = seen[self.argument_bytes() as usize..].chunks_exact(4);
            let times = Times {
                words: words
                    .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                    .collect(),
                waves: self.waves as usize,
                rounds: self.arguments.len(),
                sections: self.sections.len(),
                mask: self.dialect.clock_mask(),
            };
            let all =
                (0..times.rounds).flat_map(|round| (0..times.sections).map(move |section| (round, section)));
            let sum = all.map(|(round, section)| times.first(round, section)).sum::<f64>();
            if best.as_ref().is_none_or(|(least, _)| sum < *least) {
                best = Some((sum, times));
            }
            true
        })?;
        best.map(|(_, times)| times).ok_or_else(|| "the program has not run".to_owned())
    }
}

/// Readings of the clock.
#[derive(Debug, Clone)]
pub(super) struct Times {
    words: Vec<u32>,
    waves: usize,
    rounds: usize,
    sections: usize,
    mask: u32,
}

impl Times {
    /// The words that are kept.
    pub fn kept(&self, bytes: u32) -> &[u32] {
        let words = bytes as usize / 4;
        &self.words[self.words.len().saturating_sub(words)..]
    }

    /// Bits of the clock between two readings of it.
    pub fn between(&self, start: u32, end: u32) -> f64 {
        f64::from(end.wrapping_sub(start) & self.mask)
    }

    /// The two readings of a wave.
    pub fn readings(&self, (workgroup, wave): (usize, usize), round: usize, section: usize) -> [u32; 2] {
        let at = ((workgroup * self.waves + wave) * self.rounds + round) * self.sections + section;
        [2 * at, 2 * at + 1].map(|at| self.words.get(at).copied().unwrap_or(0))
    }

    /// Cycles of a section in the first wave.
    pub fn first(&self, round: usize, section: usize) -> f64 {
        let [start, end] = self.readings((0, 0), round, section);
        f64::from(end.wrapping_sub(start) & self.mask)
    }

    /// Cycles from the first wave's begin of a section to the last one's end, in a workgroup.
    pub fn all(&self, workgroup: usize, round: usize, section: usize) -> f64 {
        let readings: Vec<_> =
            (0..self.waves).map(|wave| self.readings((workgroup, wave), round, section)).collect();
        let [zero, _] = readings[0];
        // Relative to one reading, as signed numbers of the clock's bits.
        let shift = self.mask.leading_zeros();
        let relative = |clock: u32| (clock.wrapping_sub(zero) << shift) as i32 >> shift;
        let start = readings.iter().map(|[start, _]| relative(*start)).min().unwrap_or(0);
        let end = readings.iter().map(|[_, end]| relative(*end)).max().unwrap_or(0);
        f64::from(end - start)
    }
}

/// Copies of code between which the slope is taken.
pub(super) const FEW: usize = 16;
/// The larger number.
pub(super) const MANY: usize = 48;

/// Cycles of a copy: the slope between few and many.
pub(super) fn slope(
    gpu: Runner<'_>,
    frame: &Frame,
    copy: impl Fn(usize) -> String,
    after: Wait,
) -> Result<f64, String> {
    let mut frame = frame.clone();
    for copies in [FEW, MANY] {
        frame.add((0..copies).map(&copy).collect(), after);
    }
    let last = frame.sections.len() - 1;
    let times = frame.run(gpu)?;
    Ok((times.all(0, 0, last) - times.all(0, 0, last - 1)) / (MANY - FEW) as f64)
}

/// Cycles between the issue of `first` and that of `second`.
pub(super) fn distance(gpu: Runner<'_>, frame: &Frame, first: &str, second: &str) -> Result<f64, String> {
    let mut frame = frame.clone();
    frame.add(second.to_owned(), Wait::None);
    frame.add(format!("{first}{second}"), Wait::None);
    let times = frame.run(gpu)?;
    Ok(times.first(0, 1) - times.first(0, 0))
}
