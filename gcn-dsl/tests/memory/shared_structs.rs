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
