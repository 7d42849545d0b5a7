//! Tests that `s_delay_alu` is inserted where LLVM 22 inserts it.

use std::io::Read as _;

use gcn_emit::text::{InstText, parse_inst};
use gcn_isa::delay::insert_delays;
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::{Operand, Program, Target};

const PROGRAMS: &[u8] = include_bytes!("../data/rdna/delay-alu.tsv.gz");

/// A program from its statements. LLVM renumbers the labels, so they are identified by their order.
fn program(on: Subtarget, text: &str) -> Program {
    let mut program = Program::new(on.target, "delays");
    program.wave = on.wave;
    let statements = || text.split("||").map(str::trim);
    let names: Vec<&str> = statements().filter_map(|s| s.strip_suffix(':')).collect();
    let labels: Vec<_> = (0..names.len()).map(|i| program.new_label(format!("L{i}"))).collect();
    let label = |name: &str| names.iter().position(|n| *n == name).map(|i| labels[i]);
    for statement in statements() {
        if let Some(label) = statement.strip_suffix(':').and_then(label) {
            program.place(label);
            continue;
        }
        let parse = |text: &str| parse_inst(text, on).unwrap_or_else(|e| panic!("{text}: {e}"));
        let inst = match statement.split_once(' ').and_then(|(mnemonic, to)| Some((mnemonic, label(to)?))) {
            Some((mnemonic, to)) => {
                let mut inst = parse(&format!("{mnemonic} 0"));
                inst.operands[0] = Operand::Label(to);
                inst
            }
            None => parse(statement),
        };
        program.push(inst);
    }
    program
}

fn shown(program: &Program) -> Vec<String> {
    let text = |inst| InstText { inst, target: program.target, program: Some(program) }.to_string();
    program.lines.iter().map(|line| text(&*line.inst)).collect()
}

#[test]
fn hints_are_llvms() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("the data file is gzip");
    let (mut equal, mut rows) = (0, 0);
    for row in text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>()) {
        let &[target, wave, kind, before, after] = &row[..] else { panic!("{row:?}") };
        let wave = wave.parse().ok().and_then(WaveSize::of_lanes).expect("a wave size");
        let on = Subtarget::new(target.parse().expect("a target"), wave).expect("a wave size of the target");
        rows += 1;
        let mut ours = program(on, before);
        let count = insert_delays(&mut ours, &mut []);
        assert_eq!(ours.lines.len(), program(on, before).lines.len() + count);
        let (ours, llvm) = (shown(&ours), shown(&program(on, after)));
        if ours == llvm {
            equal += 1;
        } else {
            println!("{target} {wave:?} {kind}\n  {}\n  {}", ours.join("; "), llvm.join("; "));
        }
    }
    assert_eq!((rows, equal), (955, 955));
}

#[test]
fn there_are_none_before_rdna_3() {
    for target in [Target::GFX942, Target::GFX1030] {
        let on = Subtarget::new(target, target.instruction_set().usual_wave()).expect("the usual wave size");
        let mut add = program(on, "v_add_f32_e32 v0, v1, v2 || v_add_f32_e32 v3, v0, v0");
        assert_eq!(insert_delays(&mut add, &mut []), 0);
    }
}
