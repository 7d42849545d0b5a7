//! Compares directives with llvm-mc, case by case: both accept the file and produce the same object, or both reject it.

use std::process::{Command, Stdio};

use gcn_emit::asm::{Options, assemble};
use gcn_emit::descriptor::KernelDescriptor;
use gcn_emit::object::Module;
use gcn_isa::Target;
use gcn_test_support::env::fuzz_step;

use super::{describe, first_difference};
use crate::llvm::{Llvm, Scratch, text};

/// Cases, separated by lines of `====`. The first line may name a target.
const CASES: &str = include_str!("../../data/asm_cases.txt");

/// The object that llvm-mc produces from a source; `None` if it rejects the source or crashes.
pub fn llvm_module(dir: &Scratch, target: &str, source: &str) -> Option<Module> {
    let input = dir.write("case.s", source.as_bytes());
    let object = dir.path("case.o");
    let _ = std::fs::remove_file(&object);
    let (cpu, attributes) = target.split_once(' ').unwrap_or((target, "-mattr="));
    let cpu = format!("-mcpu={cpu}");
    let args =
        ["-triple=amdgcn-amd-amdhsa", &cpu, attributes, "-filetype=obj", text(&input), "-o", text(&object)];
    // A run of more than a few seconds counts as a hang, which happens with llvm-mc 22 if code is aligned from an odd offset.
    let mut child = Command::new("timeout")
        .args(["5", "llvm-mc-22"])
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool was found");
    if !child.wait().expect("it runs").success() {
        return None;
    }
    Module::from_relocatable(&std::fs::read(object).ok()?).ok()
}

#[test]
fn directives_mean_what_they_mean_to_llvm() {
    if Llvm::find().is_none() {
        return;
    }
    let dir = Scratch::new("asm-cases");
    let mut wrong = Vec::new();
    let mut counts = [0, 0];
    // Each run of llvm-mc takes some hundredths of a second, so an ordinary run tests a part of the cases.
    let step = fuzz_step(12);
    for case in CASES.split("====\n").step_by(step) {
        let (target, source) = match case.strip_prefix("target ").and_then(|rest| rest.split_once('\n')) {
            Some((target, source)) => (target, source),
            None => ("gfx942", case),
        };
        let id = target.split(' ').next().unwrap_or_default();
        let options = Options { target: Some(id.parse().expect("cases name targets")), ..Options::default() };
        let ours = assemble("case.s", source, &options);
        let theirs = llvm_module(&dir, target, source);
        match (ours, theirs) {
            (Ok(ours), Some(theirs)) => {
                counts[0] += 1;
                let (ours, theirs) = (describe(&ours.module), describe(&theirs));
                if let Some((ours, theirs)) = first_difference(&ours, &theirs) {
                    wrong.push(format!("{case}  ours {ours}\n  llvm {theirs}"));
                }
            }
            (Ok(_), None) => wrong.push(format!("{case}  llvm-mc refuses this")),
            (Err(errors), Some(_)) => wrong.push(format!("{case}  llvm-mc takes this: {errors}")),
            (Err(_), None) => counts[1] += 1,
        }
    }
    println!("{} cases accepted by both, {} refused by both", counts[0], counts[1]);
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// As llvm-mc 22 counts them: preloaded arguments occupy the user SGPRs, which are followed by six more for VCC, XNACK_MASK and FLAT_SCRATCH;
/// without preloading, only `.amdhsa_next_free_sgpr` counts.
#[test]
fn preloaded_arguments_are_allocated() {
    const SIZE: &str = ".amdhsa_user_sgpr_kernarg_preload_length";
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        for (next_free, more, sgprs) in [
            (0, format!("{SIZE} 1"), 8),
            (0, format!("{SIZE} 10"), 16),
            (0, format!("{SIZE} 11"), 24),
            (8, format!("{SIZE} 14\n.amdhsa_user_sgpr_kernarg_segment_ptr 1"), 24),
            (30, format!("{SIZE} 14\n.amdhsa_user_sgpr_kernarg_segment_ptr 1"), 40),
            (0, format!("{SIZE} 2\n.amdhsa_user_sgpr_count 16"), 24),
            (0, ".amdhsa_user_sgpr_count 16".to_owned(), 8),
        ] {
            let source = format!(
                ".amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_accum_offset 4\n\
                 .amdhsa_next_free_sgpr {next_free}\n{more}\n.end_amdhsa_kernel\n"
            );
            let options = Options { target: Some(target.into()), ..Options::default() };
            let module = assemble("k.s", &source, &options).unwrap_or_else(|e| panic!("{e}")).module;
            let bytes = module.sections.iter().find_map(|section| section.bytes.first_chunk()).unwrap();
            let descriptor = KernelDescriptor::from_bytes(bytes);
            assert_eq!(descriptor.allocated_sgprs(target), sgprs, "{target} {next_free} {more}");
        }
    }
}
