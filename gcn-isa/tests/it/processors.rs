//! Tests the rows of processors against LLVM 22.
//!
//! `elf-targets.tsv` has the flags that `llvm-mc` writes, `register-granules.tsv.gz` has the descriptor field for each number of registers,
//! and `occupancy.tsv.gz` has the number of waves on a SIMD that `llc` prints.

use std::collections::BTreeSet;

use gcn_isa::hazards;
use gcn_isa::target::VgprFile;
use gcn_isa::{InstructionSet, Target, WaveSize};

use crate::golden::{rows, unpack};

const ELF: &str = include_str!("../data/elf-targets.tsv");

fn known(name: &str) -> Option<Target> {
    Target::KNOWN.into_iter().find(|target| target.name() == name)
}

fn file(target: Target, lanes: &str) -> VgprFile {
    target.vgpr_file(WaveSize::of_lanes(lanes.parse().unwrap()).unwrap())
}

#[test]
fn elf_flags_are_llvms() {
    let mut seen = BTreeSet::new();
    for cells in rows(ELF) {
        let [name, flags, mach, version, _, xnack, sramecc, ..] = cells[..] else { panic!("{cells:?}") };
        let Some(target) = known(name) else { continue };
        let number = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
        assert_eq!(target.elf_mach(), number(mach), "{name}");
        let generic = target.generic().map_or(String::new(), |(version, _)| version.to_string());
        assert_eq!(generic, version, "{name}");
        assert_eq!(number(flags) >> 24, target.generic().map_or(0, |g| g.0), "{name}");
        assert_eq!(
            (target.supports_xnack(), target.supports_sramecc()),
            (xnack == "any", sramecc == "any"),
            "{name}"
        );
        seen.insert(target);
    }
    assert_eq!(seen, BTreeSet::from(Target::KNOWN));
}

#[test]
fn descriptors_count_vgprs_as_llvm_does() {
    let text = unpack(include_bytes!("../data/register-granules.tsv.gz"));
    let mut checked = 0;
    for cells in rows(&text) {
        let [name, wave, kind, from, to, field, ..] = cells[..] else { panic!("{cells:?}") };
        let (Some(target), "vgpr") = (known(name), kind) else { continue };
        let block = file(target, wave).block;
        for count in [from, to] {
            let count: u32 = count.parse().unwrap();
            assert_eq!(count.div_ceil(block) - 1, field.parse().unwrap(), "{name} wave{wave}: {count}");
        }
        checked += 1;
    }
    assert_eq!(checked, 64 * 20);
}

#[test]
fn simds_hold_as_many_waves_as_llvm_says() {
    let text = unpack(include_bytes!("../data/occupancy.tsv.gz"));
    let mut seen = BTreeSet::new();
    for cells in rows(&text) {
        let [name, wave, _, resource, from, to, waves, ..] = cells[..] else { panic!("{cells:?}") };
        let Some(target) = known(name).filter(|_| resource.starts_with("VGPRs")) else { continue };
        let file = file(target, wave);
        let (from, to): (u32, u32) = (from.parse().unwrap(), to.parse().unwrap());
        for count in from..=to {
            let held =
                (file.registers / count.next_multiple_of(file.granule)).min(target.max_waves_per_simd());
            assert_eq!(held, waves.parse().unwrap(), "{name} wave{wave}: {count} VGPRs");
        }
        seen.insert(target);
    }
    assert_eq!(seen.len(), 17, "{seen:?}");
}

/// Tests generic targets: each of their processors has all features that the generic code may use, and the generic code keeps the distances
/// that each processor needs.
#[test]
fn generic_code_fits_its_processors() {
    for generic in Target::GFX9 {
        let Some((_, members)) = generic.generic() else { continue };
        for row in gcn_isa::table::rows().iter().filter(|row| row.targets.contains(generic)) {
            for member in members {
                assert!(row.targets.contains(*member), "{} of {generic} on {member}", row.printed);
                let passes = |target| row.passes_with(target, &row.default_mods());
                assert!(passes(generic) >= passes(*member), "{} of {generic} on {member}", row.printed);
            }
        }
        for rule in hazards::all() {
            for member in members {
                for passes in [0, 2, 4, 8, 16] {
                    let states = |target| rule.states(target).map(|states| states.after(passes));
                    // A rule about instructions that only one processor has is unnecessary for the generic target, which lacks these
                    // instructions.
                    assert!(states(generic) >= states(*member), "{} of {generic} on {member}", rule.id);
                }
            }
        }
    }
}

#[test]
fn names_are_read_and_others_refused_by_name() {
    for target in Target::KNOWN {
        assert_eq!(target.name().parse(), Ok(target));
    }
    let error = "gfx1310".parse::<Target>().unwrap_err().to_string();
    assert!(error.starts_with("unknown target `gfx1310`"), "{error}");
}

/// Tests the numbers of M0 and NULL, which RDNA 3 exchanged. LLVM 22 encodes `s_mov_b32 m0, s1` with destination 0x7c on gfx900 and gfx1030
/// and with 0x7d on gfx1100 and gfx1201, and `s_mov_b32 null, s1` with the other number; gfx900 has no `null`.
#[test]
fn scalar_registers_have_the_numbers_of_their_instruction_set() {
    let named = |set: InstructionSet| set.named_sgprs();
    for set in InstructionSet::ALL {
        assert_eq!((named(set).vcc, named(set).exec), (106, 126), "{set}");
    }
    assert_eq!((named(InstructionSet::GFX950).m0, named(InstructionSet::GFX950).null), (124, None));
    assert_eq!((named(InstructionSet::GFX10_3).m0, named(InstructionSet::GFX10_3).null), (124, Some(125)));
    assert_eq!((named(InstructionSet::GFX12).m0, named(InstructionSet::GFX12).null), (125, Some(124)));
}

/// Tests the default wave size: the one for which clang 22 compiles unless the user specifies another.
#[test]
fn waves_have_the_size_that_clang_says() {
    let text = unpack(include_bytes!("../data/features.tsv.gz"));
    let mut seen = BTreeSet::new();
    for cells in rows(&text) {
        let Some(target) = known(cells[0]) else { continue };
        let features: Vec<&str> = cells[1].split(',').collect();
        let said = [WaveSize::W32, WaveSize::W64]
            .into_iter()
            .filter(|wave| features.contains(&format!("+wavefrontsize{}", wave.lanes()).as_str()));
        assert_eq!(said.collect::<Vec<_>>(), [target.usual_wave()], "{target}");
        seen.insert(target);
    }
    assert_eq!(seen, BTreeSet::from(Target::KNOWN));
}
