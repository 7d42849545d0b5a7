//! What a wave is.

use gcn_dsl::prelude::*;

use crate::{Output, Outputs, TARGET, one_cu, row, table};

// ANCHOR: who
gcn_kernel! {
    /// Each work-item says where it is.
    #[workgroup(128)]
    pub fn who(lane: &mut [u32], wave: &mut [u32], group: &mut [u32]) {
        let i = global_id().x;
        lane[i] = lane_id();
        wave[i] = wave_id();
        group[i] = workgroup_id().x;
    }
}
// ANCHOR_END: who

// ANCHOR: active
gcn_kernel! {
    /// How many lanes are active on either side of a branch.
    #[workgroup(64)]
    #[wave(64)]
    pub fn active(x: &[u32], lanes: &mut [u32]) {
        let i = lane_id();
        if x[i] > 9 {
            lanes[i] = active_lanes().count_ones();
        } else {
            lanes[i] = active_lanes().count_ones();
        }
    }
}
// ANCHOR_END: active

// ANCHOR: neighbour
gcn_kernel! {
    /// Each lane stores its right neighbour's element; the last lane of a wave stores its own.
    #[workgroup(128)]
    pub fn neighbour(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = shuffle_down(x[i], 1);
    }
}
// ANCHOR_END: neighbour

// ANCHOR: shade
gcn_kernel! {
    /// The brightness of a hit: matte surfaces (0) and glossy ones (1) need different work.
    #[workgroup(256)]
    pub fn shade(surface: &[u32], light: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let mut v: V<f32> = light[i];
        if surface[i] == 0 {
            for _ in 0..256 {
                v = v.mul_add(0.5, 0.25);
            }
        } else {
            for _ in 0..256 {
                v = v.mul_add(-0.5, 1.0);
            }
        }
        out[i] = v;
    }
}
// ANCHOR_END: shade

// ANCHOR: regroup
gcn_kernel! {
    /// The same; each workgroup first brings its hits into order, matte ones first.
    #[workgroup(256)]
    pub fn shade_in_order(surface: &[u32], light: &[f32], out: &mut [f32]) {
        let (i, first) = (local_id().x, workgroup_id().x * 256);
        let order = Lds::<u32, 256>::new();
        let glossy = surface[first + i];
        let before = workgroup_exclusive_sum(glossy); // glossy hits before this one
        let matte = 256 - workgroup_sum(glossy);
        order[select(glossy == 0, i - before, matte + before)] = i;
        barrier();
        let hit = first + order[i];
        let mut v: V<f32> = light[hit];
        if i < matte {
            for _ in 0..256 {
                v = v.mul_add(0.5, 0.25);
            }
        } else {
            for _ in 0..256 {
                v = v.mul_add(-0.5, 1.0);
            }
        }
        out[hit] = v;
    }
}
// ANCHOR_END: regroup

// ANCHOR: select
gcn_kernel! {
    /// The same without a branch: each lane selects its numbers.
    #[workgroup(256)]
    pub fn shade_by_numbers(surface: &[u32], light: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let matte = surface[i] == 0;
        let factor: V<f32> = select(matte, 0.5, -0.5);
        let add: V<f32> = select(matte, 0.25, 1.0);
        let mut v: V<f32> = light[i];
        for _ in 0..256 {
            v = v.mul_add(factor, add);
        }
        out[i] = v;
    }
}
// ANCHOR_END: select

/// Hits that are shaded.
const HITS: u32 = 1 << 14;

/// Orders of the same hits: a name, and the surface of hit `i`.
type Order = (&'static str, fn(u32) -> u32);

/// A number below 100 that looks random.
fn scattered(i: u32) -> u32 {
    (i.wrapping_mul(2_654_435_761) >> 16) % 100
}

/// The orders of the table.
const ORDERS: [Order; 5] = [
    ("all matte", |_| 0),
    ("matte first, then glossy", |i| i / (HITS / 2)),
    ("every second one glossy", |i| i % 2),
    ("1 of 100 glossy", |i| u32::from(scattered(i) < 1)),
    ("5 of 100 glossy", |i| u32::from(scattered(i) < 5)),
];

/// Lights and surfaces of an order.
fn hits(surface: fn(u32) -> u32) -> (Vec<u32>, Vec<f32>) {
    ((0..HITS).map(surface).collect(), (0..HITS).map(|i| (i % 64) as f32 / 64.0).collect())
}

/// The waves in which both surfaces occur.
fn mixed(surfaces: &[u32]) -> usize {
    surfaces.chunks(64).filter(|wave| wave.contains(&0) && wave.contains(&1)).count()
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let device = Device::simulator(TARGET);
    // ANCHOR: launch
    let (mut lane, mut wave, mut group) = ([0; 256], [0; 256], [0; 256]);
    who.launch(&device, Grid::x(2), (&mut lane, &mut wave, &mut group))?;
    // ANCHOR_END: launch
    let shown = [0usize, 1, 63, 64, 127, 128, 255];
    let rows = shown.map(|i| row(&i.to_string(), &[&group[i], &wave[i], &lane[i]]));
    let who_text = table(&["work-item", "workgroup", "wave", "lane"], &rows);

    let mut x = [0; 64];
    x[..5].fill(10);
    let mut lanes = [0; 64];
    active.launch(&device, Grid::x(1), (&x, &mut lanes))?;
    let rows = [0usize, 4, 5, 63].map(|i| row(&i.to_string(), &[&x[i], &lanes[i]]));
    let active_text = table(&["lane", "x", "active lanes"], &rows);

    let (mut straight, mut regrouped) = (Vec::new(), Vec::new());
    for (name, order) in ORDERS {
        let (surface, light) = hits(order);
        let mut out = vec![0.0; HITS as usize];
        let grid = Grid::x(HITS / 256);
        let report = shade.timed(TARGET, grid, (&surface, &light, &mut out), &one_cu())?;
        straight.push(row(name, &[&mixed(&surface), &report.instructions, &report.cycles]));
        let ordered = shade_in_order.timed(TARGET, grid, (&surface, &light, &mut out), &one_cu())?;
        regrouped.push(row(name, &[&report.cycles, &ordered.cycles]));
    }
    let head = ["order of the hits", "mixed waves of 256", "wave instructions", "cycles"];
    let compared = ["order of the hits", "cycles of `shade`", "cycles of `shade_in_order`"];
    Ok(vec![
        Output { name: "who.md", text: who_text },
        Output { name: "active.md", text: active_text },
        Output { name: "shade.md", text: table(&head, &straight) },
        Output { name: "shade-in-order.md", text: table(&compared, &regrouped) },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_items_are_numbered_by_group_wave_and_lane() {
        for target in Target::REPRESENTATIVES {
            let (mut lane, mut wave, mut group) = ([0; 256], [0; 256], [0; 256]);
            let device = Device::simulator(target);
            who.launch(&device, Grid::x(2), (&mut lane, &mut wave, &mut group)).unwrap();
            for i in 0..256u32 {
                let at = i as usize;
                assert_eq!((group[at], wave[at], lane[at]), (i / 128, i % 128 / 64, i % 64));
            }
        }
    }

    #[test]
    fn both_sides_of_a_branch_run_with_their_own_lanes() {
        let x: [u32; 64] = std::array::from_fn(|i| if i < 5 { 10 } else { 0 });
        let mut lanes = [0; 64];
        active.launch(&Device::simulator(TARGET), Grid::x(1), (&x, &mut lanes)).unwrap();
        assert!(lanes[..5].iter().all(|n| *n == 5) && lanes[5..].iter().all(|n| *n == 59));
    }

    #[test]
    fn a_neighbour_is_in_the_same_wave() {
        let x: [u32; 128] = std::array::from_fn(|i| i as u32);
        let mut y = [0; 128];
        neighbour.launch(&Device::simulator(TARGET), Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!((y[0], y[62], y[63], y[64], y[127]), (1, 63, 63, 65, 127));
    }

    /// What the kernels should compute for a hit.
    fn brightness(surface: u32, light: f32) -> f32 {
        let (factor, add) = if surface == 0 { (0.5, 0.25) } else { (-0.5, 1.0) };
        (0..256).fold(light, |v: f32, _| v.mul_add(factor, add))
    }

    #[test]
    fn hits_are_shaded_in_any_order() {
        for (name, order) in ORDERS {
            let (surface, light) = hits(order);
            let want: Vec<f32> = surface.iter().zip(&light).map(|(s, l)| brightness(*s, *l)).collect();
            let (device, grid) = (Device::simulator(TARGET), Grid::x(HITS / 256));
            let mut out = vec![f32::NAN; HITS as usize];
            shade.launch(&device, grid, (&surface, &light, &mut out)).unwrap();
            assert_eq!(out, want, "{name}");
            out.fill(f32::NAN);
            shade_in_order.launch(&device, grid, (&surface, &light, &mut out)).unwrap();
            assert_eq!(out, want, "{name}");
        }
    }

    #[test]
    fn a_few_scattered_lanes_make_many_waves_take_both_sides() {
        let mixed = ORDERS.map(|(_, order)| mixed(&hits(order).0));
        assert_eq!(mixed[..3], [0, 0, 256]);
        assert!(mixed[3] > 256 / 3 && mixed[4] > 256 * 9 / 10, "{mixed:?}");
    }

    #[test]
    fn numbers_instead_of_a_branch_cost_the_same_in_every_order() {
        let mut instructions = Vec::new();
        for (name, order) in ORDERS {
            let (surface, light) = hits(order);
            let want: Vec<f32> = surface.iter().zip(&light).map(|(s, l)| brightness(*s, *l)).collect();
            let (device, mut out) = (Device::simulator(TARGET), vec![f32::NAN; HITS as usize]);
            let run = shade_by_numbers.launch(&device, Grid::x(HITS / 256), (&surface, &light, &mut out));
            instructions.push(run.unwrap().wave_instructions);
            assert_eq!(out, want, "{name}");
        }
        instructions.dedup();
        assert_eq!(instructions.len(), 1, "{instructions:?}");
    }
}
