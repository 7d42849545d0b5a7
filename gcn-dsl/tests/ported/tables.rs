//! Tables of constants, and arrays by value.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, numbers};

const LEVELS: [f32; 16] = [
    -1.0, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0.0, 0.0795803, 0.1609302,
    0.2461123, 0.3379152, 0.4407098, 0.562_617, 0.7229568, 1.0,
];

const BITS: [u32; 4] = [1, 10, 100, 1000];

gcn_kernel! {
    /// NF4 as in bitsandbytes: a level for each nibble.
    #[workgroup(64)]
    fn dequantise_nf4(q: &[u8], scale: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let byte = q[i];
        let s = scale[i / 32];
        y[i * 2] = LEVELS[(byte >> 4) as u32] * s;
        y[i * 2 + 1] = LEVELS[(byte & 15) as u32] * s;
    }

    /// Permutes a tensor of four dimensions.
    #[workgroup(64)]
    fn permute(x: &[f32], y: &mut [f32], shape: [u32; 4], strides: [u32; 4]) {
        let i = global_id().x;
        if i < y.len() {
            let mut rest = i;
            let mut from = 0;
            for d in (0..4).rev() {
                from += (rest % shape[d]) * strides[d];
                rest /= shape[d];
            }
            y[i] = x[from];
        }
    }

    /// Clamping to bounds that are a pair, and weights from a table.
    #[workgroup(64)]
    fn weighted(bounds: (u32, u32), x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let (lo, hi) = bounds;
        let mut v = x[i].clamp(lo, hi);
        for k in 0..4 {
            v += BITS[k];
        }
        y[i] = if v & 1 == 0 { v } else { 0 };
    }
}

#[test]
fn nf4() {
    let q: Vec<u8> = numbers(128, 256).into_iter().map(|x| x as u8).collect();
    let scale = floats(4);
    everywhere(|device| {
        let mut y = vec![0.0; 256];
        dequantise_nf4.launch(device, Grid::x(2), (&q, &scale, &mut y)).unwrap();
        for i in 0..128 {
            assert_eq!(y[2 * i], LEVELS[usize::from(q[i] >> 4)] * scale[i / 32]);
            assert_eq!(y[2 * i + 1], LEVELS[usize::from(q[i] & 15)] * scale[i / 32]);
        }
    });
}

#[test]
fn permutation() {
    // (2, 3, 4, 5) to (5, 3, 2, 4).
    let x: Vec<f32> = (0..120).map(|i| i as f32).collect();
    let shape = [5, 3, 2, 4];
    let strides = [1, 20, 60, 5];
    everywhere(|device| {
        let mut y = vec![0.0; 120];
        permute.launch(device, Grid::x(2), (&x, &mut y, shape, strides)).unwrap();
        let mut at = 0;
        for a in 0..5 {
            for b in 0..3 {
                for c in 0..2 {
                    for d in 0..4 {
                        assert_eq!(y[at], x[a + 20 * b + 60 * c + 5 * d]);
                        at += 1;
                    }
                }
            }
        }
    });
}

#[test]
fn weights() {
    let x = numbers(64, 100);
    everywhere(|device| {
        let mut y = vec![0; 64];
        weighted.launch(device, Grid::x(1), ((20, 60), &x, &mut y)).unwrap();
        for (x, y) in x.iter().zip(&y) {
            let v = (*x).clamp(20, 60) + 1111;
            assert_eq!(*y, if v & 1 == 0 { v } else { 0 });
        }
    });
}

/// Powers of 3 modulo a prime, a table that does not fit into registers.
const POWERS: [u32; 1024] = {
    let (mut powers, mut k) = ([1; 1024], 1);
    while k < 1024 {
        powers[k] = powers[k - 1] * 3 % 1_000_003;
        k += 1;
    }
    powers
};

const HALVES: [f16; 300] = [f16::from_f32_const(0.5); 300];

const WIDE: [u64; 256] = {
    let (mut wide, mut k) = ([0; 256], 0);
    while k < 256 {
        wide[k] = ((k as u64) << 40) | (255 - k as u64);
        k += 1;
    }
    wide
};

const SIGNED: &[i8] = &[-3; 513];

const DIVISORS: &[u32] = &[2, 3, 5, 7];

gcn_kernel! {
    /// Tables of all widths, at uniform and varying indices, in branches and loops.
    #[workgroup(64)]
    fn look_up(x: &[u32], y: &mut [u32], first: u32) {
        let i = global_id().x;
        let mut sum = POWERS[x[i]] + POWERS[first];
        if x[i] & 1 == 1 {
            sum += (WIDE[x[i] & 255] >> 40) as u32 * 2 + WIDE[first & 255] as u32;
        }
        for k in 0..4 {
            sum += POWERS[k * 100 + first] % DIVISORS[k];
        }
        let small = SIGNED[x[i] & 511] as i32 + SIGNED[first] as i32;
        sum += small as u32;
        sum += (HALVES[x[i] % 300] as f32 * 4.0) as u32;
        y[i] = sum;
    }
}

/// What `look_up` computes for an element if `first` is 77.
fn looked_up(x: u32) -> u32 {
    let mut sum = POWERS[x as usize] + POWERS[77];
    if x & 1 == 1 {
        sum += (x & 255) * 2 + (255 - 77);
    }
    for (k, d) in DIVISORS.iter().enumerate() {
        sum += POWERS[k * 100 + 77] % d;
    }
    sum.wrapping_sub(6) + 2
}

#[test]
fn large_tables() {
    let x = numbers(128, 1024);
    let expected: Vec<u32> = x.iter().map(|x| looked_up(*x)).collect();
    everywhere(|device| {
        let mut y = vec![0; 128];
        look_up.launch(device, Grid::x(2), (&x, &mut y, 77)).unwrap();
        assert_eq!(y, expected);
    });
    // The instruction that reads the program counter has another name on gfx1250.
    let mut y = vec![0; 128];
    look_up.launch(&Device::simulator(Target::GFX1250), Grid::x(2), (&x, &mut y, 77)).unwrap();
    assert_eq!(y, expected);
}

#[test]
fn large_tables_stand_after_the_code() {
    for target in Target::REPRESENTATIVES {
        let kernel = look_up.build(target).unwrap();
        let object = kernel.code_object();
        let first: Vec<u8> = POWERS[..64].iter().flat_map(|p| p.to_le_bytes()).collect();
        let at =
            object.windows(first.len()).position(|w| w == first).expect("the table is in the code object");
        assert!(object[..at].windows(16).any(|w| w == &kernel.code()[..16]), "before it stands the code");
        let text = kernel.assembly(Comments::None);
        assert_eq!((text.matches("s_getpc_b64").count(), text.matches(".fill").count() > 0), (1, true));
    }
}
