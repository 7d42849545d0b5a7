// What clang 22.1.8 makes of these at -O1 is wrong (docs/findings.md, C1 to C4); at -O0 it is right, save `signs`.
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

// Minus zero, made f16.
__attribute__((amdgpu_kernel)) void signs(MEM const u32 *in, MEM u32 *out) {
  union { _Float16 x; unsigned short u; } v = {(_Float16)(-1.0f * (float)(in[ID] & 1) * (float)(in[ID] >> 1 & 1))};
  out[ID] = v.u;
}

// An arm of a `switch` that falls through into the next, and an array that another changes at a place of its own.
__attribute__((amdgpu_kernel)) void falls_through(MEM const u32 *in, MEM u32 *out) {
  u32 arr[8] = {ID, 1, 2, 3, ID ^ 5, 5, 6, 7};
  MEM u32 *mem = out + 64 + 8 * ID;
  switch (in[2 * ID] % 5) {
  case 1:
    mem[1] = 2;
  case 2:
    mem[2] = 3;
    break;
  default: {
    u32 t = in[2 * ID + 1], kept = t;
    __asm__("" : "+v"(kept));
    arr[t & 7] = kept;
  }
  }
  out[ID] = arr[7];
}
