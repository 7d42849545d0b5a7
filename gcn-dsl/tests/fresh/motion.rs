//! Motion estimation of a video encoder: for each 8x8 block all vectors in a window by SAD, the best four by SATD (Hadamard), the cost of the vector.
use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

const RANGE: i32 = 4;

gcn_kernel! {
    /// Candidates in order of cost.
    #[device]
    struct Candidate { cost: V<u32>, mv: [V<i32>; 2] }

    #[device]
    struct Plane<'a> { data: &'a [u8], width: u32, height: u32 }

    #[device]
    impl Plane<'_> {
        /// The pixel, clamped to the picture.
        fn at(&self, x: V<i32>, y: V<i32>) -> V<i32> {
            let x = x.clamp(0, self.width as i32 - 1) as u32;
            let y = y.clamp(0, self.height as i32 - 1) as u32;
            self.data[y * self.width + x] as i32
        }
    }

    #[device]
    fn hadamard4(m: [V<i32>; 4]) -> [V<i32>; 4] {
        let [a, b, c, d] = m;
        let (s, t, u, v) = (a + b, a - b, c + d, c - d);
        [s + u, t + v, s - u, t - v]
    }

    #[device]
    fn satd4(d: [[V<i32>; 4]; 4]) -> V<u32> {
        let rows = d.map(hadamard4);
        let mut sum = 0;
        for x in 0..4 {
            let column = hadamard4([rows[0][x], rows[1][x], rows[2][x], rows[3][x]]);
            sum += column.iter().map(|v| v.unsigned_abs()).sum::<u32>();
        }
        sum / 2
    }

    /// Bits of a signed Exp-Golomb code.
    #[device]
    fn bits(v: V<i32>) -> V<u32> {
        let code = if v > 0 { 2 * v as u32 - 1 } else { (-2 * v) as u32 };
        2 * (code + 1).ilog2() + 1
    }

    #[workgroup(64)]
    fn motion(current: &[u8], reference: &[u8], width: u32, height: u32, lambda: u32, vectors: &mut [[i32; 2]], costs: &mut [u32]) {
        let cur = Plane { data: current, width, height };
        let old = Plane { data: reference, width, height };
        let block = global_id().x;
        let across = width / 8;
        if block >= across * (height / 8) { return; }
        let (bx, by) = ((block % across * 8) as i32, (block / across * 8) as i32);

        let mut best = [Candidate { cost: u32::MAX, mv: [0, 0] }; 4];
        for dy in -RANGE..=RANGE {
            for dx in -RANGE..=RANGE {
                let mut sad = 0u32;
                for y in 0..8 {
                    for x in 0..8 {
                        sad += cur.at(bx + x, by + y).abs_diff(old.at(bx + x + dx, by + y + dy));
                    }
                }
                let mut next = Candidate { cost: sad + lambda * (bits(dx) + bits(dy)), mv: [dx, dy] };
                for slot in best.iter_mut() {
                    if next.cost < slot.cost {
                        std::mem::swap(slot, &mut next);
                    }
                }
            }
        }

        let mut winner = Candidate { cost: u32::MAX, mv: [0; 2] };
        for c in best {
            let [dx, dy] = c.mv;
            let mut cost = lambda * (bits(dx) + bits(dy));
            for part in 0..4 {
                let (px, py) = (bx + part % 2 * 4, by + part / 2 * 4);
                let mut d = [[0i32; 4]; 4];
                for y in 0..4 {
                    for x in 0..4 {
                        d[y][x] = cur.at(px + x as i32, py + y as i32) - old.at(px + x as i32 + dx, py + y as i32 + dy);
                    }
                }
                cost += satd4(d);
            }
            if cost < winner.cost {
                winner = Candidate { cost, ..c };
            }
        }
        vectors[block] = winner.mv;
        costs[block] = winner.cost;
    }
}

#[test]
fn estimates_motion() {
    let (w, h) = (48usize, 32usize);
    let noise = numbers(w * h, 9);
    let at = |x: i32, y: i32| ((x as f32 * 0.7).sin() * 40.0 + (y as f32 * 0.5).cos() * 50.0 + 128.0) as u8;
    let reference: Vec<u8> =
        (0..w * h).map(|i| at((i % w) as i32, (i / w) as i32).wrapping_add(noise[i] as u8)).collect();
    let current: Vec<u8> = (0..w * h)
        .map(|i| at((i % w) as i32 + 2, (i / w) as i32 - 1).wrapping_add(noise[(i * 7) % (w * h)] as u8))
        .collect();
    let px = |p: &[u8], x: i32, y: i32| {
        p[y.clamp(0, h as i32 - 1) as usize * w + x.clamp(0, w as i32 - 1) as usize] as i32
    };
    let bits = |v: i32| {
        let c = if v > 0 { 2 * v - 1 } else { -2 * v } as u32;
        2 * (c + 1).ilog2() + 1
    };
    let lambda = 3;
    let (mut mv, mut costs) = (vec![], vec![]);
    for b in 0..(w / 8 * h / 8) as i32 {
        let (bx, by) = (b % 6 * 8, b / 6 * 8);
        let mut all = vec![];
        for dy in -4..=4 {
            for dx in -4..=4 {
                let mut s = 0;
                for y in 0..8 {
                    for x in 0..8 {
                        s += px(&current, bx + x, by + y).abs_diff(px(&reference, bx + x + dx, by + y + dy));
                    }
                }
                all.push((s + lambda * (bits(dx) + bits(dy)), [dx, dy]));
            }
        }
        all.sort_by_key(|a| a.0);
        let mut best = (u32::MAX, [0, 0]);
        for (_, [dx, dy]) in &all[..4] {
            let mut c = lambda * (bits(*dx) + bits(*dy));
            for p in 0..4 {
                let d: Vec<i32> = (0..16)
                    .map(|i| {
                        let (x, y) = (bx + p % 2 * 4 + i % 4, by + p / 2 * 4 + i / 4);
                        px(&current, x, y) - px(&reference, x + dx, y + dy)
                    })
                    .collect();
                // H d H by the matrix
                let hm = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]];
                let mut sum = 0;
                for i in 0..4 {
                    for j in 0..4 {
                        let mut s = 0i32;
                        for k in 0..4 {
                            for l in 0..4 {
                                s += hm[i][k] * d[k * 4 + l] * hm[j][l];
                            }
                        }
                        sum += s.unsigned_abs();
                    }
                }
                c += sum / 2;
            }
            if c < best.0 {
                best = (c, [*dx, *dy]);
            }
        }
        mv.push(best.1);
        costs.push(best.0);
    }
    everywhere(|device| {
        let (mut v, mut c) = (vec![[0i32; 2]; mv.len()], vec![0u32; mv.len()]);
        motion
            .launch(device, Grid::x(1), (&current, &reference, w as u32, h as u32, lambda, &mut v, &mut c))
            .unwrap();
        assert_eq!(c, costs);
        assert_eq!(v, mv);
    });
}
