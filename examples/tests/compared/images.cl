// Images.

K16 sobel(uint width, uint height, CG float *restrict x, global float *restrict y) {
    int c = GX, r = GY, w = width, h = height;
    if (c < w && r < h) {
        float gx = AT(1, -1) - AT(-1, -1) + 2.0f * (AT(1, 0) - AT(-1, 0)) + AT(1, 1) - AT(-1, 1),
              gy = AT(-1, 1) - AT(-1, -1) + 2.0f * (AT(0, 1) - AT(0, -1)) + AT(1, 1) - AT(1, -1);
        y[r * w + c] = fabsf_(gx) + fabsf_(gy);
    }
}

K256 blur(uint n, CG uchar *restrict x, global uchar *restrict y) {
    uint i = G;
    if (i >= 2 && i + 2 < n) {
        uint s = 0;
        for (uint k = 0; k < 5; k++)
            s += x[i + k - 2];
        y[i] = s / 5;
    }
}

K16 bilinear(uint sw, uint sh, uint dw, uint dh, CG float *restrict src, global float *restrict dst) {
    uint gx = GX, gy = GY;
    if (gx < dw && gy < dh) {
        float fx = (float)gx * ((float)sw / (float)dw), fy = (float)gy * ((float)sh / (float)dh);
        uint x0 = (uint)fx, y0 = (uint)fy, x1 = minu(x0 + 1, sw - 1), y1 = minu(y0 + 1, sh - 1);
        float tx = fx - (float)x0, ty = fy - (float)y0;
        float a = src[y0 * sw + x0], b = src[y0 * sw + x1], c = src[y1 * sw + x0], d = src[y1 * sw + x1];
        float top = (b - a) * tx + a, bo = (d - c) * tx + c;
        dst[gy * dw + gx] = (bo - top) * ty + top;
    }
}

K256 yuv(uint n, CG uchar *restrict rgb, global uchar *restrict out) {
    uint i = G;
    if (i < n) {
        int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        int y = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16, u = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128,
            v = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
        out[3 * i] = clampi(y, 0, 255);
        out[3 * i + 1] = clampi(u, 0, 255);
        out[3 * i + 2] = clampi(v, 0, 255);
    }
}

K16 life(uint width, uint height, CG uchar *restrict x, global uchar *restrict y) {
    uint gx = GX, gy = GY;
    if (gx < width && gy < height) {
        uint a = 0;
#pragma unroll
        for (uint dy = 0; dy < 3; dy++)
#pragma unroll
            for (uint dx = 0; dx < 3; dx++)
                if (dx != 1 || dy != 1) {
                    uint c = (gx + dx + width - 1) % width, r = (gy + dy + height - 1) % height;
                    a += x[r * width + c] & 1;
                }
        bool al = x[gy * width + gx] & 1;
        y[gy * width + gx] = a == 3 || (al && a == 2) ? 1 : 0;
    }
}

K16 maxpool(uint width, uint height, CG float *restrict x, global float *restrict y) {
    uint gx = GX, gy = GY;
    if (gx < width / 2 && gy < height / 2) {
        uint i = 2 * gy * width + 2 * gx;
        y[gy * (width / 2) + gx] =
            __builtin_fmaxf(__builtin_fmaxf(__builtin_fmaxf(x[i], x[i + 1]), x[i + width]), x[i + width + 1]);
    }
}

K16 bilateral(uint width, uint height, float range, CG float *restrict x, global float *restrict y) {
    uint gx = GX, gy = GY;
    if (gx >= 2 && gx + 2 < width && gy >= 2 && gy + 2 < height) {
        float c = x[gy * width + gx], sum = 0, ws = 0;
#pragma unroll
        for (uint dy = 0; dy < 5; dy++)
#pragma unroll
            for (uint dx = 0; dx < 5; dx++) {
                float v = x[(gy + dy - 2) * width + gx + dx - 2], d = v - c;
                float far =
                    (((float)dx - 2.0f) * ((float)dx - 2.0f) + ((float)dy - 2.0f) * ((float)dy - 2.0f)) * -0.25f;
                float w = __builtin_amdgcn_exp2f(d * d * range + far);
                sum = w * v + sum;
                ws += w;
            }
        y[gy * width + gx] = sum * __builtin_amdgcn_rcpf(ws);
    }
}

K256 hsv(uint n, CG float *restrict rgb, global float *restrict out) {
    uint i = G;
    if (i < n) {
        float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2], most = MAX(MAX(r, g), b),
              least = MIN(MIN(r, g), b), d = most - least, inv = RCP(d), h = 0;
        if (d > 0) {
            if (most == r)
                h = (g - b) * inv;
            else if (most == g)
                h = (b - r) * inv + 2.0f;
            else
                h = (r - g) * inv + 4.0f;
            h *= 60.0f;
            if (h < 0)
                h += 360.0f;
        }
        out[3 * i] = h;
        out[3 * i + 1] = most > 0 ? d * RCP(most) : 0;
        out[3 * i + 2] = most;
    }
}

K256 sad_u8(uint n, CG uchar *restrict a, CG uchar *restrict b, global uint *restrict out) {
    uint i = G;
    if (i < n) {
        uint s = 0;
#pragma unroll
        for (uint k = 0; k < 16; k++) {
            int d = (int)a[i * 16 + k] - (int)b[i * 16 + k];
            s += d < 0 ? -d : d;
        }
        out[i] = s;
    }
}
