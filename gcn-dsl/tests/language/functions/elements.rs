//! Elements of arrays in variables that are assigned at device indices, like CUDA's local arrays.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX900, Target::GFX90A, Target::GFX950];
const LIMBS: usize = 6;

gcn_kernel! {
    #[device]
    struct Slot {
        value: V<f32>,
        uses: V<u32>,
    }

    #[device]
    struct Table {
        slots: [Slot; 4],
        last: [V<u32>; LIMBS],
    }

    #[device]
    impl Table {
        fn put(&mut self, at: V<u32>, value: V<f32>) {
            self.slots[at].value += value;
            self.slots[at].uses += 1;
            self.last[at + 1] = self.last[at] ^ at;
        }
    }

    #[device]
    fn bumped(list: &mut [V<u32>; LIMBS], at: V<u32>) {
        list[at] += 10;
    }

    /// All ways of selecting an element.
    #[workgroup(64)]
    fn choose(x: &[u32], n: u32, y: &mut [u32], z: &mut [f32], m: &mut [f32]) {
        let i = global_id().x;
        let mut counts: [V<u32>; LIMBS] = [0; LIMBS];
        for k in 0..LIMBS {
            counts[k] = x[i * 6 + k];
        }
        counts[x[i] % 6] += 100;
        counts[n] = 7;
        if i > 10 {
            counts[(i + 1) % 6] *= 3;
        }
        bumped(&mut counts, i % 6);
        for k in 0..LIMBS - 1 {
            if counts[k] > counts[k + 1] {
                (counts[k], counts[k + 1]) = (counts[k + 1], counts[k]);
            }
        }

        let mut table = Table { slots: [Slot { value: 0.0, uses: 0 }; 4], last: [9; LIMBS] };
        for k in 0..n {
            table.put((x[i] + k) % 4, k as f32 + 0.5);
        }

        let mut a: [[V<f32>; 3]; 3] = [[0.0; 3]; 3];
        for r in 0..3 {
            for c in 0..3 {
                a[r][c] = (r * 3 + c) as f32;
            }
        }
        let pivot = i % 3;
        (a[pivot], a[0]) = (a[0], a[pivot]);
        a[x[i] % 3][pivot] -= 0.25;
        a[1][n % 3] *= 4.0;

        for k in 0..LIMBS {
            y[i * 16 + k] = counts[k];
            y[i * 16 + 6 + k] = table.last[k];
        }
        for k in 0..4 {
            z[i * 8 + k] = table.slots[k].value;
            z[i * 8 + 4 + k] = table.slots[k].uses as f32;
        }
        for r in 0..3 {
            for c in 0..3 {
                m[i * 9 + r * 3 + c] = a[r][c];
            }
        }
    }
}

#[test]
fn indices_of_the_device_choose_what_is_assigned() {
    let x: Vec<u32> = (0..64 * 6 + 6).map(|i| i * 37 % 61).collect();
    for target in TARGETS {
        for n in [2, 5] {
            let (mut y, mut z, mut m) = (vec![0; 1024], vec![0.0; 512], vec![0.0; 576]);
            let args = (&x[..], n, &mut y[..], &mut z[..], &mut m[..]);
            choose.launch(&Device::simulator(target), Grid::x(1), args).unwrap();
            for i in 0..64usize {
                let mut counts: [u32; LIMBS] = std::array::from_fn(|k| x[i * 6 + k]);
                counts[x[i] as usize % 6] += 100;
                counts[n as usize] = 7;
                if i > 10 {
                    counts[(i + 1) % 6] *= 3;
                }
                counts[i % 6] += 10;
                for k in 0..LIMBS - 1 {
                    if counts[k] > counts[k + 1] {
                        counts.swap(k, k + 1);
                    }
                }
                assert_eq!(y[i * 16..][..6], counts, "{target} {i}");

                let (mut slots, mut last) = ([(0.0, 0u32); 4], [9u32; LIMBS]);
                for k in 0..n {
                    let at = (x[i] + k) as usize % 4;
                    slots[at] = (slots[at].0 + k as f32 + 0.5, slots[at].1 + 1);
                    last[at + 1] = last[at] ^ at as u32;
                }
                assert_eq!(y[i * 16 + 6..][..6], last, "{target} {i}");
                for k in 0..4 {
                    assert_eq!(
                        (z[i * 8 + k], z[i * 8 + 4 + k]),
                        (slots[k].0, slots[k].1 as f32),
                        "{target} {i}"
                    );
                }

                let mut a: [[f32; 3]; 3] =
                    std::array::from_fn(|r| std::array::from_fn(|c| (r * 3 + c) as f32));
                let pivot = i % 3;
                (a[pivot], a[0]) = (a[0], a[pivot]);
                a[x[i] as usize % 3][pivot] -= 0.25;
                a[1][n as usize % 3] *= 4.0;
                assert_eq!(m[i * 9..][..9], *a.as_flattened(), "{target} {i}");
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn known(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut own: [V<u32>; 8] = [0; 8];
        for k in 0..8 {
            own[k] = x[i * 8 + k];
        }
        for k in 0..8 {
            y[i * 8 + k] = own[7 - k];
        }
    }
}

/// After a loop has become straight-line code, the index is known and no selection remains.
#[test]
fn a_known_index_is_a_register() {
    for target in TARGETS {
        let text = known.build(target).unwrap().assembly(Comments::None);
        assert!(!text.contains("v_cndmask"), "{text}");
    }
}

const ROWS: usize = 3;

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct Block {
        scale: [f32; 2],
        q: [[u8; 4]; 3],
    }

    /// The same host index for arrays of values and for memory.
    #[workgroup(64)]
    fn unrolled<const N: usize>(x: &[f32], last: [u32; 3], y: &mut [f32], blocks: &mut [Block], z: &mut [[f32; 3]]) {
        let i = local_id().x;
        let tile = Lds::<[f32; 64], ROWS>::new();
        let quad = Lds::<[f32; 4], 64>::new();
        let own = Private::<f32, ROWS>::new();
        let mut sums: [V<f32>; ROWS] = [0.0; ROWS];
        quad[i] = [x[i], x[i] + 1.0, 2.0, -x[i]];
        #[unroll]
        for k in 0..ROWS {
            tile[k][i] = x[i * 3 + k as u32] + x[k];
            own[k] = x[N - 1 - k];
            sums[k] += tile[k][63 - i] * own[k];
            sums[ROWS - 1 - k] -= quad[i][k + 1];
            z[i][k] = sums[k];
            blocks[i].scale[k % 2] = sums[k];
        }
        for k in 0..4 {
            blocks[i].q[i % 3][k] = (i * 4 + k) as u8;
            blocks[i].q[(i + 1) % 3][3 - k] += k as u8;
        }
        y[i] = ROWS_OF.max(last[2] + i) as f32 + ROWS_OF.min(last[0]) as f32 + mbcnt(match_any(i % 4)) as f32;
    }
}

const ROWS_OF: u32 = 20;

#[test]
fn one_index_of_the_host_for_registers_and_memory() {
    let x: Vec<f32> = (0..192).map(|i| i as f32 * 0.5).collect();
    for target in TARGETS {
        let before = Block { scale: [0.0; 2], q: [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]] };
        let (mut y, mut blocks, mut z) = (vec![0.0; 64], vec![before; 64], vec![[0.0; 3]; 64]);
        let args = (&x[..], [7, 0, 4], &mut y[..], &mut blocks[..], &mut z[..]);
        unrolled::<64>.launch(&Device::simulator(target), Grid::x(1), args).unwrap();
        for i in 0..64usize {
            let quad = [x[i], x[i] + 1.0, 2.0, -x[i]];
            let (mut sums, mut of_z, mut block) = ([0.0f32; 3], [0.0; 3], before);
            for k in 0..3 {
                sums[k] += (x[(63 - i) * 3 + k] + x[k]) * x[63 - k];
                sums[2 - k] -= quad[k + 1];
                of_z[k] = sums[k];
                block.scale[k % 2] = sums[k];
            }
            for k in 0..4 {
                block.q[i % 3][k] = (i * 4 + k) as u8;
                block.q[(i + 1) % 3][3 - k] += k as u8;
            }
            assert_eq!(z[i], of_z, "{target} {i}");
            assert_eq!(blocks[i], block, "{target} {i}");
            assert_eq!(y[i], (20.max(4 + i) + 7 + i / 4) as f32, "{target} {i}");
        }
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct Keys {
        first: u32,
        round: [u32; 4],
    }

    #[device]
    fn mixed(a: V<u32>, b: V<u32>, key: u32) -> V<u32> {
        a * 3 + (b ^ key)
    }

    /// Variables that start with a part of an argument, with the target of a varying pointer, or with a uniform value
    /// in a loop that ends when an `Option` is empty; all become varying by assignments.
    #[workgroup(64)]
    fn vary(keys: Keys, nonce: [u32; 2], x: *const u32, n: u32, y: &mut [u32], z: &mut [u32]) {
        let i = local_id().x;
        let mut a = nonce[0] ^ keys.round[0];
        let mut b = keys.first;
        for r in 1..4 {
            let t0 = mixed(a + i, b, keys.round[r]);
            let t1 = mixed(b, a, keys.first);
            (a, b) = (t0, t1);
        }
        y[i] = a ^ b;
        let row = x.add(i * n);
        let mut p = x.add(i * n);
        let (mut sum, mut walked) = (0, 0);
        for k in 0..n {
            sum += row[k];
            walked += unsafe { *p } * k;
            p = p.add(1);
        }
        let mut left = 9;
        let mut rest = i;
        while let Some((next, step)) = lowered(rest) {
            left -= step;
            rest = next;
        }
        z[i] = sum * 1000 + walked + left;
    }

    #[device]
    fn lowered(x: V<u32>) -> Option<(V<u32>, V<u32>)> {
        if x > 40 { Some((x - 10, 3)) } else { None }
    }
}

#[test]
fn variables_vary_by_what_they_are_given() {
    let x: Vec<u32> = (0..64 * 5).map(|i| i * 7 % 11).collect();
    let keys = Keys { first: 77, round: [5, 6, 7, 8] };
    for target in TARGETS {
        let device = Device::simulator(target);
        let at = device.upload(&x).unwrap();
        let mut y = device.zeroed::<u32>(64).unwrap();
        let mut z = device.zeroed::<u32>(64).unwrap();
        let stream = device.stream().unwrap();
        vary.launch(&stream, Grid::x(1), (keys, [9, 0], at.as_ptr(), 5, &mut y, &mut z)).unwrap();
        let (y, z) = (y.to_vec().unwrap(), z.to_vec().unwrap());
        for i in 0..64usize {
            let mixed = |a: u32, b: u32, key: u32| a.wrapping_mul(3).wrapping_add(b ^ key);
            let (mut a, mut b) = (9 ^ 5, 77);
            for r in 1..4 {
                (a, b) = (mixed(a + i as u32, b, keys.round[r]), mixed(b, a, 77));
            }
            assert_eq!(y[i], a ^ b, "{target} {i}");
            let row = &x[i * 5..][..5];
            let walked: u32 = row.iter().zip(0..).map(|(x, k)| x * k).sum();
            let (mut left, mut rest) = (9, i);
            while rest > 40 {
                (left, rest) = (left - 3, rest - 10);
            }
            assert_eq!(z[i], row.iter().sum::<u32>() * 1000 + walked + left, "{target} {i}");
        }
    }
}
