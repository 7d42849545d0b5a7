//! Tests the reader: sections, symbols, relocatable objects, stripped objects, bundles.

use gcn_emit::object::{
    Binding, CodeObject, ObjectError, ReadFault, SectionView, SymbolKind, SymbolPlace, Visibility, bundle,
    read_code_object,
};
use gcn_emit::target_id::TargetId;

use super::golden;

/// The symbols of the golden file `symbols`, as `llvm-readelf-22 -sW symbols.so` lists them.
#[test]
fn symbols_are_those_that_llvm_lists() {
    let (_, _, linked) = golden::objects().into_iter().find(|o| o.0 == "symbols").unwrap();
    let object = read_code_object(&linked).unwrap();
    let find =
        |name: &str| object.symbols.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("{name}"));
    let is = |name: &str| {
        let s = find(name);
        (s.kind, s.binding, s.visibility, s.section.map(|i| object.sections[i].name))
    };
    use {Binding as B, SymbolKind as K, Visibility as V};
    assert_eq!(is("local_func"), (K::None, B::Local, V::Default, Some(".text")));
    assert_eq!(is("global_func"), (K::Function, B::Global, V::Default, Some(".text")));
    assert_eq!(is("weak_func"), (K::Function, B::Weak, V::Default, Some(".text")));
    assert_eq!(is("hidden_func"), (K::None, B::Local, V::Hidden, Some(".text")));
    assert_eq!(is("protected_func"), (K::None, B::Global, V::Protected, Some(".text")));
    assert_eq!(is("common1"), (K::Object, B::Global, V::Default, Some(".bss")));
    assert_eq!(is("gstring"), (K::None, B::Global, V::Default, Some(".rodata")));
    assert_eq!(find("undef").place, SymbolPlace::Undefined);
    assert_eq!(
        (find("global_number").place, find("global_number").address),
        (SymbolPlace::Absolute, 0x1234_5678_9abc)
    );
    let string = find("gstring");
    let section = object.sections[string.section.unwrap()];
    assert_eq!(section.bytes_at(string.address, 8), Some(&b"string2\0"[..]));
}

#[test]
fn lds_symbols_of_a_relocatable_object() {
    let (_, object, _) = golden::objects().into_iter().find(|o| o.0 == "symbols").unwrap();
    let object = read_code_object(&object).unwrap();
    assert!(object.is_relocatable);
    let lds = object.symbols.iter().find(|s| s.name == "lds_a").unwrap();
    assert_eq!((lds.place, lds.size, lds.address), (SymbolPlace::Lds, 128, 16));
}

/// A kernel before and after linking: the linker only moves it and fills in addresses.
#[test]
fn relocatable_objects_have_the_kernels_of_the_linked_ones() {
    let mut count = 0;
    for (name, object, linked) in golden::objects() {
        let (a, b) = (read_code_object(&object).unwrap(), read_code_object(&linked).unwrap());
        assert_eq!(
            (a.target_id, a.abi_version, a.is_relocatable),
            (b.target_id, b.abi_version, true),
            "{name}"
        );
        assert_eq!(a.metadata, b.metadata, "{name}");
        assert_eq!(a.kernels.len(), b.kernels.len(), "{name}");
        for kernel in &a.kernels {
            let other = b.kernel(kernel.name).unwrap();
            assert_eq!(kernel.code.len(), other.code.len(), "{name} {}", kernel.name);
            assert_eq!(kernel.metadata, other.metadata);
            let (mut first, mut second) = (kernel.descriptor, other.descriptor);
            first.kernel_code_entry_byte_offset = 0;
            second.kernel_code_entry_byte_offset = 0;
            assert_eq!(first, second, "{name} {}", kernel.name);
            // Both begin with the same instruction and are in code sections.
            assert_eq!(kernel.code[..4], other.code[..4]);
            assert!(
                a.sections[kernel.section.unwrap()].is_code() && b.sections[other.section.unwrap()].is_code()
            );
            count += 1;
        }
    }
    // The sources have 3 kernels in four builds, and one kernel in each of four other builds.
    assert_eq!(count, 16);
}

#[test]
fn only_linked_objects_can_be_loaded() {
    let (_, object, linked) = golden::objects().swap_remove(0);
    assert!(read_code_object(&linked).unwrap().linked().is_ok());
    let error = read_code_object(&object).unwrap().linked().map(|_| ()).unwrap_err();
    assert_eq!(error, ObjectError::Read { offset: 16, fault: ReadFault::Relocatable });
}

/// Code object V3 has one bit for each feature, which means on or off (guide, *AMDGPU ELF Header `e_flags` for Code Object V3*).
#[test]
fn features_of_version_3_are_single_bits() {
    let (_, _, linked) = golden::objects().into_iter().find(|o| o.0 == "kernels-gfx908").unwrap();
    let cases = [
        (0x000, "gfx908:sramecc-:xnack-"),
        (0x100, "gfx908:sramecc-:xnack+"),
        (0x200, "gfx908:sramecc+:xnack-"),
    ];
    for (flags, id) in cases {
        let mut bytes = linked.clone();
        bytes[8] = 1;
        let mach = u32::from(bytes[48]);
        bytes[48..52].copy_from_slice(&(mach | flags).to_le_bytes());
        let object = read_code_object(&bytes).unwrap();
        assert_eq!((object.abi_version, object.target_id.to_string().as_str()), (1, id));
    }
}

fn kernels<'a>(object: &'a CodeObject<'_>) -> Vec<(&'a str, u64, &'a [u8], &'a [u8; 64])> {
    object.kernels.iter().map(|k| (k.name, k.address, k.code, k.descriptor_bytes)).collect()
}

#[test]
fn objects_without_section_headers_are_read_by_the_dynamic_table() {
    for (name, _, linked) in golden::objects() {
        let whole = read_code_object(&linked).unwrap();
        let mut stripped = linked.clone();
        stripped[40..48].fill(0);
        stripped[60..64].fill(0);
        let object = read_code_object(&stripped).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(kernels(&object), kernels(&whole), "{name}");
        assert_eq!(object.metadata, whole.metadata, "{name}");
        assert!(object.text().is_some_and(SectionView::is_code), "{name}");
        let exported =
            whole.symbols.iter().filter(|s| s.binding != Binding::Local && s.place != SymbolPlace::Undefined);
        for symbol in exported {
            let found = object
                .symbols
                .iter()
                .find(|s| s.name == symbol.name)
                .unwrap_or_else(|| panic!("{}", symbol.name));
            assert_eq!((found.address, found.size, found.kind), (symbol.address, symbol.size, symbol.kind));
        }
        // Without the System V table, the number of symbols must be derived from the GNU table.
        let dynamic = whole.section(".dynamic").unwrap();
        let entry = dynamic.bytes.chunks(16).position(|e| e[..8] == 4u64.to_le_bytes()).unwrap();
        let at = dynamic.offset as usize + entry * 16;
        let mut without = stripped.clone();
        without[at..at + 8].copy_from_slice(&0x6000_0000u64.to_le_bytes());
        let gnu = read_code_object(&without).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((kernels(&gnu), gnu.symbols.len()), (kernels(&object), object.symbols.len()), "{name}");
    }
}

#[test]
fn bundles_are_listed_and_taken_apart() {
    let (bytes, compressed) = golden::bundles();
    assert!(bundle::is_bundle(&bytes) && bundle::is_bundle(&compressed));
    let entries = bundle::entries(&bytes).unwrap();
    let names: Vec<_> = entries.iter().map(|e| e.name).collect();
    let expected = [
        "host-x86_64-unknown-linux-gnu-",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+",
        "hipv4-amdgcn-amd-amdhsa--gfx942",
    ];
    assert_eq!(names, expected);
    for (id, wanted) in [("gfx942", "gfx942:sramecc+:xnack-"), ("gfx90a:xnack+", "gfx90a:sramecc+:xnack+")] {
        let id: TargetId = id.parse().unwrap();
        let entry = bundle::extract(&bytes, wanted.parse().unwrap()).unwrap();
        assert_eq!(entry.target_id, Some(id));
        let object = read_code_object(entry.bytes).unwrap();
        assert_eq!((object.target_id, object.kernels[0].name), (id, "k"));
    }
    let missing = bundle::extract(&bytes, "gfx90a:xnack-".parse().unwrap()).unwrap_err().to_string();
    assert!(missing.contains("no code object for gfx90a:xnack-") && missing.contains(names[1]), "{missing}");
    let fault = |result: Result<Vec<bundle::Entry<'_>>, ObjectError>| match result {
        Err(ObjectError::Read { offset, fault }) => (offset, fault),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(bundle::entries(&compressed)), (0, ReadFault::CompressedBundle));
    assert_eq!(fault(bundle::entries(b"\x7fELF")), (0, ReadFault::NotABundle));
    for end in 24..bytes.len() {
        assert!(bundle::entries(&bytes[..end]).is_err(), "{end}");
    }
    assert!(matches!(read_code_object(&bytes), Err(ObjectError::Read { fault: ReadFault::Bundle, .. })));
}
