//! Tests the reader with damaged files: it returns an error that names the position, and never panics.

use gcn_emit::object::{
    Module, ObjectError, ReadFault, bundle, container, link, read_code_object, write_code_object,
    write_relocatable,
};
use gcn_isa::Target;
use gcn_test_support::env::fuzz_count;
use proptest::prelude::*;

use super::{golden, kernels};

fn sample() -> Vec<u8> {
    let objects = kernels::shapes(Target::GFX942);
    let largest = objects.iter().max_by_key(|o| o.len()).expect("there are objects");
    write_code_object(largest).expect("test kernels are right")
}

fn fault(bytes: &[u8]) -> (u64, ReadFault) {
    match read_code_object(bytes) {
        Err(ObjectError::Read { offset, fault }) => (offset, fault),
        other => panic!("expected a read error, got {other:?}"),
    }
}

#[test]
fn every_truncation_of_the_file_is_an_error() {
    let bytes = sample();
    for end in 0..bytes.len() {
        assert!(matches!(read_code_object(&bytes[..end]), Err(ObjectError::Read { .. })), "{end}");
    }
}

#[test]
fn the_reader_does_not_care_about_alignment_of_the_buffer() {
    let mut bytes = vec![0];
    bytes.extend(sample());
    assert!(read_code_object(&bytes[1..]).is_ok());
}

#[test]
fn headers_that_are_no_code_object_name_the_field() {
    let cases: [(usize, u8, u64, &str); 14] = [
        (0, 0, 0, "the magic number"),
        (4, 1, 4, "R600"),
        (4, 3, 4, "EI_CLASS"),
        (5, 2, 5, "EI_DATA"),
        (7, 0, 7, "without an operating system"),
        (7, 3, 7, "EI_OSABI"),
        (7, 0x41, 7, "PAL"),
        (7, 0x42, 7, "Mesa 3D"),
        (8, 5, 8, "EI_ABIVERSION"),
        (18, 62, 18, "x86-64"),
        (18, 1, 18, "e_machine"),
        (16, 2, 16, "e_type"),
        (48, 0x40, 48, "EF_AMDGPU_MACH 0x40 (gfx940; "),
        (48, 0xff, 48, "EF_AMDGPU_MACH 0xff is"),
    ];
    for (at, value, offset, field) in cases {
        let mut bytes = sample();
        bytes[at] = value;
        let (found, fault) = fault(&bytes);
        assert_eq!(found, offset, "{fault}");
        assert!(fault.to_string().contains(field), "{fault}");
    }
    let kinds: [(&[u8], &str); 6] = [
        (b"MZ\x90\0", "Windows"),
        (b"\xcf\xfa\xed\xfe\x07\0\0\x01", "macOS"),
        (b"!<arch>\nx", "`ar x`"),
        (b"BC\xc0\xde", "bitcode"),
        (b"\x03\x02\x23\x07", "SPIR-V"),
        (b"PK\x03\x04", "unzip"),
    ];
    for (bytes, part) in kinds {
        assert!(fault(bytes).1.to_string().contains(part), "{}", fault(bytes).1);
    }
    let mut bytes = sample();
    bytes[8] = 0;
    assert_eq!(fault(&bytes), (8, ReadFault::CodeObjectV2));
    assert_eq!(fault(b"__CLANG_OFFLOAD_BUNDLE__ and more"), (0, ReadFault::Bundle));
    assert!(matches!(fault(b"").1, ReadFault::Truncated { .. }));
}

#[test]
fn a_descriptor_that_points_outside_names_its_kernel() {
    let bytes = sample();
    let object = read_code_object(&bytes).unwrap();
    let descriptor = object.kernel("saxpy").unwrap().descriptor.to_bytes();
    let at = bytes.windows(64).position(|w| w == descriptor).unwrap();
    let mut bad = bytes.clone();
    bad[at + 21] = 0x7f;
    let (_, fault) = fault(&bad);
    assert!(fault.to_string().contains("the code of kernel `saxpy`"), "{fault}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits_never_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..12),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = sample();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        if cut {
            bytes.truncate(end.index(bytes.len()));
        }
        if let Err(error) = read_code_object(&bytes) {
            let is_read = matches!(error, ObjectError::Read { .. });
            prop_assert!(is_read);
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn overwritten_words_of_headers_and_tables_never_panic(
        at in 0usize..0x700, value in any::<u64>(), bits in 0u32..64,
    ) {
        let mut bytes = sample();
        let at = at.min(bytes.len() - 8);
        bytes[at..at + 8].copy_from_slice(&(value >> bits).to_le_bytes());
        let _ = read_code_object(&bytes);
    }
}

/// The number of cases in each test below; `GCN_FUZZ_COUNT` sets another number.
fn cases(default: u32) -> ProptestConfig {
    ProptestConfig { cases: fuzz_count(default), failure_persistence: None, ..ProptestConfig::default() }
}

/// A change that a malicious author may make to a file.
#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u8),
    /// Writes a number of some size, aligned as fields are, with a value that is likely to cause errors.
    Number(prop::sample::Index, u8, u64),
    /// Copies bytes from one position to another, so that headers and tables overlap.
    Copy(prop::sample::Index, prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    use prop::sample::Index;
    let value = prop_oneof![
        any::<u64>(),
        0u64..64,
        (0u32..64).prop_map(|bit| 1 << bit),
        (0u32..64, 0u64..4).prop_map(|(bit, less)| (u64::MAX >> bit).wrapping_sub(less)),
        (0u64..0x4000).prop_map(|n| n & !7),
    ];
    prop_oneof![
        (any::<Index>(), 0u8..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (any::<Index>(), 0u8..4, value).prop_map(|(at, size, value)| Damage::Number(at, size, value)),
        (any::<Index>(), any::<Index>(), 1usize..128).prop_map(|(a, b, n)| Damage::Copy(a, b, n)),
        any::<Index>().prop_map(Damage::Cut),
    ]
}

/// Applies the changes. If `tables`, half of them are made near the end, where an object's tables are.
fn damaged(mut bytes: Vec<u8>, list: &[Damage], tables: bool) -> Vec<u8> {
    let tail = bytes.len() - bytes.len().min(64 * 24);
    for damage in list {
        let from = if tables { tail.min(bytes.len().saturating_sub(1)) } else { 0 };
        let length = bytes.len() - from;
        if length < 8 {
            break;
        }
        match *damage {
            Damage::Flip(at, bit) => bytes[from + at.index(length)] ^= 1 << bit,
            Damage::Number(at, size, value) => {
                let size = 1usize << size;
                let at = (from + at.index(length)) / size * size;
                let end = (at + size).min(bytes.len());
                bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            }
            Damage::Copy(a, b, n) => {
                let n = n.min(length / 2);
                let (a, b) = (from + a.index(length - n), from + b.index(length - n));
                bytes.copy_within(a..a + n, b);
            }
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
    bytes
}

/// Calls every function that reads third-party files.
fn use_all(bytes: &[u8]) {
    if let Err(error) = read_code_object(bytes) {
        assert!(matches!(error, ObjectError::Read { .. }), "{error}");
    }
    let _ = bundle::entries(bytes);
    for bundle in container::bundles(bytes).into_iter().flatten().flatten() {
        let _ = bundle.entries();
    }
    if let Ok(module) = Module::from_relocatable(bytes) {
        let _ = write_relocatable(&module);
        // Whatever was linked must be readable.
        if let Ok(linked) = link(&module) {
            assert!(linked.len() < bytes.len() * 4 + (1 << 27));
            if let Err(error) = read_code_object(&linked) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn damaged_files_of_every_kind_never_panic(
        which in any::<prop::sample::Index>(),
        list in prop::collection::vec(damage(), 1..8),
        tables in any::<bool>(),
    ) {
        let objects = golden::objects();
        let index = which.index(objects.len() * 2 + 4);
        let (_, object, linked) = &objects[(index / 2).min(objects.len() - 1)];
        let bytes = match index {
            last if last == objects.len() * 2 => golden::bundles().0,
            last if last == objects.len() * 2 + 1 => golden::bundles().1,
            last if last > objects.len() * 2 => golden::host_libraries()[last % 2].clone(),
            even if even % 2 == 0 => object.clone(),
            _ => linked.clone(),
        };
        use_all(&damaged(bytes, &list, tables));
    }

    #[test]
    fn bytes_of_any_kind_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), magic in 0u8..3) {
        let head: &[u8] = match magic {
            0 => b"\x7fELF\x02\x01\x01\x40\x04\0\0\0\0\0\0\0\x01\0\xe0\0",
            1 => b"__CLANG_OFFLOAD_BUNDLE__",
            _ => b"",
        };
        use_all(&[head, &bytes[..]].concat());
    }
}

/// Small files that would make a careless reader work for hours: many rows that refer to the same bytes.
#[test]
fn small_files_do_not_make_large_work() {
    let (_, _, linked) = golden::objects().into_iter().find(|o| o.0 == "kernels-gfx942").unwrap();
    // Every symbol gets the same very long name.
    let object = read_code_object(&linked).unwrap();
    let (names, table) = (object.section(".strtab").unwrap(), object.section(".symtab").unwrap());
    let mut bytes = linked.clone();
    let start = bytes.len();
    bytes.resize(start + 8_000_000, b'x');
    bytes.push(0);
    let rows = bytes.len().next_multiple_of(8);
    bytes.resize(rows, 0);
    let row: Vec<u8> = [&1u32.to_le_bytes()[..], &[1, 0, 6, 0], &[0; 16]].concat();
    (0..100_000).for_each(|_| bytes.extend_from_slice(&row));
    let header = |name: &str| {
        let index = object.sections.iter().position(|s| s.name == name).unwrap() + 1;
        u64::from_le_bytes(linked[40..48].try_into().unwrap()) as usize + index * 64
    };
    let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(header(names.name) + 24, start as u64);
    put(header(names.name) + 32, 8_000_001);
    put(header(table.name) + 24, rows as u64);
    put(header(table.name) + 32, 100_000 * 24);
    let begin = std::time::Instant::now();
    let result = read_code_object(&bytes);
    assert!(
        matches!(result, Err(ObjectError::Read { fault: ReadFault::NamesOverlap { .. }, .. })),
        "{result:?}"
    );
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
