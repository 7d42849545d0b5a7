// Workgroups that meet: at global wave sync, and at a counter in memory. In each round a workgroup adds up what its neighbours
// had in the round before.

typedef unsigned uint;

#define FENCE() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define GROUPS (__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x())
#define FIRST (__builtin_amdgcn_workitem_id_x() == 0)

static uint neighbours(global uint *of, uint g, uint n) { return of[(g + 1) % n] + of[(g + n - 1) % n] + g; }

kernel void resource(global uint *a, uint rounds) {
  uint g = GROUP, n = GROUPS;
  for (uint r = 0; r < rounds; r++) {
    uint sum = neighbours(a + r * n, g, n);
    if (FIRST)
      a[(r + 1) * n + g] = sum;
    FENCE();
    if (FIRST)
      __builtin_amdgcn_ds_gws_barrier(n - 1, 0);
    __builtin_amdgcn_s_barrier();
    FENCE();
  }
}

kernel void counter(global uint *a, uint rounds, global uint *count) {
  uint g = GROUP, n = GROUPS;
  for (uint r = 0; r < rounds; r++) {
    uint sum = neighbours(a + r * n, g, n);
    if (FIRST) {
      a[(r + 1) * n + g] = sum;
      __scoped_atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
      while (__scoped_atomic_load_n(count, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) < (r + 1) * n)
        ;
    }
    __builtin_amdgcn_s_barrier();
    FENCE();
  }
}
