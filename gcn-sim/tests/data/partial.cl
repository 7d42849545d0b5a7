// Size of the workgroup in a dimension, as the device libraries' __ockl_get_local_size has it: by the hidden arguments.
static uint size_of(uint group, int d) {
  constant uint *count = (constant uint *)__builtin_amdgcn_implicitarg_ptr();
  constant ushort *size = (constant ushort *)count + 6;
  constant ushort *remainder = size + 3;
  return group < count[d] ? size[d] : remainder[d];
}

// What each work-item of a grid with partial workgroups finds; tests/it/partial.rs says what it must be.
kernel void partial(global int *out) {
  uint group[3] = {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                   __builtin_amdgcn_workgroup_id_z()};
  uint local_size[3] = {size_of(group[0], 0), size_of(group[1], 1), size_of(group[2], 2)};
  uint item[3] = {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()};
  constant uint *packet = (constant uint *)__builtin_amdgcn_dispatch_ptr();
  // grid_size_x, y, z of the packet.
  uint size[3] = {packet[3], packet[4], packet[5]};
  // workgroup_size_x, y of the packet.
  uint full_x = packet[1] & 0xffff, full_y = packet[1] >> 16, full_z = packet[2] & 0xffff;
  uint x = group[0] * full_x + item[0], y = group[1] * full_y + item[1], z = group[2] * full_z + item[2];
  uint at = x + size[0] * (y + size[1] * z);
  out[4 * at] = local_size[0] | local_size[1] << 10 | local_size[2] << 20;
  // Position in the wave, and which work-items of the wave run.
  out[4 * at + 1] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  ulong active = __builtin_amdgcn_uicmp(0, 0, 32);
  out[4 * at + 2] = (uint)active;
  out[4 * at + 3] = (uint)(active >> 32);
}

// The sum of what the work-items of the workgroup have, by way of LDS and barriers.
kernel void sums(global const int *in, global int *out, local int *total) {
  uint group = __builtin_amdgcn_workgroup_id_x();
  uint item = __builtin_amdgcn_workitem_id_x();
  constant uint *packet = (constant uint *)__builtin_amdgcn_dispatch_ptr();
  if (item == 0)
    *total = 0;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  __opencl_atomic_fetch_add((local atomic_int *)total, in[group * (packet[1] & 0xffff) + item], __ATOMIC_RELAXED,
                            __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[group * (packet[1] & 0xffff) + item] = *total;
}
