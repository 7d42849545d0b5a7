//! Errors: a variable without an initial value that some exits of a loop or block leave unassigned, or assigned twice.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn a(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let v: V<u32>;
        'a: { if x[i] > 3 { break 'a; } v = 1; }
        y[i] = v;
    }
    #[workgroup(64)]
    fn b(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let v: V<u32>;
        loop { if x[i] > 3 { break; } v = 1; break; }
        y[i] = v;
    }
    #[workgroup(64)]
    fn c(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let v: V<u32>;
        loop { v = x[i]; if v > 3 { break; } }
        y[i] = v;
    }
    #[workgroup(64)]
    fn d(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let v: V<u32>;
        { let v: V<u32>; v = x[i]; y[i] = v; }
        y[i] += v;
    }
    #[workgroup(64)]
    fn e(x: &[u32], y: &mut [u32], n: u32) {
        let i = global_id().x;
        let v: V<u32>;
        v = 3;
        if x[i] > 3 { v = 4; }
        let mut w: V<u32>;
        for k in 0..n { w = x[k]; if w > 3 { break; } }
        y[i] = v + w;
    }
}

fn main() {}
