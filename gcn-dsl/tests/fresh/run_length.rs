//! Run-length encoding of a block: the heads of runs, their positions by a scan, and lengths as the distance to the
//! next head.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[workgroup(256)]
    fn run_length_encode(x: &[u32], unique: &mut [u32], counts: &mut [u32], num_runs: &mut [u32]) {
        let starts = Lds::<u32, 257>::new();
        let tid = local_id().x;
        let base = workgroup_id().x * 256;
        let len = (x.len() - base).min(256);
        let valid = tid < len;
        let is_head = valid && (tid == 0 || x[base + tid] != x[base + tid - 1]);
        let rank = workgroup_exclusive_sum(is_head as u32);
        let runs = workgroup_sum(is_head as u32);
        if is_head {
            starts[rank] = tid;
        }
        if tid == 0 {
            starts[runs] = len;
            num_runs[workgroup_id().x] = runs;
        }
        barrier();
        if tid < runs {
            unique[base + tid] = x[base + starts[tid]];
            counts[base + tid] = starts[tid + 1] - starts[tid];
        }
    }
}

#[test]
fn encodes() {
    let x: Vec<u32> =
        numbers(60, 5).into_iter().flat_map(|v| vec![v; 1 + v as usize * 2]).take(300).collect();
    everywhere(|device| {
        let (mut unique, mut counts, mut runs) = (vec![0; 512], vec![0; 512], vec![0; 2]);
        run_length_encode.launch(device, Grid::x(2), (&x, &mut unique, &mut counts, &mut runs)).unwrap();
        for (b, part) in x.chunks(256).enumerate() {
            let want: Vec<(u32, u32)> =
                part.chunk_by(|a, b| a == b).map(|c| (c[0], c.len() as u32)).collect();
            assert_eq!(runs[b] as usize, want.len());
            for (k, w) in want.iter().enumerate() {
                assert_eq!((unique[b * 256 + k], counts[b * 256 + k]), *w);
            }
        }
    });
}
