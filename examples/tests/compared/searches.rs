//! Searches, graphs and counting.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    pub fn bsearch(n: u32, m: u32, sorted: &[u32], keys: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        if i < n {
            let key = keys[i];
            let mut lo: V<u32> = 0;
            let mut hi = splat(m);
            while lo < hi {
                let mid = (lo + hi) / 2;
                if sorted[mid] < key {
                    lo = mid + 1;
                } else {
                    hi = mid;
                }
            }
            out[i] = lo;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn merge_path(n: u32, a: &[u32], b: &[u32], out: &mut [u32]) {
        let diagonal = global_id().x * 8;
        let mut lo = diagonal - diagonal.min(splat(n));
        let mut hi = diagonal.min(splat(n));
        while lo < hi {
            let mid = (lo + hi) / 2;
            if a[mid] <= b[diagonal - 1 - mid] {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        let mut i = lo;
        let mut j = diagonal - lo;
        #[unroll]
        for k in 0..8u32 {
            let x = a[i];
            let y = b[j];
            let first = j >= n || (i < n && x <= y);
            out[diagonal + k] = if first { x } else { y };
            if first {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn bfs_step(n: u32, level: u32, start: &[u32], edges: &[u32], distance: &mut [u32]) {
        let v = global_id().x;
        if v < n && distance[v] & 3 == level {
            let mut e = v * 8;
            let end = e + (start[v] & 7);
            while e < end {
                let to = edges[e] & 4095;
                if distance[to] > 0x80000000 {
                    distance[to] = level + 1;
                }
                e += 1;
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    pub fn queens(n: u32, out: &mut [u32]) {
        let lane = global_id().x;
        let all = (1u32 << n) - 1;
        let columns = Private::<u32, 16>::new();
        let lefts = Private::<u32, 16>::new();
        let rights = Private::<u32, 16>::new();
        let frees = Private::<u32, 16>::new();
        let first = splat(1u32) << (lane % n);
        let mut c = first;
        let mut l = first << 1;
        let mut r = first >> 1;
        let mut free = !(c | l | r) & all;
        let mut depth: V<u32> = 1;
        let mut found: V<u32> = 0;
        while depth > 0 {
            if free == 0 {
                depth -= 1;
                if depth > 0 {
                    c = columns[depth];
                    l = lefts[depth];
                    r = rights[depth];
                    free = frees[depth];
                }
            } else {
                let bit = free & (!free + 1);
                free ^= bit;
                if depth + 1 == n {
                    found += 1;
                } else {
                    columns[depth] = c;
                    lefts[depth] = l;
                    rights[depth] = r;
                    frees[depth] = free;
                    depth += 1;
                    c |= bit;
                    l = (l | bit) << 1;
                    r = (r | bit) >> 1;
                    free = !(c | l | r) & all;
                }
            }
        }
        out[lane] = found;
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn compact(n: u32, x: &[u32], counts: &mut [u32], out: &mut [u32]) {
        let i = global_id().x;
        let v = x[i];
        let keep = i < n && v & 7 < 3;
        let mask = ballot(keep);
        let before = (mask & ((splat(1u64) << (lane_id() as u64)) - 1)).count_ones();
        let wave = i / wave_size();
        if keep {
            out[wave * wave_size() + before] = v;
        }
        if lane_id() == 0 {
            counts[wave] = mask.count_ones();
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn probe(n: u32, mask: u32, keys: &[u32], values: &[u32], wanted: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        if i < n {
            let key = wanted[i] & 0xfff;
            let mut slot = (key * 2654435761) >> 16 & mask;
            let mut found: V<u32> = 0xffffffff;
            let mut tries: V<u32> = 0;
            while tries < 16 {
                let k = keys[slot] & 0xfff;
                if k == key {
                    found = values[slot];
                    break;
                }
                if k < 64 {
                    break;
                }
                slot = (slot + 1) & mask;
                tries += 1;
            }
            out[i] = found;
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    pub fn hist_lds(n: u32, x: &[u32], out: &mut [u32]) {
        let h = Lds::<u32, 256>::new();
        let t = local_id().x;
        h[t] = 0;
        barrier();
        let mut i = global_id().x;
        while i < n {
            let v = x[i];
            #[unroll]
            for k in 0..4u32 {
                h.atomic((v >> (8 * k)) & 255).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
            }
            i += 2048;
        }
        barrier();
        out.atomic(t).fetch_add(h[t], Scope::Agent, Ordering::Relaxed);
    }
}
