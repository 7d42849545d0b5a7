// Kernels that are right only because a full counter holds up the next instruction.
// clang-22 --target=amdgcn-amd-amdhsa -mcpu=$T -nogpulib -O2 full.c -o full-$T.co
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define KERNEL __attribute__((amdgpu_kernel))

// 18 FLAT loads: LLVM waits for vmcnt after each, and takes the first three to have left lgkmcnt by the end.
volatile int table[64] = {11, 22, 33, 44};
KERNEL void flat(GLOBAL int *out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int a[18], s = 0;
#pragma unroll
  for (int j = 0; j < 18; j++) a[j] = table[n + j];
#pragma unroll
  for (int j = 0; j < 18; j++) s = (s ^ a[j]) * 5;
  out[i] = s;
}

// 20 LDS reads, then a wait for vmcnt only: LLVM takes the first five to be done.
static __attribute__((loader_uninitialized)) LDS int numbers[64 + 20];
KERNEL void lds(GLOBAL int *out, GLOBAL volatile int *in) {
  int i = __builtin_amdgcn_workitem_id_x();
  __asm__ volatile("" ::"s"(in), "s"(out));
  LDS volatile int *l = numbers;
  l[i] = i * 3;
  if (i < 20) l[64 + i] = i * 7;
  int a[20], s = 0;
#pragma unroll
  for (int j = 0; j < 20; j++) a[j] = l[i + j];
  s = in[i];
  __asm__ volatile("v_add_u32 %0, 1, %0" : "+v"(s));
#pragma unroll
  for (int j = 0; j < 20; j++) s = (s ^ a[j]) * 5;
  out[i] = s;
}

// 70 loads, then a wait for lgkmcnt only: LLVM takes the first seven to be done.
KERNEL void loads(GLOBAL int *out, GLOBAL const int *in) {
  int i = __builtin_amdgcn_workitem_id_x();
  LDS volatile int *l = numbers;
  l[i] = i;
  int a[70], s = 0;
#pragma unroll
  for (int j = 0; j < 70; j++) a[j] = in[i + 64 * j];
  s = l[i];
  __asm__ volatile("v_add_u32 %0, 1, %0" : "+v"(s));
#pragma unroll
  for (int j = 0; j < 70; j++) s = (s ^ a[j]) * 5;
  out[i] = s;
}
