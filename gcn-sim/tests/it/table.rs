//! Runs table rows of (instruction text, meaning) on random and special operands.
//!
//! `v1`, `v2`, `v3` contain the words a, b, c; `v[4:5]`, `v[6:7]`, `v[8:9]` contain the 64-bit values x, y, z; the result is in `v10` or
//! `v[10:11]`, which contained `old` before.

use gcn_isa::Target;
use gcn_test_support::Random;

use super::harness::{Case, Lanes};

/// The operands of a lane.
#[derive(Clone, Copy, Debug)]
pub struct In {
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub x: u64,
    pub y: u64,
    pub z: u64,
    pub old: u32,
    pub lane: u32,
}

/// The expected result.
pub enum Out {
    /// These 32 bits.
    W(u32),
    /// These 64 bits.
    D(u64),
    /// This f32; if it is a NaN, any NaN.
    F(f32),
    /// This f64; if it is a NaN, any NaN.
    G(f64),
    /// This f16 in the low half, with a zero upper half; if it is a NaN, any NaN.
    H(half::f16),
    /// An f32 within some units in the last place of this value.
    Near(f64, f64),
}

pub type Row = (&'static str, fn(In) -> Out);

/// Special words: extreme integers, and special values of f32 and f16.
const WORDS: [u32; 30] = [
    0,
    1,
    2,
    31,
    32,
    33,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x00ff_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0001,
    0x0000_0400,
    0x0040_0000,
    0x4b00_0001,
    0x3f7f_ffff,
    0x3c00,
    0xbc00,
    0x7c00,
    0xfc00,
    0x7e01,
    0x0001,
    0x3c00_3555,
];

const DOUBLES: [u64; 16] = [
    0,
    1,
    0x8000_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff8_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0001,
    0x0010_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x4330_0000_0000_0001,
    0x41df_ffff_ffc0_0000,
    0xffff_ffff_ffff_ffff,
    0x7fef_ffff_ffff_ffff,
    0x4000_0000_0000_0000,
    0x3fe0_0000_0000_0000,
];

/// Random operands. `shape` changes random bits so that more of them are interesting for an instruction.
fn operands(random: &mut Random, shape: fn(u32) -> u32) -> [Lanes; 10] {
    let mut regs = [[0; 64]; 10];
    for reg in regs.iter_mut().take(3) {
        *reg = random.words::<64>(&WORDS).map(shape);
    }
    for pair in [3, 5, 7] {
        for lane in 0..64 {
            let r = random.next_u64();
            let value = if r & 1 == 0 { DOUBLES[(r >> 8) as usize % 16] } else { random.next_u64() };
            (regs[pair][lane], regs[pair + 1][lane]) = (value as u32, (value >> 32) as u32);
        }
    }
    regs[9] = random.words::<64>(&[]);
    regs
}

/// Runs every row on `target` and compares the results.
pub fn check(target: Target, rows: &[Row], shape: fn(u32) -> u32) {
    let mut random = Random::new(17);
    for (text, meaning) in rows {
        for _ in 0..3 {
            let regs = operands(&mut random, shape);
            let mut case = Case::new(target);
            for (i, lanes) in regs.iter().enumerate() {
                case = case.v(i as u32 + 1, *lanes);
            }
            let outcome = case.run(text);
            for lane in 0..64 {
                let pair = |i: usize| u64::from(regs[i][lane]) | u64::from(regs[i + 1][lane]) << 32;
                let input = In {
                    a: regs[0][lane],
                    b: regs[1][lane],
                    c: regs[2][lane],
                    x: pair(3),
                    y: pair(5),
                    z: pair(7),
                    old: regs[9][lane],
                    lane: lane as u32,
                };
                let (got, got64) = (outcome.v(10)[lane], outcome.pair(10, lane));
                compare(text, input, meaning(input), got, got64);
            }
        }
    }
}

fn compare(text: &str, input: In, expected: Out, got: u32, got64: u64) {
    let fail = |want: String, got: String| panic!("{text}\n{input:x?}\nwant {want}, got {got}");
    match expected {
        Out::W(w) if w == got => {}
        Out::W(w) => fail(format!("{w:#x}"), format!("{got:#x}")),
        Out::D(d) if d == got64 => {}
        Out::D(d) => fail(format!("{d:#x}"), format!("{got64:#x}")),
        Out::F(f) => {
            let g = f32::from_bits(got);
            if !(f.to_bits() == got || f.is_nan() && g.is_nan()) {
                fail(format!("{f:e} {:#x}", f.to_bits()), format!("{g:e} {got:#x}"));
            }
        }
        Out::G(f) => {
            let g = f64::from_bits(got64);
            if !(f.to_bits() == got64 || f.is_nan() && g.is_nan()) {
                fail(format!("{f:e}"), format!("{g:e}"));
            }
        }
        Out::H(h) => {
            let g = half::f16::from_bits(got as u16);
            if !(u32::from(h.to_bits()) == got || h.is_nan() && g.is_nan() && got >> 16 == 0) {
                fail(format!("{h:e} {:#x}", h.to_bits()), format!("{g:e} {got:#x}"));
            }
        }
        Out::Near(exact, ulps) => {
            let g = f32::from_bits(got);
            let as_f32 = exact as f32;
            let unit = (f64::from(as_f32.abs().next_up()) - f64::from(as_f32.abs()))
                .max(f64::from(f32::MIN_POSITIVE));
            let ok =
                as_f32.is_nan() && g.is_nan() || as_f32 == g || (f64::from(g) - exact).abs() <= ulps * unit;
            if !ok {
                fail(format!("{exact:e} within {ulps} ulp"), format!("{g:e}"));
            }
        }
    }
}
