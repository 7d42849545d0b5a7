//! All forms of memory.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    pub fn kernel(n: u32, table: &[u32], p: *mut f32, x: &mut [f32]) {
        let i = global_id().x;
        // A uniform element can be the bound of a loop.
        for k in table[0]..table[1] {
            x[i] += k as f32;
        }
        let private = Private::<f32, 8>::filled(1.0);
        private[table[i] & 7] += 2.0;
        let all = LdsSlice::<f32>::dynamic(n);
        let half = all.slice(n / 2, n / 2);
        half[local_id().x] = private[0];
        barrier();
        let q = p.add(i).offset(-1);
        if !q.is_null() {
            unsafe { *q = half.get(i) + all.cast::<u32>()[0] as f32 };
            q[1] = q.cast::<u32>().load_with(Cache::Streaming) as f32;
        }
    }
}

pub fn main() {
    kernel.build(Target::GFX90A).unwrap();
}
