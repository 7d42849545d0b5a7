//! The size of the grid, in kernels.

use gcn_dsl::prelude::*;

use crate::TARGETS;

gcn_kernel! {
    #[workgroup(8, 4, 2)]
    fn sizes(groups: &mut [u32], items: &mut [u32]) {
        let (n, m) = (num_workgroups(), global_size());
        let lane = local_id().x + 8 * (local_id().y + 4 * local_id().z);
        let group = workgroup_id().x + n.x * (workgroup_id().y + n.y * workgroup_id().z);
        let i = group * 64 + lane;
        groups[i] = n.x | n.y << 8 | n.z << 16;
        items[i] = m.x | m.y << 8 | m.z << 16;
    }

    /// A loop over any number of elements; scratch needs registers of the initial state as well.
    #[workgroup(64)]
    fn stride(x: &mut [u32]) {
        let kept = Private::<u32, 3>::new();
        for i in (global_id().x..x.len()).step_by(stride_of(64)) {
            kept[i % 3] = x[i] + 1;
            x[i] = kept[i % 3];
        }
    }

    #[device]
    fn stride_of(size: u32) -> S<u32> {
        num_workgroups().x * size
    }
}

#[test]
fn a_kernel_knows_its_grid() {
    let (x, y, z) = (3, 2, 5);
    let packed = |[x, y, z]: [u32; 3]| x | (y << 8) | (z << 16);
    let (groups, items) = (packed([x, y, z]), packed([8 * x, 4 * y, 2 * z]));
    for target in TARGETS {
        let mut seen = [vec![0; 64 * 30], vec![0; 64 * 30]];
        let [a, b] = &mut seen;
        sizes.launch(&Device::simulator(target), Grid::xyz(x, y, z), (a, b)).expect("a launch");
        assert_eq!(seen, [vec![groups; 64 * 30], vec![items; 64 * 30]], "{target}");
    }
}

#[test]
fn a_loop_takes_steps_of_the_grid() {
    for (target, groups) in TARGETS.into_iter().zip([1, 2, 3, 5, 16, 17]) {
        let mut x = vec![7; 1000];
        stride.launch(&Device::simulator(target), Grid::x(groups), (&mut x,)).expect("a launch");
        assert_eq!(x, [8; 1000], "{target}");
    }
}
