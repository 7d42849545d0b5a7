//! Clang offload bundles: taken apart or refused, and each entry read or refused.
#![no_main]

use gcn_emit::object::{bundle, read_code_object};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for entry in bundle::entries(data).unwrap_or_default().iter().take(8) {
        assert!(data.len() >= entry.bytes.len());
        let _ = read_code_object(entry.bytes);
    }
});
