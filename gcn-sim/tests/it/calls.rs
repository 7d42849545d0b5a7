//! Launches in memory that persists between launches.

use gcn_sim::launch::{Call, Object, Provided};
use gcn_sim::{Grid, Hooks, Memory, Options};

/// A kernel that adds 1 to the word at its only argument, and to a variable in the code object.
const COUNTER: &str = r#"
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.globl counter
.p2align 8
.type counter,@function
counter:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, total@rel32@lo+4
  s_addc_u32 s7, s7, total@rel32@hi+12
  v_mov_b32 v0, 0
  v_mov_b32 v1, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v0, v1, s[4:5]
  global_atomic_add v0, v1, s[6:7]
  s_endpgm
.data
.globl total
.protected total
.p2align 2
.type total,@object
.size total, 4
total:
  .long 40
.rodata
.amdhsa_kernel counter
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 4
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
"#;

fn once(memory: &mut Memory, object: &Object, argument: u64) {
    let call = Call {
        grid: Grid::Workgroups([1, 1, 1]),
        workgroup: [1, 1, 1],
        dynamic_lds: 0,
        stack: 0,
        provided: Provided::default(),
    };
    let (kernel, hooks) = (object.program(None).unwrap(), Hooks::default());
    kernel.call(memory, &call, &argument.to_le_bytes(), &Options::strict(), &hooks).unwrap();
    let long = kernel.call(memory, &call, &[0; 9], &Options::default(), &hooks).unwrap_err();
    assert!(long.to_string().contains("9 bytes of arguments; the kernel takes 8"), "{long}");
}

#[test]
fn memory_and_variables_live_from_launch_to_launch_at_the_address_of_each_image() {
    let asm = gcn_emit::asm::assemble("counter.s", COUNTER, &gcn_emit::asm::Options::default()).unwrap();
    let bytes = asm.code_object().unwrap();
    let mut memory = Memory::new();
    let mut load = || {
        let object = Object::load(&bytes, |size| memory.alloc(size)).unwrap();
        memory.write(object.base(), object.image()).unwrap();
        object
    };
    let (first, second) = (load(), load());
    assert_ne!(first.base(), second.base());
    let word = memory.alloc(4);
    [&first, &first, &second].into_iter().for_each(|object| once(&mut memory, object, word));
    let read = |address| u32::from_le_bytes(memory.read(address, 4).unwrap().try_into().unwrap());
    assert_eq!(read(word), 3);
    assert_eq!([&first, &second].map(|o| read(o.variable("total").unwrap().address)), [42, 41]);
    assert_eq!((first.variable("total").unwrap().bytes, first.variable("counter")), (4, None));
}
