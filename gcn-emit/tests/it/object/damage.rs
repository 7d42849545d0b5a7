//! The reader against damaged files: an error that names the place, never a panic.

use gcn_emit::object::{ObjectError, ReadFault, read_code_object, write_code_object};
use gcn_isa::Target;
use proptest::prelude::*;

use super::kernels;

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
    let cases: [(usize, u8, u64, &str); 8] = [
        (0, 0, 0, "the magic number"),
        (4, 1, 4, "EI_CLASS"),
        (5, 2, 5, "EI_DATA"),
        (7, 0, 7, "EI_OSABI"),
        (8, 0, 8, "EI_ABIVERSION"),
        (18, 62, 18, "e_machine"),
        (16, 2, 16, "e_type"),
        (48, 0x41, 48, "EF_AMDGPU_MACH"),
    ];
    for (at, value, offset, field) in cases {
        let mut bytes = sample();
        bytes[at] = value;
        let (found, fault) = fault(&bytes);
        assert_eq!(found, offset, "{fault}");
        assert!(fault.to_string().contains(field), "{fault}");
    }
    let mut bytes = sample();
    bytes[16] = 1;
    assert_eq!(fault(&bytes), (16, ReadFault::Relocatable));
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
