//! Code objects from other tools: they must be read or rejected.
#![cfg_attr(fuzzing, no_main)]

use gcn_emit::descriptor::KernelDescriptor;
use gcn_emit::object::read_code_object;

fn run(data: &[u8]) {
    match read_code_object(data) {
        Ok(object) => {
            for kernel in &object.kernels {
                let fields = KernelDescriptor::describe(kernel.descriptor_bytes, object.target_id.target);
                assert_eq!(fields.iter().map(|f| f.bits).sum::<u32>(), 512);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

gcn_fuzz::target!(run);
