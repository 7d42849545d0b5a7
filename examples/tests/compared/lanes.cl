// Small matrices, transforms and polynomials, one in each lane.

K256 lu4(uint n, CG float *restrict x, global float *restrict y) {
    uint i = G;
    float a[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            a[r][c] = x[i + (4 * r + c) * n];
        a[r][r] += 4.0f;
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
        float inv = RCP(a[k][k]);
#pragma unroll
        for (int r = k + 1; r < 4; r++) {
            float f = a[r][k] * inv;
            a[r][k] = f;
#pragma unroll
            for (int c = k + 1; c < 4; c++)
                a[r][c] = FMA(-f, a[k][c], a[r][c]);
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            y[i + (4 * r + c) * n] = a[r][c];
}

K256 transpose4(CG float *restrict x, global float *restrict y) {
    uint i = G * 16;
#pragma unroll
    for (uint r = 0; r < 4; r++)
#pragma unroll
        for (uint c = 0; c < 4; c++)
            y[i + 4 * c + r] = x[i + 4 * r + c];
}

K256 radix4(uint stride, global float *restrict re, global float *restrict im) {
    uint i = G, k = i % stride, at = (i / stride) * stride * 4 + k;
    float angle = (float)k * (-1.5707963f / (float)stride), a[4], b[4];
    a[0] = re[at];
    b[0] = im[at];
#pragma unroll
    for (int q = 1; q < 4; q++) {
        float c = __builtin_amdgcn_cosf((float)q * angle * 0.15915494f), s = __builtin_amdgcn_sinf((float)q * angle * 0.15915494f);
        float u = re[at + q * stride], v = im[at + q * stride];
        a[q] = FMA(u, c, -(v * s));
        b[q] = FMA(u, s, v * c);
    }
    float s0 = a[0] + a[2], t0 = b[0] + b[2], s1 = a[0] - a[2], t1 = b[0] - b[2];
    float s2 = a[1] + a[3], t2 = b[1] + b[3], s3 = a[1] - a[3], t3 = b[1] - b[3];
    re[at] = s0 + s2;
    im[at] = t0 + t2;
    re[at + stride] = s1 + t3;
    im[at + stride] = t1 - s3;
    re[at + 2 * stride] = s0 - s2;
    im[at + 2 * stride] = t0 - t2;
    re[at + 3 * stride] = s1 - t3;
    im[at + 3 * stride] = t1 + s3;
}

K256 polynomial64(CG double *restrict x, global double *restrict y) {
    uint i = G;
    double v = x[i], s = 1.0;
#pragma unroll
    for (int k = 0; k < 12; k++)
        s = __builtin_fma(s, v, 1.0 / ((double)k + 2.0));
    y[i] = s;
}

K256 correlate(uint n, uint lags, CG float *restrict x, global float *restrict out) {
    uint i = G;
    float re = 0, im = 0;
    for (uint k = 0; k < lags; k++) {
        float a = x[2 * (i + k)], b = x[2 * (i + k) + 1], c = x[2 * k], d = x[2 * k + 1];
        re = FMA(a, c, FMA(b, d, re));
        im = FMA(b, c, FMA(-a, d, im));
    }
    if (i < n) {
        out[2 * i] = re;
        out[2 * i + 1] = im;
    }
}

K256 julia64(uint width, uint limit, global uint *restrict out) {
#pragma clang fp contract(off)
    uint i = G, k = 0;
    double x = (double)(i % width) * 0.02 - 1.5, y = (double)(i / width) * 0.02 - 1.0;
    while (k < limit) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4.0)
            break;
        y = __builtin_fma(x + x, y, 0.156);
        x = xx - yy - 0.8;
        k++;
    }
    out[i] = k;
}

static float gradient(uint h, float x, float y) {
    return ((h & 1) ? -x : x) + ((h & 2) ? -y : y);
}

K256 perlin(uint width, float scale, CG uint *restrict table, global float *restrict out) {
    uint i = G;
    float x = (float)(i % width) * scale, y = (float)(i / width) * scale;
    uint xi = (uint)x, yi = (uint)y;
    float fx = x - __builtin_floorf(x), fy = y - __builtin_floorf(y);
    float sx = fx * fx * FMA(-2.0f, fx, 3.0f), sy = fy * fy * FMA(-2.0f, fy, 3.0f);
    uint p = table[xi & 255], q = table[(xi + 1) & 255];
    float a = gradient(table[(p + yi) & 255], fx, fy), b = gradient(table[(q + yi) & 255], fx - 1, fy),
          c = gradient(table[(p + yi + 1) & 255], fx, fy - 1),
          d = gradient(table[(q + yi + 1) & 255], fx - 1, fy - 1);
    float top = FMA(b - a, sx, a), bottom = FMA(d - c, sx, c);
    out[i] = FMA(bottom - top, sy, top);
}

K256 reflect(uint width, uint count, CG float *restrict spheres, global float *restrict out) {
    uint i = G;
    float ox = FMA((float)(i % width), 0.02f, -1.0f), oy = FMA((float)(i / width), 0.02f, -1.0f), oz = -2;
    float dx = 0, dy = 0, dz = 1, light = 0;
    for (uint bounce = 0; bounce < 3; bounce++) {
        float near = 1e30f;
        uint at = 0;
        for (uint k = 0; k < count; k++) {
            float x = spheres[4 * k] - ox, y = spheres[4 * k + 1] - oy, z = spheres[4 * k + 2] - oz,
                  r = spheres[4 * k + 3] * 0.3f;
            float b = FMA(x, dx, FMA(y, dy, z * dz)), c = FMA(x, x, FMA(y, y, FMA(z, z, -(r * r)))), d = FMA(b, b, -c);
            if (d > 0) {
                float t = b - __builtin_amdgcn_sqrtf(d);
                if (t > 0.001f && t < near) {
                    near = t;
                    at = k;
                }
            }
        }
        if (near > 1e29f)
            break;
        ox = FMA(near, dx, ox);
        oy = FMA(near, dy, oy);
        oz = FMA(near, dz, oz);
        float nx = ox - spheres[4 * at], ny = oy - spheres[4 * at + 1], nz = oz - spheres[4 * at + 2];
        float inv = __builtin_amdgcn_rsqf(FMA(nx, nx, FMA(ny, ny, nz * nz)));
        float s = 2.0f * inv * inv * FMA(nx, dx, FMA(ny, dy, nz * dz));
        dx = FMA(-s, nx, dx);
        dy = FMA(-s, ny, dy);
        dz = FMA(-s, nz, dz);
        light += 1;
    }
    out[i] = light;
}
