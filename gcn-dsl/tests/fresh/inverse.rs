//! Inverses of 4 x 4 matrices, as in cuBLAS: Gauss-Jordan elimination with pivoting, on arrays that are indexed by
//! device values.
use super::{everywhere, floats};
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    pub struct Mat4<T: Float> {
        m: [[V<T>; 4]; 4],
    }

    #[device]
    impl<T: Float> Mat4<T> {
        fn load(p: &[T], i: V<u32>) -> Self {
            let mut r = Mat4 { m: [[0.0; 4]; 4] };
            for y in 0..4 {
                for x in 0..4 {
                    r.m[y][x] = p[i * 16 + y * 4 + x];
                }
            }
            r
        }

        fn identity() -> Self {
            let mut r = Mat4 { m: [[0.0; 4]; 4] };
            for k in 0..4 {
                r.m[k][k] = 1.0;
            }
            r
        }

        /// Gauss-Jordan with partial pivoting; `None` for a singular matrix.
        fn inverse(self) -> Option<Mat4<T>> {
            let mut a = self.m;
            let mut inv = Self::identity().m;
            for c in 0..4 {
                let mut pivot = c;
                for r in c + 1..4 {
                    if a[r][c].abs() > a[pivot][c].abs() {
                        pivot = r;
                    }
                }
                for r in 0..4 {
                    if r == pivot && r != c {
                        (a[r], a[c]) = (a[c], a[r]);
                        (inv[r], inv[c]) = (inv[c], inv[r]);
                    }
                }
                if a[c][c] == 0.0 {
                    return None;
                }
                let f = 1.0 / a[c][c];
                for x in 0..4 {
                    a[c][x] *= f;
                    inv[c][x] *= f;
                }
                for r in 0..4 {
                    if r != c {
                        let g = a[r][c];
                        for x in 0..4 {
                            a[r][x] -= g * a[c][x];
                            inv[r][x] -= g * inv[c][x];
                        }
                    }
                }
            }
            Some(Mat4 { m: inv })
        }
    }

    #[workgroup(64)]
    fn inverse4<T: Float>(a: &[T], out: &mut [T], info: &mut [i32]) {
        let i = global_id().x;
        if i >= info.len() {
            return;
        }
        let Some(inv) = Mat4::load(a, i).inverse() else {
            info[i] = 1;
            return;
        };
        info[i] = 0;
        for y in 0..4 {
            for x in 0..4 {
                out[i * 16 + y * 4 + x] = inv.m[y][x];
            }
        }
    }
}

/// Checks that the product of a matrix and its inverse is 1, within the accuracy of the type.
fn check<T: Copy + Into<f64>>(a: &[T], inverse: &[T], tolerance: f64) {
    for y in 0..4 {
        for x in 0..4 {
            let of = |k: usize| a[y * 4 + k].into() * inverse[k * 4 + x].into();
            let sum: f64 = (0..4).map(of).sum();
            assert!((sum - f64::from(u8::from(x == y))).abs() < tolerance, "{y} {x}: {sum}");
        }
    }
}

#[test]
fn inverses() {
    let n = 70;
    // Each row has a large element, in each row in another column, so that rows are exchanged.
    let mut a: Vec<f64> = floats(16 * n).into_iter().map(f64::from).collect();
    (0..n * 4).for_each(|row| a[row * 4 + (row + row / 4) % 4] += 4.0);
    a[16..32].fill(0.0);
    let single: Vec<f32> = a.iter().map(|x| *x as f32).collect();
    everywhere(|device| {
        let (mut wide, mut narrow) = (vec![0.0; 16 * n], vec![0.0; 16 * n]);
        let (mut info, mut narrow_info) = (vec![5; n], vec![5; n]);
        inverse4::<f64>.launch(device, Grid::x(2), (&a, &mut wide, &mut info)).unwrap();
        inverse4::<f32>.launch(device, Grid::x(2), (&single, &mut narrow, &mut narrow_info)).unwrap();
        for i in 0..n {
            assert_eq!([info[i], narrow_info[i]], [i32::from(i == 1); 2]);
            if i != 1 {
                check(&a[i * 16..][..16], &wide[i * 16..][..16], 1e-12);
                check(&single[i * 16..][..16], &narrow[i * 16..][..16], 1e-4);
            }
        }
    });
}
