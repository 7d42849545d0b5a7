// Layers of networks, statistics of rows, sparse products and stencils.

K256 softmax_online(uint columns, CG float *restrict x, global float *restrict y) {
    uint row = (GID0 * (256 / WS) + WAVE) * columns;
    float most = -1e30f, sum = 0;
    for (uint c = lane(); c < columns; c += WS) {
        float v = x[row + c], next = MAX(most, v);
        sum = FMA(sum, EXP2((most - next) * 1.4426950f), EXP2((v - next) * 1.4426950f));
        most = next;
    }
    float all = wmax(most), inv = RCP(wsum(sum * EXP2((most - all) * 1.4426950f)));
    for (uint c = lane(); c < columns; c += WS)
        y[row + c] = EXP2((x[row + c] - all) * 1.4426950f) * inv;
}

K256 quant_row(CG float *restrict x, global float *restrict scales, global char *restrict y) {
    uint row = GID0 * (256 / WS) + WAVE, at = row * 4 * WS + lane() * 4;
    float v[4], most = 1e-6f;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = x[at + k];
        most = MAX(most, fabsf_(v[k]));
    }
    most = wmax(most);
    float inv = 127.0f * RCP(most);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int q = (int)__builtin_rintf(v[k] * inv);
        y[at + k] = (char)clampi(q, -128, 127);
    }
    if (lane() == 0)
        scales[row] = most * (1.0f / 127.0f);
}

K256 lrn(uint pixels, uint channels, CG float *restrict x, global float *restrict y) {
    uint i = G;
    if (i < pixels) {
        float s = 0;
        for (uint c = 0; c < 2; c++) {
            float v = x[c * pixels + i];
            s = FMA(v, v, s);
        }
        for (uint c = 0; c < channels; c++) {
            if (c + 2 < channels) {
                float v = x[(c + 2) * pixels + i];
                s = FMA(v, v, s);
            }
            if (c >= 3) {
                float v = x[(c - 3) * pixels + i];
                s = FMA(-v, v, s);
            }
            float f = EXP2(__builtin_amdgcn_logf(FMA(s, 0.0001f, 2.0f)) * -0.75f);
            y[c * pixels + i] = x[c * pixels + i] * f;
        }
    }
}

K16 maxpool_index(uint width, uint height, CG float *restrict x, global float *restrict y, global uint *restrict at) {
    uint gx = GX, gy = GY, ow = width / 2;
    if (gx < ow && gy < height / 2) {
        float best = -1e30f;
        uint place = 0;
#pragma unroll
        for (uint dy = 0; dy < 3; dy++)
#pragma unroll
            for (uint dx = 0; dx < 3; dx++) {
                uint r = 2 * gy + dy, c = 2 * gx + dx;
                if (r < height && c < width) {
                    float v = x[r * width + c];
                    if (v > best) {
                        best = v;
                        place = r * width + c;
                    }
                }
            }
        y[gy * ow + gx] = best;
        at[gy * ow + gx] = place;
    }
}

K256 top4(uint n, uint stride, CG float *restrict x, global float *restrict out) {
    uint i = G;
    float best[4] = {-1e30f, -1e30f, -1e30f, -1e30f};
    for (uint k = 0; k < n; k++) {
        float v = x[k * stride + i];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            float more = MAX(best[b], v);
            v = MIN(best[b], v);
            best[b] = more;
        }
    }
#pragma unroll
    for (int b = 0; b < 4; b++)
        out[4 * i + b] = best[b];
}

K256 welford(uint n, uint stride, CG float *restrict x, global float *restrict mean, global float *restrict variance) {
    uint i = G;
    float m = 0, s = 0;
    for (uint k = 0; k < n; k++) {
        float v = x[k * stride + i], d = v - m;
        m = FMA(d, RCP((float)(k + 1)), m);
        s = FMA(d, v - m, s);
    }
    mean[i] = m;
    variance[i] = s / (float)n;
}

K256 scan_lds(CG uint *restrict x, global uint *restrict y) {
    local uint sums[256];
    uint t = LX, i = G, v = x[i];
    sums[t] = v;
    BAR();
    for (uint d = 1; d < 256; d *= 2) {
        if (t >= d)
            v += sums[t - d];
        BAR();
        sums[t] = v;
        BAR();
    }
    y[i] = v;
}

K256 spmv_ell(uint rows, uint width, CG uint *restrict column, CG float *restrict value, CG float *restrict x,
              global float *restrict y) {
    uint row = G;
    if (row < rows) {
        float s = 0;
        for (uint k = 0; k < width; k++) {
            uint c = column[k * rows + row];
            if ((c & 0x80000000u) == 0)
                s = FMA(value[k * rows + row], x[c & 1023], s);
        }
        y[row] = s;
    }
}

__attribute__((reqd_work_group_size(64, 4, 1))) kernel void wave_equation(uint nx, uint ny, uint nz, float c,
                                                                           CG float *restrict now,
                                                                           global float *restrict next) {
    uint x = GID0 * 64 + LX, y = GID1 * 4 + LY;
    if (x >= 1 && x + 1 < nx && y >= 1 && y + 1 < ny) {
        uint plane = nx * ny, at = y * nx + x + plane;
        float below = now[at - plane], here = now[at];
        for (uint z = 1; z < nz - 1; z++) {
            float above = now[at + plane];
            float s = now[at - 1] + now[at + 1] + now[at - nx] + now[at + nx] + below + above;
            next[at] = FMA(FMA(here, -6.0f, s), c, FMA(here, 2.0f, -next[at]));
            below = here;
            here = above;
            at += plane;
        }
    }
}

K16 warp(uint width, uint height, CG float *restrict m, CG float *restrict src, global float *restrict dst) {
    uint gx = GX, gy = GY;
    if (gx < width && gy < height) {
        float x = (float)gx, y = (float)gy;
        float u = FMA(x, m[0], FMA(y, m[1], m[2])), v = FMA(x, m[3], FMA(y, m[4], m[5]));
        float w = (float)width, h = (float)height, out = 0;
        if (u >= 0 && v >= 0 && u + 1.0f < w && v + 1.0f < h) {
            uint x0 = (uint)u, y0 = (uint)v, i = y0 * width + x0;
            float tx = u - (float)x0, ty = v - (float)y0;
            float top = FMA(src[i + 1] - src[i], tx, src[i]);
            float bottom = FMA(src[i + width + 1] - src[i + width], tx, src[i + width]);
            out = FMA(bottom - top, ty, top);
        }
        dst[gy * width + gx] = out;
    }
}

static void exchange(float *a, float *b) {
    float least = MIN(*a, *b);
    *b = MAX(*a, *b);
    *a = least;
}

constant const char NETWORK[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8}, {0, 3}, {5, 8}, {4, 7}, {3, 6}, {1, 4}, {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};

K16 median9(uint width, uint height, CG float *restrict x, global float *restrict y) {
    uint gx = GX, gy = GY;
    if (gx >= 1 && gx + 1 < width && gy >= 1 && gy + 1 < height) {
        float v[9];
#pragma unroll
        for (uint k = 0; k < 9; k++)
            v[k] = x[(gy + k / 3 - 1) * width + gx + k % 3 - 1];
#pragma unroll
        for (uint k = 0; k < 19; k++)
            exchange(&v[NETWORK[k][0]], &v[NETWORK[k][1]]);
        y[gy * width + gx] = v[4];
    }
}
