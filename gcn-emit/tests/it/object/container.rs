//! Tests compressed bundles and host libraries: the code objects in them equal those in uncompressed bundles, as LLVM wrote them.

use std::io::Write as _;

use gcn_emit::object::container::{bundles, is_container};
use gcn_emit::object::{ObjectError, ReadFault, bundle, read_code_object};

use super::golden;

/// A compressed bundle with this version, method, size in the header, and data.
fn compressed(version: u16, method: u16, says: u64, data: &[u8]) -> Vec<u8> {
    let mut file = [b"CCOB", &version.to_le_bytes()[..], &method.to_le_bytes()].concat();
    let header = [20, 24, 32][usize::from(version.clamp(1, 3)) - 1];
    let size =
        |n: u64| if version < 3 { (n as u32).to_le_bytes().to_vec() } else { n.to_le_bytes().to_vec() };
    if version > 1 {
        file.extend(size(header + data.len() as u64));
    }
    file.extend(size(says));
    file.extend([0; 8]);
    file.extend(data);
    file
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes).expect("memory");
    writer.finish().expect("memory")
}

/// The Zstandard frame of the bundle that clang compressed.
fn zstd() -> Vec<u8> {
    golden::bundles().1.split_off(32)
}

/// Its unpacked size in bytes, according to clang's header.
fn zstd_size() -> u64 {
    golden::bundles().1[16..24].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// The name of an entry, and its kernels with their code. Nothing else is compared, because it contains a hash of the compiler's command
/// line.
type Entry = (String, Vec<(String, Vec<u8>)>);

fn objects(file: &[u8]) -> Vec<Entry> {
    read(file).unwrap_or_else(|e| panic!("{e}"))
}

/// The objects of all bundles. Each bundle is dropped before the next one is unpacked.
fn read(file: &[u8]) -> Result<Vec<Entry>, ObjectError> {
    let kernels = |bytes: &[u8]| match bytes {
        [] => Vec::new(),
        _ => {
            let object = read_code_object(bytes).unwrap();
            object.kernels.iter().map(|k| (k.name.to_owned(), k.code.to_vec())).collect()
        }
    };
    let mut found = Vec::new();
    for bundle in bundles(file)? {
        found.extend(bundle?.entries()?.iter().map(|e| (e.name.to_owned(), kernels(e.bytes))));
    }
    Ok(found)
}

#[test]
fn every_version_and_method_gives_the_plain_bundle() {
    let (plain, ccob) = golden::bundles();
    let expected = objects(&plain);
    assert_eq!(expected.len(), 3);
    assert!(objects(&ccob) == expected);
    for version in 1..=3 {
        for (method, size, data) in [(0, plain.len() as u64, zlib(&plain)), (1, zstd_size(), zstd())] {
            assert!(objects(&compressed(version, method, size, &data)) == expected, "{version} {method}");
        }
    }
}

/// The compiler compressed the first bundle as version 3 and the second as version 2.
#[test]
fn host_libraries_hold_the_bundles_of_all_their_sources() {
    let [plain, packed] = golden::host_libraries();
    assert!(is_container(&plain) && is_container(&packed));
    let expected = objects(&plain);
    assert!(objects(&packed) == expected);
    let kernels: Vec<&str> = expected.iter().flat_map(|e| &e.1).map(|k| k.0.as_str()).collect();
    assert_eq!(kernels, ["_Z5firstPf", "_Z5firstPf", "_Z6secondPf", "_Z6secondPf"]);
}

#[test]
fn what_cannot_be_unpacked_says_why() {
    let (plain, ccob) = golden::bundles();
    let size = zstd_size();
    let error = |file: &[u8]| match read(file) {
        Err(ObjectError::Read { fault, .. }) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(error(b"\x7fELF"), ReadFault::NotABundle);
    assert_eq!(error(&compressed(4, 1, size, &zstd())), ReadFault::CompressedVersion { version: 4 });
    assert_eq!(error(&compressed(3, 2, size, &zstd())), ReadFault::CompressedMethod { method: 2 });
    let most = 2 << 30;
    let large = ReadFault::TooLargeUnpacked { size: 1 << 40, most };
    assert_eq!(error(&compressed(3, 1, 1 << 40, &zstd())), large);
    for (method, size, data) in [(0, plain.len() as u64, zlib(&plain)), (1, size, zstd())] {
        for says in [0, 10, size - 1, size + 1] {
            let fault = error(&compressed(3, method, says, &data));
            assert!(matches!(fault, ReadFault::Unpack { .. }), "{says} {method}: {fault}");
        }
    }
    for end in (4..ccob.len()).step_by(7) {
        assert!(read(&ccob[..end]).is_err(), "{end}");
    }
}

/// Eight bytes that would unpack to a gigabyte of zeros: no more is unpacked than the header says.
#[test]
fn a_small_file_does_not_become_a_large_one() {
    let data = zlib(&vec![0; 1 << 24]);
    let fault = read(&compressed(3, 0, 1000, &data)).unwrap_err().to_string();
    assert!(fault.contains("does not have the 1000 bytes"), "{fault}");
}

/// After a damaged bundle, no further bundles are searched for, because the file cannot be interpreted.
#[test]
fn the_bundles_before_a_damaged_one_are_given() {
    let (plain, ccob) = golden::bundles();
    let damaged = compressed(3, 0, 10, &zlib(&plain));
    let mut file = Vec::new();
    for part in [&plain, &ccob, &damaged, &plain] {
        file.extend_from_slice(part);
        file.resize(file.len().next_multiple_of(8), 0);
    }
    let given: Vec<bool> = bundles(&file).unwrap().map(|bundle| bundle.is_ok()).collect();
    assert_eq!(given, [true, true, false]);
}

/// If every entry could be the whole file, a reader's work would be quadratic.
#[test]
fn entries_that_lie_over_each_other_are_refused() {
    let (count, name) = (1000u64, b"hipv4-amdgcn-amd-amdhsa--gfx942");
    let mut file = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    file.extend(count.to_le_bytes());
    let end = 32 + count * (24 + name.len() as u64);
    for _ in 0..count {
        for number in [0, end, name.len() as u64] {
            file.extend(number.to_le_bytes());
        }
        file.extend(name);
    }
    let fault = bundle::entries(&file).unwrap_err();
    assert!(matches!(fault, ObjectError::Read { fault: ReadFault::EntriesOverlap, .. }), "{fault}");
}
