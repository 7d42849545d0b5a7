//! Images and grids: Life, transposition, im2col, Mandelbrot.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, numbers};

gcn_kernel! {
    #[workgroup(16, 16)]
    fn life(width: i32, height: i32, old: &[u8], new: &mut [u8]) {
        let x = global_id().x as i32;
        let y = global_id().y as i32;
        if x < width && y < height {
            let mut alive = 0;
            for dy in -1..=1 {
                for dx in -1..=1 {
                    if dx != 0 || dy != 0 {
                        let nx = (x + dx + width) % width;
                        let ny = (y + dy + height) % height;
                        alive += old[(ny * width + nx) as u32] as u32;
                    }
                }
            }
            let i = (y * width + x) as u32;
            let next;
            if old[i] == 1 {
                next = if alive == 2 || alive == 3 { 1 } else { 0 };
            } else {
                next = if alive == 3 { 1 } else { 0 };
            }
            new[i] = next;
        }
    }

    /// Tiles of 32 by 32 with an additional column, which avoids bank conflicts.
    #[workgroup(32, 8)]
    fn transpose(x: &[f32], y: &mut [f32], n: u32) {
        let tile = Lds::<f32, 1056>::new();
        let (tx, ty) = (local_id().x, local_id().y);
        let (bx, by) = (workgroup_id().x * 32, workgroup_id().y * 32);
        for j in (0..32).step_by(8) {
            tile[(ty + j) * 33 + tx] = x[(by + ty + j) * n + bx + tx];
        }
        barrier();
        for j in (0..32).step_by(8) {
            y[(bx + ty + j) * n + by + tx] = tile[tx * 33 + ty + j];
        }
    }

    /// 3 by 3 patches with a border of zeros.
    #[workgroup(64)]
    fn im2col(x: &[f32], columns: &mut [f32], width: i32, height: i32) {
        let i = global_id().x;
        if i < (width * height) as u32 {
            let (row, col) = (i as i32 / width, i as i32 % width);
            for ky in 0..3 {
                for kx in 0..3 {
                    let (r, c) = (row + ky - 1, col + kx - 1);
                    let inside = r >= 0 && r < height && c >= 0 && c < width;
                    columns[i * 9 + (ky * 3 + kx) as u32] = if inside { x[(r * width + c) as u32] } else { 0.0 };
                }
            }
        }
    }

    #[workgroup(64)]
    fn mandelbrot(out: &mut [u32], width: u32, limit: u32) {
        let i = global_id().x;
        let cx = (i % width) as f32 / width as f32 * 3.0 - 2.0;
        let cy = (i / width) as f32 / width as f32 * 2.0 - 1.0;
        let (mut x, mut y) = (0.0, 0.0);
        let mut n = 0;
        while n < limit && x * x + y * y < 4.0 {
            let t = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = t;
            n += 1;
        }
        out[i] = n;
    }
}

#[test]
fn game_of_life() {
    const W: i32 = 21;
    const H: i32 = 18;
    let old: Vec<u8> = numbers((W * H) as usize, 2).into_iter().map(|x| x as u8).collect();
    everywhere(|device| {
        let mut new = vec![9; old.len()];
        life.launch(device, Grid::xy(2, 2), (W, H, &old, &mut new)).unwrap();
        for y in 0..H {
            for x in 0..W {
                let at = |x: i32, y: i32| old[(y.rem_euclid(H) * W + x.rem_euclid(W)) as usize];
                let around: u8 = (-1..=1)
                    .flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)))
                    .filter(|d| *d != (0, 0))
                    .map(|(dx, dy)| at(x + dx, y + dy))
                    .sum();
                let want = u8::from(around == 3 || around == 2 && at(x, y) == 1);
                assert_eq!(new[(y * W + x) as usize], want);
            }
        }
    });
}

#[test]
fn transposed() {
    let x = floats(64 * 64);
    everywhere(|device| {
        let mut y = vec![0.0; 64 * 64];
        transpose.launch(device, Grid::xy(2, 2), (&x, &mut y, 64)).unwrap();
        assert!((0..64 * 64).all(|i| y[i] == x[i % 64 * 64 + i / 64]));
    });
}

#[test]
fn patches() {
    let x = floats(7 * 9);
    everywhere(|device| {
        let mut columns = vec![9.0; 63 * 9];
        im2col.launch(device, Grid::x(1), (&x, &mut columns, 7, 9)).unwrap();
        for i in 0..63i32 {
            for k in 0..9 {
                let (r, c) = (i / 7 + k / 3 - 1, i % 7 + k % 3 - 1);
                let inside = (0..9).contains(&r) && (0..7).contains(&c);
                let want = if inside { x[(r * 7 + c) as usize] } else { 0.0 };
                assert_eq!(columns[(i * 9 + k) as usize], want);
            }
        }
    });
}

#[test]
fn mandelbrot_set() {
    everywhere(|device| {
        let mut out = vec![0; 16 * 16];
        mandelbrot.launch(device, Grid::x(4), (&mut out, 16, 30)).unwrap();
        for (i, &got) in out.iter().enumerate() {
            let (cx, cy) = ((i % 16) as f32 / 16.0 * 3.0 - 2.0, (i / 16) as f32 / 16.0 * 2.0 - 1.0);
            let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0);
            while n < 30 && x * x + y * y < 4.0 {
                (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                n += 1;
            }
            assert_eq!(got, n);
        }
    });
}
