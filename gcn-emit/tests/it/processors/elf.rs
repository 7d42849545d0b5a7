//! Tests that ELF flags are written and read correctly.

use gcn_emit::object::read_code_object;
use gcn_emit::target_id::{Feature, TargetId};
use gcn_isa::Target;

use super::assemble;

const ELF: &str = include_str!("../../../../gcn-isa/tests/data/elf-targets.tsv");

#[test]
fn flags_are_those_of_llvm() {
    let mut checked = 0;
    for row in ELF.lines().skip(1) {
        let [name, flags, ..] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let flags = u32::from_str_radix(&flags[2..], 16).unwrap();
        let Some(target) = Target::KNOWN.into_iter().find(|target| target.name() == name) else {
            // LLVM writes 0 for names that it does not know.
            assert!(flags == 0 || TargetId::from_elf_flags(flags).is_none(), "{row}");
            continue;
        };
        let id = TargetId::any(target);
        assert_eq!(id.elf_flags(), flags, "{row}");
        checked += 1;
        assert_eq!(TargetId::from_elf_flags(flags), Some(id), "{row}");
        // The same for a whole object.
        let version = if target.generic().is_some() { 6 } else { 5 };
        let text = format!(".amdhsa_code_object_version {version}\n.long 0\n");
        let object = assemble(target, target.usual_wave(), &text).unwrap().code_object().unwrap();
        assert_eq!(u32::from_le_bytes(object[48..52].try_into().unwrap()), flags, "{row}");
        let read = read_code_object(&object).unwrap();
        assert_eq!((read.target_id, read.abi_version + 2), (id, version), "{row}");
    }
    assert_eq!(checked, Target::KNOWN.len());
}

/// Settings of features change only their own fields; targets without a feature reject its settings.
#[test]
fn settings_are_read_back() {
    for target in Target::KNOWN {
        for (name, has) in [("xnack", target.supports_xnack()), ("sramecc", target.supports_sramecc())] {
            for (sign, setting) in [('+', Feature::On), ('-', Feature::Off)] {
                let read = format!("{target}:{name}{sign}").parse::<TargetId>();
                assert_eq!(read.is_ok(), has, "{target}:{name}{sign}");
                let Ok(id) = read else { continue };
                assert_eq!(if name == "xnack" { id.xnack } else { id.sramecc }, setting);
                assert_eq!(TargetId::from_elf_flags(id.elf_flags()), Some(id));
            }
        }
    }
}

/// The version of generic targets was introduced with code object version 6; for earlier versions, `llvm-mc` omits it.
#[test]
fn generic_code_has_its_version_in_version_6() {
    for target in Target::KNOWN.into_iter().filter(|target| target.generic().is_some()) {
        for (version, shift) in [(4, 0), (5, 0), (6, 1)] {
            let text = format!(".amdhsa_code_object_version {version}\n.long 0\n");
            let object = assemble(target, target.usual_wave(), &text).unwrap().code_object().unwrap();
            assert_eq!(object[51], shift, "{target} in version {version}");
            assert_eq!(read_code_object(&object).unwrap().target_id, TargetId::any(target));
        }
    }
}

/// The symbols by which `llvm-mc` identifies the target.
#[test]
fn generations_are_those_of_llvm() {
    let measured: [(Target, [u8; 3]); 13] = [
        (Target::GFX9_GENERIC, [9, 0, 0]),
        (Target::GFX9_4_GENERIC, [9, 4, 0]),
        (Target::GFX10_1_GENERIC, [10, 1, 0]),
        (Target::GFX10_3_GENERIC, [10, 3, 0]),
        (Target::GFX11_GENERIC, [11, 0, 3]),
        (Target::GFX12_GENERIC, [12, 0, 0]),
        (Target::GFX90C, [9, 0, 12]),
        (Target::GFX90A, [9, 0, 10]),
        (Target::GFX1010, [10, 1, 0]),
        (Target::GFX1036, [10, 3, 6]),
        (Target::GFX1103, [11, 0, 3]),
        (Target::GFX1153, [11, 5, 3]),
        (Target::GFX1201, [12, 0, 1]),
    ];
    let names =
        ["gfx_generation_number", "gfx_generation_minor", "gfx_generation_stepping", "next_free_sgpr"];
    let text: String = names.map(|name| format!(".long .amdgcn.{name}\n")).concat();
    for (target, version) in measured {
        let assembly = assemble(target, target.usual_wave(), &text).unwrap();
        let [major, minor, stepping] = version;
        assert_eq!(
            assembly.module.sections[0].bytes,
            [major.into(), minor.into(), stepping.into(), 0].map(u32::to_le_bytes).concat()
        );
    }
}

/// The number of registers in addition to the numbered ones, as `llvm-mc` computes it.
#[test]
fn extra_registers_are_those_of_llvm() {
    let text = ".long extrasgprs(1,1,1), extrasgprs(1,0,0), extrasgprs(0,0,0), extrasgprs(0,1,0), extrasgprs(0,0,1), \
                totalnumvgprs(3,5)\n";
    let rdna = [2, 2, 0, 0, 0, 5];
    for (target, numbers) in [
        (Target::GFX900, [6, 2, 0, 6, 4, 5]),
        (Target::GFX1010, rdna),
        (Target::GFX1030, rdna),
        (Target::GFX1100, rdna),
        (Target::GFX1201, rdna),
    ] {
        let assembly = assemble(target, target.usual_wave(), text).unwrap();
        assert_eq!(assembly.module.sections[0].bytes, numbers.map(u32::to_le_bytes).concat(), "{target}");
    }
}
