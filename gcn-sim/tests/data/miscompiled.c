// What clang 22.1.8 makes of these at -O1 and higher is wrong (docs/findings.md, C1 and C2); at -O0 it is right.
typedef unsigned u32;
typedef unsigned long u64;
#define MEM __attribute__((address_space(1)))
#define ID __builtin_amdgcn_workitem_id_x()

// Each lane leaves the loop in a trip of its own, with the `a` of that trip.
__attribute__((amdgpu_kernel)) void leaves_a_loop(MEM const u32 *in, MEM u32 *out) {
  u32 n = in[ID], a = n;
  for (u32 i = 0; i < (n > 100 ? n : a); i++)
    a = i ? (u32)__builtin_ctz(i) : 32;
  out[ID] = a;
}

// The high half of the product is itself a sum, whose carry is none of the last sum's.
__attribute__((amdgpu_kernel)) void carries(MEM const u64 *in, MEM u32 *out) {
  u64 r, a = in[2 * ID], b = in[2 * ID + 1];
  out[ID] = __builtin_add_overflow(a * b, (u64)(u32)in[0], &r);
}
