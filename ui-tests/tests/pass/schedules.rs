//! Correct forms of the programs `fail/schedule_*`: manual blocks, phases of LDS buffers, order, pipelined loops.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    #[schedule(manual)]
    fn manual(n: u32, x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        set_priority(3);
        let (a, b) = (x.load_async(i), x.load_async(i + 256));
        let sum = wait(a) + wait(b);
        for k in 0..n {
            let c = x.load_async(i + k);
            y[i] = sum + wait(c);
        }
        let done = wait_all::<Loads>();
    }

    #[workgroup(256)]
    fn phases(n: u32, x: &mut [f32]) {
        let i = local_id().x;
        #[carried]
        let mut tile = LdsBuf::<f32, 256>::new();
        for k in 0..n {
            let full = barrier(tile.store(i, x[i]));
            x[i] = full[255 - i];
            tile = barrier(full);
        }
        let open = tile.write();
        if i < 100 {
            open[i] = 1.0;
        }
        let full = barrier(open);
        x[i] = full[0];
    }

    #[workgroup(64)]
    fn order(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let a = x[i];
        sched_barrier();
        let b = x[i + 64];
        sched_barrier_except(Classes::VALU | Classes::SALU);
        interleave! { 1 vmem_read, 2 valu }
        y[i] = a + b;
    }

    #[workgroup(64)]
    fn pipelined<const STAGES: usize>(n: u32, x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let mut sum: V<f32> = 0.0;
        #[pipeline(stages = 3)]
        for k in 0..n {
            sum += x[k * 64 + i];
            #[pipeline(stages = STAGES + 1)]
            for j in (k..n).rev() {
                sum = sum * x[j * 64 + i];
            }
            for j in 0..k {
                if j == 7 {
                    break;
                }
                sum += 1.0;
            }
        }
        y[i] = sum;
    }
}

pub fn main() {
    assert!(manual.build(Target::GFX942).is_ok());
    assert!(phases.build(Target::GFX90A).is_ok());
    assert!(order.build(Target::GFX950).is_ok());
    assert!(pipelined::<1>.build(Target::GFX950).is_ok());
}
