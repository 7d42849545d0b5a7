// Sums along rows, products and scans.

K256 rmsnorm(uint columns, CG float *restrict gain, CG float *restrict x, global float *restrict y) {
    local float sums[256 / WS];
    uint row = GID0 * columns, t = LX;
    float s = 0;
    for (uint c = t; c < columns; c += 256) {
        float v = x[row + c];
        s = v * v + s;
    }
#pragma unroll
    for (int k = WS / 2; k; k /= 2)
        s += shx(s, k);
    if (t % WS == 0)
        sums[t / WS] = s;
    BAR();
    float tot = sums[0];
#pragma unroll
    for (int k = 1; k < 256 / WS; k++)
        tot += sums[k];
    float sc = __builtin_amdgcn_rsqf(tot / (float)columns + 1e-5f);
    for (uint c = t; c < columns; c += 256)
        y[row + c] = x[row + c] * sc * gain[c];
}

K256 layernorm_backward(uint columns, CG float *restrict x, CG float *restrict dy, CG float *restrict gain,
                        CG float *restrict mean, CG float *restrict rstd, global float *restrict dx) {
    uint row = GID0 * (256 / WS) + WAVE;
    float m = mean[row], r = rstd[row], a = 0, b = 0;
    for (uint c = lane(); c < columns; c += WS) {
        float g = dy[row * columns + c] * gain[c], h = (x[row * columns + c] - m) * r;
        a += g;
        b = g * h + b;
    }
    float n = 1.0f / (float)columns;
    a = wsum(a) * n;
    b = wsum(b) * n;
    for (uint c = lane(); c < columns; c += WS) {
        float g = dy[row * columns + c] * gain[c], h = (x[row * columns + c] - m) * r;
        dx[row * columns + c] = (g - (h * b + a)) * r;
    }
}

K256 softmax_wave(CG float *restrict x, global float *restrict y) {
    uint row = (GID0 * (256 / WS) + WAVE) * 4 * WS + lane() * 4;
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = x[row + k];
    float m = wmax(MAX(MAX(MAX(v[0], v[1]), v[2]), v[3])), s = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = EXP2((v[k] - m) * 1.4426950f);
        s += v[k];
    }
    float inv = RCP(wsum(s));
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[row + k] = v[k] * inv;
}

K256 argmax(uint columns, CG float *restrict x, global uint *restrict out) {
    local float b[256 / WS];
    local uint a[256 / WS];
    uint t = LX, row = GID0 * columns;
    float best = -1.0e30f;
    uint at = 0;
    for (uint c = t; c < columns; c += 256) {
        float v = x[row + c];
        if (v > best) {
            best = v;
            at = c;
        }
    }
#pragma unroll
    for (uint m = WS / 2; m; m /= 2) {
        float o = shx(best, m);
        uint p = shxu(at, m);
        if (o > best || o == best && p < at) {
            best = o;
            at = p;
        }
    }
    if (lane() == 0) {
        b[t / WS] = best;
        a[t / WS] = at;
    }
    BAR();
    if (t == 0) {
#pragma unroll
        for (int k = 1; k < 256 / WS; k++) {
            float o = b[k];
            uint p = a[k];
            if (o > best || o == best && p < at) {
                best = o;
                at = p;
            }
        }
        out[GID0] = at;
    }
}

K256 dot(uint n, uint stride, CG float *restrict x, CG float *restrict y, global float *restrict out) {
    local float sums[256];
    uint t = LX;
    float s = 0;
    for (uint i = G; i < n; i += stride)
        s = x[i] * y[i] + s;
    sums[t] = s;
    BAR();
    for (uint k = 128; k > 0; k /= 2) {
        if (t < k)
            sums[t] += sums[t + k];
        BAR();
    }
    if (t == 0)
        out[GID0] = sums[0];
}

K256 gemv4(uint n, uint k, CG float *restrict a, CG float *restrict x, global float *restrict y) {
    uint i = 4 * G;
    float s[4] = {0, 0, 0, 0};
    for (uint j = 0; j < k; j++) {
        float v = x[j];
#pragma unroll
        for (int c = 0; c < 4; c++)
            s[c] = FMA(a[j * n + i + c], v, s[c]);
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        y[i + c] = s[c];
}

K16 matmul(uint n, uint k, CG float *restrict a, CG float *restrict b, global float *restrict c) {
    uint x = GX, y = GY;
    float s = 0;
    for (uint i = 0; i < k; i++)
        s = a[y * k + i] * b[i * n + x] + s;
    c[y * n + x] = s;
}

K16 matmul_lds(uint n, uint k, CG float *restrict a, CG float *restrict b, global float *restrict c) {
    local float ta[256], tb[256];
    uint x = GX, y = GY, lx = LX, ly = LY;
    float s = 0;
    for (uint base = 0; base < k; base += 16) {
        ta[ly * 16 + lx] = a[y * k + base + lx];
        tb[ly * 16 + lx] = b[(base + ly) * n + x];
        BAR();
#pragma unroll
        for (uint i = 0; i < 16; i++)
            s = ta[ly * 16 + i] * tb[i * 16 + lx] + s;
        BAR();
    }
    c[y * n + x] = s;
}

K256 spmv_row(uint rows, CG uint *restrict start, CG uint *restrict column, CG float *restrict value,
              CG float *restrict x, global float *restrict y) {
    uint row = G;
    if (row < rows) {
        float s = 0;
        uint e = row * 12 + (start[row] & 15);
        for (uint k = row * 12; k < e; k++)
            s = value[k] * x[column[k] & 1023] + s;
        y[row] = s;
    }
}

K256 scan_serial(uint n, CG uint *restrict x, global uint *restrict y) {
    uint i = 16 * G;
    if (i < n) {
        uint s = 0;
#pragma unroll
        for (uint k = 0; k < 16; k++) {
            s += x[i + k];
            y[i + k] = s;
        }
    }
}

K256 scan_wave(uint n, CG uint *restrict x, global uint *restrict y) {
    uint i = G, l = lane(), v = x[i];
#pragma unroll
    for (uint d = 1; d < WS; d *= 2) {
        uint o = shup(v, d, l);
        if (l >= d)
            v += o;
    }
    if (i < n)
        y[i] = v;
}
