//! Plants faults in a simulator that takes the place of the GPU, and checks that the suites find every one of them and name the faulty
//! instruction or rule. Faults of values and matrices are planted on GFX9 and, each day, on one target of RDNA.
//!
//! Faults are planted without changing the simulator's code: in the program that it is given (a modifier is removed, an instruction
//! replaced, a wait state added or removed), in its configuration (its rules, its model of matrix sums), or in its results.

use gcn_isa::hazards::Config;
use gcn_isa::table::{Class, Format, ImplicitRegs};
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::{InstDesc, Target};
use gcn_probe::bench::Surroundings;
use gcn_probe::case::Case;
use gcn_probe::form::{Form, Forms};
use gcn_probe::launch::{KERNEL, Launch, Shape};
use gcn_probe::report::{Difference, FormResult, Verdict};
use gcn_probe::suite::{Computes, Values};
use gcn_probe::waits::measure::{self, Effort};
use gcn_probe::waits::pair;
use gcn_probe::{judge, matrix};
use gcn_sim::launch::Program;
use gcn_sim::{MatrixArithmetic, Options};
use gcn_test_support::env::daily_seed;

/// The part of the run in which a fault is planted.
#[derive(Clone, Copy)]
enum Wrong {
    /// In the program's text: a function that returns the replacement for a line, or `None` to keep it.
    Line(fn(&str) -> Option<String>),
    /// In the contents of the buffer after the run.
    Result(fn(&mut [u8])),
    /// In the loaded program or its configuration.
    Machine(fn(Program) -> Program),
}

/// A fault of individual instructions.
struct Fault {
    name: &'static str,
    wrong: Wrong,
    /// True for a difference that is the expected effect of the fault.
    is_named: fn(&FormResult, &Difference) -> bool,
}

/// LDS size that suffices for every program.
const LDS: u32 = 0x2000;

impl Wrong {
    /// The result of a program on the faulty GPU.
    fn run(self, launch: &Launch, target: Target, options: &Options) -> Result<Vec<u8>, String> {
        match self {
            Wrong::Line(change) => {
                let lines = launch.text.lines().map(|line| change(line).unwrap_or_else(|| line.to_owned()));
                let text = lines.collect::<Vec<_>>().join("\n");
                let &Launch { workgroups, waves, lanes, room, .. } = launch;
                let on = Subtarget::new(target, WaveSize::of_lanes(lanes).unwrap()).unwrap();
                let shape = Shape { on, workgroups, waves, lds_bytes: LDS, one_unit: false, room };
                Launch::shaped(&text, launch.input.clone(), shape)?.simulate(options)
            }
            Wrong::Result(change) => {
                let mut after = launch.simulate(options)?;
                change(&mut after);
                Ok(after)
            }
            Wrong::Machine(change) => {
                let program = Program::load(&launch.code_object, Some(KERNEL)).map_err(|e| e.to_string())?;
                launch.simulate_as(&change(program), options)
            }
        }
    }
}

/// The line without the part that begins with `start` and extends to the next space; `None` if there is none.
fn without(line: &str, start: &str) -> Option<String> {
    let at = line.find(start)?;
    let end = line[at + 1..].find(' ').map_or(line.len(), |end| at + 1 + end);
    Some(format!("{}{}", &line[..at], &line[end..]))
}

/// The line that sets MODE with these bits cleared; `None` for other lines.
fn mode_without(line: &str, bits: u32) -> Option<String> {
    let (before, value) = line.split_once("hwreg(HW_REG_MODE, 0, 8), 0x")?;
    let value = u32::from_str_radix(value, 16).ok()? & !bits;
    Some(format!("{before}hwreg(HW_REG_MODE, 0, 8), {value:#x}"))
}

/// A fault that replaces an instruction by another one.
macro_rules! other {
    ($from:literal is $to:literal) => {
        Fault {
            name: concat!($from, " computes ", $to),
            wrong: Wrong::Line(|line| {
                let is_here = line.starts_with($from) || $from.starts_with("::") && line.contains($from);
                is_here.then(|| line.replacen($from, $to, 1))
            }),
            is_named: |form, _| form.form.contains($from),
        }
    };
}

/// Faults of the suite `values`.
const VALUES: [Fault; 25] = [
    Fault {
        name: "directed rounding is not",
        wrong: Wrong::Line(|line| mode_without(line, 0x0f)),
        is_named: |_, first| first.mode & 0x0f != 0,
    },
    Fault {
        name: "denormals of f32 are zero",
        wrong: Wrong::Line(|line| mode_without(line, 0x30)),
        is_named: |_, first| first.mode & 0x30 != 0,
    },
    Fault {
        name: "denormals of f16 and f64 are zero",
        wrong: Wrong::Line(|line| mode_without(line, 0xc0)),
        is_named: |_, first| first.mode & 0xc0 != 0,
    },
    Fault {
        name: "results are not clamped",
        wrong: Wrong::Line(|line| without(line, " clamp")),
        is_named: |_, first| first.instruction.contains(" clamp"),
    },
    Fault {
        name: "results are not doubled",
        wrong: Wrong::Line(|line| without(line, " mul:")),
        is_named: |_, first| first.instruction.contains(" mul:"),
    },
    Fault {
        name: "results are not halved",
        wrong: Wrong::Line(|line| without(line, " div:")),
        is_named: |_, first| first.instruction.contains(" div:"),
    },
    Fault {
        name: "f16 of mixed precision is rounded once",
        wrong: Wrong::Machine(|program| program.with_mix_rounded_twice(false)),
        is_named: |form, _| form.form.contains("_mix"),
    },
    Fault {
        name: "signs of sources are lost",
        wrong: Wrong::Line(|line| line.starts_with("v_").then(|| line.replace(", -v", ", v"))),
        is_named: |_, first| first.instruction.contains(", -v"),
    },
    Fault {
        name: "absolute values are not",
        wrong: Wrong::Line(|line| line.starts_with("v_").then(|| line.replace('|', ""))),
        is_named: |_, first| first.instruction.contains('|'),
    },
    Fault {
        name: "halves are not selected",
        // Where halves are named, `op_sel` says the same again.
        wrong: Wrong::Line(|line| {
            without(line, " op_sel:").filter(|_| !line.contains(".l,") && !line.contains(".h,"))
        }),
        is_named: |_, first| first.instruction.contains(" op_sel:"),
    },
    Fault {
        name: "negation of low halves is lost",
        wrong: Wrong::Line(|line| without(line, " neg_lo:")),
        is_named: |_, first| first.instruction.contains(" neg_lo:"),
    },
    Fault {
        name: "DPP has no bound control",
        wrong: Wrong::Line(|line| without(line, " bound_ctrl:")),
        is_named: |_, first| first.instruction.contains(" bound_ctrl:"),
    },
    Fault {
        name: "DPP writes all rows",
        wrong: Wrong::Line(|line| without(line, " row_mask:")),
        is_named: |_, first| first.instruction.contains(" row_mask:"),
    },
    Fault {
        name: "DPP writes all banks",
        wrong: Wrong::Line(|line| without(line, " bank_mask:")),
        is_named: |_, first| first.instruction.contains(" bank_mask:"),
    },
    Fault {
        name: "instructions run in all lanes",
        wrong: Wrong::Line(|line| {
            let (set, mask) = line.split_once(", s")?;
            let is_lanes = set.contains(" exec") && ["50", "[50:51]"].contains(&mask);
            is_lanes.then(|| format!("{set}, -1"))
        }),
        // The first difference in the buffer may be in lanes of vector registers, in LDS or memory, in masks in scalar registers, or in
        // EXEC.
        is_named: |_, first| {
            let places = ["lane", "LDS", "exec", "vcc"];
            places.iter().any(|place| first.place.contains(place)) || first.place.starts_with('s')
        },
    },
    Fault {
        name: "lanes 3 and 4 are swapped",
        wrong: Wrong::Result(|after| {
            for row in after[0x5000..0x8000].chunks_exact_mut(256) {
                let (low, high) = row.split_at_mut(16);
                low[12..16].swap_with_slice(&mut high[..4]);
            }
        }),
        is_named: |_, first| first.place.ends_with("lane 3"),
    },
    Fault {
        name: "SCC is never set",
        wrong: Wrong::Line(|line| (line == "s_cselect_b32 s52, 1, 0").then(|| "s_mov_b32 s52, 0".to_owned())),
        is_named: |_, first| first.place == "scc",
    },
    Fault {
        name: "the high half of VCC is lost",
        wrong: Wrong::Line(|line| (line == "s_mov_b32 s49, vcc_hi").then(|| "s_mov_b32 s49, 0".to_owned())),
        is_named: |_, first| first.place == "vcc_hi",
    },
    Fault {
        name: "a bit of LDS is stuck",
        wrong: Wrong::Result(|after| after[0x9000 + 12] |= 1),
        is_named: |_, first| first.place == "LDS byte 12",
    },
    other!("v_bfe_u32" is "v_bfe_i32"),
    other!("v_ashrrev_i32" is "v_lshrrev_b32"),
    other!("v_cvt_f32_i32" is "v_cvt_f32_u32"),
    other!("v_mad_i32_i24" is "v_mad_u32_u24"),
    other!("v_alignbit_b32" is "v_alignbyte_b32"),
    other!("s_bfe_i32" is "s_bfe_u32"),
];

/// Faults of the suite `values` that only RDNA can have. A target has those of the instructions that it has.
const RDNA: [Fault; 14] = [
    Fault {
        name: "f16 and f64 are rounded to nearest",
        wrong: Wrong::Line(|line| mode_without(line, 0x0c)),
        is_named: |_, first| first.mode & 0x0c != 0,
    },
    Fault {
        name: "the low half of a register stands for the high one",
        wrong: Wrong::Line(|line| line.starts_with("v_").then(|| line.replace(".h", ".l"))),
        is_named: |_, first| first.instruction.contains(".h"),
    },
    Fault {
        name: "DPP8 does not move lanes",
        wrong: Wrong::Line(|line| Some(format!("{} dpp8:[0,1,2,3,4,5,6,7]", line.split_once(" dpp8:")?.0))),
        is_named: |_, first| first.instruction.contains(" dpp8:"),
    },
    Fault {
        name: "DPP reads no inactive lanes",
        wrong: Wrong::Line(|line| without(line, " fi:")),
        is_named: |_, first| first.instruction.contains(" fi:"),
    },
    Fault {
        name: "lanes share as they exchange",
        wrong: Wrong::Line(|line| line.contains("row_xmask").then(|| line.replace("row_xmask", "row_share"))),
        is_named: |_, first| first.instruction.contains("row_xmask"),
    },
    Fault {
        name: "SDWA clears what it should extend",
        wrong: Wrong::Line(|line| {
            line.contains("UNUSED_SEXT").then(|| line.replace("UNUSED_SEXT", "UNUSED_PAD"))
        }),
        is_named: |_, first| first.instruction.contains("UNUSED_SEXT"),
    },
    Fault {
        name: "a byte is another",
        wrong: Wrong::Line(|line| without(line, " byte_sel:")),
        is_named: |_, first| first.instruction.contains(" byte_sel:"),
    },
    other!("v_permlanex16_b32" is "v_permlane16_b32"),
    other!("v_pk_max_i16" is "v_pk_min_i16"),
    other!(":: v_dual_subrev_f32" is ":: v_dual_sub_f32"),
    other!("v_cmp_lt_f16" is "v_cmp_le_f16"),
    other!("s_add_f32" is "s_sub_f32"),
    other!("s_andn1_saveexec_b32" is "s_andn2_saveexec_b32"),
    other!("s_and_not0_saveexec_b32" is "s_and_not1_saveexec_b32"),
];

/// Faults of the suite `matrix` on RDNA.
const WMMA: [Fault; 3] = [
    Fault {
        name: "the accumulator is read as zero",
        wrong: Wrong::Line(|line| {
            let (before, accumulator) = line.starts_with("v_wmma").then(|| line.rsplit_once(", "))??;
            let modifiers = accumulator.find(' ').map_or("", |at| &accumulator[at..]);
            Some(format!("{before}, 0{modifiers}"))
        }),
        is_named: |_, first| first.instruction.starts_with("v_wmma"),
    },
    Fault {
        name: "factors are not negated",
        wrong: Wrong::Line(|line| without(line, " neg_lo:")),
        is_named: |_, first| first.instruction.contains(" neg_lo:"),
    },
    Fault {
        name: "the first part of the indices is used",
        wrong: Wrong::Line(|line| without(line, " index_key:")),
        is_named: |_, first| first.instruction.contains(" index_key:"),
    },
];

/// Faults of the suite `matrix` on GFX9.
const MATRIX: [Fault; 4] = [
    Fault {
        name: "products are added one by one",
        wrong: Wrong::Machine(|program| program.with_matrix(MatrixArithmetic::Chain)),
        is_named: |form, _| !form.form.contains("i32_"),
    },
    Fault {
        name: "blocks of A are not broadcast",
        wrong: Wrong::Line(|line| without(line, " cbsz:").map(|l| without(&l, " abid:").unwrap_or(l))),
        is_named: |_, first| first.instruction.contains(" cbsz:"),
    },
    Fault {
        name: "lanes of B are not permuted",
        wrong: Wrong::Line(|line| without(line, " blgp:")),
        is_named: |_, first| first.instruction.contains(" blgp:"),
    },
    Fault {
        name: "the accumulator is read as zero",
        wrong: Wrong::Line(|line| {
            let (before, _) = line.starts_with("v_mfma").then(|| line.rsplit_once(", "))??;
            Some(format!("{before}, 0"))
        }),
        is_named: |_, first| first.instruction.starts_with("v_mfma"),
    },
];

/// Programs of each form: those of the suite.
const VARIANTS: u32 = <Values as Computes>::VARIANTS[0];

/// The search for a fault ends when it was found in this many forms.
const ENOUGH: usize = 2;

/// The number of forms in which a fault is found; an error if a difference has another cause.
fn found(fault: &Fault, forms: &[Form]) -> Result<usize, String> {
    let mut found = 0;
    for form in forms {
        let of_seed = |seed| {
            judge::form(*form, seed, VARIANTS, &mut |launch, _, seen| {
                seen(&fault.wrong.run(launch, form.on.target, &Options::default())?);
                Ok(())
            })
        };
        // The operands that one seed gives to one form may not show the fault, so a few forms are tested with several seeds.
        let seeds = if forms.len() > 8 { 1 } else { 4 };
        let Some(result) = (1..=seeds).map(of_seed).find(|result| result.first.is_some()) else { continue };
        let Some(first) = &result.first else { continue };
        if !(fault.is_named)(&result, first) {
            return Err(format!("{}: {first:?}", result.form));
        }
        found += 1;
        if found == ENOUGH {
            break;
        }
    }
    match found {
        0 => Err(format!("not found in {:?}", forms.iter().map(|form| form.name()).collect::<Vec<_>>())),
        _ => Ok(found),
    }
}

/// The forms for which some program of the suite contains what the fault changes.
fn touched(fault: &Fault, all: &[Form], texts: &[Vec<String>]) -> Vec<Form> {
    let is_touched = |row: &InstDesc, texts: &Vec<String>| match fault.wrong {
        Wrong::Line(change) => texts.iter().flat_map(|text| text.lines()).any(|line| {
            let depends = !line.contains("HW_REG_MODE") || row.implicit_reads.contains(ImplicitRegs::MODE);
            depends && change(line).is_some_and(|changed| changed != line)
        }),
        Wrong::Result(_) | Wrong::Machine(_) => true,
    };
    let touched = all.iter().zip(texts).filter(|(form, texts)| is_touched(form.row, texts));
    touched.map(|(form, _)| *form).collect()
}

/// At most `most` forms, for faults that affect many.
fn some(forms: Vec<Form>, most: usize) -> Vec<Form> {
    let step = forms.len().div_ceil(most).max(1);
    forms.into_iter().step_by(step).collect()
}

/// The forms that compute with f32 and f16.
fn mixed(forms: &[Form]) -> Vec<Form> {
    forms.iter().filter(|form| form.row.is_mixed_precision()).copied().collect()
}

/// True for arithmetic of f16 in the long encoding.
fn is_of_halves(form: &Form) -> bool {
    form.row.format == Format::Vop3a && form.row.class == Class::Valu && form.row.entry.has_half_floats()
}

/// A fault's name, and the number of forms or rules in which it was found.
type Planted = (String, Result<usize, String>);

/// Plants the faults in forms of one target, each in at most `most` of them, until it is found [`ENOUGH`] times. A fault of instructions
/// that the target lacks is skipped.
fn planted(faults: &[&Fault], forms: &[Form], most: usize) -> Vec<Planted> {
    let texts: Vec<Vec<String>> = forms
        .iter()
        .map(|form| {
            let make = if form.row.multiplies_matrices() { matrix::case } else { Case::of };
            let cases = (0..VARIANTS).filter_map(|variant| make(*form, 1, variant, true).ok());
            cases.map(|case| case.launch.text).collect()
        })
        .collect();
    let of = |fault: &Fault| match fault.name {
        "f16 of mixed precision is rounded once" => mixed(forms),
        "a bit of LDS is stuck" => {
            some(forms.iter().filter(|form| form.row.is_ds()).copied().collect(), most)
        }
        "f16 and f64 are rounded to nearest" => {
            let mut touched = touched(fault, forms, &texts);
            touched.retain(|form| is_of_halves(form) || form.row.entry.has_doubles());
            some(touched, most)
        }
        _ => some(touched(fault, forms, &texts), most),
    };
    let planted = faults.iter().map(|fault| (*fault, of(fault))).filter(|(_, forms)| !forms.is_empty());
    planted
        .map(|(fault, forms)| (format!("{}: {}", forms[0].on.target, fault.name), found(fault, &forms)))
        .collect()
}

fn of_values() -> Vec<Planted> {
    planted(&VALUES.iter().collect::<Vec<_>>(), &Forms::of(Target::GFX90A).run, 48)
}

fn of_matrix() -> Vec<Planted> {
    let forms = matrix::forms(Target::GFX90A);
    planted(&MATRIX.iter().collect::<Vec<_>>(), &forms, forms.len())
}

/// The faults of RDNA on today's target.
fn of_rdna() -> Vec<Planted> {
    let places = [
        (Target::GFX1030, WaveSize::W64),
        (Target::GFX1100, WaveSize::W32),
        (Target::GFX1201, WaveSize::W32),
    ];
    let (target, wave) = places[(daily_seed() % places.len() as u64) as usize];
    let of_wave =
        |forms: Vec<Form>| forms.into_iter().filter(|form| form.on.wave == wave).collect::<Vec<_>>();
    let forms = of_wave(Forms::of(target).run);
    // Every eighth form, and those in which few faults can be seen.
    let is_replaced = |form: &Form| {
        RDNA.iter().any(|fault| {
            let from = fault.name.split_once(" computes ").map(|(from, _)| from);
            from.is_some_and(|from| form.row.printed.contains(from))
        })
    };
    let forms: Vec<Form> = forms
        .iter()
        .enumerate()
        .filter(|(i, form)| {
            i % 8 == 0 || is_replaced(form) || is_of_halves(form) || form.row.last_selector != 0
        })
        .map(|(_, f)| *f)
        .collect();
    let faults = VALUES.iter().filter(|fault| !fault.name.contains(" computes ")).chain(&RDNA);
    let mut found = planted(&faults.collect::<Vec<_>>(), &forms, 48);
    found.extend(planted(&WMMA.iter().collect::<Vec<_>>(), &of_wave(matrix::forms(target)), 48));
    found
}

const ONCE: Effort = Effort { pairs: 1, repeats: 1, around: &[Surroundings::Alone] };

/// The line for a GPU that executes `more` wait states more in each `s_nop`.
fn with_nops(line: &str, more: i64) -> Option<String> {
    let states: i64 = line.strip_prefix("s_nop ")?.parse().ok()?;
    Some(match states + more {
        // One `s_nop` covers at most 16 states, so the rest needs a second one.
        16.. => "s_nop 15\ns_nop 0".to_owned(),
        0.. => format!("s_nop {}", states + more),
        _ => String::new(),
    })
}

/// Plants three faults for each rule with a pair of instructions to which no other rule applies: hardware that needs one wait state more
/// than the rule says, hardware that needs one less, and hardware without the hazard.
fn of_waits() -> Vec<Planted> {
    const RULES: usize = 5;
    let target = Target::GFX942;
    let mut results = Vec::new();
    for rule in measure::tasks(target) {
        let Ok(pairs) = pair::pairs(rule, target, 1, 1) else { continue };
        let of = &pairs[0];
        let (by, needed) = of.pair.most;
        // Only rules whose wait fits into a single `s_nop`, so that changing it by one is one wait state.
        if by != rule.id || !(2..=12).contains(&needed) || pair::others_ask(&of.pair, rule, target).is_some()
        {
            continue;
        }
        let measured = |wrong: Wrong, rules: Config| {
            let options = Options { rules, ..Options::faithful() };
            let gpu = &mut |launch: &Launch, _: u32, seen: &mut dyn FnMut(&[u8]) -> bool| {
                seen(&wrong.run(launch, target, &options)?);
                Ok(())
            };
            let result = measure::pair(of, target, ONCE, gpu).unwrap();
            (result.verdict(), result.measured, result.needed_by)
        };
        let faults = [
            ("needs a state more", Wrong::Line(|line| with_nops(line, -1)), Config::default()),
            ("needs a state less", Wrong::Line(|line| with_nops(line, 1)), Config::default()),
            ("has no hazard", Wrong::Line(|_| None), Config::default().without(rule.id).unwrap()),
        ];
        let right =
            [(Verdict::More, Some(needed + 1)), (Verdict::Less, Some(needed - 1)), (Verdict::NotSeen, None)];
        for ((fault, wrong, rules), (verdict, states)) in faults.into_iter().zip(right) {
            let result = measured(wrong, rules);
            let is_right = result == (verdict, states, rule.id.to_owned());
            let found = if is_right { Ok(1) } else { Err(format!("{}: {result:?}", of.pair.text(target))) };
            results.push((format!("{}: hardware {fault}", rule.id), found));
        }
        if results.len() == 3 * RULES {
            break;
        }
    }
    results
}

/// Asserts that at least this number of faults was planted, and every one found.
fn all_found(faults: &[Planted], least: usize) {
    let missed: Vec<&Planted> = faults.iter().filter(|(_, found)| found.is_err()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(faults.len() >= least, "{}", faults.len());
}

#[test]
fn every_planted_fault_is_found_and_named() {
    all_found(&[of_values(), of_matrix(), of_waits()].concat(), 30);
}

#[test]
fn faults_of_rdna_are_found_and_named() {
    all_found(&of_rdna(), 15);
}
