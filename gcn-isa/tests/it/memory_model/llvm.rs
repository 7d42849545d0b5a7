//! Runs LLVM 22's memory legalizer and reads its results.
//!
//! `llc-22 -stop-after=si-memory-legalizer` shows the sequences before LLVM adds waits for registers and before `si-insert-waitcnts`
//! removes the waits that LLVM considers redundant.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use gcn_isa::Target;
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::memory_model::{Mode, Operation, Ordering, Scope, Space, sequence};
use gcn_isa::target::Generation;
use gcn_test_support::env::bless;
use gcn_test_support::llvm::tool;

use super::{COLUMNS, Form, answers, cases};

/// LLVM IR with one function for each case.
fn module() -> String {
    let mut ir = String::new();
    for case in cases() {
        let space = match case.space {
            Space::Global => " addrspace(1)",
            Space::Local => " addrspace(3)",
            Space::Generic => "",
        };
        let p = format!("ptr{space}");
        let scope = match case.scope {
            Scope::System => String::new(),
            scope => format!(" syncscope(\"{}\")", scope.name()),
        };
        let ordering = case.ordering.name();
        let keep = "store i32 %r, ptr addrspace(1) %out";
        let body = match case.form {
            Form::Load => format!("%r = load atomic i32, {p} %p{scope} {ordering}, align 4\n  {keep}"),
            Form::Store => format!("store atomic i32 %v, {p} %p{scope} {ordering}, align 4"),
            Form::Exchange => format!("%r = atomicrmw xchg {p} %p, i32 %v{scope} {ordering}"),
            Form::ExchangeReturning => {
                format!("%r = atomicrmw xchg {p} %p, i32 %v{scope} {ordering}\n  {keep}")
            }
            Form::CompareExchange => {
                let failure = match case.ordering {
                    Ordering::Relaxed | Ordering::Release => "monotonic",
                    Ordering::Acquire | Ordering::AcqRel => "acquire",
                    Ordering::SeqCst => "seq_cst",
                };
                format!("%r = cmpxchg {p} %p, i32 %c, i32 %v{scope} {ordering} {failure}")
            }
            Form::Fence => format!("fence{scope} {ordering}"),
        };
        writeln!(
            ir,
            "define amdgpu_kernel void @{}({p} %p, i32 %v, i32 %c, ptr addrspace(1) %out) {{\n  {body}\n  ret void\n}}",
            case.name()
        )
        .unwrap();
    }
    ir
}

fn legalized(dir: &Path, (target, mode): (Target, Mode)) -> Option<String> {
    let source = dir.join("cases.ll");
    let split = match mode {
        Mode::TgSplit => "-mattr=+tgsplit",
        Mode::Wgp => "-mattr=-cumode",
        Mode::Normal if target.has_workgroup_processors() => "-mattr=+cumode",
        Mode::Normal => "-mattr=",
    };
    let out = Command::new("llc-22")
        .args(["-mtriple=amdgcn-amd-amdhsa", &format!("-mcpu={target}"), split])
        .args(["-stop-after=si-memory-legalizer", "-o", "-"])
        .arg(&source)
        .stderr(Stdio::piped())
        .output()
        .ok()?;
    assert!(out.status.success(), "llc-22: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).ok()
}

/// A line of MIR that is part of a sequence of the memory model.
enum Step {
    Wait(WaitCnt),
    Other(String),
}

/// The sequence of each function of a MIR file, in the format in which our sequences are printed.
fn sequences(mir: &str, target: Target) -> Vec<(String, String)> {
    let mut found: Vec<(String, Vec<Step>)> = Vec::new();
    for line in mir.lines() {
        if let Some(name) = line.strip_prefix("name:") {
            found.push((name.trim().trim_matches('\'').to_owned(), Vec::new()));
        } else if let Some((_, steps)) = found.last_mut()
            && let Some(step) = step(line, target)
        {
            match (steps.last_mut(), step) {
                // Adjacent waits are one instruction.
                (Some(Step::Wait(last)), Step::Wait(wait)) => *last = last.and(wait),
                (_, step) => steps.push(step),
            }
        }
    }
    let text = |step: Step| match step {
        Step::Wait(wait) => wait.on(target.instruction_set()).to_string(),
        Step::Other(text) => text,
    };
    let joined = |steps: Vec<Step>| steps.into_iter().map(text).collect::<Vec<_>>().join("; ");
    found.into_iter().map(|(name, steps)| (name, joined(steps))).collect()
}

/// Parses a line of MIR, if it is part of a sequence of the memory model. The image counters are ignored, and so is `lds_direct`, which
/// stands for operations that GFX10 does not count: no instruction of the tables changes these counters.
fn step(line: &str, target: Target) -> Option<Step> {
    let line = line.trim();
    let code = line.split_once(" = ").map_or(line, |(_, code)| code);
    let (opcode, operands) = code.split_once(' ').unwrap_or((code, ""));
    let cache = |name: &str| Some(Step::Other(format!("{name}{}", bits(immediate(operands, 0), target))));
    let plain = |name: &str| Some(Step::Other(name.to_owned()));
    let zero = |counter: Counter| Some(Step::Wait(counter.at(0)));
    match opcode {
        "S_WAITCNT_soft" | "S_WAITCNT" => {
            let set = target.instruction_set();
            Some(Step::Wait(WaitCnt::of_immediate(set, immediate(operands, 0) as u16)))
        }
        "S_WAITCNT_VSCNT_soft" | "S_WAIT_STORECNT_soft" => zero(Counter::Vs),
        "S_WAIT_LOADCNT_soft" => zero(Counter::Vm),
        "S_WAIT_DSCNT_soft" => zero(Counter::Lgkm),
        // On gfx90a, the assembler has no bits for this instruction, although LLVM's compiler sets some.
        "BUFFER_WBL2" if target == Target::GFX90A => plain("buffer_wbl2"),
        "BUFFER_WBL2" => cache("buffer_wbl2"),
        "BUFFER_INV" => cache("buffer_inv"),
        "BUFFER_INVL2" => plain("buffer_invl2"),
        "BUFFER_WBINVL1_VOL" => plain("buffer_wbinvl1_vol"),
        "BUFFER_GL0_INV" => plain("buffer_gl0_inv"),
        "BUFFER_GL1_INV" => plain("buffer_gl1_inv"),
        "GLOBAL_INV" => cache("global_inv"),
        "GLOBAL_WB" => cache("global_wb"),
        _ => access(opcode, operands, target).map(Step::Other),
    }
}

/// The access that a memory operand describes: `:: (load store syncscope("agent") acq_rel (s32) …)`.
fn access(opcode: &str, operands: &str, target: Target) -> Option<String> {
    let (operands, memory) = operands.split_once(" :: ")?;
    let ordered = Ordering::ALL.iter().any(|o| memory.contains(&format!(" {} ", o.name())));
    let vector = ["GLOBAL_", "FLAT_", "BUFFER_"].iter().any(|p| opcode.starts_with(p));
    if !ordered || !(vector || opcode.starts_with("DS_")) {
        return None;
    }
    let operation = if memory.contains("load store") {
        Operation::Rmw
    } else if memory.contains("store") {
        Operation::Store
    } else {
        Operation::Load
    };
    let name = match operation {
        Operation::Rmw => "atomic",
        Operation::Store => "store",
        _ => "load",
    };
    let mut policy = if vector { last_immediate(operands) } else { 0 };
    if operation == Operation::Rmw {
        // This bit requests the old value.
        policy &= !1;
    }
    Some(format!("{name}{}", bits(policy, target)))
}

/// The bits of LLVM's cache policy: 1 is `glc` or `sc0`, 4 is `dlc`, 16 is `scc` or `sc1`; on GFX12 the scope is in bits 4:3.
fn bits(policy: u32, target: Target) -> String {
    if target.generation() == Generation::GFX12 {
        assert_eq!(policy & !0x18, 0, "an unknown bit");
        return ["", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"][policy as usize >> 3]
            .to_owned();
    }
    let dlc = if target.generation() == Generation::GFX10 { 4 } else { 0 };
    let new = target.is_gfx940_family();
    let mut text = String::new();
    if policy & 1 != 0 {
        text.push_str(if new { " sc0" } else { " glc" });
    }
    if policy & dlc != 0 {
        text.push_str(" dlc");
    }
    if policy & 16 != 0 {
        text.push_str(if new { " sc1" } else { " scc" });
    }
    assert_eq!(policy & !(17 | dlc), 0, "an unknown bit");
    text
}

fn immediate(operands: &str, index: usize) -> u32 {
    let operand = operands.split(',').nth(index).unwrap_or_default().trim();
    operand.parse().unwrap_or_else(|_| panic!("an immediate is expected in `{operands}`"))
}

/// The last immediate operand, which is the cache policy.
fn last_immediate(operands: &str) -> u32 {
    let mut numbers = operands.split(',').filter_map(|o| o.trim().parse().ok());
    numbers.next_back().expect("an access has a cache policy")
}

#[test]
fn answers_are_llvms() {
    if tool("llc").is_none() {
        return;
    }
    let dir = std::env::temp_dir().join(format!("gcn-memory-model-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory for the cases");
    std::fs::write(dir.join("cases.ll"), module()).expect("the cases can be written");
    let mut rows: Vec<(String, Vec<String>)> = cases().iter().map(|c| (c.name(), Vec::new())).collect();
    for column in COLUMNS {
        let mir = legalized(&dir, column).expect("llc-22 answers");
        let found = sequences(&mir, column.0);
        for (name, cells) in &mut rows {
            let sequence = found.iter().find(|f| f.0 == *name).map(|f| f.1.clone());
            cells.push(sequence.unwrap_or_else(|| panic!("{name} is missing")));
        }
    }
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
    if bless() {
        write(&rows);
        return;
    }
    let stored = answers();
    for (name, cells) in &rows {
        assert_eq!(stored.get(name), Some(cells), "{name}: LLVM's answer has changed");
    }
}

fn write(rows: &[(String, Vec<String>)]) {
    let columns = COLUMNS.map(|(target, mode)| match mode {
        Mode::Normal => target.to_string(),
        Mode::TgSplit => format!("{target} tgsplit"),
        Mode::Wgp => format!("{target} wgp"),
    });
    let mut text = format!("case\t{}\n", columns.join("\t"));
    for (name, cells) in rows {
        writeln!(text, "{name}\t{}", cells.join("\t")).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/memory-model-llvm22.tsv");
    std::fs::write(path, text).expect("the answers can be written");
}

/// Tests a defect of LLVM 22.1.8: it omits the wait after `buffer_wbl2` if no store is outstanding (LLVM pull request 178316), although the
/// write-back itself counts on vmcnt and must be done before the following store.
#[test]
fn the_wait_behind_a_write_back_is_ours() {
    if tool("llc").is_none() {
        return;
    }
    let dir = std::env::temp_dir().join(format!("gcn-memory-model-wbl2-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory for the case");
    let source = dir.join("release.ll");
    let ir = "define amdgpu_kernel void @f(ptr addrspace(1) %p, i32 %v) {\n  \
              store atomic i32 %v, ptr addrspace(1) %p syncscope(\"agent\") release, align 4\n  ret void\n}\n";
    std::fs::write(&source, ir).expect("the case can be written");
    let args = ["-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-o", "-"];
    let out = Command::new("llc-22").args(args).arg(&source).output().expect("llc-22 runs");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
    let text = String::from_utf8_lossy(&out.stdout);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let write_back = lines.iter().position(|l| *l == "buffer_wbl2 sc1").expect("the release writes back");
    assert!(
        lines[write_back + 1].starts_with("global_store_dword"),
        "LLVM waits now: drop this test and its note"
    );
    let ours = sequence(
        Target::GFX942,
        Mode::Normal,
        Operation::Store,
        Ordering::Release,
        Scope::Agent,
        Space::Global,
    );
    let ours = ours.expect("a release store has a sequence").to_string();
    assert_eq!(ours, "buffer_wbl2 sc1; s_waitcnt vmcnt(0) lgkmcnt(0); store sc1");
}
