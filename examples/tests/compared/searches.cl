// Searches, graphs and counting.

K256 bsearch(uint n, uint m, CG uint *restrict sorted, CG uint *restrict keys, global uint *restrict out) {
    uint i = G;
    if (i < n) {
        uint key = keys[i], lo = 0, hi = m;
        while (lo < hi) {
            uint mid = (lo + hi) / 2;
            if (sorted[mid] < key)
                lo = mid + 1;
            else
                hi = mid;
        }
        out[i] = lo;
    }
}

K256 merge_path(uint n, CG uint *restrict a, CG uint *restrict b, global uint *restrict out) {
    uint dg = G * 8;
    uint lo = dg - minu(dg, n), hi = minu(dg, n);
    while (lo < hi) {
        uint mid = (lo + hi) / 2;
        if (a[mid] <= b[dg - 1 - mid])
            lo = mid + 1;
        else
            hi = mid;
    }
    uint i = lo, j = dg - lo;
#pragma unroll
    for (uint k = 0; k < 8; k++) {
        uint x = a[minu(i, n - 1)], y = b[minu(j, n - 1)];
        bool first = j >= n || (i < n && x <= y);
        out[dg + k] = first ? x : y;
        if (first)
            i++;
        else
            j++;
    }
}

K256 bfs_step(uint n, uint level, CG uint *restrict start, CG uint *restrict edges, global uint *distance) {
    uint v = G;
    if (v < n && (distance[v] & 3) == level) {
        uint e = v * 8, end = e + (start[v] & 7);
        while (e < end) {
            uint to = edges[e] & 4095;
            if (distance[to] > 0x80000000u)
                distance[to] = level + 1;
            e++;
        }
    }
}

K64 queens(uint n, global uint *restrict out) {
    uint lane = GID0 * 64 + LX, all = (1u << n) - 1;
    uint C[16], L[16], R[16], F[16];
    uint first = 1u << (lane % n), c = first, l = first << 1, r = first >> 1, fr = ~(c | l | r) & all, depth = 1,
         found = 0;
    while (depth > 0) {
        if (fr == 0) {
            depth--;
            if (depth > 0) {
                c = C[depth];
                l = L[depth];
                r = R[depth];
                fr = F[depth];
            }
        } else {
            uint bit = fr & (~fr + 1);
            fr ^= bit;
            if (depth + 1 == n)
                found++;
            else {
                C[depth] = c;
                L[depth] = l;
                R[depth] = r;
                F[depth] = fr;
                depth++;
                c |= bit;
                l = (l | bit) << 1;
                r = (r | bit) >> 1;
                fr = ~(c | l | r) & all;
            }
        }
    }
    out[lane] = found;
}

K256 compact(uint n, CG uint *restrict x, global uint *restrict counts, global uint *restrict out) {
    uint i = G, v = x[i];
    bool keep = i < n && (v & 7) < 3;
#if WS == 32
    uint mask = __builtin_amdgcn_ballot_w32(keep), before = __builtin_amdgcn_mbcnt_lo(mask, 0);
#else
    ulong mask = __builtin_amdgcn_ballot_w64(keep);
    uint before = __builtin_amdgcn_mbcnt_hi((uint)(mask >> 32), __builtin_amdgcn_mbcnt_lo((uint)mask, 0));
#endif
    uint w = i / WS;
    if (keep)
        out[w * WS + before] = v;
    if (lane() == 0)
        counts[w] = __builtin_popcountl(mask);
}

K256 probe(uint n, uint mask, CG uint *restrict keys, CG uint *restrict values, CG uint *restrict wanted,
           global uint *restrict out) {
    uint i = G;
    if (i < n) {
        uint key = wanted[i] & 0xfff, slot = (key * 2654435761u) >> 16 & mask, found = ~0u, tries = 0;
        while (tries < 16) {
            uint k = keys[slot] & 0xfff;
            if (k == key) {
                found = values[slot];
                break;
            }
            if (k < 64)
                break;
            slot = (slot + 1) & mask;
            tries++;
        }
        out[i] = found;
    }
}

K256 hist_lds(uint n, CG uint *restrict x, global uint *out) {
    local uint h[256];
    uint t = LX;
    h[t] = 0;
    BAR();
    for (uint i = G; i < n; i += 2048) {
        uint v = x[i];
#pragma unroll
        for (uint k = 0; k < 4; k++)
            __scoped_atomic_fetch_add(&h[(v >> (8 * k)) & 255], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    }
    BAR();
    __scoped_atomic_fetch_add(&out[t], h[t], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
