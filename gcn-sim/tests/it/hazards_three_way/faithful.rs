//! Faithful mode on random programs: with sufficient waits it gives the result of functional mode; where strict mode reports a hazard,
//! faithful mode counts it, and its result often differs.

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::wait::{self, WaitOptions};
use gcn_isa::{Program, Target};
use gcn_sim::{Machine, Memory, Options, Stats, run};
use gcn_test_support::Random;

use super::run::{arguments, fill, kernel};

/// The offset at which registers are stored, after the area that programs write.
const DUMP: usize = 0x1_0000;
/// The size in bytes of the buffer, including the stored registers.
const BUFFER: usize = 0x2_4000;

/// Counts of what was observed, to check that the tests are effective.
#[derive(Default, Debug)]
pub struct Totals {
    pub programs: usize,
    pub runs: usize,
    /// Runs without violations in which memory operations of different kinds accessed the same bytes, which register dependences do not
    /// order.
    pub unordered: usize,
    /// Runs of programs without waits in which violations were counted.
    pub early: usize,
    /// Runs among these with a different result than functional mode.
    pub different: usize,
}

/// The program, extended by code that stores its registers at the end: `v0` to `v39`, the SGPRs, the AGPRs.
fn with_dump(program: &Program) -> Program {
    let target = program.target;
    let mut text =
        String::from("v_mov_b32_e32 v59, v55\nv_add_u32_e32 v59, 0x10000, v59\ns_mov_b64 exec, -1\n");
    text = format!(
        "s_nop 15\ns_nop 15\ns_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\ns_mov_b64 s[70:71], exec\ns_mov_b64 exec, -1\n{text}"
    );
    let mut slots = 0;
    let mut store = |text: &mut String, prepare: String, register: &str| {
        *text += &prepare;
        *text += &format!("global_store_dword v59, {register}, s[80:81] offset:{}\n", slots % 4 * 4);
        slots += 1;
        if slots % 4 == 0 {
            *text += "v_add_u32_e32 v59, 0x400, v59\n";
        }
    };
    for v in 0..40 {
        store(&mut text, String::new(), &format!("v{v}"));
    }
    for s in (4..72).map(|s| format!("s{s}")).chain(["vcc_lo".into(), "vcc_hi".into()]) {
        store(&mut text, format!("v_mov_b32_e32 v60, {s}\n"), "v60");
    }
    if target.has_agprs() {
        for a in 0..32 {
            store(&mut text, format!("v_accvgpr_read_b32 v61, a{a}\ns_nop 2\n"), "v61");
        }
    }
    text += "s_endpgm\n";
    let dump = parse_program(&text, target, "dump").expect("the dump");
    let mut whole = program.clone();
    // Labels at the end of the program now refer to the start of this code.
    whole.lines.pop();
    whole.lines.extend(dump.lines);
    whole
}

/// The memory after a run.
fn result(program: &Program, choices: u32, options: &Options) -> Result<(Vec<u8>, Stats), String> {
    let code = encode_program(program).map_err(|e| e.to_string())?;
    let machine = Machine::new(program.target, &code.bytes, kernel()).map_err(|e| e.to_string())?;
    let mut memory = Memory::new();
    let buffer = memory.alloc(BUFFER);
    fill(&mut memory, buffer)?;
    let options = Options { max_instructions: 20_000, ..*options };
    let stats = run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &arguments(buffer, choices), &options)
        .map_err(|e| e.to_string())?;
    let bytes = memory.read(buffer, BUFFER).map_err(|e| e.to_string())?;
    Ok((bytes, stats))
}

/// Checks that if each memory operation completes before the next, the result is that of functional mode in any case.
fn agrees_in_order(program: &Program, choices: u32) -> Result<(), String> {
    let wait = parse_program("s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", program.target, "wait");
    let wait = wait.expect("a wait").lines.remove(0);
    let memory = |i: &usize| {
        let desc = program.lines[*i].inst.desc;
        desc.is_vmem() || desc.is_ds() || desc.is_smem()
    };
    let mut ordered = program.clone();
    ordered.insert((0..program.lines.len()).filter(memory).map(|i| (i, wait.clone())).collect());
    let (expected, _) = result(&ordered, choices, &Options::default())?;
    let (seen, _) = result(&ordered, choices, &Options::faithful())?;
    match seen.iter().zip(&expected).position(|(a, b)| a != b) {
        Some(at) => Err(format!("with all waits byte {at:#x} differs (dump from {DUMP:#x})")),
        None => Ok(()),
    }
}

/// Checks one program.
pub fn holds(original: &Program, seed: usize, totals: &mut Totals) -> Result<(), String> {
    let bare = with_dump(original);
    let mut waiting = bare.clone();
    wait::insert_waits(&mut waiting, &WaitOptions::default());
    totals.programs += 1;
    let mut choices = Random::new(seed as u64 ^ 0xfa17);
    for _ in 0..2 {
        let choices = choices.next_u64() as u32;
        let (expected, _) = result(&waiting, choices, &Options::default())?;
        let (seen, stats) = result(&waiting, choices, &Options::faithful())?;
        totals.runs += 1;
        if let Some(stale) = stats.stale.first() {
            return Err(format!("with all waits there is {stale}"));
        }
        if seen != expected {
            totals.unordered += 1;
            agrees_in_order(&waiting, choices)?;
        }
        // Without waits, addresses may be invalid, so that a run may end with an error.
        let Ok((expected, _)) = result(&bare, choices, &Options::default()) else { continue };
        let Ok((seen, stats)) = result(&bare, choices, &Options::faithful()) else { continue };
        if !stats.stale.is_empty() {
            totals.early += 1;
            totals.different += usize::from(seen != expected);
        } else if seen != expected {
            totals.unordered += 1;
        }
    }
    Ok(())
}

/// Checks that the target's programs have exercised enough for the test to be meaningful.
pub fn is_substantial(target: Target, totals: &Totals) {
    println!("{target}: faithful: {totals:?}");
    if totals.programs < 100 {
        return;
    }
    assert!(totals.unordered * 20 < totals.runs, "{totals:?}");
    assert!(totals.early * 2 > totals.runs && totals.different * 5 > totals.early, "{totals:?}");
}
