// Calls through a table of function pointers, a variable, constants, a private array: what needs the whole image.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __noinline __attribute__((noinline))

__device__ int total = 1000;
__device__ const int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

__device__ __noinline int square(int x) { return x * x + primes[x & 7]; }
__device__ __noinline int local(int x) {
  volatile int a[16];
  for (int i = 0; i < 16; ++i) a[i] = i * x;
  return a[x & 15] - total;
}
__device__ int (*const volatile table[2])(int) = {square, local};

extern "C" __global__ void calls(int *out, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i >= n) return;
  out[i] = table[i & 1](i) + square(i + 1);
}
