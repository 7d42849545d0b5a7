//! Tests modules that cannot be linked: errors name section, offset, symbol and remedy.

use gcn_emit::object::{
    Binding, CodeObjectVersion, LinkFault, Module, ObjectError, Relocation, RelocationBase, RelocationKind,
    Section, SectionId, Symbol, SymbolId, SymbolKind, SymbolPlace, Visibility, link, read_code_object,
};
use gcn_isa::Target;
use gcn_test_support::env::fuzz_step;

const ALLOC: u64 = 2;
const WRITE: u64 = 1;

/// A module with `.text` of 16 bytes, `.data` of 16 bytes, and one symbol to which a relocation refers.
fn module(
    place: SymbolPlace,
    value: u64,
    visibility: Visibility,
    section: u32,
    relocation: Relocation,
) -> Module {
    let mut module = Module::new(Target::GFX942.into(), CodeObjectVersion::V6);
    module.sections.push(Section::code(".text", vec![0; 16]));
    module.sections.push(Section::new(".data", 1, ALLOC | WRITE, vec![0; 16]));
    module.symbols.push(symbol("x", place, value, visibility));
    module.sections[section as usize].relocations.push(relocation);
    module
}

fn symbol(name: &str, place: SymbolPlace, value: u64, visibility: Visibility) -> Symbol {
    let (kind, binding) = (SymbolKind::None, Binding::Global);
    Symbol { name: name.into(), place, value, size: 0, kind, binding, visibility }
}

fn relocation(kind: RelocationKind, addend: i64) -> Relocation {
    Relocation { offset: 8, kind, base: RelocationBase::Symbol(SymbolId(0)), addend }
}

fn fault(module: &Module) -> (String, LinkFault) {
    match link(module) {
        Err(ObjectError::Link { place, fault }) => (place.to_string(), fault),
        other => panic!("expected a link error, got {other:?}"),
    }
}

/// Place, value and visibility of a symbol; section, kind and addend of a relocation to it; a part of the error message.
type Case = (SymbolPlace, u64, Visibility, u32, RelocationKind, i64, &'static [&'static str]);

#[test]
fn every_refusal_names_place_symbol_and_remedy() {
    use {RelocationKind as K, SymbolPlace as P, Visibility as V};
    let here = P::Section(SectionId(0));
    let cases: [Case; 12] = [
        (here, 0, V::Hidden, 0, K::Abs64, 0, &["`.text` at 0x8", "`x`", "R_AMDGPU_ABS64", ".data.rel.ro"]),
        (here, 0, V::Hidden, 1, K::Abs32Lo, 0, &["`.data` at 0x8", "R_AMDGPU_ABS32_LO", "@rel32@lo"]),
        (here, 0, V::Hidden, 1, K::Abs32, 0, &["R_AMDGPU_ABS32 ", "@rel32@lo"]),
        (here, 0, V::Default, 0, K::Rel32Lo, 0, &["R_AMDGPU_REL32_LO", ".hidden", "@gotpcrel32@lo"]),
        (P::Undefined, 0, V::Default, 0, K::Rel32Lo, 0, &["R_AMDGPU_REL32_LO", "@gotpcrel32@lo"]),
        (P::Undefined, 0, V::Hidden, 0, K::Rel32Lo, 0, &["not defined", "define it"]),
        (P::Absolute, 5, V::Hidden, 0, K::Rel32Lo, 0, &["is a number", "define it in a section"]),
        (
            P::Lds,
            16,
            V::Default,
            0,
            K::Abs32Lo,
            0,
            &["`.amdgpu_lds`", ".set", ".amdhsa_group_segment_fixed_size"],
        ),
        (
            here,
            0,
            V::Hidden,
            0,
            K::Rel16,
            0x4_0000,
            &["R_AMDGPU_REL16 gives 65533", "16 bits", "s_setpc_b64"],
        ),
        (here, 0, V::Hidden, 0, K::Rel16, 2, &["-6 bytes", "multiple of 4"]),
        (here, 0, V::Hidden, 0, K::Rel32, 1 << 40, &["R_AMDGPU_REL32 gives", "32 bits", "64-bit place"]),
        (P::Absolute, 1 << 33, V::Hidden, 1, K::Abs32, 0, &["R_AMDGPU_ABS32 gives 8589934592", "32 bits"]),
    ];
    for (place, value, visibility, section, kind, addend, says) in cases {
        let module = module(place, value, visibility, section, relocation(kind, addend));
        let error = link(&module).unwrap_err().to_string();
        assert!(error.contains("`x`"), "{error}");
        for part in says {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

/// Relocation kinds that LLVM's linker does not support, with a base whose value is known: a number.
#[test]
fn halves_of_numbers_are_written() {
    for (kind, expected) in
        [(RelocationKind::Abs32Lo, 0x9abc_def1u32), (RelocationKind::Abs32Hi, 0x1234_5678)]
    {
        let place = SymbolPlace::Absolute;
        let module = module(place, 0x1234_5678_9abc_def0, Visibility::Hidden, 0, relocation(kind, 1));
        let bytes = link(&module).unwrap();
        let text = read_code_object(&bytes).unwrap().text().unwrap().bytes;
        assert_eq!(text[8..12], expected.to_le_bytes());
    }
}

#[test]
fn modules_that_contradict_themselves_are_refused() {
    let good = || {
        let here = SymbolPlace::Section(SectionId(0));
        module(here, 0, Visibility::Hidden, 0, relocation(RelocationKind::Rel32Lo, 0))
    };
    assert!(link(&good()).is_ok());
    let changed = |change: &dyn Fn(&mut Module)| {
        let mut module = good();
        change(&mut module);
        fault(&module)
    };
    let missing = |what, number| LinkFault::Missing { what, number };
    let base = |base| move |m: &mut Module| m.sections[0].relocations[0].base = base;
    assert_eq!(changed(&base(RelocationBase::Symbol(SymbolId(9)))).1, missing("symbol", 9));
    assert_eq!(changed(&base(RelocationBase::Section(SectionId(9)))).1, missing("section", 9));
    assert_eq!(
        changed(&|m| m.symbols[0].place = SymbolPlace::Section(SectionId(7))).1,
        missing("section", 7)
    );
    let outside = changed(&|m| m.sections[0].relocations[0].offset = 13);
    assert_eq!(outside.1, LinkFault::Outside { what: "a relocation", at: 13, size: 16 });
    assert_eq!(outside.0, "section `.text` at 0xd, symbol `x`");
    assert_eq!(changed(&|m| m.sections[1].align = 12).1, LinkFault::Align { align: 12 });
    let twice = changed(&|m| m.symbols.push(m.symbols[0].clone()));
    assert_eq!(twice, ("symbol `x`".into(), LinkFault::DuplicateSymbol));
    let reserved = changed(&|m| {
        m.symbols.push(symbol("_DYNAMIC", SymbolPlace::Undefined, 0, Visibility::Default));
    });
    assert_eq!(reserved.1, LinkFault::ReservedSymbol);
    assert!(matches!(changed(&|m| m.sections[1].name = ".got".into()).1, LinkFault::Unsupported { .. }));
    assert!(matches!(changed(&|m| m.sections[1].flags |= 0x400).1, LinkFault::Unsupported { .. }));
}

/// Sizes for which no machine has enough memory: an error is returned at once.
#[test]
fn impossible_sizes_are_refused() {
    let mut module = Module::new(Target::GFX942.into(), CodeObjectVersion::V6);
    module.sections.push(Section::code(".text", vec![0; 16]));
    let nothing = |name: &str, size| Section { size, ..Section::new(name, 8, ALLOC | WRITE, Vec::new()) };
    // Memory without bytes in the file may be of any size that fits into the address space.
    module.sections.push(nothing(".bss", 1 << 40));
    assert!(link(&module).is_ok_and(|bytes| bytes.len() < 0x3000));
    module.sections.push(nothing(".bss.more", u64::MAX - 5));
    assert_eq!(fault(&module).1, LinkFault::TooLarge);
    module.sections.truncate(2);
    module.sections[1].name = ".data".into();
    module.sections.push(Section::new(".data.x", 1, ALLOC | WRITE, vec![0; 4]));
    assert_eq!(fault(&module).1, LinkFault::TooLarge);
    module.sections.truncate(1);
    module.sections[0].align = 1 << 40;
    assert_eq!(fault(&module).1, LinkFault::TooLarge);
}

/// LLVM's linker rejects whatever we reject, except for the differences that the documentation lists.
#[test]
fn llvms_linker_refuses_the_same() {
    use crate::llvm::{Llvm, Scratch, text};
    use gcn_emit::object::write_relocatable;
    use {RelocationKind as K, SymbolPlace as P, Visibility as V};
    let Some(_llvm) = Llvm::find() else { return };
    let dir = Scratch::new("refusals");
    let places = [P::Section(SectionId(0)), P::Section(SectionId(1)), P::Undefined, P::Absolute];
    let mut count = [0; 2];
    // By default one in eight cases is tested.
    let step = fuzz_step(8);
    let mut number = 0;
    for (n, kind) in K::all().enumerate() {
        let name = kind.name();
        for (p, place) in places.into_iter().enumerate() {
            for visibility in [V::Default, V::Hidden, V::Protected] {
                for binding in [Binding::Global, Binding::Weak] {
                    for section in 0..2 {
                        number += 1;
                        if number % step != n % step {
                            continue;
                        }
                        let mut module = module(place, 4, visibility, section, relocation(kind, 4));
                        module.symbols[0].binding = binding;
                        let object = write_relocatable(&module).unwrap();
                        let path = dir.write(&format!("{n}-{p}.o"), &object);
                        let linked = dir.path("linked.so");
                        let run = std::process::Command::new("ld.lld-22")
                            .args(["-shared", text(&path), "-o", text(&linked)])
                            .output()
                            .unwrap();
                        let ours = link(&module);
                        // LLVM's linker does not support halves of numbers; ours are tested above.
                        let is_half = matches!(kind, K::Abs32Lo | K::Abs32Hi) && ours.is_ok();
                        let theirs = String::from_utf8_lossy(&run.stderr);
                        let what = format!(
                            "{name} {place:?} {visibility:?} {binding:?} {section}: {ours:?} {theirs}"
                        );
                        assert!(run.status.success() == ours.is_ok() || is_half, "{what}");
                        count[usize::from(ours.is_ok())] += 1;
                    }
                }
            }
        }
    }
    println!("{} refused, {} linked", count[0], count[1]);
}
