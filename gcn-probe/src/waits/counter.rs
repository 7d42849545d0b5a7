//! Measures rules about counters and barriers. Each program has an operation that completes later, a wait that is omitted or weaker than
//! required, and an instruction that depends on the operation.
//!
//! All targets run the same programs, with their own mnemonics. The required wait is what the checker demands for the program; the measured
//! wait is the weakest one that works on the GPU.

use std::fmt::Write as _;

use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::check::{self, MemoryModel};
use gcn_isa::counters::{Counter, WaitCnt, events};
use gcn_isa::hazards::counter::{self, CounterRule};
use gcn_isa::table;
use gcn_isa::target::Family;

use crate::launch::{KERNEL, LANES, Launch};
use crate::random::Random;

/// The offset of the results in the buffer, and the size of the buffer.
const RESULTS: u32 = 0x1000;
const BUFFER: u32 = 0x2000;
/// The size in bytes of a row of inputs or results: one dword for each work-item.
const ROW: u32 = 0x200;
/// The LDS size of a workgroup.
const LDS: u32 = 2 * ROW;

/// A program for a rule. Inputs: v1 contains the offset of the work-item's dword, v6 that of another input, v7 that of a work-item of
/// another wave; v8 and v9 contain values that differ between work-items; `s[4:5]` is the address of the buffer. Results: v10, v11, v20,
/// s20 and s21.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Experiment {
    rules: &'static [&'static CounterRule],
    /// The only family for which this program is written; `None` if it is the same for all.
    family: Option<Family>,
    /// Waves of the workgroup.
    waves: u32,
    /// Preparation, followed by a wait for everything and a barrier.
    setup: &'static str,
    /// The operation that completes later.
    producer: &'static str,
    /// A younger operation on the same counter, which a weakened wait leaves outstanding. If empty, the wait cannot be weakened.
    younger: &'static str,
    /// The instruction that depends on the producer.
    consumer: &'static str,
}

/// An experiment with one wave and without preparations, as a base for others.
const PLAIN: Experiment = Experiment {
    rules: &[&counter::RAW],
    family: None,
    waves: 1,
    setup: "",
    producer: "",
    younger: "",
    consumer: "",
};
const LOAD: Experiment = Experiment {
    producer: "{global_load_dword} v10, v1, s[4:5]",
    younger: "{global_load_dword} v11, v6, s[4:5]",
    consumer: "v_mov_b32 v20, v10",
    ..PLAIN
};
const LDS_READ: Experiment = Experiment {
    setup: "{ds_write_b32} v1, v8",
    producer: "{ds_read_b32} v10, v1",
    younger: "{ds_read_b32} v11, v1",
    consumer: "v_mov_b32 v20, v10",
    ..PLAIN
};
const SCALAR_LOAD: Experiment = Experiment {
    producer: "{s_load_dword} s20, s[4:5], 0x0",
    younger: "{s_load_dword} s21, s[4:5], 0x4",
    consumer: "v_mov_b32 v20, s20",
    ..PLAIN
};
/// Two waves, of which the later one reads what the other has written.
const TO_OTHER_WAVES: Experiment = Experiment {
    rules: &[&counter::BARRIER_LDS, &counter::BARRIER_COUNTERS],
    waves: 2,
    setup: "{ds_write_b32} v1, v8",
    producer: "{ds_write_b32} v1, v9",
    consumer: "{s_barrier}\n{ds_read_b32} v20, v7",
    ..PLAIN
};

const ALL: [Experiment; 9] = [
    LOAD,
    LDS_READ,
    SCALAR_LOAD,
    Experiment { rules: &[&counter::WAW], consumer: "v_mov_b32 v10, v9", ..LOAD },
    Experiment { rules: &[&counter::WAW], consumer: "v_mov_b32 v10, v9", ..LDS_READ },
    Experiment { rules: &[&counter::WAW], consumer: "s_mov_b32 s20, 7", ..SCALAR_LOAD },
    TO_OTHER_WAVES,
    Experiment {
        rules: &[&counter::BARRIER_LDS_READ],
        producer: "{ds_read_b32} v20, v1",
        consumer: "{s_barrier}\n{ds_write_b32} v7, v9",
        ..TO_OTHER_WAVES
    },
    Experiment {
        rules: &[&counter::LDS_DMA],
        family: Some(Family::GFX9), // that of the resource
        // Format 0x27000: raw, 32 bits (CDNA3 ISA, buffer resource).
        setup: "{ds_write_b32} v1, v9\ns_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_movk_i32 s10, 0x2000\ns_mov_b32 s11, 0x27000\n\
                s_mov_b32 m0, 0",
        producer: "{buffer_load_dword} v1, s[8:11], 0 offen lds",
        consumer: "{ds_read_b32} v20, v1",
        ..PLAIN
    },
];

/// The vector registers that are results; the scalars follow.
const VECTORS: [u16; 3] = [10, 11, 20];
const SCALARS: [u16; 2] = [20, 21];

/// A program for a rule on a target, with the waits that are tried, the weakest first.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The instructions, with a sufficient wait between them.
    pub text: String,
    /// The waits: none, then waits that allow fewer and fewer outstanding operations.
    pub waits: Vec<String>,
    /// The index of the weakest wait that satisfies the rule.
    pub needed: u8,
    target: Target,
    waves: u32,
    setup: String,
    producer: String,
    consumer: String,
    input: Vec<u8>,
}

/// The rules of `target` about counters, barriers and single instructions.
pub fn tasks(target: Target) -> Vec<&'static CounterRule> {
    counter::ALL.into_iter().filter(|rule| rule.holds_on(target)).collect()
}

/// The programs for a rule.
///
/// # Errors
/// The reason why there is no program.
pub fn trials(rule: &'static CounterRule, target: Target, seed: u64) -> Result<Vec<Trial>, String> {
    let is_for = |experiment: &&Experiment| {
        experiment.rules.contains(&rule)
            && experiment.family.is_none_or(|family| family == target.instruction_set().family())
    };
    let own = ALL.iter().filter(is_for);
    let trials: Vec<Trial> = own.filter_map(|experiment| Trial::of(experiment, rule, target, seed)).collect();
    match trials.is_empty() {
        true => Err("no program of the suite depends on this rule alone".to_owned()),
        false => Ok(trials),
    }
}

impl Trial {
    /// `None` if the target lacks an instruction of the experiment, or if the rule requires no wait here on this target.
    fn of(experiment: &Experiment, rule: &CounterRule, target: Target, seed: u64) -> Option<Trial> {
        let [setup, producer, younger, consumer] =
            [experiment.setup, experiment.producer, experiment.younger, experiment.consumer]
                .map(|text| spelled(text, target));
        let (setup, producer, younger, consumer) = (setup?, producer?, younger?, consumer?);
        let producer = [producer, younger].join("\n").trim().to_owned();
        let started = parse_program(&producer, target, KERNEL).ok()?;
        let outstanding: Vec<Counter> = started
            .lines
            .iter()
            .flat_map(|line| events(target, &line.inst))
            .map(|event| event.stream.counter(target.instruction_set()))
            .collect();
        let counter = *outstanding.first()?;
        let set = target.instruction_set();
        let weaker = (0..outstanding.len() as u8).rev();
        let waits = weaker.map(|left| counter.at(left).on(set).statements().join("\n"));
        let mut random = Random::of(seed, rule.id, experiment.waves);
        let input = (0..BUFFER / 4).flat_map(|_| (random.bits() as u32).to_le_bytes()).collect();
        let mut trial = Trial {
            text: String::new(),
            waits: std::iter::once(String::new()).chain(waits).collect(),
            needed: 0,
            target,
            waves: experiment.waves,
            setup,
            producer,
            consumer,
            input,
        };
        let breaks = |wait: &String| {
            let program = parse_program(&trial.program(Some(wait)), target, KERNEL).ok()?;
            let options = check::Options { memory_model: MemoryModel::Strict, ..check::Options::default() };
            let findings = check::check_with(&program, options).findings;
            Some(findings.iter().any(|finding| finding.rule == rule.id))
        };
        let broken: Option<Vec<bool>> = trial.waits.iter().map(breaks).collect();
        let needed = broken?.iter().position(|broken| !broken).filter(|needed| *needed > 0)?;
        trial.needed = u8::try_from(needed).ok()?;
        let lines =
            [&trial.producer, &trial.waits[needed], &trial.consumer].map(|text| text.replace('\n', "; "));
        trial.text = lines.join("; ");
        Some(trial)
    }

    /// The program with wait number `wait`; with `None`, the operation has completed long before its result is used.
    ///
    /// # Errors
    /// Errors of the assembler or the linker.
    pub fn launch(&self, wait: Option<u8>) -> Result<Launch, String> {
        let wait = wait.map(|wait| self.waits.get(usize::from(wait)).map_or("", String::as_str));
        Launch::new(&self.program(wait), self.target, self.input.clone(), (1, self.waves), LDS)
    }

    fn program(&self, wait: Option<impl AsRef<str>>) -> String {
        let settled = settled(self.target);
        let wait = wait.map_or_else(|| settled.clone(), |wait| wait.as_ref().to_owned());
        let spelled = |text: &str| spelled(text, self.target).unwrap_or_default();
        let mut text = spelled("{s_load_dwordx2} s[4:5], s[0:1], 0x0");
        let other = LANES * 4;
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\nv_lshlrev_b32 v1, 2, v0\nv_or_b32 v6, {ROW:#x}, v1\nv_xor_b32 v7, {other:#x}, v1\nv_mov_b32 v20, 0\n\
             v_mov_b32 v10, 0\nv_mov_b32 v11, 0\ns_mov_b32 s20, 0\ns_mov_b32 s21, 0\n{settled}\n{}\n{}\n{settled}\n{}\n{settled}\n",
            spelled("{global_load_dword} v8, v1, s[4:5]"),
            spelled("{global_load_dword} v9, v6, s[4:5]"),
            self.setup,
        );
        if self.waves > 1 {
            let _ = write!(text, "{}\n{settled}\n", spelled("{s_barrier}"));
        }
        let _ = write!(text, "{}\n{wait}\n{}\n{settled}\n", self.producer, self.consumer);
        let store = spelled("{global_store_dword}");
        let vectors = VECTORS.map(|index| format!("v{index}"));
        let scalars = SCALARS.map(|index| format!("s{index}"));
        for (at, register) in vectors.iter().chain(&scalars).enumerate() {
            let place = RESULTS + ROW * at as u32;
            let _ = write!(
                text,
                "v_or_b32 v2, {place:#x}, v1\nv_mov_b32 v3, {register}\n{settled}\n{store} v2, v3, s[4:5]\n"
            );
        }
        text + &settled + "\ns_endpgm\n"
    }
}

/// Waits for every counter and, by `s_nop`, for every hazard of GFX9.
fn settled(target: Target) -> String {
    let set = target.instruction_set();
    format!("{}\ns_nop 7\ns_nop 7\ns_nop 7\ns_nop 7", WaitCnt::all(set).on(set).statements().join("\n"))
}

/// The text with each mnemonic in braces replaced by the target's name for it; `None` if the target lacks one.
fn spelled(text: &str, target: Target) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        match table::find_operation(target, name).next() {
            Some(row) => out.push_str(row.mnemonic),
            None if name == "s_barrier" => out.push_str("s_barrier_signal -1\ns_barrier_wait -1"),
            None => return None,
        }
        rest = after;
    }
    Some(out + rest)
}
