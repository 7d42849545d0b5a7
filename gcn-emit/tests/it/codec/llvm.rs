//! Compares with the LLVM disassembler on more instructions than the golden vectors contain.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use gcn_emit::encode::encode_inst;
use gcn_isa::{Format, Inst, RegFile, Target, table};
use gcn_test_support::llvm::tool;

use super::random::random_inst;

/// The tool's standard output and standard error for these lines of input.
fn run(tool: &Path, target: Target, mode: &str, lines: &[String]) -> (String, String) {
    let mut child = Command::new(tool)
        .args([mode, "-triple=amdgcn", &format!("-mcpu={target}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool was found");
    let mut stdin = child.stdin.take().expect("piped");
    let input = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the tool ends");
    writer.join().expect("no panic").expect("the tool reads its input");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the tool writes text");
    (text(output.stdout), text(output.stderr))
}

/// One line of output for each line of input; `None` where the tool rejects the line. A rejected line would shift the disassembler's
/// output, so the rejected lines are determined first.
fn line_by_line(tool: &Path, target: Target, mode: &str, input: &[String]) -> Vec<Option<String>> {
    let (_, errors) = run(tool, target, mode, input);
    let line_number = |error: &str| error.strip_prefix("<stdin>:")?.split(':').next()?.parse::<usize>().ok();
    let refused: BTreeSet<usize> = errors.lines().filter_map(line_number).map(|n| n - 1).collect();
    let accepted: Vec<String> = input
        .iter()
        .enumerate()
        .filter(|(i, _)| !refused.contains(i))
        .map(|(_, line)| line.clone())
        .collect();
    let (text, errors) = run(tool, target, mode, &accepted);
    assert!(errors.is_empty(), "{errors}");
    let mut lines =
        text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('.')).map(str::to_owned);
    let texts = (0..input.len()).map(|i| if refused.contains(&i) { None } else { lines.next() }).collect();
    assert_eq!(lines.next(), None, "{target}: one line of output per line of input");
    texts
}

/// Bytes in the form that the disassembler reads.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:#04x} ")).collect()
}

/// True if the assembler's output line states that the encoding is `bytes`.
fn encodes_to(line: Option<&String>, bytes: &[u8]) -> bool {
    let list: Vec<String> = bytes.iter().map(|b| format!("{b:#04x}")).collect();
    line.is_some_and(|l| l.ends_with(&format!("encoding: [{}]", list.join(","))))
}

/// True for instructions for which LLVM 22 deviates from the encoding's definition.
fn is_llvm_fault(inst: &Inst) -> bool {
    let agpr = inst.operands.iter().any(|o| o.reg().is_some_and(|r| r.file == RegFile::Agpr));
    // In the AGPR forms of these instructions, LLVM ignores sc1: the assembler drops the bit, and the disassembler does not know it.
    let f64_atomic = inst.desc.format == Format::Flat && inst.desc.mnemonic.ends_with("_f64");
    f64_atomic && agpr && inst.mods.scc
}

/// The disassembler's text counts as canonical if the assembler turns it back into the same bytes. (That is not so for some constants, and
/// if bits are set that the symbolic names do not represent.) If it is canonical, our text must be the same.
#[test]
fn random_instructions_disassemble_to_our_text() {
    let Some(tool) = tool("llvm-mc") else { return };
    let mut wrong = Vec::new();
    for target in Target::REPRESENTATIVES {
        let rows = table::rows().iter().filter(|r| r.targets.contains(target));
        let (insts, code): (Vec<Inst>, Vec<Vec<u8>>) = rows
            .flat_map(|desc| (0..12).map(move |seed| random_inst(desc, seed << 40 ^ u64::from(desc.id))))
            .filter(|inst| !is_llvm_fault(inst))
            .filter_map(|inst| encode_inst(&inst, target).ok().map(|bytes| (inst, bytes.to_vec())))
            .unzip();
        let input: Vec<String> = code.iter().map(|bytes| hex(bytes)).collect();
        let theirs = line_by_line(&tool, target, "--disassemble", &input);
        let ours: Vec<String> = insts.iter().map(|inst| super::text(inst, target)).collect();
        let differing: Vec<usize> =
            (0..insts.len()).filter(|&i| theirs[i].as_ref() != Some(&ours[i])).collect();
        let texts =
            |of: &dyn Fn(usize) -> String| -> Vec<String> { differing.iter().map(|&i| of(i)).collect() };
        let their_code =
            line_by_line(&tool, target, "-show-encoding", &texts(&|i| theirs[i].clone().unwrap_or_default()));
        let our_code = line_by_line(&tool, target, "-show-encoding", &texts(&|i| ours[i].clone()));
        for (n, &i) in differing.iter().enumerate() {
            let canonical = theirs[i].is_some() && encodes_to(their_code[n].as_ref(), &code[i]);
            if canonical || theirs[i].is_none() || !encodes_to(our_code[n].as_ref(), &code[i]) {
                wrong.push(format!("{target} {:02x?}: ours `{}`, LLVM's {:?}", code[i], ours[i], theirs[i]));
            }
        }
        println!(
            "{target}: {} random instructions compared with LLVM's disassembler, {} of them not canonical there",
            insts.len(),
            differing.len()
        );
    }
    assert!(
        wrong.is_empty(),
        "{} texts differ, among them {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(60)]
    );
}
