//! The cache of the kernels that launches have built.

use std::sync::Arc;

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn filled(#[host] with: u32, y: &mut [u32]) {
        y[global_id().x] = with;
    }
}

#[test]
fn a_kernel_is_compiled_once_for_each_value_of_the_host_and_target() {
    let kept = |with, target| filled { with }.build_kept(target).unwrap();
    let first = kept(3, Target::GFX942);
    assert!(Arc::ptr_eq(&first, &kept(3, Target::GFX942)));
    assert!(!Arc::ptr_eq(&first, &kept(4, Target::GFX942)));
    assert!(!Arc::ptr_eq(&first, &kept(3, Target::GFX90A)));
    assert_eq!(first.code_object(), filled { with: 3 }.build(Target::GFX942).unwrap().code_object());
    // Other kernels fill the cache, which has room for 64, so that it drops this one.
    (100..164).for_each(|with| drop(kept(with, Target::GFX942)));
    let again = kept(3, Target::GFX942);
    assert!(!Arc::ptr_eq(&first, &again) && first.code_object() == again.code_object());
}
