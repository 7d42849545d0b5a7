// Functions of the device's library beside those of the host.
#include "check.h"

#define FUNCTIONS(F)                                                                                              \
    F(sin, x) F(cos, x) F(tan, x) F(asin, x / 10) F(acos, x / 10) F(atan, x) F(sinh, x) F(cosh, x) F(tanh, x)     \
    F(exp, x) F(exp2, x) F(expm1, x) F(log, x) F(log2, x) F(log10, x) F(log1p, x) F(sqrt, x) F(cbrt, x) F(erf, x) \
    F(erfc, x) F(tgamma, x) F(lgamma, x) F(floor, x) F(ceil, x) F(trunc, x) F(rint, x) F(fabs, -x) F(asinh, x)    \
    F(acosh, x + 1) F(atanh, x / 10) F(j0, x) F(j1, x) F(y0, x)

enum { ONES = 0
#define F(name, argument) +1
    FUNCTIONS(F)
#undef F
};

template <typename T> __global__ void ones(const T *in, T *out, int count) {
    int i = threadIdx.x, n = 0;
    T x = in[i];
#define F(name, argument) out[n++ * count + i] = name(argument);
    FUNCTIONS(F)
#undef F
    out[n++ * count + i] = pow(x, x / 2);
    out[n++ * count + i] = fmod(x * 100, (T)7);
    out[n++ * count + i] = atan2(x, -x / 3);
    out[n++ * count + i] = hypot(x, x * 2);
    out[n++ * count + i] = fma(x, x, -x);
    out[n++ * count + i] = ldexp(x, 5);
    out[n++ * count + i] = remainder(x * 10, (T)3);
    out[n++ * count + i] = copysign(x, (T)-1);
}

template <typename T> static bool check(double tolerance) {
    const int count = 64, all = ONES + 8;
    std::vector<T> in(count);
    for (int i = 0; i < count; i++)
        in[i] = (T)(0.07 + i * 0.147);
    auto out = device<T>(count * all);
    ones<<<1, count>>>(upload(in), out, count);
    auto got = download(out, count * all);
    bool good = true;
    for (int i = 0; i < count; i++) {
        double x = in[i];
        int n = 0;
        auto near = [&](const char *name, double expected) {
            double value = got[n++ * count + i], error = std::fabs(value - expected);
            // Near a zero of a function the relative error means nothing.
            if (!(error <= tolerance * std::fmax(std::fabs(expected), 0.05)))
                printf("%s(%.17g) = %.17g, not %.17g\n", name, x, value, expected), good = false;
        };
#define F(name, argument) near(#name, name((double)(T)(argument)));
        FUNCTIONS(F)
#undef F
        near("pow", std::pow(x, (double)(T)(x / 2)));
        near("fmod", std::fmod((double)(T)(in[i] * 100), 7.0));
        near("atan2", std::atan2(x, (double)(T)(-in[i] / 3)));
        near("hypot", std::hypot(x, 2 * x));
        near("fma", std::fma(x, x, -x));
        near("ldexp", std::ldexp(x, 5));
        near("remainder", std::remainder((double)(T)(in[i] * 10), 3.0));
        near("copysign", -x);
    }
    return good;
}

__global__ void fast(float *out) {
    float x = threadIdx.x * 0.1f + 0.1f;
    out[threadIdx.x] = __expf(x) - expf(x) + __logf(x) - logf(x) + __sinf(x) - sinf(x) + __fdividef(x, 3) - x / 3 + rsqrtf(x) -
        1 / sqrtf(x) + __powf(x, 2) / (x * x) - 1 + __frcp_rn(x) - 1 / x + __saturatef(x) - fminf(x, 1);
}

int main() {
    // Four units in the last place of a float for most, sixteen for the gamma functions.
    bool good = check<float>(2e-6);
    good &= check<double>(4e-15);
    auto out = device<float>(64);
    fast<<<1, 64>>>(out);
    for (float difference : download(out, 64))
        EXPECT(std::fabs(difference) < 1e-3f);
    printf(good ? "PASS\n" : "FAIL\n");
}
