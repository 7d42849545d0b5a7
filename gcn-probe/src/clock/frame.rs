//! The frame of a program that measures time: for each of a list of arguments, it runs sections of code, each between two readings of the
//! clock.

use std::fmt::Write as _;

use gcn_isa::target::Subtarget;
use gcn_isa::{InstructionSet, WaveSize};

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;

use crate::launch::{KERNEL, Launch, Runner, Shape};

/// The number of dwords in an argument, which is loaded to `s[8:15]`.
pub(super) const WORDS: usize = 8;
/// The alignment in bytes of the code after the program's end.
pub(super) const TAIL: usize = 256;
/// The alignment in bytes of the memory through which programs walk.
const ALIGN: u32 = 4096;

/// The operations for which a wave waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing.
    None,
    /// Vector memory loads.
    Loads,
    /// LDS operations.
    Lds,
    /// Scalar loads and messages.
    Scalar,
    /// All operations.
    All,
}

/// The spelling of instructions that differ between targets.
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

    /// True if waits have separate instructions for each counter, as on RDNA 4, instead of one `s_waitcnt`.
    pub fn splits_counters(self) -> bool {
        self.is_rdna() && self.set() >= InstructionSet::GFX12
    }

    /// True if `s_memtime` reads the clock; on other targets the clock is a hardware register.
    pub fn has_memtime(self) -> bool {
        !self.is_rdna() || self.set() < InstructionSet::GFX11
    }

    /// A mask of the clock's valid bits.
    pub fn clock_mask(self) -> u32 {
        // RDNA3 ISA, SHADER_CYCLES: 20 bits.
        if self.has_memtime() || self.splits_counters() { u32::MAX } else { (1 << 20) - 1 }
    }

    /// Instructions that read the clock to `s[sgpr]` and `s[sgpr+1]`.
    pub fn clock(self, sgpr: u32) -> String {
        let last = sgpr + 1;
        match () {
            () if self.has_memtime() => format!("s_memtime s[{sgpr}:{last}]\n"),
            () if self.splits_counters() => format!("s_getreg_b32 s{sgpr}, hwreg(HW_REG_SHADER_CYCLES_LO)\n"),
            () => format!("s_getreg_b32 s{sgpr}, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n"),
        }
    }

    /// The wait for these operations.
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

    /// The wait before a vector instruction reads a scalar register that it, or one like it, has read before and a scalar instruction has
    /// written since (rule `rdna.read-sgpr.valu`).
    pub fn scalars_arrive(self) -> &'static str {
        if self.splits_counters() { "s_wait_alu depctr_sa_sdst(0)\n" } else { "" }
    }

    /// The barrier of a workgroup.
    pub fn barrier(self) -> &'static str {
        if self.splits_counters() { "s_barrier_signal -1\ns_barrier_wait -1\n" } else { "s_barrier\n" }
    }

    /// Sets EXEC to a constant or to a pair of SGPRs.
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

    /// The suffix of additions without carry out, in mnemonics that have one.
    pub fn no_carry(self) -> &'static str {
        if self.is_rdna() { "_nc" } else { "" }
    }

    /// The number of lanes of a wave.
    pub fn lanes(self) -> u32 {
        self.on.wave.lanes()
    }
}

/// The active lanes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mask {
    All,
    First,
    /// The lanes in the mask that starts at this SGPR.
    In(u32),
}

/// Code between two readings of the clock.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Instructions before the first reading.
    pub before: String,
    /// Instructions between the readings.
    pub body: String,
    /// The operations to wait for before the second reading.
    pub after: Wait,
}

/// A program. Its sections may use VGPRs from v8 on, whose contents are undefined at the start, and SGPRs s16 to s43. v1 contains the lane,
/// s2 and s3 the workgroup and the wave, `s[8:15]` the argument, and `s[44:45]` the address of memory.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub dialect: Dialect,
    /// The number of runs, of which the shortest time counts.
    pub times: u32,
    pub workgroups: u32,
    pub waves: u32,
    pub lds_bytes: u32,
    /// True if a workgroup must run on one compute unit.
    pub one_unit: bool,
    /// The number of bytes of memory at the address `s[44:45]`.
    pub room: u64,
    /// Instructions that run once before the sections.
    pub setup: String,
    /// Instructions between the sections and the label `done` at the end of the program.
    pub end: String,
    /// How often each section is repeated; only the last repetition is stored.
    pub trips: u32,
    /// Code after the end of the program, at the label `tail`, which is aligned to [`TAIL`] bytes.
    pub tail: String,
    /// The number of bytes after the results that the program may store to, starting at [`Frame::kept_at`].
    pub kept: u32,
    /// True if the waves synchronise at a barrier before each section.
    pub meets: bool,
    /// The very first instructions of the program.
    pub first: String,
    /// The SGPRs that are stored as the two readings of a section.
    pub stored: [u32; 2],
    pub sections: Vec<Section>,
    pub arguments: Vec<[u32; WORDS]>,
}

impl Frame {
    /// A program for a single wave, with one argument.
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
            // The first trip loads the code into the instruction cache.
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

    /// The size in bytes of the results for one argument.
    fn row(&self) -> u32 {
        self.sections.len() as u32 * 8
    }

    fn result_bytes(&self) -> u32 {
        self.workgroups * self.waves * self.arguments.len() as u32 * self.row()
    }

    /// The offset in the buffer of the [`kept`](Frame::kept) bytes.
    pub fn kept_at(&self) -> u32 {
        self.argument_bytes() + self.result_bytes()
    }

    /// The program's text with its tail at the required alignment.
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
        // Computes the address of this wave's results, and that of the memory.
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
                "{}{}v_mov_b32 v2, s46\nv_mov_b32 v4, s{}\nv_mov_b32 v5, s{}\n\
                 global_store_dwordx2 v2, v[4:5], s[4:5] offset:{}\n{}",
                d.exec(Mask::First),
                d.scalars_arrive(),
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
    /// The dwords that the program stored at [`Frame::kept_at`].
    pub fn kept(&self, bytes: u32) -> &[u32] {
        let words = bytes as usize / 4;
        &self.words[self.words.len().saturating_sub(words)..]
    }

    /// The cycles between two readings of the clock, modulo its width.
    pub fn between(&self, start: u32, end: u32) -> f64 {
        f64::from(end.wrapping_sub(start) & self.mask)
    }

    /// The two readings of a section by one wave.
    pub fn readings(&self, (workgroup, wave): (usize, usize), round: usize, section: usize) -> [u32; 2] {
        let at = ((workgroup * self.waves + wave) * self.rounds + round) * self.sections + section;
        [2 * at, 2 * at + 1].map(|at| self.words.get(at).copied().unwrap_or(0))
    }

    /// Cycles of a section in the first wave.
    pub fn first(&self, round: usize, section: usize) -> f64 {
        let [start, end] = self.readings((0, 0), round, section);
        f64::from(end.wrapping_sub(start) & self.mask)
    }

    /// In one workgroup, the cycles from the first wave's start of a section to the last wave's end.
    pub fn all(&self, workgroup: usize, round: usize, section: usize) -> f64 {
        let readings: Vec<_> =
            (0..self.waves).map(|wave| self.readings((workgroup, wave), round, section)).collect();
        let [zero, _] = readings[0];
        // Differences from one reading, sign-extended from the clock's width.
        let shift = self.mask.leading_zeros();
        let relative = |clock: u32| (clock.wrapping_sub(zero) << shift) as i32 >> shift;
        let start = readings.iter().map(|[start, _]| relative(*start)).min().unwrap_or(0);
        let end = readings.iter().map(|[_, end]| relative(*end)).max().unwrap_or(0);
        f64::from(end - start)
    }
}

/// The smaller number of copies of the code whose time is measured.
pub(super) const FEW: usize = 16;
/// The larger number of copies.
pub(super) const MANY: usize = 48;

/// The cycles per copy: the difference in time between [`MANY`] and [`FEW`] copies, divided by the difference in number.
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
