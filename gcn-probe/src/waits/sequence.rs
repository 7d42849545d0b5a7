//! Programs for the RDNA rules whose remedy is an instruction or a changed field: sequences of instructions, each with and without the
//! remedy.
//!
//! A sequence does not state the rules that it breaks. The analysis of `gcn check` determines these rules and their remedies; the GPU shows
//! whether the results are wrong without the remedy. As for [pairs](super::pair), a sequence can show this only if its results change when
//! the second instruction is executed first. It is used for a rule only if it breaks no better supported rule, which could be the cause of
//! a wrong result.

use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::hazards::remedy::RemedyRule;
use gcn_isa::hazards::sequences::{Danger, Sequences};
use gcn_isa::hazards::{AnyRule, Config, Kinds, RuleSet, Views};
use gcn_isa::indexing::Indexing;
use gcn_isa::program::EntryKind;
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_sim::Options;

use super::counter::{Trial, Wait, input};
use super::pair::Unmeasured;
use crate::case::print;
use crate::launch::{KERNEL, Launch};
use crate::random::Random;
use crate::spelling::{settled, spelled};

/// Instructions that lead to a hazard, and the instruction that follows them too early. The registers have the contents that
/// [`super::counter`] describes.
#[derive(Debug, Clone, Copy)]
struct Sequence {
    /// The wave size for which the sequence is written; `None` if it fits every wave size.
    wave: Option<WaveSize>,
    /// Preparations before the sequence, followed by a wait for everything.
    setup: &'static str,
    /// The instructions that lead up to the hazard.
    steps: &'static str,
    /// The instruction that must not come too early.
    second: &'static str,
    /// Instructions that read the result of `second` from memory or LDS, after a wait for it. Empty if the result is in a register.
    shown: &'static str,
}

/// The base of all sequences: no preparations, any wave size.
const ANY: Sequence = Sequence { wave: None, setup: "", steps: "", second: "", shown: "" };
const W32: Sequence = Sequence { wave: Some(WaveSize::W32), ..ANY };
const W64: Sequence = Sequence { wave: Some(WaveSize::W64), ..ANY };

/// Preparations: different lane masks in `s[22:25]` and in VCC.
const MASKS: &str = "s_mov_b32 s22, 0x0f0f33aa\ns_mov_b32 s23, 0x12345678\ns_mov_b32 s24, 0x70f0c355\n\
    s_mov_b32 s25, 0x55335533\ns_mov_b32 vcc_lo, 0x3c3c5a5a\ns_mov_b32 vcc_hi, 0x600df00d";
const MASKED: Sequence = Sequence { setup: MASKS, steps: "", ..W64 };
const READ: Sequence = Sequence { setup: MASKS, ..W32 };

/// The steps, followed by eleven scalar instructions. After so many, some sources consider the sequence to have ended, and others do not.
macro_rules! far {
    ($steps:literal) => {
        concat!(
            $steps,
            "\ns_not_b32 s25, s25\ns_not_b32 s25, s25\ns_not_b32 s25, s25\ns_not_b32 s25, s25\ns_not_b32 s25, s25",
            "\ns_not_b32 s25, s25\ns_not_b32 s25, s25\ns_not_b32 s25, s25\ns_not_b32 s25, s25\ns_not_b32 s25, s25",
            "\ns_not_b32 s25, s25"
        )
    };
}
const FAR_SGPR: &str = far!("v_mov_b32 v10, s22\ns_mov_b32 s22, s24");
const FAR_VCC: &str = far!("v_mov_b32 v10, vcc_lo\ns_mov_b32 vcc_lo, s24");
const OVER_MEMORY: &str = "v_mov_b32 v10, s22\ns_mov_b32 s22, s24\n{s_load_dword} s21, s[4:5], 0x0";

/// Preparations: values between 0 and 1 in all f16 halves of the registers that a matrix instruction reads.
const MATRIX: &str = "v_and_b32 v8, 0x3bff3bff, v8\nv_and_b32 v9, 0x3bff3bff, v9\nv_mov_b32 v56, v8\nv_mov_b32 v57, v9\n\
    v_mov_b32 v58, v8\nv_mov_b32 v59, v9\nv_mov_b32 v60, v8\nv_mov_b32 v61, v9\nv_mov_b32 v62, v8\nv_mov_b32 v63, v9\n\
    v_mov_b32 v64, v9\nv_mov_b32 v65, v8\nv_mov_b32 v66, v9\nv_mov_b32 v67, v8\nv_mov_b32 v68, v9\nv_mov_b32 v69, v8\n\
    v_mov_b32 v70, v9\nv_mov_b32 v71, v8\nv_mov_b32 v40, v8\nv_mov_b32 v41, v8\nv_mov_b32 v42, v8\nv_mov_b32 v43, v8\n\
    v_mov_b32 v44, v8\nv_mov_b32 v45, v8\nv_mov_b32 v46, v8\nv_mov_b32 v47, v8";

/// Preparations for a direct load from LDS: M0 selects a dword at the start of LDS. This dword and v10, which the load overwrites, contain
/// offsets in the buffer, so that both are valid addresses.
const DIRECT: &str = "{ds_write_b32} v1, v6\nv_mov_b32 v10, v1\ns_mov_b32 m0, 0x20000";
const RDNA3_DIRECT: Sequence = Sequence { setup: DIRECT, second: "lds_direct_load v10 wait_vdst:15", ..W32 };
const RDNA4_DIRECT: Sequence =
    Sequence { second: "ds_direct_load v10 wait_va_vdst:15 wait_vm_vsrc:1", ..RDNA3_DIRECT };

/// Two sequences with these steps and a direct load into v10, which the steps use: one with the instruction of RDNA 3, one with that of
/// RDNA 4.
macro_rules! direct {
    ($steps:literal, $shown:literal) => {
        [
            Sequence { steps: $steps, shown: $shown, ..RDNA3_DIRECT },
            Sequence { steps: $steps, shown: $shown, ..RDNA4_DIRECT },
        ]
    };
}
const BY_VALU: [Sequence; 2] = direct!("v_mul_f32 v10, v8, v9", "");
const BY_TRANS: [Sequence; 2] = direct!("v_rcp_f32 v10, v8", "");
const BY_LOAD: [Sequence; 2] = direct!("{global_load_dword} v11, v10, s[4:5]", "");
const BY_STORE: [Sequence; 2] = direct!("{global_store_dword} v1, v10, s[4:5]", "");
const BY_LDS: [Sequence; 2] = direct!("{ds_write_b32} v1, v10", "{ds_read_b32} v20, v1");

const ALL: &[Sequence] = &[
    Sequence { steps: "v_rcp_f32 v10, v8", second: "v_mov_b32 v20, v10", ..ANY },
    Sequence {
        steps: "v_rcp_f32 v10, v8\n{global_load_dword} v11, v6, s[4:5]",
        second: "v_mov_b32 v20, v10",
        ..ANY
    },
    Sequence {
        setup: MASKS,
        steps: "v_add_nc_u32 v10, v8, v9\ns_mov_b64 exec, s[22:23]\nv_xor_b32 v11, v8, v9\n\
                {global_load_dword} v12, v6, s[4:5]",
        second: "v_add_nc_u32 v20, v10, v11",
        ..W64
    },
    Sequence {
        setup: MASKS,
        steps: "v_add_nc_u32 v10, v8, v9\ns_mov_b64 exec, s[22:23]\nv_xor_b32 v11, v8, v9",
        second: "v_add_nc_u32 v20, v10, v11",
        ..W64
    },
    Sequence {
        setup: MATRIX,
        steps: "v_wmma_f32_16x16x16_f16 v[40:47], v[56:63], v[64:71], 0",
        second: "v_wmma_f32_16x16x16_f16 v[20:27], v[40:47], v[64:71], 0",
        ..W32
    },
    Sequence {
        setup: MATRIX,
        steps: "v_wmma_f32_16x16x16_f16 v[40:47], v[56:59], v[64:67], 0",
        second: "v_wmma_f32_16x16x16_f16 v[20:27], v[40:43], v[64:67], 0",
        ..W32
    },
    Sequence {
        setup: "v_mov_b32 v10, v8",
        steps: "v_cmpx_gt_u32 v8, v9",
        second: "v_permlane16_b32 v20, v10, s20, s21",
        ..ANY
    },
    Sequence {
        setup: "v_mov_b32 v10, v8",
        steps: "v_cmpx_gt_u32 v8, v9\nv_nop",
        second: "v_permlane16_b32 v20, v10, s20, s21",
        ..ANY
    },
    // The vector ALU reads a lane mask, and then the mask is written: by the scalar ALU, by the scalar ALU after another instruction, and
    // by the vector ALU.
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, s[22:23]\ns_mov_b64 s[22:23], s[24:25]",
        second: "v_mov_b32 v20, s22",
        ..MASKED
    },
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, s[22:23]\ns_mov_b64 s[22:23], s[24:25]",
        second: "s_mov_b32 s20, s22",
        ..MASKED
    },
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, s[22:23]\nv_mov_b32 v11, s25\ns_mov_b64 s[22:23], s[24:25]",
        second: "v_mov_b32 v20, s22",
        ..MASKED
    },
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, s[22:23]\n{s_load_dwordx2} s[22:23], s[4:5], 0x0\n\
                s_waitcnt_lgkmcnt null, 0x0\ns_mov_b64 s[22:23], s[24:25]",
        second: "v_mov_b32 v20, s22",
        ..MASKED
    },
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, s[22:23]\nv_cmp_gt_u32 s[22:23], v8, v9",
        second: "v_mov_b32 v20, s22",
        ..MASKED
    },
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, s[22:23]\nv_cmp_gt_u32 s[22:23], v8, v9",
        second: "s_mov_b32 s20, s22",
        ..MASKED
    },
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, vcc\nv_cmp_gt_u32 vcc, v8, v9",
        second: "v_mov_b32 v20, vcc_lo",
        ..MASKED
    },
    Sequence {
        steps: "v_cndmask_b32 v10, v8, v9, vcc\nv_cmp_gt_u32 vcc, v8, v9",
        second: "s_mov_b32 s20, vcc_lo",
        ..MASKED
    },
    // The vector ALU reads a scalar register, and then the register is written.
    Sequence { steps: "v_mov_b32 v10, s22\ns_mov_b32 s22, s24", second: "v_mov_b32 v20, s22", ..READ },
    Sequence { steps: "v_mov_b32 v10, s22\ns_mov_b32 s22, s24", second: "s_mov_b32 s20, s22", ..READ },
    Sequence {
        steps: "v_mov_b32 v10, vcc_lo\ns_mov_b32 vcc_lo, s24",
        second: "v_mov_b32 v20, vcc_lo",
        ..READ
    },
    Sequence {
        steps: "v_mov_b32 v10, vcc_lo\ns_mov_b32 vcc_lo, s24",
        second: "s_mov_b32 s20, vcc_lo",
        ..READ
    },
    Sequence {
        steps: "v_mov_b32 v10, s22\nv_readfirstlane_b32 s22, v8",
        second: "v_mov_b32 v20, s22",
        ..READ
    },
    Sequence {
        steps: "v_mov_b32 v10, vcc_lo\nv_cmp_gt_u32 vcc_lo, v8, v9",
        second: "v_mov_b32 v20, vcc_lo",
        ..READ
    },
    // The same writes, with more instructions or a scalar load before the second instruction.
    Sequence { steps: FAR_SGPR, second: "s_mov_b32 s20, s22", ..READ },
    Sequence { steps: FAR_VCC, second: "s_mov_b32 s20, vcc_lo", ..READ },
    Sequence { steps: OVER_MEMORY, second: "v_mov_b32 v20, s22", ..READ },
    Sequence { steps: OVER_MEMORY, second: "s_mov_b32 s20, s22", ..READ },
    // Direct loads, first without a wait before them, then with one.
    BY_VALU[0],
    BY_VALU[1],
    BY_TRANS[0],
    BY_TRANS[1],
    BY_LOAD[0],
    BY_LOAD[1],
    BY_STORE[0],
    BY_STORE[1],
    BY_LDS[0],
    BY_LDS[1],
    Sequence { steps: "v_mul_f32 v10, v8, v9\ns_waitcnt_depctr depctr_va_vdst(0)", ..RDNA3_DIRECT },
    Sequence { steps: "v_mul_f32 v10, v8, v9\ns_wait_alu depctr_va_vdst(0)", ..RDNA4_DIRECT },
    Sequence { steps: "{global_load_dword} v11, v10, s[4:5]\ns_waitcnt vmcnt(0)", ..RDNA3_DIRECT },
    Sequence { steps: "{global_load_dword} v11, v10, s[4:5]\ns_wait_loadcnt 0x0", ..RDNA4_DIRECT },
    Sequence {
        setup: "v_and_b32 v8, 0x7fffff, v8",
        steps: "global_atomic_fmin v1, v8, s[4:5]",
        second: "s_denorm_mode 0",
        ..W32
    },
    Sequence { steps: "v_mov_b32 v10, s22\nv_cmp_gt_u32 s22, v8, v9", second: "v_mov_b32 v20, s22", ..READ },
];

/// The programs that can show whether hardware needs a rule.
///
/// # Errors
/// The reason why there is no such program.
pub fn trials(rule: &'static RemedyRule, target: Target, seed: u64) -> Result<Vec<Trial>, String> {
    if !RuleSet::Safe.contains(rule as &dyn AnyRule) {
        return Err(Unmeasured::Moot.words().to_owned());
    }
    if rule.second.who.any.contains(Kinds::JUMP) {
        return Err("programs make no calls".to_owned());
    }
    let sizes = target.wave_sizes().iter().filter(|size| rule.waves.has(**size));
    let on = sizes.filter_map(|size| Subtarget::new(target, *size));
    let all =
        on.flat_map(|on| ALL.iter().filter_map(move |sequence| Trial::broken_by(sequence, rule, on, seed)));
    let all: Vec<(Trial, bool)> = all.collect();
    let own: Vec<&Trial> = all.iter().filter(|(_, is_own)| *is_own).map(|(trial, _)| trial).collect();
    let shown: Vec<Trial> = own.iter().filter(|trial| trial.shows()).map(|trial| (*trial).clone()).collect();
    match (shown.is_empty(), own.is_empty(), all.is_empty()) {
        (false, ..) => Ok(shown),
        (true, false, _) => Err(Unmeasured::NoSign.words().to_owned()),
        (true, true, false) => {
            Err("every program that breaks it breaks another rule that is surer or has another remedy"
                .to_owned())
        }
        (true, true, true) => Err("no program of the suite breaks it".to_owned()),
    }
}

impl Trial {
    /// The program of a sequence for `rule`. `None` if the target lacks an instruction, if the sequence does not break the rule, or if it
    /// still breaks the rule with the remedy. The second value is true if the sequence breaks no better supported rule, and with the remedy
    /// only rules that are less well supported than `rule`.
    fn broken_by(sequence: &Sequence, rule: &RemedyRule, on: Subtarget, seed: u64) -> Option<(Trial, bool)> {
        if sequence.wave.is_some_and(|wave| wave != on.wave) {
            return None;
        }
        let [setup, producer, second, shown] =
            [sequence.setup, sequence.steps, sequence.second, sequence.shown]
                .map(|text| spelled(text, on.target));
        let (setup, producer, second, shown) = (setup?, producer?, second?, shown?);
        let then = |second: &str| match shown.is_empty() {
            true => second.to_owned(),
            // The instructions in `shown` read memory, which must be complete. Waiting for that does not hide the hazard, which is between
            // the steps and the second instruction.
            false => format!("{second}\n{}\n{shown}", settled(on.target)),
        };
        let consumer = then(&second);
        let mut trial = Trial {
            text: String::new(),
            waits: vec![Wait::before(&consumer, &[])],
            needed: 1,
            on,
            waves: 1,
            setup,
            producer,
            consumer,
            input: input(&mut Random::of(seed, rule.id, 1)),
        };
        let broken = trial.broken(&trial.waits[0])?;
        let fix = broken.iter().find(|danger| danger.rule == rule)?.fix;
        let is_own = broken.iter().all(|danger| danger.rule.grade() <= rule.grade());
        let changed = match fix.changes_fields() {
            true => {
                let mut inst = (*parse_program(&second, on, KERNEL).ok()?.lines.first()?.inst).clone();
                fix.change(&mut inst);
                print(&inst, on.target)
            }
            false => second,
        };
        let mut wait = Wait::before(&then(&changed), &fix.statements(on.target));
        if wait.name.is_empty() {
            wait.name = fix.fields(on.target).join(" ");
        }
        trial.text = format!("{}; {changed}", [trial.producer.clone(), wait.name.clone()].join("; "))
            .replace('\n', "; ");
        let still = trial.broken(&wait)?;
        trial.waits.push(wait);
        let is_ended = still.iter().all(|danger| danger.rule != rule);
        let is_own = is_own && still.iter().all(|danger| danger.rule.grade() < rule.grade());
        is_ended.then_some((trial, is_own))
    }

    /// The violations in the program with this wait; `None` if the program cannot be parsed for the target.
    fn broken(&self, wait: &Wait) -> Option<Vec<Danger>> {
        let program = parse_program(&self.program(Some(wait)), self.on, KERNEL).ok()?;
        let views = Views::of(&program, &Indexing::default());
        let lines = program.lines.len();
        let rules = Sequences::of(program, views, Config::default());
        let mut pending = rules.entry(EntryKind::Kernel);
        let mut found = Vec::new();
        for line in 0..lines {
            rules.dangers(&pending, line, |danger| found.push(danger));
            rules.step(&mut pending, line);
        }
        Some(found)
    }

    /// The program in which the second instruction comes before the steps, as if it had been executed far too early.
    ///
    /// # Errors
    /// Errors of the assembler or the linker.
    pub fn swapped(&self) -> Result<Launch, String> {
        let (second, shown) = self.consumer.split_once('\n').unwrap_or((&self.consumer, ""));
        let (steps, apart) = (&self.producer, settled(self.on.target));
        self.launch_of(&self.around(&format!("{second}\n{apart}\n{steps}\n{apart}\n{shown}")))
    }

    /// True if the results in the simulator depend on whether the second instruction comes after the steps or before them.
    fn shows(&self) -> bool {
        let run =
            |launch: Result<Launch, String>| launch.and_then(|launch| launch.simulate(&Options::default()));
        match (run(self.launch(None)), run(self.swapped())) {
            (Ok(right), Ok(early)) => right != early,
            _ => false,
        }
    }
}
