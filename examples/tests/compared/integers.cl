// Integers: sorting in place, hashes, ciphers.

K256 bitonic(global uint *x) {
    local uint keys[512];
    uint t = LX, base = GID0 * 512;
    keys[t] = x[base + t];
    keys[t + 256] = x[base + t + 256];
    BAR();
    for (uint k = 2; k <= 512; k *= 2)
        for (uint j = k / 2; j > 0; j /= 2) {
            uint i = 2 * t - (t & (j - 1));
            uint a = keys[i], b = keys[i + j];
            bool up = (i & k) == 0;
            if ((a > b) == up) {
                keys[i] = b;
                keys[i + j] = a;
            }
            BAR();
        }
    x[base + t] = keys[t];
    x[base + t + 256] = keys[t + 256];
}

K256 isort(global uint *x) {
    uint i = G * 8;
    uint a[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        a[k] = x[i + k];
#pragma unroll
    for (int p = 0; p < 8; p++)
#pragma unroll
        for (int k = 0; k < 7; k++)
            if (k % 2 == p % 2) {
                uint lo = a[k] < a[k + 1] ? a[k] : a[k + 1], hi = a[k] < a[k + 1] ? a[k + 1] : a[k];
                a[k] = lo;
                a[k + 1] = hi;
            }
#pragma unroll
    for (int k = 0; k < 8; k++)
        x[i + k] = a[k];
}

K256 collatz(uint n, CG uint *restrict x, global uint *restrict steps) {
    uint i = G;
    if (i >= n)
        return;
    uint v = (x[i] & 0xffff) | 1, c = 0;
    while (v != 1) {
        if ((v & 1) == 0)
            v >>= 1;
        else
            v = 3 * v + 1;
        c++;
    }
    steps[i] = c;
}

K256 gcd(uint n, CG uint *restrict x, CG uint *restrict y, global uint *restrict out) {
    uint i = G;
    if (i < n) {
        uint a = x[i], b = y[i];
        while (b) {
            uint t = a % b;
            a = b;
            b = t;
        }
        out[i] = a;
    }
}

K256 sha(uint n, CG uint *restrict w, global uint *restrict out) {
    uint i = G;
    if (i < n) {
        uint a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c,
             g = 0x1f83d9ab, h = 0x5be0cd19;
        for (uint k = 0; k < 16; k++) {
            uint s1 = ror(e, 6) ^ ror(e, 11) ^ ror(e, 25), ch = (e & f) ^ (~e & g),
                 t1 = h + s1 + ch + 0x428a2f98 + w[i * 16 + k], s0 = ror(a, 2) ^ ror(a, 13) ^ ror(a, 22),
                 mj = (a & b) ^ (a & c) ^ (b & c), t2 = s0 + mj;
            h = g;
            g = f;
            f = e;
            e = d + t1;
            d = c;
            c = b;
            b = a;
            a = t1 + t2;
        }
        out[i] = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
    }
}

K256 fnv(uint n, uint length, CG uchar *restrict bytes, global ulong *restrict out) {
    uint i = G;
    if (i < n) {
        ulong h = 0xcbf29ce484222325ul;
        for (uint k = 0; k < length; k++)
            h = (h ^ bytes[i * length + k]) * 0x100000001b3ul;
        out[i] = h;
    }
}

K256 crc(uint n, uint length, CG uchar *restrict bytes, global uint *restrict out) {
    uint i = G;
    if (i >= n)
        return;
    uint crc = ~0u;
    for (uint k = 0; k < length; k++) {
        crc ^= bytes[i * length + k];
        for (int b = 0; b < 8; b++)
            crc = (crc & 1) ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
    out[i] = ~crc;
}

K256 crc_table(uint n, uint length, CG uchar *restrict bytes, global uint *restrict out) {
    uint i = G;
    if (i >= n)
        return;
    uint crc = ~0u;
    for (uint k = 0; k < length; k++) {
        crc ^= bytes[i * length + k];
        for (int b = 0; b < 8; b++)
            crc = (crc & 1) ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
    out[i] = ~crc;
}

K256 aes(uint n, CG uint *restrict table, CG uint *restrict key, global uint *state) {
    local uint t0[256];
    uint t = LX;
    t0[t] = table[t];
    BAR();
    uint i = G * 4;
    if (i < n) {
        uint a = state[i], b = state[i + 1], c = state[i + 2], d = state[i + 3];
        for (uint round = 0; round < 4; round++) {
            uint k = round * 4;
            uint e =
                t0[a & 255] ^ rol(t0[b >> 8 & 255], 8) ^ rol(t0[c >> 16 & 255], 16) ^ rol(t0[d >> 24], 24) ^ key[k];
            uint f =
                t0[b & 255] ^ rol(t0[c >> 8 & 255], 8) ^ rol(t0[d >> 16 & 255], 16) ^ rol(t0[a >> 24], 24) ^ key[k + 1];
            uint g =
                t0[c & 255] ^ rol(t0[d >> 8 & 255], 8) ^ rol(t0[a >> 16 & 255], 16) ^ rol(t0[b >> 24], 24) ^ key[k + 2];
            uint h =
                t0[d & 255] ^ rol(t0[a >> 8 & 255], 8) ^ rol(t0[b >> 16 & 255], 16) ^ rol(t0[c >> 24], 24) ^ key[k + 3];
            a = e;
            b = f;
            c = g;
            d = h;
        }
        state[i] = a;
        state[i + 1] = b;
        state[i + 2] = c;
        state[i + 3] = d;
    }
}

K256 montgomery(uint rounds, CG ulong *restrict x, global ulong *restrict out) {
    uint i = G;
    ulong p = 0xffffffff00000001ul, a = x[i] >> 1, s = a;
    for (uint k = 0; k < rounds; k++) {
        unsigned __int128 w = (unsigned __int128)a * s;
        ulong lo = (ulong)w, hi = (ulong)(w >> 64);
        ulong c = lo - (hi >> 32);
        ulong t = lo < hi >> 32 ? c - 0xfffffffful : c;
        ulong add = (hi & 0xffffffff) * 0xffffffff;
        ulong r = t + add;
        s = (r < add || r >= p) ? r - p : r;
        a = s ^ (a >> 3);
    }
    out[i] = s;
}

K256 xs64(uint rounds, global ulong *restrict out) {
    uint i = G;
    ulong s = (ulong)i * 0x9E3779B97F4A7C15ul + 1, a = 0;
    for (uint k = 0; k < rounds; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        a += s * 0x2545F4914F6CDD1Dul;
    }
    out[i] = a;
}

K256 popmask(uint n, CG uint *restrict x, global uint *restrict out) {
    uint i = G;
    if (i < n) {
        uint v = x[i], c = 0, s = 0;
        while (v) {
            s += __builtin_ctz(v);
            v &= v - 1;
            c++;
        }
        out[i] = c << 16 | s;
    }
}

K256 base64(uint n, CG uchar *restrict x, global uchar *restrict out) {
    uint i = G;
    if (i < n) {
        uint w = (uint)x[3 * i] << 16 | (uint)x[3 * i + 1] << 8 | x[3 * i + 2];
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            uint d = (w >> (18 - 6 * k)) & 63;
            uint c = d < 26 ? d + 65 : d < 52 ? d + 71 : d < 62 ? d - 4 : d == 62 ? 43 : 47;
            out[4 * i + k] = c;
        }
    }
}
