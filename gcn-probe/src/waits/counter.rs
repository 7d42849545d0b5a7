//! Measures rules about counters and barriers. Each program has an operation that completes later, a wait that is omitted or weaker than
//! required, and an instruction that depends on the operation.
//!
//! All targets run the same programs, with their own mnemonics. The required wait is what the checker demands for the program; the measured
//! wait is the weakest one that works on the GPU.

use std::fmt::Write as _;

use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::check::{self, MemoryModel};
use gcn_isa::counters::{Counter, events};
use gcn_isa::hazards::counter::{self, CounterRule};
use gcn_isa::target::{Family, Subtarget};

use crate::launch::{KERNEL, LANES, Launch, Shape};
use crate::random::Random;
use crate::spelling::{Masks, settled, spelled};

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
    /// A younger operation on the same counter. A wait that is one too weak leaves this operation and the producer outstanding. If the text
    /// is empty, there is no weakened wait.
    younger: &'static str,
    /// The instruction that depends on the producer.
    consumer: &'static str,
    /// For rules whose remedy is an instruction and not a wait for a counter: the remedy, and the consumer after it. `None` for other
    /// rules.
    remedy: Option<[&'static str; 2]>,
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
    remedy: None,
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
/// Two waves. The later wave reads what the other one has written.
const TO_OTHER_WAVES: Experiment = Experiment {
    rules: &[&counter::BARRIER_LDS, &counter::BARRIER_COUNTERS],
    waves: 2,
    setup: "{ds_write_b32} v1, v8",
    producer: "{ds_write_b32} v1, v9",
    consumer: "{s_barrier}\n{ds_read_b32} v20, v7",
    ..PLAIN
};

/// Preparations for loads into LDS: a resource for the buffer in `s[8:11]` (`$format` is the resource's last dword), old values in LDS, and
/// in M0 the address of the wave's part of LDS.
macro_rules! resource {
    ($format:literal) => {
        concat!(
            "{ds_write_b32} v1, v9\ns_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_movk_i32 s10, 0x2000\ns_mov_b32 s11, ",
            // Raw, 32 bits: CDNA3 ISA and RDNA 2 ISA, buffer resource.
            $format,
            "\nv_readfirstlane_b32 s12, v1\ns_nop 7\ns_mov_b32 m0, s12"
        )
    };
}

const LDS_DMA: Experiment = Experiment {
    rules: &[&counter::LDS_DMA],
    producer: "{buffer_load_dword} v1, s[8:11], 0 offen lds",
    consumer: "{ds_read_b32} v20, v1",
    ..PLAIN
};
const LDS_DMA_TO_OTHER_WAVES: Experiment = Experiment {
    rules: &[&counter::BARRIER_LDS_DMA],
    waves: 2,
    consumer: "{s_barrier}\n{ds_read_b32} v20, v7",
    ..LDS_DMA
};

const ALL: [Experiment; 16] = [
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
    Experiment { family: Some(Family::GFX9), setup: resource!("0x27000"), ..LDS_DMA },
    Experiment { family: Some(Family::GFX9), setup: resource!("0x27000"), ..LDS_DMA_TO_OTHER_WAVES },
    Experiment { family: Some(Family::RDNA), setup: resource!("0x31014000"), ..LDS_DMA },
    Experiment { family: Some(Family::RDNA), setup: resource!("0x31014000"), ..LDS_DMA_TO_OTHER_WAVES },
    Experiment {
        rules: &[&counter::WAW_FLAT],
        family: Some(Family::GFX9),
        setup: "v_mov_b32 v3, s5\nv_add_co_u32 v2, vcc, s4, v1\ns_nop 4\nv_addc_co_u32 v3, vcc, 0, v3, vcc",
        producer: "flat_load_dword v10, v[2:3]",
        consumer: "global_load_dword v10, v6, s[4:5]",
        ..PLAIN
    },
    Experiment {
        rules: &[&counter::HALF],
        producer: "{global_load_short_d16} v10, v1, s[4:5]",
        consumer: "v_mov_b16 v20.l, v10.h",
        ..PLAIN
    },
    Experiment {
        rules: &[&counter::SHIFT64],
        // 24 VGPRs are allocated.
        setup: "v_mov_b32 v23, 5",
        consumer: "v_lshlrev_b64 v[10:11], v23, v[8:9]",
        remedy: Some(["v_mov_b32 v2, v23", "v_lshlrev_b64 v[10:11], v2, v[8:9]"]),
        ..PLAIN
    },
    Experiment {
        rules: &[&counter::VCCZ_HALF],
        family: Some(Family::GFX9),
        setup: "s_mov_b64 vcc, 1",
        producer: "s_mov_b32 vcc_lo, 0",
        consumer: TAKEN_IF_ZERO,
        remedy: Some(["s_mov_b64 vcc, vcc", TAKEN_IF_ZERO]),
        ..PLAIN
    },
];

const TAKEN_IF_ZERO: &str = "s_cbranch_vccz taken\nv_mov_b32 v20, 1\ntaken:";

/// The rules without an experiment, each with the reason.
const WITHOUT: [(&CounterRule, &str); 12] = [
    (&counter::MAD_FORWARD, "no source says for which values the result is wrong"),
    (&counter::MIXED, "it needs images, GDS or messages, which programs do not use"),
    (&counter::FULL, FULL_COUNTER),
    (&counter::FULL_UNORDERED, FULL_COUNTER),
    (&counter::CALL_ENTRY, CONVENTION),
    (&counter::CALL_EXIT, CONVENTION),
    (&counter::WAR, GDS),
    (&counter::WBINVL1, "it shows only in memory that another agent writes meanwhile"),
    (&counter::GWS, GDS),
    (&counter::BARRIER_STORE, "matters only in threadgroup split mode, in which no program runs"),
    (&counter::SMEM_ADDRESS, "matters only when page faults are replayed"),
    (&counter::SCHED_MODE, "it is about a mode, in which no program runs"),
];
const FULL_COUNTER: &str =
    "asks for a wait where a full counter has already delayed the program; no program relies on that";
const CONVENTION: &str = "a convention of compilers, which no program can show";
const GDS: &str = "programs do not access GDS, which all processes share";

/// The vector registers that are results; the scalars follow.
const VECTORS: [u16; 3] = [10, 11, 20];
const SCALARS: [u16; 2] = [20, 21];

/// A program for a rule on a target, with the waits that are tried, the weakest first.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The instructions, with a sufficient wait between them.
    pub text: String,
    /// The waits: none, then stronger and stronger ones.
    pub waits: Vec<Wait>,
    /// The index of the weakest wait that satisfies the rule.
    pub needed: u8,
    pub(super) on: Subtarget,
    pub(super) waves: u32,
    pub(super) setup: String,
    pub(super) producer: String,
    pub(super) consumer: String,
    pub(super) input: Vec<u8>,
}

/// A wait that is tried.
#[derive(Debug, Clone)]
pub struct Wait {
    /// As text; empty for none.
    pub name: String,
    /// The instructions after the producer: those that wait, and the consumer.
    pub(super) rest: String,
}

impl Wait {
    /// Instructions before the consumer.
    pub(super) fn before(consumer: &str, instructions: &[String]) -> Wait {
        let name = instructions.join("; ");
        let rest = [instructions.join("\n"), consumer.to_owned()].join("\n").trim().to_owned();
        Wait { name, rest }
    }
}

/// The contents of the buffer.
pub(super) fn input(random: &mut Random) -> Vec<u8> {
    (0..BUFFER / 4).flat_map(|_| (random.bits() as u32).to_le_bytes()).collect()
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
        true => {
            let why = WITHOUT.iter().find(|(without, _)| *without == rule).map(|(_, why)| *why);
            Err(why.unwrap_or("no program of the suite depends on this rule alone").to_owned())
        }
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
        let set = target.instruction_set();
        let stronger: Vec<Wait> = match experiment.remedy {
            Some([instruction, then]) => vec![Wait::before(then, &[instruction.to_owned()])],
            None => {
                let counter = *outstanding.first()?;
                let weaker = (0..outstanding.len() as u8).rev();
                let waits = weaker.map(|left| counter.at(left).on(set).statements());
                waits.map(|wait| Wait::before(&consumer, &wait)).collect()
            }
        };
        let mut trial = Trial {
            text: String::new(),
            waits: std::iter::once(Wait::before(&consumer, &[])).chain(stronger).collect(),
            needed: 0,
            on: target.into(),
            waves: experiment.waves,
            setup,
            producer,
            consumer,
            input: input(&mut Random::of(seed, rule.id, experiment.waves)),
        };
        let breaks = |wait: &Wait| {
            let program = parse_program(&trial.program(Some(wait)), target, KERNEL).ok()?;
            let options = check::Options { memory_model: MemoryModel::Strict, ..check::Options::default() };
            let findings = check::check_with(&program, options).findings;
            Some(findings.iter().any(|finding| finding.rule == rule.id))
        };
        let broken: Option<Vec<bool>> = trial.waits.iter().map(breaks).collect();
        let needed = broken?.iter().position(|broken| !broken).filter(|needed| *needed > 0)?;
        trial.needed = u8::try_from(needed).ok()?;
        trial.text = trial.line(&trial.waits[needed]);
        Some(trial)
    }

    /// The program with wait number `wait`; with `None`, the operation has completed long before its result is used.
    ///
    /// # Errors
    /// Errors of the assembler or the linker.
    pub fn launch(&self, wait: Option<u8>) -> Result<Launch, String> {
        let wait = wait.and_then(|wait| self.waits.get(usize::from(wait)));
        self.launch_of(&self.program(wait))
    }

    pub(super) fn launch_of(&self, text: &str) -> Result<Launch, String> {
        let waves = self.waves * LANES / self.on.wave.lanes();
        let shape = Shape { on: self.on, workgroups: 1, waves, lds_bytes: LDS, one_unit: false, room: 0 };
        Launch::shaped(text, self.input.clone(), shape)
    }

    /// The producer and the instructions after it, on one line for reports.
    pub(super) fn line(&self, wait: &Wait) -> String {
        let both = format!("{}\n{}", self.producer, wait.rest);
        both.trim().replace('\n', "; ")
    }

    pub(super) fn program(&self, wait: Option<&Wait>) -> String {
        let settled = settled(self.on.target);
        let apart = || format!("{settled}\n{}", self.waits.last().map_or(&self.consumer, |wait| &wait.rest));
        self.around(&format!("{}\n{}", self.producer, wait.map_or_else(apart, |wait| wait.rest.clone())))
    }

    /// The whole program: loads the inputs, runs the preparations and `body`, and stores the results.
    pub(super) fn around(&self, body: &str) -> String {
        let settled = settled(self.on.target);
        let spelled = |text: &str| spelled(text, self.on.target).unwrap_or_default();
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
        let Masks { exec, bits, .. } = Masks::of(self.on.wave);
        let _ = write!(text, "{body}\n{settled}\ns_mov_{bits} {exec}, -1\n{settled}\n");
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
