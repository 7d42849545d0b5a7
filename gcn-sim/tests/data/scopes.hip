// Messages from one party to another through a flag, at each scope; tests/it/scopes.rs says which of them arrive in order.
#define KERNEL extern "C" __attribute__((global))
#define SCOPES(MAKE) \
  MAKE(workgroup, __HIP_MEMORY_SCOPE_WORKGROUP, "workgroup") \
  MAKE(agent, __HIP_MEMORY_SCOPE_AGENT, "agent") \
  MAKE(system, __HIP_MEMORY_SCOPE_SYSTEM, "")

// Who sends and who receives: workgroups 0 and 1, or waves 0 and 1.
static __attribute__((device)) bool second(bool waves) {
  return waves ? __builtin_amdgcn_workitem_id_x() >= 64 : __builtin_amdgcn_workgroup_id_x() == 1;
}
static __attribute__((device)) int lane() { return __builtin_amdgcn_workitem_id_x() & 63; }

// A store that releases, a load that acquires.
#define STORE_LOAD(NAME, SCOPE, FENCE)                                           \
  KERNEL void store_##NAME(int *data, int *flag, int *out, bool waves) {         \
    if (!second(waves)) {                                                        \
      data[lane()] = lane() + 1;                                                 \
      if (lane() == 0)                                                           \
        __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, SCOPE);                    \
    } else if (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, SCOPE) == 1) {          \
      out[lane()] = data[lane()];                                                \
    }                                                                            \
  }
// The same by atomics that read and write, as in a reduction by the last to come.
#define ADD(NAME, SCOPE, FENCE)                                                  \
  KERNEL void add_##NAME(int *data, int *flag, int *out, bool waves) {           \
    if (!second(waves)) {                                                        \
      data[lane()] = lane() + 1;                                                 \
      if (lane() == 0)                                                           \
        __hip_atomic_fetch_add(flag, 1, __ATOMIC_ACQ_REL, SCOPE);                \
    } else if (__hip_atomic_fetch_add(flag, 1, __ATOMIC_ACQ_REL, SCOPE) > 0) {   \
      out[lane()] = data[lane()];                                                \
    }                                                                            \
  }
// Fences around relaxed atomics.
#define FENCES(NAME, SCOPE, FENCE)                                               \
  KERNEL void fence_##NAME(int *data, int *flag, int *out, bool waves) {         \
    if (!second(waves)) {                                                        \
      data[lane()] = lane() + 1;                                                 \
      __builtin_amdgcn_fence(__ATOMIC_RELEASE, FENCE);                           \
      if (lane() == 0)                                                           \
        __hip_atomic_fetch_or(flag, 1, __ATOMIC_RELAXED, SCOPE);                 \
    } else if (__hip_atomic_fetch_or(flag, 2, __ATOMIC_RELAXED, SCOPE) & 1) {    \
      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, FENCE);                           \
      out[lane()] = data[lane()];                                                \
    }                                                                            \
  }
SCOPES(STORE_LOAD)
SCOPES(ADD)
SCOPES(FENCES)

// Atomics of agent scope, but fences of a workgroup.
KERNEL void mixed(int *data, int *flag, int *out, bool waves) {
  if (!second(waves)) {
    data[lane()] = lane() + 1;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (lane() == 0)
      __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  } else if (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 1) {
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[lane()] = data[lane()];
  }
}

// __threadfence, __syncthreads, and an atomic of one wave: every wave of workgroup 0 sends.
KERNEL void threadfence(int *data, int *flag, int *out) {
  int item = __builtin_amdgcn_workitem_id_x();
  if (__builtin_amdgcn_workgroup_id_x() == 0) {
    data[item] = item + 1;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    __builtin_amdgcn_s_barrier();
    if (item == 0)
      __hip_atomic_fetch_add(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    int seen = 0;
    if (item == 0)
      seen = __hip_atomic_fetch_add(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    __builtin_amdgcn_s_barrier();
    out[item] = data[item] + seen;
  }
}
