// 16-bit floats and small integers.

K256 half_scale(uint n, half a, CG half *restrict x, global half *restrict y) {
    uint i = G;
    if (i < n)
        y[i] = x[i] * a + (half)1.0f;
}

K256 half_poly(uint n, CG half *restrict x, global half *restrict y) {
    uint i = 4 * G;
    if (i < n) {
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            half v = x[i + k];
            y[i + k] = (v * v + v) * v - (half)0.5f;
        }
    }
}

K256 half_poly_any(uint n, CG half *restrict x, global half *restrict y) {
    uint i = 4 * G;
    if (i < n) {
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            half v = x[i + k];
            y[i + k] = (v * v + v) * v - (half)0.5f;
        }
    }
}

K256 sad16(uint n, CG short *restrict x, CG short *restrict y, global short *restrict out) {
    uint i = 4 * G;
    if (i < n) {
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            short a = x[i + k], b = y[i + k];
            out[i + k] = (a > b ? a : b) - (a < b ? a : b);
        }
    }
}

K256 matvec_h(uint n, uint k, CG half *restrict a, CG half *restrict x, global half *restrict y) {
    uint i = 2 * G;
    half s = 0, t = 0;
    for (uint j = 0; j < k; j++) {
        half v = x[j];
        s = a[j * n + i] * v + s;
        t = a[j * n + i + 1] * v + t;
    }
    y[i] = s;
    y[i + 1] = t;
}

K256 quant_i8(uint n, float scale, CG float *restrict x, global char *restrict y) {
    uint i = G;
    if (i < n) {
        float v = __builtin_rintf(x[i] * scale);
        v = __builtin_fminf(__builtin_fmaxf(v, -127.f), 127.f);
        y[i] = (char)(int)v;
    }
}

K256 dequant_q4(uint n, CG float *restrict scales, CG uint *restrict q, global float *restrict y) {
    uint i = G;
    if (i < n) {
        uint w = q[i];
        float s = scales[i / 4];
#pragma unroll
        for (uint k = 0; k < 8; k++)
            y[i * 8 + k] = (float)((w >> (4 * k)) & 15) * s - 8.0f * s;
    }
}

K256 dot_i8(uint n, CG char *restrict x, CG char *restrict y, global int *restrict out) {
    uint i = G;
    if (i < n) {
        int s = 0;
#pragma unroll
        for (uint k = 0; k < 16; k++)
            s += (int)x[i * 16 + k] * (int)y[i * 16 + k];
        out[i] = s;
    }
}

K256 gate(uint n, CG float *restrict logits, global uint *restrict experts, global float *restrict weights) {
    uint i = G;
    if (i < n) {
        float best = -1e30f, second = -1e30f;
        uint at = 0, next = 0;
#pragma unroll
        for (uint k = 0; k < 8; k++) {
            float v = logits[i * 8 + k];
            if (v > best) {
                second = best;
                next = at;
                best = v;
                at = k;
            } else if (v > second) {
                second = v;
                next = k;
            }
        }
        float w = RCP(1.0f + EXP2((second - best) * 1.4426950f));
        experts[2 * i] = at;
        experts[2 * i + 1] = next;
        weights[2 * i] = w;
        weights[2 * i + 1] = 1.0f - w;
    }
}
