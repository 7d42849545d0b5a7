// Particles, grids and rays.

K256 nbody(uint n, float dt, CG float *restrict pos, global float *restrict vel) {
    local float tile[1024];
    uint t = LX, i = G;
    float x = pos[4 * i], y = pos[4 * i + 1], z = pos[4 * i + 2], ax = 0, ay = 0, az = 0;
    for (uint base = 0; base < n; base += 256) {
        for (int c = 0; c < 4; c++)
            tile[4 * t + c] = pos[4 * (base + t) + c];
        BAR();
        for (uint j = 0; j < 256; j++) {
            float dx = tile[4 * j] - x, dy = tile[4 * j + 1] - y, dz = tile[4 * j + 2] - z;
            float r2 = dx * dx + (dy * dy + (dz * dz + 0.01f));
            float inv = __builtin_amdgcn_rsqf(r2);
            float s = tile[4 * j + 3] * inv * inv * inv;
            ax = dx * s + ax;
            ay = dy * s + ay;
            az = dz * s + az;
        }
        BAR();
    }
    vel[4 * i] += ax * dt;
    vel[4 * i + 1] += ay * dt;
    vel[4 * i + 2] += az * dt;
}

K256 balls(uint n, float dt, global Ball *b) {
    uint i = G;
    if (i < n) {
        Ball q = b[i];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            q.p[k] += q.v[k] * dt;
            if (q.p[k] < 0) {
                q.p[k] = -q.p[k];
                q.v[k] = -q.v[k];
            }
            if (q.p[k] > 1.0f) {
                q.p[k] = 2.0f - q.p[k];
                q.v[k] = -q.v[k];
            }
        }
        b[i].p[0] = q.p[0];
        b[i].p[1] = q.p[1];
        b[i].v[0] = q.v[0];
        b[i].v[1] = q.v[1];
    }
}

__attribute__((reqd_work_group_size(64, 4, 1))) kernel void heat3d(uint nx, uint ny, uint nz, float c,
                                                                   CG float *restrict x, global float *restrict y) {
    uint gx = GID0 * 64 + LX, gy = GID1 * 4 + LY;
    if (gx >= 1 && gx + 1 < nx && gy >= 1 && gy + 1 < ny)
        for (uint z = 1; z < nz - 1; z++) {
            uint i = (z * ny + gy) * nx + gx;
            float s = x[i - 1] + x[i + 1] + x[i - nx] + x[i + nx] + x[i - nx * ny] + x[i + nx * ny];
            y[i] = (s - 6.0f * x[i]) * c + x[i];
        }
}

K16 floyd(uint n, uint k, global float *d) {
    uint x = GX, y = GY;
    if (x < n && y < n) {
        float via = fabsf_(d[y * n + k]) + fabsf_(d[k * n + x]);
        if (via < d[y * n + x])
            d[y * n + x] = via;
    }
}

K256 nearest(uint n, CG float *restrict points, CG float *restrict q, global uint *restrict best) {
    uint i = G;
    float qx = q[2 * i], qy = q[2 * i + 1], least = 1e30f;
    uint at = 0;
    for (uint k = 0; k < n; k++) {
        float dx = points[2 * k] - qx, dy = points[2 * k + 1] - qy, d = dx * dx + dy * dy;
        if (d < least) {
            least = d;
            at = k;
        }
    }
    best[i] = at;
}

K256 kmeans(uint n, uint k, CG float *restrict pt, CG float *restrict ce, global uint *restrict label) {
    uint i = G;
    if (i < n) {
        float x = pt[4 * i], y = pt[4 * i + 1], z = pt[4 * i + 2], w = pt[4 * i + 3], best = 1e30f;
        uint at = 0;
        for (uint c = 0; c < k; c++) {
            float a = ce[4 * c] - x, b = ce[4 * c + 1] - y, d = ce[4 * c + 2] - z, e = ce[4 * c + 3] - w,
                  s = a * a + (b * b + (d * d + e * e));
            if (s < best) {
                best = s;
                at = c;
            }
        }
        label[i] = at;
    }
}

K16 ray(uint width, uint count, CG float *restrict sp, global float *restrict out) {
    uint gx = GX, gy = GY;
    float dx = (float)gx * 0.01f - 1.0f, dy = (float)gy * 0.01f - 0.5f,
          inv = __builtin_amdgcn_rsqf(dx * dx + (dy * dy + 1.0f));
    dx *= inv;
    dy *= inv;
    float dz = inv, near = 1e30f;
    for (uint k = 0; k < count; k++) {
        float ox = sp[4 * k], oy = sp[4 * k + 1], oz = sp[4 * k + 2] + 4.0f, r = sp[4 * k + 3],
              b = ox * dx + (oy * dy + oz * dz), c = ox * ox + (oy * oy + (oz * oz - r * r)), d = b * b - c;
        if (d > 0) {
            float t = b - __builtin_amdgcn_sqrtf(d);
            if (t > 0 && t < near)
                near = t;
        }
    }
    out[gy * width + gx] = near;
}

K256 mandel(uint width, uint limit, global uint *restrict out) {
    // The number of trips depends on every rounding.
    #pragma OPENCL FP_CONTRACT OFF
    uint i = G;
    uint px = i % width, py = i / width;
    float cx = FMA((float)px, 0.02f, -2.0f), cy = FMA((float)py, 0.02f, -1.2f), zx = 0, zy = 0;
    uint k = 0;
    while (k < limit && zx * zx + zy * zy < 4.0f) {
        float t = zx * zx - zy * zy + cx;
        zy = FMA(2.0f * zx, zy, cy);
        zx = t;
        k++;
    }
    out[i] = k;
}

K256 pi(uint rounds, global uint *restrict out) {
    uint i = G;
    uint s = i * 747796405u + 2891336453u, hits = 0;
    for (uint k = 0; k < rounds; k++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float x = (float)(s >> 8) * 5.9604645e-8f;
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float y = (float)(s >> 8) * 5.9604645e-8f;
        if (x * x + y * y < 1.0f)
            hits++;
    }
    out[i] = hits;
}
