//! Sparse matrices and hash tables.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, near, numbers};

const EMPTY: u32 = 0xffff_ffff;

gcn_kernel! {
    /// One wave for each row of a CSR matrix.
    #[workgroup(64)]
    #[wave(64)]
    fn spmv_csr(first: &[u32], column: &[u32], value: &[f32], x: &[f32], y: &mut [f32]) {
        let row = workgroup_id().x;
        let mut sum = 0.0;
        for k in (first[row] + lane_id()..first[row + 1]).step_by(64) {
            sum += value[k] * x[column[k]];
        }
        let sum = wave_sum(sum);
        if lane_id() == 0 {
            y[row] = sum;
        }
    }

    /// A hash table with linear probing.
    #[workgroup(64)]
    fn insert(keys: &[u32], table: &mut [u32], mask: u32) {
        let i = global_id().x;
        if i < keys.len() {
            let key = keys[i];
            let mut slot = (key * 2654435761) & mask;
            loop {
                let old = table.atomic(slot).compare_exchange(EMPTY, key, Scope::Agent, Ordering::AcqRel, Ordering::Acquire);
                if old == EMPTY || old == key {
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
    }
}

#[test]
fn csr() {
    let lengths = numbers(20, 150);
    let mut first = vec![0];
    for l in &lengths {
        first.push(first.last().unwrap() + l);
    }
    let n = *first.last().unwrap() as usize;
    let (column, value, x) = (numbers(n, 50), floats(n), floats(50));
    everywhere(|device| {
        let mut y = vec![9.0; 20];
        spmv_csr.launch(device, Grid::x(20), (&first, &column, &value, &x, &mut y)).unwrap();
        for row in 0..20 {
            let all = first[row] as usize..first[row + 1] as usize;
            let want: f32 = all.map(|k| value[k] * x[column[k] as usize]).sum();
            assert!(near(y[row], want, 1e-4));
        }
    });
}

#[test]
fn hash_table() {
    let keys = numbers(200, 150);
    everywhere(|device| {
        let mut table = vec![EMPTY; 256];
        insert.launch(device, Grid::x(4), (&keys, &mut table, 255)).unwrap();
        let mut got: Vec<u32> = table.into_iter().filter(|k| *k != EMPTY).collect();
        got.sort_unstable();
        let mut want = keys.clone();
        want.sort_unstable();
        want.dedup();
        assert_eq!(got, want);
    });
}
