//! Lines as people port them from CUDA: numbers and constants first, names for numbers, pointers in variables, fields
//! and parameters, and destructured array elements.

use gcn_dsl::prelude::*;

const SEED: u32 = 0xD251_1F53;

gcn_kernel! {
    #[workgroup(64)]
    fn numbers_first(x: &[i32], y: &mut [i32], high: &mut [u32]) {
        let i = local_id().x;
        let low = 0.max(x[i]);
        let limited = 15.min((low + 1) as u8);
        y[i] = low + (-3).max(x[i] - 40) + limited as i32 + 1.max(i as i32 * 2 - 5);
        high[i] = SEED.mul_hi(i * 0x9e37_79b9) + 5.mul_hi(i);
    }

    /// The names denote numbers whose type follows from the uses of the variables.
    #[workgroup(64)]
    fn names_of_numbers(x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 64>::new();
        let i = local_id().x;
        let size = 64;
        let eps = 0.5;
        tile[i] = x[i];
        barrier();
        let mut half = size / 2;
        while half >= 2 {
            if i < half {
                tile[i] = tile[i] + tile[i + half];
            }
            barrier();
            half >>= 1;
        }
        let mut sum = eps;
        for k in 0..size {
            sum += tile[k];
        }
        y[i] = sum;
    }

    #[workgroup(64)]
    fn taken_apart(points: &[[f32; 3]], y: &mut [f32]) {
        let i = global_id().x;
        let [x, y0, z] = points[i];
        let [a, ..] = points[0];
        let [mut sum, other] = [x, y0];
        sum += other;
        let p;
        let q;
        [p, _, q] = points[i];
        y[i] = sum + z + a + p * q;
    }
}

#[test]
fn a_number_or_a_constant_may_come_first() {
    let x: Vec<i32> = (0..64).map(|i| i - 20).collect();
    let (mut y, mut high) = (vec![0; 64], vec![0; 64]);
    numbers_first.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut y, &mut high)).unwrap();
    for (i, x) in x.into_iter().enumerate() {
        let low = 0.max(x);
        let limited = 15.min((low + 1) as u8);
        assert_eq!(y[i], low + (-3).max(x - 40) + i32::from(limited) + 1.max(i as i32 * 2 - 5));
        let product = u64::from(SEED) * u64::from((i as u32).wrapping_mul(0x9e37_79b9));
        assert_eq!(high[i], (product >> 32) as u32);
    }
}

#[test]
fn a_name_of_a_number_takes_the_type_of_its_uses() {
    let x: Vec<f32> = (0..64).map(|i| (i % 5) as f32).collect();
    let mut y = vec![0.0; 64];
    names_of_numbers.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&x, &mut y)).unwrap();
    let mut tile = x;
    for half in [32, 16, 8, 4, 2] {
        (0..half).for_each(|i| tile[i] += tile[i + half]);
    }
    assert_eq!(y, [0.5 + tile.iter().sum::<f32>(); 64]);
}

#[test]
fn an_element_that_is_an_array_is_taken_apart() {
    let points: Vec<[f32; 3]> = (0..64).map(|i| [i as f32, 0.5, 2.0 * i as f32]).collect();
    let mut y = vec![0.0; 64];
    taken_apart.launch(&Device::simulator(Target::GFX906), Grid::x(1), (&points, &mut y)).unwrap();
    for (y, [a, b, c]) in y.into_iter().zip(points) {
        assert_eq!(y, a + b + c + a * c);
    }
}

gcn_kernel! {
    #[device]
    struct Row {
        from: *const f32,
        to: *mut f32,
        stride: u32,
    }

    #[device]
    impl Row {
        fn double(&self, i: V<u32>) {
            self.to[i * self.stride] = self.from[i] * 2.0;
        }
    }

    /// A pointer of each lane.
    #[device]
    fn sum_of(p: V<*const f32>, n: u32) -> V<f32> {
        let mut sum = 0.0;
        for k in 0..n {
            sum += p[k];
        }
        sum + unsafe { *p }
    }

    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    struct Cell {
        n: u32,
        m: [u32; 2],
    }

    /// Parts of a struct through a pointer in a variable.
    #[workgroup(64)]
    fn parts(cells: *mut Cell) {
        let mut p = cells;
        p = p.add(lane_id());
        p[0].n += 7;
        p[64].m[1] = lane_id();
        p[64].m[lane_id() & 1] += 2;
    }

    #[workgroup(64)]
    fn pointers(x: *const f32, y: *mut f32, odd: bool) {
        let i = local_id().x;
        let from: *const f32;
        if i % 2 == 0 {
            from = x.add(i);
        } else {
            from = x.add(128);
        }
        let mut to = y;
        to = to.add(i * 2);
        to[0] = unsafe { *from };
        to[i & 1] += 1.0;
        let mut all = y;
        if odd {
            all = all.add(128);
        }
        all[i] = sum_of(x.add(i), 4) + sum_of(x, 2);
        let row = Row { from: x, to: y.add(256), stride: 3 };
        row.double(i);
    }
}

#[test]
fn parts_of_structs_are_written_through_pointers_in_variables() {
    let device = Device::simulator(Target::GFX90A);
    let cells = device.upload(&[Cell { n: 1, m: [2, 3] }; 128]).unwrap();
    parts.launch(&device, Grid::x(1), (cells.as_ptr(),)).unwrap();
    let cells = cells.to_vec().unwrap();
    for i in 0..64u32 {
        assert_eq!(cells[i as usize], Cell { n: 8, m: [2, 3] });
        let mut m = [2, i];
        m[(i & 1) as usize] += 2;
        assert_eq!(cells[64 + i as usize], Cell { n: 1, m });
    }
}

#[test]
fn pointers_are_in_variables_fields_and_parameters() {
    let device = Device::simulator(Target::GFX942);
    let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let (from, to) = (device.upload(&x).unwrap(), device.upload(&[0.0f32; 512]).unwrap());
    let bytes: DevicePtr<u8> = from.as_ptr().cast();
    assert_eq!(bytes.address(), from.as_ptr().address());
    pointers.launch(&device, Grid::x(1), (from.as_ptr(), to.as_ptr(), true)).unwrap();
    let y = to.to_vec().unwrap();
    for i in 0..64 {
        let own = if i % 2 == 0 { x[i] } else { 128.0 };
        assert_eq!((y[2 * i], y[2 * i + 1]), if i % 2 == 0 { (own + 1.0, 0.0) } else { (own, 1.0) });
        let sum: f32 = x[i..i + 4].iter().sum();
        assert_eq!(y[128 + i], sum + x[i] + x[0] + x[1] + x[0]);
        assert_eq!(y[256 + 3 * i], 2.0 * x[i]);
    }
}

const OPPOSITE: [usize; 4] = [2, 3, 0, 1];
const FAR: [usize; 100] = {
    let mut table = [0; 100];
    let mut k = 0;
    while k < 100 {
        table[k] = k * 37 % 64;
        k += 1;
    }
    table
};

gcn_kernel! {
    #[device]
    #[derive(Clone, Copy)]
    struct Vec3 { x: V<f32>, y: V<f32>, z: V<f32> }

    #[device]
    impl std::ops::AddAssign for Vec3 {
        fn add_assign(&mut self, o: Vec3) {
            self.x += o.x;
            self.y += o.y;
            self.z += o.z;
        }
    }

    #[device]
    impl std::ops::MulAssign<V<f32>> for Vec3 {
        fn mul_assign(&mut self, by: V<f32>) {
            let old = *self;
            *self = Vec3 { x: old.x * by, y: old.y * by, z: old.z };
            if self.x > 20.0 { self.x = 20.0; }
        }
    }

    /// An operator for another right operand does not affect the `impl` above, which also serves `v + w`.
    #[device]
    impl std::ops::Add<V<f32>> for Vec3 {
        type Output = Vec3;
        fn add(self, by: V<f32>) -> Vec3 {
            Vec3 { x: self.x + by, y: self.y + by, z: self.z + by }
        }
    }

    #[workgroup(64)]
    fn compound(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let mut v = Vec3 { x: x[i], y: 1.0, z: 2.0 };
        for k in 0..3u32 { v += Vec3 { x: k as f32, y: x[i], z: 0.5 }; }
        v *= x[i];
        v *= 2.0;
        v = v + x[i];
        y[3 * i] = v.x;
        y[3 * i + 1] = v.y;
        y[3 * i + 2] = v.z;
    }

    /// Variables that a pattern takes out of an array of constants, and indices in tables.
    #[workgroup(64)]
    fn rounds(data: &[u32], out: &mut [u32]) {
        let i = local_id().x;
        let first = [1u32, 2, 3, 4];
        let [mut a, mut b, mut c, mut d] = first;
        let mut part = [0u32; 4];
        if data[i] % 2 == 0 {
            for k in 0..4 { part[k] = data[OPPOSITE[k]]; }
        }
        for k in 0..4 {
            let t = d + data[FAR[i] + k as u32] + part[OPPOSITE[k]];
            d = c;
            c = b + t;
            b = a;
            a = t;
        }
        out[i] = a ^ (b << 8) ^ (c << 16) ^ (d << 24) + data[FAR[3 * (i % 16)]];
    }
}

#[test]
fn compound_operators_of_structs_are_written_as_such() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.25).collect();
    let mut y = [0.0; 192];
    compound.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&x, &mut y)).unwrap();
    for (i, x) in x.into_iter().enumerate() {
        let once = ((x + 3.0) * x).min(20.0);
        let product = [(once * 2.0).min(20.0), (1.0 + 3.0 * x) * x * 2.0, 3.5];
        assert_eq!(y[3 * i..3 * i + 3], product.map(|of| of + x));
    }
}

#[test]
fn variables_come_out_of_arrays_and_indices_out_of_tables() {
    let data: Vec<u32> = (0..68u32).map(|i| i * i % 51).collect();
    let mut out = [0; 64];
    rounds.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&data, &mut out)).unwrap();
    for i in 0..64 {
        let [mut a, mut b, mut c, mut d] = [1u32, 2, 3, 4];
        for k in 0..4 {
            let part = if data[i].is_multiple_of(2) { data[OPPOSITE[OPPOSITE[k]]] } else { 0 };
            let t = d + data[FAR[i] + k] + part;
            (d, c, b, a) = (c, b + t, a, t);
        }
        assert_eq!(out[i], a ^ (b << 8) ^ (c << 16) ^ ((d << 24) + data[FAR[3 * (i % 16)]]), "{i}");
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct Complex { re: f32, im: f32 }

    #[device]
    impl Complex {
        fn times(self, o: V<Complex>) -> V<Complex> {
            Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
        }
        fn distance(self, o: V<Complex>) -> V<f32> {
            (self.re - o.re).abs() + (self.im - o.im).abs()
        }
    }

    #[device]
    struct Rng { s: V<u32> }

    #[device]
    impl Rng {
        fn next(&mut self) -> V<f32> {
            self.s ^= self.s << 13;
            self.s ^= self.s >> 17;
            self.s ^= self.s << 5;
            (self.s >> 8) as f32 / 16_777_216.0
        }
        /// Only `return` leaves the loop.
        fn in_circle(&mut self) -> (V<f32>, V<f32>) {
            loop {
                let (x, y) = (self.next() * 2.0 - 1.0, self.next() * 2.0 - 1.0);
                for k in 0..2u32 {
                    if k == 1 { break; }
                }
                if x * x + y * y < 1.0 { return (x, y); }
            }
        }
    }

    #[workgroup(64)]
    fn own_values(z: &mut [Complex], first: Complex, d: &mut [f32], points: &mut [[f32; 2]]) {
        let i = local_id().x;
        let w = z[i];
        z[i] = w.times(z[63 - i]).times(w);
        d[i] = first.distance(w) + w.distance(w);
        let mut rng = Rng { s: i + 1 };
        let (x, y) = rng.in_circle();
        points[i] = [x, y];
    }
}

#[test]
fn methods_take_each_lanes_own_struct_and_loops_end_by_return() {
    let z: Vec<Complex> = (0..64).map(|i| Complex { re: i as f32, im: 2.0 - i as f32 }).collect();
    let (mut out, mut d, mut points) = (z.clone(), [0.0; 64], [[0.0; 2]; 64]);
    let first = Complex { re: 5.0, im: -1.0 };
    let device = Device::simulator(Target::GFX942);
    own_values.launch(&device, Grid::x(1), (&mut out, first, &mut d, &mut points)).unwrap();
    let times = |a: Complex, b: Complex| (a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    for i in 0..64 {
        let (re, im) = times(z[i], z[63 - i]);
        assert_eq!((out[i].re, out[i].im), times(Complex { re, im }, z[i]), "{i}");
        assert_eq!(d[i], (5.0 - z[i].re).abs() + (-1.0 - z[i].im).abs());
        let mut s = i as u32 + 1;
        let mut next = || {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            (s >> 8) as f32 / 16_777_216.0
        };
        let point = loop {
            let point = [next() * 2.0 - 1.0, next() * 2.0 - 1.0];
            if point[0] * point[0] + point[1] * point[1] < 1.0 {
                break point;
            }
        };
        assert_eq!(points[i], point);
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct Pair { a: f32, b: [u32; 2] }

    #[device]
    impl std::ops::Add for Pair {
        type Output = Pair;
        fn add(self, o: Pair) -> Pair {
            Pair { a: self.a + o.a, b: [self.b[0] + o.b[1], self.b[1] ^ o.b[0]] }
        }
    }

    #[device]
    impl std::ops::MulAssign<V<f32>> for Pair {
        fn mul_assign(&mut self, by: V<f32>) {
            self.a *= by;
            self.b[0] += 1;
        }
    }

    #[workgroup(64)]
    fn of_memory(p: &mut [Pair], q: &[Pair], x: &[f32]) {
        let i = local_id().x;
        let (far, near): (V<Pair>, V<Pair>) = (q[63 - i], q[i]);
        let mut sum = p[i] + far;
        sum += near;
        sum *= x[i];
        p[i] = sum;
    }
}

#[test]
fn structs_of_memory_have_operators() {
    let pair = |i: u32| Pair { a: i as f32, b: [i, 2 * i + 1] };
    let (mut p, q): (Vec<Pair>, Vec<Pair>) =
        ((0..64).map(pair).collect(), (0..64).map(|i| pair(i * 3)).collect());
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.5).collect();
    of_memory.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&mut p, &q, &x)).unwrap();
    let add = |s: Pair, o: Pair| Pair { a: s.a + o.a, b: [s.b[0].wrapping_add(o.b[1]), s.b[1] ^ o.b[0]] };
    for i in 0..64 {
        let sum = add(add(pair(i as u32), q[63 - i]), q[i]);
        assert_eq!(p[i], Pair { a: sum.a * x[i], b: [sum.b[0] + 1, sum.b[1]] }, "{i}");
    }
}
