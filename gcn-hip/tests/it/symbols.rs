//! Tests the library's symbols.

use crate::api::{code, hip, symbol};

/// The table equals that of ROCm's version script. glibc finds each name with its version, as programs request it, and without a version,
/// as `dlsym` requests it.
#[test]
fn every_function_has_the_version_that_programs_ask_for() {
    let table = include_str!("../../data/functions.tsv");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for row in rows {
        let [version, name, ..] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        assert_ne!(symbol(name, Some(version)), 0, "{row}");
        assert_ne!(symbol(name, None), 0, "{row}");
        assert_eq!(symbol(name, Some("hip_9.9")), 0, "{row}");
        count += 1;
    }
    assert!(count > 500, "{count}");
}

/// In `hip_prof_str.h`, numbers begin at 1, and 50 is reserved.
#[test]
fn functions_have_the_numbers_of_the_tracer() {
    type Name = unsafe extern "C" fn(u32) -> *const std::ffi::c_char;
    let name: Name = unsafe { std::mem::transmute(symbol("hipApiName", None)) };
    let name = |number| unsafe { std::ffi::CStr::from_ptr(name(number)) }.to_str().unwrap();
    assert_eq!([name(1), name(108), name(125)], ["__hipPopCallConfiguration", "hipMalloc", "hipMemcpy"]);
    assert_eq!([name(0), name(50), name(445), name(u32::MAX)], ["unknown"; 4]);
}

#[test]
fn what_is_missing_says_so() {
    let _device = crate::api::device();
    assert_eq!(hip::hipTexRefGetFlags(0, 0), code::NOT_SUPPORTED);
    assert_eq!(hip::hipGetLastError(), code::NOT_SUPPORTED);
    assert_eq!(hip::hipGetLastError(), 0);
}

/// The address of a function by name, and the status that `hipGetProcAddress` returns.
fn address(name: &str, version: i32, flags: u64) -> (u32, u64, u32) {
    let name = std::ffi::CString::new(name).unwrap();
    let (mut place, mut said) = (0u64, 9u32);
    let name = name.as_ptr() as usize;
    let code = hip::hipGetProcAddress(name, &raw mut place as usize, version, flags, &raw mut said as usize);
    (code, place, said)
}

/// Triton and others look up all functions in this way. 70_125_424 is the version that the library reports, 701 the form in the
/// documentation.
#[test]
fn functions_are_found_by_name_and_version() {
    let at = |name, version| symbol(name, Some(version)) as u64;
    for version in [70_125_424, 701] {
        assert_eq!(address("hipMalloc", version, 0), (0, at("hipMalloc", "hip_4.2"), 0));
        // For HIP 6, the header's macro selects the function with the new structure.
        let properties = at("hipGetDevicePropertiesR0600", "hip_6.0");
        assert_eq!(address("hipGetDeviceProperties", version, 0), (0, properties, 0));
    }
    let properties = at("hipGetDeviceProperties", "hip_4.2");
    assert_eq!(address("hipGetDeviceProperties", 507, 0), (0, properties, 0));
    // Flag 2: functions that use the per-thread default stream.
    assert_eq!(address("hipMemcpy", 701, 2), (0, at("hipMemcpy_spt", "hip_5.2"), 0));
    assert_eq!(address("hipMemcpy", 701, 0), (0, at("hipMemcpy", "hip_4.2"), 0));
    assert_eq!(address("hipNoSuchFunction", 701, 0), (code::INVALID_VALUE, 0, 1));
    assert_eq!(address("hipGetProcAddress", 600, 0), (code::INVALID_VALUE, 0, 2));
    assert_eq!(hip::hipGetProcAddress(0, 0, 701, 0, 0), code::INVALID_VALUE);
}
