// What the kernels of clang's side share; they are compiled without the headers of OpenCL, with the number of lanes of a wave as WS.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long ulong;

// Numbers of workgroups, a barrier for LDS, kernels by the size of their workgroup, and the number of a work-item: G of workgroups of
// 256, LX and LY within the workgroup, GX and GY of workgroups of 16 by 16.
#define GID0 ((uint)__builtin_amdgcn_workgroup_id_x())
#define GID1 ((uint)__builtin_amdgcn_workgroup_id_y())
#define BAR()                                                                                                          \
    do {                                                                                                               \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");                                                \
        __builtin_amdgcn_s_barrier();                                                                                  \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");                                                \
    } while (0)
#define K256 __attribute__((reqd_work_group_size(256, 1, 1))) kernel void
#define K64 __attribute__((reqd_work_group_size(64, 1, 1))) kernel void
#define K16 __attribute__((reqd_work_group_size(16, 16, 1))) kernel void
#define G ((uint)(GID0 * 256 + LX))
#define LX ((uint)__builtin_amdgcn_workitem_id_x())
#define LY ((uint)__builtin_amdgcn_workitem_id_y())
#define GX (GID0 * 16 + LX)
#define GY (GID1 * 16 + LY)
#define CG global const
static int clampi(int x, int a, int b) {
    return x < a ? a : x > b ? b : x;
}
static uint minu(uint a, uint b) {
    return a < b ? a : b;
}
static uint lane() {
    uint low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return WS == 32 ? low : __builtin_amdgcn_mbcnt_hi(~0u, low);
}
static float shx(float x, uint m) {
    return __builtin_bit_cast(float,
                              __builtin_amdgcn_ds_bpermute((int)((lane() ^ m) << 2), __builtin_bit_cast(int, x)));
}
static float at(int dx, int dy, int c, int r, int w, int h, CG float *x) {
    return x[clampi(r + dy, 0, h - 1) * w + clampi(c + dx, 0, w - 1)];
}
#define AT(a, b) at(a, b, c, r, w, h, x)
static float fabsf_(float x) {
    return __builtin_fabsf(x);
}
static uint ror(uint x, uint n) {
    return x >> n | x << (32 - n);
}
static float cnd(float d) {
    float q = 1.0f / (fabsf_(d) * 0.2316419f + 1.0f);
    float p = q * (q * (q * (q * (q * 1.330274429f - 1.821255978f) + 1.781477937f) - 0.356563782f) + 0.31938153f);
    float r = p * 0.39894228f * __builtin_amdgcn_exp2f(d * d * -0.72134752f);
    return d > 0 ? 1.0f - r : r;
}
#define FMA __builtin_fmaf
static uint shup(uint x, uint d, uint l) {
    uint from = l >= d ? l - d : l;
    return (uint)__builtin_amdgcn_ds_bpermute((int)(from << 2), (int)x);
}
typedef struct {
    float p[2], v[2], m;
} Ball;
static uint shxu(uint x, uint m) {
    return (uint)__builtin_amdgcn_ds_bpermute((int)((lane() ^ m) << 2), (int)x);
}
static uint rol(uint x, uint n) {
    return x << n | x >> (32 - n);
}
#define MAX __builtin_fmaxf
#define MIN __builtin_fminf
#define RCP __builtin_amdgcn_rcpf
#define EXP2 __builtin_amdgcn_exp2f
#define COS(u, k) ((float)__builtin_cosf((float)(2 * (k) + 1) * (float)(u) * 0.19634954f) * 0.5f)
static float wsum(float s) {
#pragma unroll
    for (int k = WS / 2; k; k /= 2)
        s += shx(s, k);
    return s;
}
static float wmax(float s) {
#pragma unroll
    for (int k = WS / 2; k; k /= 2)
        s = MAX(s, shx(s, k));
    return s;
}
#define WAVE ((uint)__builtin_amdgcn_readfirstlane(LX / WS))
typedef float f4 __attribute__((ext_vector_type(4)));
