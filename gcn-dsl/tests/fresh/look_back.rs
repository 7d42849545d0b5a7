//! CUB: `DeviceScan` with decoupled look-back.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    enum Status {
        Invalid,
        Partial(V<u32>),
        Inclusive(V<u32>),
    }

    #[device]
    impl Status {
        fn pack(self) -> V<u64> {
            match self {
                Status::Invalid => 0,
                Status::Partial(v) => 1 << 32 | v as u64,
                Status::Inclusive(v) => 2 << 32 | v as u64,
            }
        }

        fn unpack(word: V<u64>) -> Status {
            match (word >> 32) as u32 {
                0 => Status::Invalid,
                1 => Status::Partial(word as u32),
                _ => Status::Inclusive(word as u32),
            }
        }
    }

    #[workgroup(256)]
    fn device_scan(x: &[u32], y: &mut [u32], tiles: &mut [u64], ticket: &mut [u32]) {
        let shared = Lds::<u32, 2>::new();
        let tid = local_id().x;
        if tid == 0 {
            shared[0] = ticket.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed);
        }
        barrier();
        let tile = read_first_lane(shared[0]);
        let i = tile * 256 + tid;
        let inclusive = workgroup_inclusive_sum(x[i]);
        let total = workgroup_sum(x[i]);
        if tid == 0 {
            let mut prefix = 0;
            if tile != 0 {
                tiles.atomic(tile).store(Status::Partial(total).pack(), Scope::Agent, Ordering::Release);
                let mut at = tile - 1;
                loop {
                    match Status::unpack(tiles.atomic(at).load(Scope::Agent, Ordering::Acquire)) {
                        Status::Invalid => continue,
                        Status::Partial(v) => {
                            prefix += v;
                            at -= 1;
                        }
                        Status::Inclusive(v) => {
                            prefix += v;
                            break;
                        }
                    }
                }
            }
            tiles.atomic(tile).store(Status::Inclusive(prefix + total).pack(), Scope::Agent, Ordering::Release);
            shared[1] = prefix;
        }
        barrier();
        y[i] = shared[1] + inclusive;
    }
}

#[test]
fn scans() {
    let x = numbers(256 * 9 - 30, 1000);
    let mut sum = 0;
    let want: Vec<u32> = x
        .iter()
        .map(|x| {
            sum += x;
            sum
        })
        .collect();
    everywhere(|device| {
        let (mut y, mut tiles, mut ticket) = (vec![0; x.len()], vec![0; 9], [0]);
        device_scan.launch(device, Grid::x(9), (&x, &mut y, &mut tiles, &mut ticket)).unwrap();
        assert_eq!(y, want);
    });
}
