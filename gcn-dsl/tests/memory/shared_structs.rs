//! Structs and conditions in LDS and in private memory. The host computes the expected content.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct Float4 { x: f32, y: f32, z: f32, w: f32 }

    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct Node { key: u32, flag: bool, tag: u8, pair: [i16; 2], at: [f32; 3] }

    #[device]
    fn weight(n: V<Node>) -> V<u32> { n.key + n.tag as u32 }

    #[workgroup(64)]
    fn structs(p: &[Float4], n: &[Node], q: &mut [Float4], m: &mut [Node], counts: &mut [u32]) {
        let points = Lds::<Float4, 64>::new();
        let nodes = Lds::<Node, 64>::new();
        let found = Lds::<bool, 2>::new();
        let plane = Lds::<[[u32; 2]; 3], 2>::new();
        let stack = Private::<Node, 4>::new();
        let dynamic = LdsSlice::<Float4>::dynamic(64);
        let i = local_id().x;
        points[i] = p[i];
        nodes[i] = n[i];
        if i < 2 {
            found[i] = false;
            plane[i] = [[i, i + 1], [i + 2, i + 3], [i + 4, i + 5]];
        }
        dynamic[i] = Float4 { x: 1.0, y: 2.0, z: 3.0, w: i as f32 };
        barrier();
        nodes[i].at[1] = 9.0;
        nodes[i].tag += 1;
        points[i].w *= 2.0;
        dynamic[i].x += 5.0;
        if n[i].key == 7 { found[1] = true; }
        barrier();
        let mut top = 0;
        for k in 0..3u32 {
            stack[top] = nodes[(i + k) % 64];
            stack[top].key += k;
            top += 1;
        }
        let mut sum = 0;
        while top > 0 {
            top -= 1;
            sum += weight(stack[top]);
        }
        if found[1] && !found[0] { sum += 1000; }
        counts[i] = sum + plane[1][2][i % 2];
        m[i] = nodes[63 - i];
        let (s, d) = (points[63 - i], dynamic[63 - i]);
        q[i] = Float4 { x: s.x + d.x, y: s.y + d.y, z: s.z + d.z, w: s.w + d.w };
    }
}

#[test]
fn shared_memory_holds_structs() {
    let point = |i: usize| Float4 { x: i as f32, y: 2.0, z: -1.0, w: i as f32 * 0.5 };
    let node = |i: usize| Node {
        key: (i * 7 % 64) as u32,
        flag: i.is_multiple_of(3),
        tag: 250 + (i % 6) as u8,
        pair: [i as i16, -(i as i16)],
        at: [1.0, 2.0, i as f32],
    };
    let (p, n): (Vec<Float4>, Vec<Node>) = ((0..64).map(point).collect(), (0..64).map(node).collect());
    let changed = |i: usize| {
        let mut node = node(i % 64);
        node.at[1] = 9.0;
        node.tag = node.tag.wrapping_add(1);
        node
    };
    for target in Target::REPRESENTATIVES {
        let (mut q, mut m, mut counts) = (p.clone(), n.clone(), [0; 64]);
        let grid = Grid::x(1).with_dynamic_lds(64 * 16);
        structs
            .launch(&Device::simulator(target), grid, (&p, &n, &mut q, &mut m, &mut counts))
            .expect("it runs");
        for i in 0..64 {
            let j = 63 - i;
            assert_eq!(m[i], changed(j), "{target}, {i}");
            let expected = Float4 { x: j as f32 + 6.0, y: 4.0, z: 2.0, w: 2.0 * j as f32 };
            assert_eq!(q[i], expected, "{target}, {i}");
            let of = |k: usize| changed(i + k).key + k as u32 + u32::from(changed(i + k).tag);
            let sum: u32 = (0..3).map(of).sum();
            assert_eq!(counts[i], sum + 1000 + 5 + i as u32 % 2, "{target}, {i}");
        }
    }
}

/// A struct of 16 bytes is moved by one instruction, as in clang's code for a `float4`.
#[test]
fn neighbouring_fields_move_together() {
    let text = structs.build(Target::GFX942).expect("it builds").assembly(Comments::None);
    for moved in ["ds_write_b128", "ds_read_b128"] {
        assert!(text.contains(moved), "{moved}");
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(Debug, PartialEq)]
    struct Item {
        s: f32,
        i: u32,
    }

    #[device]
    #[repr(C)]
    #[derive(Debug, PartialEq)]
    struct Grid3 {
        v: [[f32; 2]; 2],
        of: Item,
        n: u32,
    }

    #[device]
    fn picked(x: &[f32], t: V<u32>) -> V<Item> {
        if t < x.len() { Item { s: x[t], i: t } } else { Item { s: 0.5, i: 7 } }
    }

    #[device]
    fn numbered(c: V<bool>) -> V<Item> {
        if c {
            return Item { s: 1.0, i: 2 };
        }
        if c { Item { s: 9.0, i: 9 } } else { Item { s: 2.0, i: 3 } }
    }

    #[workgroup(64)]
    fn largest(x: &[f32], n: u32, whole: &mut [Item], fields: &mut [Item], others: &mut [Item]) {
        let t = global_id().x;
        let mut best = Item { s: f32::NEG_INFINITY, i: 0 };
        let mut other = Item { s: f32::NEG_INFINITY, i: 0 };
        let mut count = Item { s: 0.5, i: 0 };
        for j in 0..n {
            let v = x[j * 64 + t];
            if v > best.s {
                best = Item { s: v, i: j };
            }
            if v > other.s {
                other.s = v;
                other.i = j;
            }
            count.i += 1;
            count.s += v;
        }
        // A field that nothing makes varying stays uniform.
        for _ in 0..count.i {
            barrier();
        }
        whole[t] = best;
        fields[t] = other;
        let known: V<Item> = if t < 3 { Item { s: 4.0, i: t } } else { Item { s: count.s, i: 1 } };
        let of_case = match n {
            3 => picked(x, t),
            5 => Item { s: 1.0, i: 2 },
            _ => numbered(t < 9),
        };
        others[t] = known;
        others[t + 64] = of_case;
        others[t + 128] = numbered(t < 9);
    }

    #[workgroup(64)]
    fn arrays(x: &[Grid3], out: &mut [Grid3]) {
        let i = global_id().x;
        let mut rows = x[i].v;
        let mut row = x[i].v[1];
        let mut all = x[0];
        let mut own = x[i];
        for k in 0..2 {
            rows[k][1] += x[i + 1].v[k][0];
            row[k] *= 2.0;
        }
        if x[i].n > 40 {
            all.v[1][0] = 3.0;
            all.n += i;
            all.of.i = i;
            own = Grid3 { v: [[1.0, 2.0], [3.0, 4.0]], of: Item { s: 1.0, i: 1 }, n: 2 };
        }
        own.v[0] = row;
        let joined = if x[i].n > 20 { own } else { Grid3 { v: rows, of: Item { s: 2.0, i: 0 }, n: 3 } };
        let of_memory = if x[i].n > 30 { Grid3 { v: [[5.0; 2]; 2], of: Item { s: 1.0, i: 1 }, n: 2 } } else { x[i] };
        out[i] = joined;
        out[i + 64] = all;
        out[i + 128] = of_memory;
    }
}

#[test]
fn literals_in_structs_become_what_the_other_values_are() {
    let n = 5;
    let x: Vec<f32> = (0..64 * n).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
    for target in [Target::GFX906, Target::GFX942, Target::GFX1100] {
        let device = Device::simulator(target);
        let blank = Item { s: 0.0, i: 0 };
        let (mut whole, mut fields, mut others) = (vec![blank; 64], vec![blank; 64], vec![blank; 192]);
        let args = (&x, n as u32, &mut whole, &mut fields, &mut others);
        largest.launch(&device, Grid::x(1), args).unwrap();
        for t in 0..64 {
            let mut best = Item { s: f32::NEG_INFINITY, i: 0 };
            let mut sum = 0.5;
            for j in 0..n {
                let v = x[j * 64 + t];
                if v > best.s {
                    best = Item { s: v, i: j as u32 };
                }
                sum += v;
            }
            assert_eq!((whole[t], fields[t]), (best, best), "{t} on {target}");
            let known = if t < 3 { Item { s: 4.0, i: t as u32 } } else { Item { s: sum, i: 1 } };
            let numbered = if t < 9 { Item { s: 1.0, i: 2 } } else { Item { s: 2.0, i: 3 } };
            let of_case = Item { s: 1.0, i: 2 };
            assert_eq!(
                [others[t], others[t + 64], others[t + 128]],
                [known, of_case, numbered],
                "{t} on {target}"
            );
        }
    }
}

#[test]
fn arrays_and_structs_of_memory_become_variables() {
    let x: Vec<Grid3> = (0..65u32)
        .map(|i| {
            let f = i as f32;
            Grid3 { v: [[f, f + 0.25], [f + 0.5, f * 2.0]], of: Item { s: f, i: i + 3 }, n: i * 7 % 64 }
        })
        .collect();
    for target in [Target::GFX906, Target::GFX942, Target::GFX1100] {
        let device = Device::simulator(target);
        let mut out = vec![x[0]; 192];
        arrays.launch(&device, Grid::x(1), (&x, &mut out)).unwrap();
        for i in 0..64 {
            let (mut rows, mut row, mut all, mut own) = (x[i].v, x[i].v[1], x[0], x[i]);
            for k in 0..2 {
                rows[k][1] += x[i + 1].v[k][0];
                row[k] *= 2.0;
            }
            if x[i].n > 40 {
                all.v[1][0] = 3.0;
                all.n += i as u32;
                all.of.i = i as u32;
                own = Grid3 { v: [[1.0, 2.0], [3.0, 4.0]], of: Item { s: 1.0, i: 1 }, n: 2 };
            }
            own.v[0] = row;
            let joined = if x[i].n > 20 { own } else { Grid3 { v: rows, of: Item { s: 2.0, i: 0 }, n: 3 } };
            let five = Grid3 { v: [[5.0; 2]; 2], of: Item { s: 1.0, i: 1 }, n: 2 };
            let of_memory = if x[i].n > 30 { five } else { x[i] };
            assert_eq!([out[i], out[i + 64], out[i + 128]], [joined, all, of_memory], "{i} on {target}");
        }
    }
}
