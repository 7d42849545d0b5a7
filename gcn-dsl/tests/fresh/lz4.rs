//! LZ4 block decompression: a wave for each block, the sequences are read by all lanes alike, the copies are shared among lanes.
use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    /// A length that continues in bytes of 255.
    #[device]
    fn long_length(src: &[u8], at: &mut V<u32>, short: V<u32>) -> V<u32> {
        let mut len = short;
        if short == 15 {
            loop {
                let b = src[*at];
                *at += 1;
                len += b as u32;
                if b != 255 {
                    break;
                }
            }
        }
        len
    }

    #[workgroup(64)]
    #[wave(64)]
    fn lz4(src: &[u8], offsets: &[u32], out: &mut [u8], block: u32, sizes: &mut [u32]) {
        let b = workgroup_id().x;
        let lane = lane_id();
        let end = read_first_lane(offsets[b + 1]);
        let mut at: V<u32> = offsets[b];
        let start = b * block;
        let mut to: V<u32> = start;
        while at < end {
            let token = src[at] as u32;
            at += 1;
            let literals = long_length(src, &mut at, token >> 4);
            for i in (lane..literals).step_by(64) {
                out[to + i] = src[at + i];
            }
            at += literals;
            to += literals;
            if at >= end {
                break;
            }
            let distance = src[at] as u32 | (src[at + 1] as u32) << 8;
            at += 2;
            let len = 4 + long_length(src, &mut at, token & 15);
            // An overlapping copy repeats its last `distance` bytes.
            for i in (lane..len).step_by(64) {
                out[to + i] = out[to - distance + i % distance];
            }
            to += len;
        }
        if lane == 0 {
            sizes[b] = to - start;
        }
    }
}

fn compress(data: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    let (mut i, mut lit) = (0, 0);
    let put = |out: &mut Vec<u8>, mut n: usize| {
        n -= 15;
        while n >= 255 {
            out.push(255);
            n -= 255;
        }
        out.push(n as u8);
    };
    while i < data.len() {
        let mut best = (0, 0);
        if i + 12 < data.len() {
            for d in 1..=i.min(65535) {
                let mut l = 0;
                while i + l + 5 < data.len() && data[i + l] == data[i + l - d] {
                    l += 1;
                }
                if l > best.0 {
                    best = (l, d);
                }
            }
        }
        if best.0 >= 4 {
            let (n, m) = (i - lit, best.0 - 4);
            out.push((n.min(15) << 4 | m.min(15)) as u8);
            if n >= 15 {
                put(&mut out, n);
            }
            out.extend(&data[lit..i]);
            out.extend((best.1 as u16).to_le_bytes());
            if m >= 15 {
                put(&mut out, m);
            }
            i += best.0;
            lit = i;
        } else {
            i += 1;
        }
    }
    let n = data.len() - lit;
    out.push((n.min(15) << 4) as u8);
    if n >= 15 {
        put(&mut out, n);
    }
    out.extend(&data[lit..]);
    out
}

#[test]
fn decompresses() {
    let blocks: Vec<Vec<u8>> = vec![
        numbers(700, 256).iter().map(|x| *x as u8).collect(),
        vec![b'x'; 900],
        b"the quick brown fox jumps over the lazy dog; ".iter().cycle().take(777).copied().collect(),
        numbers(800, 3).iter().map(|x| *x as u8).collect(),
    ];
    let (mut src, mut offsets) = (vec![], vec![0u32]);
    for b in &blocks {
        src.extend(compress(b));
        offsets.push(src.len() as u32);
    }
    everywhere(|device| {
        let mut out = vec![0u8; 4 * 1024];
        let mut sizes = vec![0u32; 4];
        lz4.launch(device, Grid::x(4), (&src, &offsets, &mut out, 1024, &mut sizes)).unwrap();
        for (i, b) in blocks.iter().enumerate() {
            assert_eq!(sizes[i] as usize, b.len());
            assert!(out[i * 1024..i * 1024 + b.len()] == b[..], "{i}");
        }
    });
}
