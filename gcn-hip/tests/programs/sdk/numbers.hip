// Types of other widths: half, bfloat16, complex numbers, vectors, and intrinsics on integers.
#include "check.h"
#include <hip/hip_bf16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>

__global__ void halves(const __half *a, __half *out, __half2 *pairs, __hip_bfloat16 *b, float *f) {
    int i = threadIdx.x;
    out[i] = __hfma(a[i], a[i], __float2half(1.0f));
    pairs[i] = __hmul2(__halves2half2(a[i], a[i]), __floats2half2_rn(2.0f, 3.0f));
    b[i] = __float2bfloat16(i + 0.5f);
    f[i] = __half2float(hsqrt(a[i])) + (__hgt(a[i], __float2half(8.0f)) ? 100.0f : 0.0f) + __bfloat162float(b[i]);
}

__global__ void complexes(hipFloatComplex *c, hipDoubleComplex *z, float4 *v) {
    int i = threadIdx.x;
    c[i] = hipCmulf(make_hipFloatComplex(i, 1), make_hipFloatComplex(2, -i));
    z[i] = hipCdiv(make_hipDoubleComplex(i, i), make_hipDoubleComplex(1, 1));
    float4 x = make_float4(i, i + 1, i + 2, i + 3);
    x.x += x.w, x *= 2.0f;
    v[i] = x;
}

__global__ void integers(unsigned *out, unsigned long long *wide) {
    unsigned i = threadIdx.x, x = 0x9e3779b9u * (i + 1), n = 0;
    auto put = [&](unsigned value) { out[n++ * 64 + i] = value; };
    put(__clz(x >> (i % 32)));
    put(__ffs(x));
    put(__popc(x));
    put(__brev(x));
    put(__mulhi((int)x, 0x12345678));
    put(__umulhi(x, 0xdeadbeef));
    put(__byte_perm(x, 0x01234567, 0x5140));
    put(__umul24(x, i + 9));
    put(__sad((int)i, 40, 7u));
    put(__uhadd(x, 0xffffffff));
    put(__funnelshift_l(x, ~x, i));
    wide[i] = __umul64hi(x * 0x100000001ull, ~0ull / (i + 1)) + __popcll(x * 0x100000001ull) + __clzll(1ull << i);
}

int main() {
    std::vector<__half> a(64);
    for (int i = 0; i < 64; i++)
        a[i] = __float2half(i);
    auto out = device<__half>(64);
    auto pairs = device<__half2>(64);
    auto b = device<__hip_bfloat16>(64);
    auto f = device<float>(64);
    halves<<<1, 64>>>(upload(a), out, pairs, b, f);
    auto h = download(out, 64);
    auto p = download(pairs, 64);
    auto s = download(f, 64);
    auto c = device<hipFloatComplex>(64);
    auto z = device<hipDoubleComplex>(64);
    auto v = device<float4>(64);
    complexes<<<1, 64>>>(c, z, v);
    auto cs = download(c, 64);
    auto zs = download(z, 64);
    auto vs = download(v, 64);
    auto o = device<unsigned>(64 * 11);
    auto w = device<unsigned long long>(64);
    integers<<<1, 64>>>(o, w);
    auto os = download(o, 64 * 11);
    auto ws = download(w, 64);
    for (int i = 0; i < 64; i++) {
        // i * i + 1 up to 2048 is exact in half, and rounded to even beyond.
        float square = i * i + 1;
        EXPECT(__half2float(h[i]) == (square <= 2048 ? square : std::nearbyint(square / 2) * 2));
        EXPECT(__low2float(p[i]) == 2 * i && __high2float(p[i]) == 3 * i);
        EXPECT(std::fabs(s[i] - (std::sqrt((float)i) + (i > 8 ? 100 : 0) + i + 0.5f)) < 0.01f);
        EXPECT(cs[i].x == 3 * i && cs[i].y == 2 - i * i && zs[i].x == i && std::fabs(zs[i].y) < 1e-14);
        EXPECT(vs[i].x == 2 * (2 * i + 3) && vs[i].w == 2 * (i + 3));
        unsigned x = 0x9e3779b9u * (i + 1), y = x >> (i % 32), reversed = 0;
        for (int bit = 0; bit < 32; bit++)
            reversed |= (x >> bit & 1) << (31 - bit);
        unsigned bytes[] = {x & 255, x >> 8 & 255, x >> 16 & 255, x >> 24, 0x67, 0x45, 0x23, 0x01};
        unsigned long long both = (unsigned long long)~x << 32 | x, big = x * 0x100000001ull;
        unsigned expected[] = {y ? (unsigned)__builtin_clz(y) : 32, (unsigned)__builtin_ffs(x),
            (unsigned)__builtin_popcount(x), reversed, (unsigned)((long long)(int)x * 0x12345678 >> 32),
            (unsigned)((unsigned long long)x * 0xdeadbeef >> 32),
            bytes[0] | bytes[4] << 8 | bytes[1] << 16 | bytes[5] << 24,
            (x & 0xffffff) * (i + 9), (unsigned)std::abs(i - 40) + 7,
            (unsigned)(((unsigned long long)x + 0xffffffff) >> 1), (unsigned)(both << (i & 31) >> 32)};
        for (int n = 0; n < 11; n++)
            if (os[n * 64 + i] != expected[n])
                return printf("integer %d of lane %d: %x, not %x\n", n, i, os[n * 64 + i], expected[n]), 1;
        unsigned long long high = (unsigned __int128)big * (~0ull / (i + 1)) >> 64;
        EXPECT(ws[i] == high + __builtin_popcountll(big) + 63 - i);
    }
    printf("PASS\n");
}
