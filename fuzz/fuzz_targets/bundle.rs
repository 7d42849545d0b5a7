//! Clang offload bundles, compressed or not, and host libraries: each must be either unpacked or rejected, and each entry either read or
//! rejected.
#![cfg_attr(fuzzing, no_main)]

use gcn_emit::object::{bundle, container, read_code_object};

fn run(data: &[u8]) {
    for entry in bundle::entries(data).unwrap_or_default().iter().take(8) {
        assert!(data.len() >= entry.bytes.len());
        let _ = read_code_object(entry.bytes);
    }
    for bundle in container::bundles(data).into_iter().flatten().take(8).flatten() {
        for entry in bundle.entries().unwrap_or_default().iter().take(8) {
            let _ = read_code_object(entry.bytes);
        }
    }
}

gcn_fuzz::target!(run);
