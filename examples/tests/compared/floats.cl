// Arithmetic on f32, element by element.

K256 conv1d(uint n, CG float *restrict taps, CG float *restrict x, global float *restrict y) {
    uint i = G;
    if (i + 9 <= n) {
        float s = 0;
        for (uint k = 0; k < 9; k++)
            s = x[i + k] * taps[k] + s;
        y[i] = s;
    }
}

K256 conv_lds(uint n, CG float *restrict taps, CG float *restrict x, global float *restrict y) {
    local float tile[272];
    uint t = LX, i = G;
    tile[t] = x[i];
    if (t < 16)
        tile[t + 256] = x[i + 256];
    BAR();
    float s = 0;
#pragma unroll
    for (uint k = 0; k < 16; k++)
        s = FMA(tile[t + k], taps[k], s);
    if (i < n)
        y[i] = s;
}

K256 newton(uint n, CG float *restrict x, global float *restrict y) {
    uint i = G;
    if (i < n) {
        float a = fabsf_(x[i]) + 1.0f, r = a, d = a;
        uint k = 0;
        while (fabsf_(d) > 0.000001f * r && k < 50) {
            d = (r - a / (r * r)) * 0.33333334f;
            r -= d;
            k++;
        }
        y[i] = r;
    }
}

K256 horner(uint n, CG float *restrict x, global float *restrict y) {
    uint i = 4 * G;
    if (i < n) {
#pragma unroll
        for (uint c = 0; c < 4; c++) {
            float v = x[i + c], s = FMA(v, 0.25f, 0.5f);
#pragma unroll
            for (uint k = 0; k < 8; k++)
                s = FMA(s, v, 1.0f / ((float)k + 3.0f));
            y[i + c] = s;
        }
    }
}

K256 complex_mul(uint n, CG float *restrict a, CG float *restrict b, global float *restrict c) {
    uint i = G * 2;
    if (i < n) {
        float x = a[i], y = a[i + 1], u = b[i], v = b[i + 1];
        c[i] = FMA(x, u, -(y * v));
        c[i + 1] = FMA(x, v, y * u);
    }
}

K256 lerp_rgb(uint n, float t, CG float *restrict a, CG float *restrict b, global float *restrict out) {
    uint i = G;
    if (i < n) {
#pragma unroll
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = FMA(b[3 * i + k] - a[3 * i + k], t, a[3 * i + k]);
    }
}

K256 gelu(uint n, CG float *restrict x, global float *restrict y) {
    uint i = G;
    if (i < n) {
        float v = x[i], u = 0.79788456f * ((v * v * v) * 0.044715f + v), e = __builtin_amdgcn_exp2f(2.885390f * u);
        y[i] = v - v * __builtin_amdgcn_rcpf(e + 1.0f);
    }
}

K64 rope(uint h, float angle, global float *x) {
    uint row = GID0;
    for (uint k = LX; k < h; k += 64) {
        float th = (float)row * __builtin_amdgcn_exp2f((float)k * angle);
        th *= 0.15915494f;
        float s = __builtin_amdgcn_sinf(th), c = __builtin_amdgcn_cosf(th);
        uint i = row * h * 2 + 2 * k;
        float a = x[i], b = x[i + 1];
        x[i] = a * c - b * s;
        x[i + 1] = a * s + b * c;
    }
}

K256 black(uint n, float rate, CG float *restrict s, CG float *restrict k, global float *restrict out) {
    uint i = G;
    if (i < n) {
        float spot = s[i], strike = k[i], sig = 0.3f;
        float d1 = (__builtin_amdgcn_logf(spot / strike) * 0.6931472f + rate + 0.5f * sig * sig) / sig, d2 = d1 - sig;
        out[i] = spot * cnd(d1) - strike * cnd(d2) * __builtin_amdgcn_exp2f(rate * -1.442695f);
    }
}

K256 adam(uint n, float rate, CG float *restrict g, global float *restrict p, global float *restrict m,
          global float *restrict v) {
    uint i = G;
    if (i < n) {
        float grad = g[i], a = 0.9f * m[i] + 0.1f * grad, b = 0.999f * v[i] + 0.001f * grad * grad;
        m[i] = a;
        v[i] = b;
        p[i] = -rate * (a * RCP(__builtin_amdgcn_sqrtf(b) + 1.0e-8f)) + p[i];
    }
}

K256 dct8(uint n, CG float *restrict x, global float *restrict y) {
    uint i = 8 * G;
    if (i < n) {
        float s[8];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            s[k] = x[i + k] + x[i + 7 - k];
            s[k + 4] = x[i + k] - x[i + 7 - k];
        }
#define ROW(u)                                                                                                         \
    y[i + u] = s[(u) % 2 * 4] * COS(u, 0) + s[(u) % 2 * 4 + 1] * COS(u, 1) + s[(u) % 2 * 4 + 2] * COS(u, 2) +          \
               s[(u) % 2 * 4 + 3] * COS(u, 3);
        ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
    }
}

K64 tridiagonal(uint n, CG float *restrict a, CG float *restrict b, CG float *restrict c, CG float *restrict d,
                global float *restrict x) {
    uint i = GID0 * 64 + LX;
    float cs[8], ds[8];
    float inv = RCP(b[i]);
    cs[0] = c[i] * inv;
    ds[0] = d[i] * inv;
#pragma unroll
    for (int k = 1; k < 8; k++) {
        uint at = i + k * n;
        float inv = RCP(-a[at] * cs[k - 1] + b[at]);
        cs[k] = c[at] * inv;
        ds[k] = (-a[at] * ds[k - 1] + d[at]) * inv;
    }
    float v = ds[7];
    x[i + 7 * n] = v;
#pragma unroll
    for (int k = 0; k < 7; k++) {
        v = -cs[6 - k] * v + ds[6 - k];
        x[i + (6 - k) * n] = v;
    }
}

K256 soa(uint n, CG f4 *restrict points, global float *restrict x, global float *restrict y, global float *restrict z) {
    uint i = G;
    if (i < n) {
        f4 p = points[i];
        float w = RCP(p.w);
        x[i] = p.x * w;
        y[i] = p.y * w;
        z[i] = p.z * w;
    }
}

K256 gray(uint n, CG uint *restrict x, global float *restrict y) {
    uint i = G;
    if (i < n) {
        uint p = x[i];
        y[i] = (float)(p & 255) * 0.299f + ((float)((p >> 8) & 255) * 0.587f + (float)((p >> 16) & 255) * 0.114f);
    }
}
