//! The order that a kernel requests: scheduling barriers, patterns, priorities.

use gcn_dsl::BuiltKernel;
use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;

use super::options;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// Without requests, the scheduler starts the second load immediately.
    #[workgroup(64)]
    fn free(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let a = x[i] * 3.0 + 1.0;
        let b = x[i + 64] * 5.0;
        y[i] = a + b;
    }

    #[workgroup(64)]
    fn fenced(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let a = x[i] * 3.0 + 1.0;
        sched_barrier();
        let b = x[i + 64] * 5.0;
        y[i] = a + b;
    }

    /// Loads may move across the barrier.
    #[workgroup(64)]
    fn loads_pass(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let a = x[i] * 3.0 + 1.0;
        sched_barrier_except(Classes::VMEM_READ | Classes::VALU);
        let b = x[i + 64] * 5.0;
        y[i] = a + b;
    }

    #[workgroup(64)]
    fn urgent(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        set_priority(2);
        let a = x[i] * 3.0;
        set_priority(0);
        y[i] = a;
    }

    /// Four products of fragments from LDS.
    #[workgroup(64)]
    fn products(x: &[f16], y: &mut [f32]) {
        let tile = Lds::<f16, 2048>::new();
        let lane = local_id().x;
        #[unroll]
        for k in 0..4u32 {
            tile.store_vector(lane * 8 + k * 512, x.load_vector::<8>(lane * 8 + k * 512));
        }
        barrier();
        let mut sum = [Acc::<f32, 32, 32>::zero(); 2];
        #[unroll]
        for k in 0..4u32 {
            let a = FragA::<f16, 32, 8>::load(&tile, lane * 4 + k * 256);
            let b = FragB::<f16, 8, 32>::load(&tile, lane * 4 + k * 256 + 1024);
            sum[k as usize % 2] = mfma(a, b, sum[k as usize % 2]);
        }
        interleave! { 2 ds_read, 1 mfma }
        barrier();
        #[unroll]
        for r in 0..16usize {
            y[lane + r as u32 * 64] = sum[0].get(r) + sum[1].get(r);
        }
    }

    #[workgroup(64)]
    fn nothing_to_interleave(y: &mut [f32]) {
        interleave! { 1 mfma, 1 valu }
        y[local_id().x] = 1.0;
    }
}

gcn_kernel! {
    /// Four products of tiles from LDS, by the matrix instructions of RDNA.
    #[workgroup(32)]
    #[wave(32)]
    fn tiles(x: &[f16], y: &mut [f32]) {
        let left = LdsTile::<f16, 16, 64, Spread<16>>::new();
        let right = LdsTile::<f16, 16, 64, Spread<16>>::new();
        left.put(left.fetch(row_major(x, 64), 0, 0));
        right.put(right.fetch(row_major(x, 64), 16, 0));
        barrier();
        let mut sum = Tile::<f32, 16, 16, 16>::zero();
        #[unroll]
        for k in 0..4u32 {
            let a = TileA::<f16, 16, 16, 16>::load(left, 0, k * 16);
            let b = TileB::<f16, 16, 16, 16>::load(right.transposed(), k * 16, 0);
            sum = matmul(a, b, sum);
        }
        interleave! { 4 ds_read, 1 mfma }
        barrier();
        sum.store_to(row_major(y, 16), 0, 0);
    }
}

fn names(kernel: &BuiltKernel) -> Vec<&'static str> {
    kernel.program().lines.iter().map(|l| l.inst.desc.mnemonic).collect()
}

fn places(kernel: &BuiltKernel, start: &str) -> Vec<usize> {
    names(kernel).iter().enumerate().filter(|(_, n)| n.starts_with(start)).map(|(i, _)| i).collect()
}

#[test]
fn nothing_passes_a_barrier_for_the_scheduler() {
    let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let want: Vec<f32> = (0..64).map(|i| x[i] * 3.0 + 1.0 + x[i + 64] * 5.0).collect();
    for (target, wave) in super::places() {
        let options = options(wave);
        let plain = free.build_with(target, &options).unwrap();
        let split = fenced.build_with(target, &options).unwrap();
        let passed = loads_pass.build_with(target, &options).unwrap();
        // The multiplication that depends only on the first load.
        let first = |kernel: &BuiltKernel| {
            places(kernel, "v_").into_iter().find(|i| {
                *i > places(kernel, "buffer_load")[0] && {
                    let name = names(kernel)[*i];
                    name.starts_with("v_mul_f32") || name.starts_with("v_fma") || name.starts_with("v_mad")
                }
            })
        };
        assert!(Some(places(&plain, "buffer_load")[1]) < first(&plain));
        assert!(Some(places(&split, "buffer_load")[1]) > first(&split), "{}", split.assembly(Comments::None));
        assert!(
            Some(places(&passed, "buffer_load")[1]) < first(&passed),
            "{}",
            passed.assembly(Comments::None)
        );
        let device = Device::simulator(target);
        let mut y = vec![0.0f32; 64];
        device.launch(&fenced, &split, Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, want);
        let mut y = vec![0.0f32; 64];
        device.launch(&loads_pass, &passed, Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, want);
    }
}

#[test]
fn priorities_stay_where_they_are_written() {
    let kernel = urgent.build(Target::GFX942).unwrap();
    let (priorities, loads) = (places(&kernel, "s_setprio"), places(&kernel, "buffer_load"));
    assert!(priorities[0] < loads[0] && loads[0] < priorities[1]);
    assert!(priorities[1] < places(&kernel, "buffer_store")[0]);
}

#[test]
fn classes_follow_each_other_as_asked() {
    let x: Vec<f16> = (0..2048).map(|i| f16::from_f32((i % 13) as f32 - 6.0)).collect();
    // Lane l of a fragment has row (column) l % 32 and k from 4 * (l / 32) on: the elements of the tile from 4 l on.
    let part = |k: usize, row: usize, j: usize| x[(row + 32 * (j / 4)) * 4 + k * 256 + j % 4].to_f32();
    for target in TARGETS.into_iter().filter(|t| *t >= Target::GFX908) {
        let kernel = products.build(target).unwrap();
        let order: Vec<&str> = names(&kernel)
            .into_iter()
            .filter(|n| n.starts_with("ds_read") || n.starts_with("v_mfma"))
            .map(|n| &n[..6])
            .collect();
        assert_eq!(order, ["ds_rea", "ds_rea", "v_mfma"].repeat(4), "{}", kernel.assembly(Comments::None));
        let mut y = vec![0.0f32; 1024];
        products.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        for lane in 0..64usize {
            for r in 0..16usize {
                let (row, col) = (8 * (r / 4) + 4 * (lane / 32) + r % 4, lane % 32);
                let dot = |k: usize| (0..8).map(|j| part(k, row, j) * part(k + 4, col, j)).sum::<f32>();
                let want: f32 = (0..4).map(dot).sum();
                assert_eq!(y[lane + r * 64], want, "{target} lane {lane} register {r}");
            }
        }
    }
}

/// A lane loads a factor with two reads: of 16 bytes on RDNA 3, where each half of the wave has the whole factor, of 8
/// bytes on RDNA 4.
#[test]
fn classes_follow_each_other_on_rdna() {
    let x: Vec<f16> = (0..2048).map(|i| f16::from_f32((i % 13) as f32 - 6.0)).collect();
    for target in [Target::GFX1100, Target::GFX1151, Target::GFX1201] {
        let kernel = tiles.build(target).unwrap();
        let is_listed = |n: &&str| n.starts_with("ds_load") || n.starts_with("v_wmma");
        let order: Vec<&str> = names(&kernel).into_iter().filter(is_listed).map(|n| &n[..6]).collect();
        let once = ["ds_loa", "ds_loa", "ds_loa", "ds_loa", "v_wmma"];
        assert_eq!(order, once.repeat(4), "{target}\n{}", kernel.assembly(Comments::None));
        let mut y = vec![0.0f32; 256];
        tiles.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let at = |row: usize, k: usize| x[row * 64 + k].to_f32();
            let want: f32 = (0..64).map(|k| at(i / 16, k) * at(16 + i % 16, k)).sum();
            assert_eq!(*y, want, "{target} {i}");
        }
    }
}

#[test]
fn a_pattern_names_what_is_there() {
    let error = nothing_to_interleave.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("order.rs:") && error.contains("`mfma`"), "{error}");
}
