//! The kernels of the tests, assembled for gfx942.

use std::ffi::CString;

use gcn_emit::asm::{Options, assemble};

use crate::api::{P, get, hip, ok};

/// `add` computes p[i] += n for the 64 * groups words of p. `beyond` stores to address 64, `stop` traps, `never` does not end. `total` is a
/// variable.
const TEXT: &str = r#"
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.macro kernel name
.globl \name
.p2align 8
.type \name,@function
.endm
.macro describe name
.amdhsa_kernel \name
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 4
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
.end_amdhsa_kernel
.endm
.text
kernel add
add:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  s_lshl_b32 s7, s2, 8
  v_lshl_add_u32 v0, v0, 2, s7
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v1, s6, v1
  global_store_dword v0, v1, s[4:5]
  s_endpgm
kernel beyond
beyond:
  v_mov_b32 v0, 64
  v_mov_b32 v1, 0
  global_store_dword v[0:1], v0, off
  s_endpgm
kernel stop
stop:
  s_trap 2
  s_endpgm
kernel never
never:
  s_branch never
.data
.globl total
.p2align 2
.type total,@object
.size total, 8
total:
  .long 40, 41
.rodata
describe add
describe beyond
describe stop
describe never
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - { .name: add, .symbol: add.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
      .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 4, .max_flat_workgroup_size: 256,
      .args: [ { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .offset: 8, .size: 4, .value_kind: by_value } ] }
  - { .name: beyond, .symbol: beyond.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
      .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 4, .max_flat_workgroup_size: 256 }
  - { .name: stop, .symbol: stop.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
      .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 4, .max_flat_workgroup_size: 256 }
  - { .name: never, .symbol: never.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
      .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 4, .max_flat_workgroup_size: 256 }
.end_amdgpu_metadata
"#;

/// The code object.
pub fn object() -> Vec<u8> {
    assemble("kernels.s", TEXT, &Options::default()).unwrap().code_object().unwrap()
}

/// A module with the kernels; it is loaded until the process ends or a test unloads it.
pub fn module() -> P {
    let object = object();
    get(|place| hip::hipModuleLoadData(place, object.as_ptr() as P))
}

pub fn function(module: P, name: &str) -> P {
    let name = CString::new(name).unwrap();
    get(|place| hip::hipModuleGetFunction(place, module, name.as_ptr() as P))
}

/// A device buffer with these words.
pub fn buffer(words: &[u32]) -> P {
    let bytes = size_of_val(words);
    let at: P = get(|place| hip::hipMalloc(place, bytes));
    ok(hip::hipMemcpy(at, words.as_ptr() as P, bytes, 1));
    at
}

/// The words of a device buffer.
pub fn words(at: P, count: usize) -> Vec<u32> {
    let mut out = vec![0u32; count];
    ok(hip::hipMemcpy(out.as_mut_ptr() as P, at, 4 * count, 2));
    out
}

/// Launches `add` with one workgroup of 64 work-items.
pub fn add(function: P, at: P, n: u32, stream: P) -> u32 {
    let arguments = [&raw const at as P, &raw const n as P];
    hip::hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments.as_ptr() as P, 0)
}
