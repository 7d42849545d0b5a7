// Random numbers, ciphers of streams, bits and texts.

K256 philox(uint seed, global uint *restrict out) {
    uint i = G;
    uint c[4] = {i, 0, 1, 2}, k0 = seed, k1 = seed ^ 0x5bd1e995;
#pragma unroll
    for (int r = 0; r < 10; r++) {
        ulong p = (ulong)c[0] * 0xD2511F53u, q = (ulong)c[2] * 0xCD9E8D57u;
        uint d = c[1], e = c[3];
        c[0] = (uint)(q >> 32) ^ d ^ k0;
        c[1] = (uint)q;
        c[2] = (uint)(p >> 32) ^ e ^ k1;
        c[3] = (uint)p;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        out[4 * i + k] = c[k];
}

#define QUARTER(a, b, c, d)                                                                                            \
    a += b, d = rol(d ^ a, 16), c += d, b = rol(b ^ c, 12), a += b, d = rol(d ^ a, 8), c += d, b = rol(b ^ c, 7)

K256 chacha(uint rounds, CG uint *restrict key, global uint *restrict out) {
    uint i = G;
    uint s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
#pragma unroll
    for (int k = 0; k < 8; k++)
        s[4 + k] = key[k];
    s[12] = i;
#pragma unroll
    for (int k = 0; k < 3; k++)
        s[13 + k] = key[8 + k];
    for (uint r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            QUARTER(s[k], s[4 + k], s[8 + k], s[12 + k]);
#pragma unroll
        for (int k = 0; k < 4; k++)
            QUARTER(s[k], s[4 + (k + 1) % 4], s[8 + (k + 2) % 4], s[12 + (k + 3) % 4]);
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        out[16 * i + k] = s[k];
}

K256 sha1(CG uint *restrict w, global uint *restrict out) {
    uint i = G, m[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        m[k] = w[16 * i + k];
    uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
#pragma unroll
    for (int k = 0; k < 80; k++) {
        if (k >= 16)
            m[k % 16] = rol(m[(k + 13) % 16] ^ m[(k + 8) % 16] ^ m[(k + 2) % 16] ^ m[k % 16], 1);
        uint f = k < 20 ? (b & c) | (~b & d) : k >= 40 && k < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        uint add = k < 20 ? 0x5a827999 : k < 40 ? 0x6ed9eba1 : k < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        uint t = rol(a, 5) + f + e + add + m[k % 16];
        e = d;
        d = c;
        c = rol(b, 30);
        b = a;
        a = t;
    }
    out[i] = a ^ b ^ c ^ d ^ e;
}

K256 bits8x8(CG ulong *restrict x, global ulong *restrict y) {
    uint i = G;
    ulong v = x[i], t;
    t = (v ^ (v >> 7)) & 0x00AA00AA00AA00AAul;
    v = v ^ t ^ (t << 7);
    t = (v ^ (v >> 14)) & 0x0000CCCC0000CCCCul;
    v = v ^ t ^ (t << 14);
    t = (v ^ (v >> 28)) & 0x00000000F0F0F0F0ul;
    y[i] = v ^ t ^ (t << 28);
}

K256 hamming(uint words, CG uint *restrict codes, CG uint *restrict wanted, global uint *restrict out) {
    uint i = G, s = 0;
    for (uint k = 0; k < words; k++)
        s += __builtin_popcount(codes[i * words + k] ^ wanted[k]);
    out[i] = s;
}

K256 find(uint n, uint length, CG uchar *restrict text, CG uchar *restrict pattern, global uint *restrict out) {
    uint i = G;
    if (i + length <= n) {
        uint k = 0;
        while (k < length && ((text[i + k] ^ pattern[k]) & 1) == 0)
            k++;
        out[i] = k;
    }
}

K256 edit_distance(CG uchar *restrict a, CG uchar *restrict b, global uint *restrict out) {
    uint i = G, row[9], text[8];
    row[0] = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        row[k + 1] = k + 1;
        text[k] = b[8 * i + k] & 3;
    }
    for (uint r = 0; r < 8; r++) {
        uint c = a[8 * i + r] & 3, diagonal = row[0];
        row[0] = r + 1;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            uint above = row[k + 1], cost = c == text[k] ? 0 : 1;
            row[k + 1] = minu(diagonal + cost, minu(above, row[k]) + 1);
            diagonal = above;
        }
    }
    out[i] = row[8];
}
