//! Tests the rules about kernels: for each rule, a kernel that violates it and a similar one that does not.

use gcn_emit::kernel::{KernelSpec, SpecError, UserSgprs, WorkgroupSize};
use gcn_emit::metadata::KernelArg;
use gcn_emit::object::{ObjectError, write_code_object};
use gcn_emit::target_id::{Feature, TargetId};
use gcn_isa::Target;

use super::kernels::kernel;

fn refused(target: Target, change: impl FnOnce(&mut KernelSpec)) -> SpecError {
    let mut spec = kernel(target, "k", "v_mov_b32_e32 v9, s20\ns_endpgm");
    spec.check().expect("right before the change");
    change(&mut spec);
    let error = spec.check().expect_err("wrong after it");
    assert_eq!(write_code_object(&[spec]), Err(error.clone().into()));
    error
}

fn says(error: SpecError, parts: &[&str]) {
    let text = error.to_string();
    assert!(parts.iter().all(|p| text.contains(p)), "{text}");
}

#[test]
fn limits_of_the_target() {
    says(
        refused(Target::GFX90A, |k| k.resources.next_free_vgpr = 257),
        &["`k`", "257 VGPRs", "gfx90a", "256"],
    );
    says(refused(Target::GFX906, |k| k.resources.agprs = 1), &["1 AGPRs", "gfx906 has 0"]);
    says(refused(Target::GFX942, |k| k.resources.next_free_sgpr = 103), &["103 SGPRs", "102"]);
    says(refused(Target::GFX942, |k| k.lds_bytes = 65_537), &["65537 LDS bytes", "65536"]);
    says(
        refused(Target::GFX942, |k| k.user_sgprs = UserSgprs::FLAT_SCRATCH_INIT),
        &["FLAT_SCRATCH", "gfx942 does not have"],
    );
    says(refused(Target::GFX908, |k| k.tg_split = true), &["TG_SPLIT", "gfx908"]);
    says(refused(Target::GFX900, |k| k.sramecc = Feature::On), &["SRAM-ECC", "gfx900"]);
    let mut large = kernel(Target::GFX950, "k", "s_endpgm");
    large.lds_bytes = 163_840;
    assert_eq!(large.check(), Ok(()));
}

#[test]
fn the_first_accvgpr_is_behind_the_vgprs() {
    for offset in [0, 6, 8, 260] {
        let error = refused(Target::GFX90A, |k| k.resources.first_agpr = Some(offset));
        says(error, &["AGPRs cannot start", &offset.to_string()]);
    }
    let mut good = kernel(Target::GFX90A, "k", "v_mov_b32_e32 v9, s20\ns_endpgm");
    good.resources.first_agpr = Some(12);
    assert_eq!(good.check(), Ok(()));
}

#[test]
fn registers_of_the_program_are_counted() {
    says(refused(Target::GFX90A, |k| k.resources.next_free_vgpr = 9), &["uses", "next_free_vgpr: 10"]);
    says(refused(Target::GFX90A, |k| k.resources.next_free_sgpr = 20), &["next_free_sgpr: 21"]);
}

#[test]
fn registers_that_are_set_up_are_allocated() {
    let mut spec = kernel(Target::GFX90A, "k", "s_endpgm");
    spec.user_sgprs = UserSgprs::all();
    spec.workgroup_ids = [true; 3];
    spec.workgroup_info = true;
    assert_eq!((spec.resources.next_free_sgpr, spec.next_free_sgpr()), (0, 19));
}

#[test]
fn workgroups_fit_the_machine() {
    says(refused(Target::GFX90A, |k| k.workgroup = WorkgroupSize::Required([32, 33, 1])), &["1024"]);
    says(refused(Target::GFX90A, |k| k.workgroup = WorkgroupSize::Required([0, 1, 1])), &["at least 1"]);
    let error = refused(Target::GFX90A, |k| {
        k.workgroup = WorkgroupSize::Required([1024, 1, 1]);
        k.resources.next_free_vgpr = 129;
    });
    says(error, &["16 waves needs 4 waves on a SIMD", "room for 3"]);
    let mut good = kernel(Target::GFX90A, "k", "s_endpgm");
    good.workgroup = WorkgroupSize::Required([1024, 1, 1]);
    good.resources.next_free_vgpr = 128;
    assert_eq!(good.check(), Ok(()));
}

#[test]
fn arguments_lie_in_the_kernarg_segment_one_after_the_other() {
    let outside = |k: &mut KernelSpec| k.args = vec![KernelArg::by_value("n", 0, 4)];
    says(refused(Target::GFX90A, outside), &["argument 0", "end at 0"]);
    let overlap = |k: &mut KernelSpec| {
        k.kernarg_bytes = 16;
        k.args = vec![KernelArg::global_buffer("x", 0), KernelArg::by_value("n", 4, 4)];
    };
    says(refused(Target::GFX90A, overlap), &["argument 1", "byte 8"]);
    says(refused(Target::GFX90A, |k| k.kernarg_align = 12), &["power of two"]);
}

#[test]
fn names_are_symbols_and_unique() {
    says(refused(Target::GFX90A, |k| k.program.name = String::new()), &["\"\""]);
    says(refused(Target::GFX90A, |k| k.program.name = "a\"b".into()), &["cannot be a symbol"]);
    let k = |name: &str, target| kernel(target, name, "s_endpgm");
    let twice = write_code_object(&[k("a", Target::GFX90A), k("a", Target::GFX90A)]);
    assert_eq!(twice, Err(ObjectError::DuplicateSymbol { kernel: "a".into(), symbol: "a".into() }));
    let clash = write_code_object(&[k("a", Target::GFX90A), k("a.kd", Target::GFX90A)]);
    assert!(matches!(clash, Err(ObjectError::DuplicateSymbol { symbol, .. }) if symbol == "a.kd"));
    let mixed = write_code_object(&[k("a", Target::GFX90A), k("b", Target::GFX942)]);
    assert!(matches!(mixed, Err(ObjectError::MixedTargets { kernel, .. }) if kernel == "b"));
    assert_eq!(write_code_object(&[]), Err(ObjectError::NoKernels));
}

#[test]
fn target_ids_read_back_and_say_what_runs_where() {
    for target in Target::REPRESENTATIVES {
        for xnack in [Feature::Any, Feature::Off, Feature::On] {
            let id = TargetId { xnack, ..TargetId::any(target) };
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(id.triple().parse(), Ok(id));
            assert_eq!(TargetId::from_elf_flags(id.elf_flags()), Some(id));
        }
    }
    let device: TargetId = "gfx90a:sramecc+:xnack-".parse().unwrap();
    assert!(TargetId::any(Target::GFX90A).runs_on(device));
    assert!("gfx90a:xnack-".parse::<TargetId>().unwrap().runs_on(device));
    assert!(!"gfx90a:xnack+".parse::<TargetId>().unwrap().runs_on(device));
    assert!(!TargetId::any(Target::GFX942).runs_on(device));
    for bad in ["gfx90", "gfx90a:xnack", "gfx90a:foo+", "gfx90a:xnack+:xnack-", "gfx900:sramecc+", ""] {
        let error = bad.parse::<TargetId>().unwrap_err();
        assert!(error.to_string().contains(&format!("`{bad}`")), "{error}");
    }
}
