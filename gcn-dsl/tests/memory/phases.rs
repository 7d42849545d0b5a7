//! LDS buffers with phases, compared with plain Rust.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// Reverses each block `rounds` times, through one buffer, whose phases repeat on each trip.
    #[workgroup(256)]
    fn reverse(rounds: u32, x: &mut [u32]) {
        let i = local_id().x;
        #[carried]
        let mut block = LdsBuf::<u32, 256>::new();
        let mut value: V<u32> = x[i];
        for round in 0..rounds {
            let full = barrier(block.store(i, value));
            value = full[255 - i] + round;
            block = barrier(full);
        }
        x[i] = value;
    }

    /// Two buffers at one barrier; assignments in a branch and in an unrolled loop.
    #[workgroup(128)]
    fn two(n: u32, x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let (a, b) = (LdsBuf::<f32, 256>::new().write(), LdsBuf::<f32, 128>::new().write());
        #[unroll]
        for k in 0..2u32 {
            a[i + k * 128] = x[i + k * 128];
        }
        b[i] = 0.0;
        if i < n {
            b[i] = x[i] * 2.0;
        }
        let (a, b) = barrier((a, b));
        y[i] = a[255 - i] + b[127 - i];
    }

    /// A running sum over blocks, with two buffers used alternately and one barrier per trip.
    #[workgroup(256)]
    fn mirrored(blocks: u32, x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let pair = LdsPair::<f32, 256>::new().store(i, x[i]);
        #[carried]
        let mut pair = barrier(pair);
        let mut sum: V<f32> = 0.0;
        for block in 1..blocks + 1 {
            let next = pair.store(i, x[block * 256 + i]);
            sum += next[255 - i];
            pair = barrier(next);
        }
        y[i] = sum;
    }

    /// The same in a manual schedule with wide accesses.
    #[workgroup(256)]
    #[schedule(manual)]
    fn mirrored_by_hand(blocks: u32, x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let at = i * 4;
        let first = wait(x.load_vector_async::<4>(at));
        let pair = LdsPair::<f32, 1024>::new().write();
        wait(pair.store_vector_async(at, first));
        #[carried]
        let mut pair = barrier(pair);
        let mut sum = [splat::<f32>(0.0); 4];
        for block in 1..blocks + 1 {
            let next = x.load_vector_async::<4>(block * 1024 + at);
            let mirror = pair.load_vector_async::<4>(1020 - at);
            let mirror = wait(mirror);
            #[unroll]
            for k in 0..4usize {
                sum[k] += mirror.get(3 - k);
            }
            let open = pair.write();
            let stored = open.store_vector_async(at, wait(next));
            wait(stored);
            pair = barrier(open);
        }
        #[unroll]
        for k in 0..4usize {
            y[at + k as u32] = sum[k];
        }
    }
}

#[test]
fn one_buffer_goes_round() {
    for target in TARGETS {
        for rounds in [0u32, 1, 2, 5] {
            let start: Vec<u32> = (0..256).map(|i| i * 7 + 1).collect();
            let mut want = start.clone();
            for round in 0..rounds {
                want = want.iter().rev().map(|v| v + round).collect();
            }
            let mut got = start.clone();
            reverse.launch(&Device::simulator(target), Grid::x(1), (rounds, &mut got)).unwrap();
            assert_eq!(got, want, "{target} {rounds}");
        }
    }
}

#[test]
fn two_buffers_at_one_barrier() {
    let x: Vec<f32> = (0..256).map(|i| i as f32 * 0.5).collect();
    for target in TARGETS {
        let mut y = vec![0.0f32; 128];
        two.launch(&Device::simulator(target), Grid::x(1), (50, &x, &mut y)).unwrap();
        for i in 0..128usize {
            let b = if 127 - i < 50 { x[127 - i] * 2.0 } else { 0.0 };
            assert_eq!(y[i], x[255 - i] + b);
        }
    }
}

fn mirrored_sums(blocks: usize, block: usize, x: &[f32]) -> Vec<f32> {
    (0..block).map(|i| (0..blocks).fold(0.0, |sum, b| sum + x[b * block + block - 1 - i])).collect()
}

#[test]
fn two_buffers_in_turn() {
    let x: Vec<f32> = (0..1024 * 8).map(|i| ((i * 37) % 101) as f32).collect();
    for target in TARGETS {
        let device = Device::simulator(target);
        for blocks in [0u32, 1, 2, 3, 6] {
            let mut y = vec![-1.0f32; 256];
            mirrored.launch(&device, Grid::x(1), (blocks, &x, &mut y)).unwrap();
            assert_eq!(y, mirrored_sums(blocks as usize, 256, &x), "{target} {blocks}");
            let mut y = vec![-1.0f32; 1024];
            mirrored_by_hand.launch(&device, Grid::x(1), (blocks, &x, &mut y)).unwrap();
            assert_eq!(y, mirrored_sums(blocks as usize, 1024, &x), "by hand: {target} {blocks}");
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn another_buffer(x: &mut [u32]) {
        #[carried]
        let mut block = LdsBuf::<u32, 64>::new();
        for round in 0..3u32 {
            let full = barrier(block.store(local_id().x, round));
            x[local_id().x] = full[0];
            barrier(full);
            block = LdsBuf::<u32, 64>::new();
        }
    }
}

#[test]
fn a_carried_variable_stays_the_same_buffer() {
    let error = another_buffer.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("another one") && error.contains("phases.rs:"), "{error}");
}
