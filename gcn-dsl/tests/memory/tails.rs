//! Wide accesses to narrow elements at the end of a slice. Elements that exist are moved; elements that do not exist
//! are loaded as 0 and are not written. Tested for every element type, width, length, position and target.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;
/// The number of lanes that may have elements; the others have none.
const LANES: usize = 8;

/// The bytes in memory, none of which is 0.
fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| 1 + ((i * 37 + seed * 101) % 255) as u8).collect()
}

/// The expected memory after a copy of `n` elements of `size` bytes for each lane.
fn copied(x: &[u8], y: &[u8], size: usize, n: usize, from: usize, to: usize) -> Vec<u8> {
    let mut after = y.to_vec();
    for lane in 0..LANES {
        for element in 0..n {
            let (from, to) = ((from + lane * n + element) * size, (to + lane * n + element) * size);
            if let Some(place) = after.get_mut(to..to + size) {
                place.fill(0);
                if let Some(element) = x.get(from..from + size) {
                    place.copy_from_slice(element);
                }
            }
        }
    }
    after
}

/// A module of kernels for an element type and a width, each of which copies from `x` to `y`.
macro_rules! copies {
    ($($name:ident $ty:ident $n:literal)*) => {$(
        mod $name {
            use super::*;

            gcn_kernel! {
                /// Copies at any position.
                #[workgroup(64)]
                fn anywhere(x: &[$ty], y: &mut [$ty], from: u32, to: u32) {
                    let i = lane_id() * $n;
                    if lane_id() < 8 {
                        y.store_vector(i + to, x.load_vector::<$n>(i + from));
                    }
                }
            }

            gcn_kernel! {
                /// Copies at multiples of the width, which the compiler knows.
                #[workgroup(64)]
                fn aligned(x: &[$ty], y: &mut [$ty]) {
                    let i = lane_id() * $n;
                    if lane_id() < 8 {
                        y.store_vector(i, x.load_vector::<$n>(i));
                    }
                }
            }

            /// Also on gfx1250, whose resources have their size elsewhere.
            #[test]
            fn elements_that_exist_are_moved_and_no_others() {
                let size = size_of::<$ty>();
                let elements = |bytes: &[u8]| -> Vec<$ty> {
                    bytes.chunks(size).map(|c| Element::from_memory(c)).collect()
                };
                let memory = |elements: &[$ty]| -> Vec<u8> { elements.iter().flat_map(|e| e.memory()).collect() };
                for target in TARGETS.into_iter().chain([Target::GFX1250]) {
                    let device = Device::simulator(target);
                    let (any, known) = (anywhere.build(target).unwrap(), aligned.build(target).unwrap());
                    let whole = LANES * $n;
                    for length in [0, 1, 2, 3, 5, 7, $n - 1, $n, $n + 1, $n + 2, $n + 3, whole - 3, whole - 1, whole, whole + 5] {
                        for other in [length, length + 1, 9] {
                            let (x, y) = (bytes(length * size, 1), bytes(other * size, 2));
                            let (from, mut to) = (elements(&x), elements(&y));
                            device.launch(&aligned, &known, Grid::x(1), (&from, &mut to)).unwrap();
                            let expected = copied(&x, &y, size, $n, 0, 0);
                            assert_eq!(memory(&to), expected, "{target}: {length} elements to {other}");
                            let [at, put] = [(length + other) % 5, (length * 3 + other) % 7];
                            let mut to = elements(&y);
                            device.launch(&anywhere, &any, Grid::x(1), (&from, &mut to, at as u32, put as u32)).unwrap();
                            let expected = copied(&x, &y, size, $n, at, put);
                            assert_eq!(memory(&to), expected, "{target}: {length} from {at} to {other} at {put}");
                        }
                    }
                }
            }
        }
    )*};
}
copies! {
    u8x4 u8 4
    i8x8 i8 8
    f8x12 f8e4m3 12
    i8x16 i8 16
    f16x2 f16 2
    bf16x4 bf16 4
    i16x6 i16 6
    f16x8 f16 8
    u16x8 u16 8
}

/// Conversions between an element and its bytes in memory.
trait Element: Sized {
    fn from_memory(bytes: &[u8]) -> Self;
    fn memory(&self) -> Vec<u8>;
}

macro_rules! elements {
    ($($ty:ident $from:expr, $bits:expr;)*) => {$(
        impl Element for $ty {
            fn from_memory(bytes: &[u8]) -> Self {
                $from(bytes.try_into().unwrap())
            }
            fn memory(&self) -> Vec<u8> {
                $bits(*self).to_le_bytes().to_vec()
            }
        }
    )*};
}
elements! {
    u8 u8::from_le_bytes, u8::from;
    i8 i8::from_le_bytes, i8::from;
    u16 u16::from_le_bytes, u16::from;
    i16 i16::from_le_bytes, i16::from;
    f16 f16::from_le_bytes, f16::to_bits;
    bf16 bf16::from_le_bytes, bf16::to_bits;
    f8e4m3 |b: [u8; 1]| f8e4m3::from_bits(b[0]), f8e4m3::to_bits;
}

gcn_kernel! {
    /// The guide's example: in place, with an odd length.
    #[workgroup(64)]
    fn haxpy(a: f16, x: &[f16], y: &mut [f16]) {
        let i = global_id().x * 8;
        let (p, q) = (x.load_vector::<8>(i), y.load_vector::<8>(i));
        y.store_vector(i, p.mul_add(Vector::splat(a), q));
    }
}

#[test]
fn the_last_element_of_an_odd_length() {
    let number = |n: usize| f16::from_f32(n as f32);
    for target in TARGETS {
        for length in 1..40 {
            let x: Vec<f16> = (0..length).map(number).collect();
            let mut y: Vec<f16> = (0..length).map(|i| number(i + 1)).collect();
            haxpy.launch(&Device::simulator(target), Grid::x(1), (number(2), &x, &mut y)).unwrap();
            let expected: Vec<f16> = (0..length).map(|i| number(3 * i + 1)).collect();
            assert_eq!(y, expected, "{target}: {length}");
        }
    }
}

gcn_kernel! {
    /// Loads in flight in a manual schedule. The instructions that complete them come after the wait.
    #[workgroup(64)]
    #[schedule(manual)]
    fn in_flight(x: &[f16], y: &[u8], out: &mut [u32]) {
        let i = lane_id();
        let (a, b) = (x.load_vector_async::<8>(i * 8), y.load_vector_async::<8>(i * 8 + 1));
        let a = wait(a);
        let b = wait(b);
        let mut sum: V<u32> = 0;
        #[unroll] for k in 0..8 {
            sum += (a.get(k) as u32) + (b.get(k) as u32) * 1000;
        }
        out[i] = sum;
    }
}

#[test]
fn loads_in_flight_are_completed_after_their_wait() {
    for target in TARGETS {
        let built = in_flight.build(target).unwrap();
        let text = built.assembly(Comments::None);
        let load = |text: &str| text.rfind("buffer_load_dwordx").unwrap();
        let selected = text.find("v_cndmask").unwrap();
        assert!(load(&text) < selected, "a load waits for the one before it:\n{text}");
        for length in [1, 8, 9, 33, 511] {
            let x: Vec<f16> = (0..length).map(|i| f16::from_f32((i % 7 + 1) as f32)).collect();
            let y: Vec<u8> = (0..length).map(|i| (i % 11 + 1) as u8).collect();
            let mut out = vec![0u32; 64];
            let device = Device::simulator(target);
            device.launch(&in_flight, &built, Grid::x(1), (&x, &y, &mut out)).unwrap();
            let expected: Vec<u32> = (0..64)
                .map(|lane| {
                    let a = (lane * 8..lane * 8 + 8).map(|i| if i < length { i as u32 % 7 + 1 } else { 0 });
                    let b =
                        (lane * 8 + 1..lane * 8 + 9).map(|i| if i < length { i as u32 % 11 + 1 } else { 0 });
                    a.sum::<u32>() + 1000 * b.sum::<u32>()
                })
                .collect();
            assert_eq!(out, expected, "{target}: {length}");
        }
    }
}

gcn_kernel! {
    /// With cache hints, and in a pipelined loop.
    #[workgroup(64)]
    fn hinted(x: &[i16], n: u32, y: &mut [i16]) {
        let lane = lane_id() * 2;
        let mut sum = i16x2::splat(0);
        #[pipeline(stages = 2)] for k in 0..n {
            sum += x.load_vector::<2>(lane + k * 128);
        }
        sum += x.load_vector_with::<2>(lane, Cache::Streaming);
        y.store_vector_with::<2>(lane, sum, Cache::Bypass);
    }
}

#[test]
fn loops_and_hints() {
    for target in TARGETS {
        for length in [1usize, 127, 128, 129, 383, 385] {
            let x: Vec<i16> = (0..length).map(|i| (i % 91 + 1) as i16).collect();
            let mut y = vec![0i16; 127];
            hinted.launch(&Device::simulator(target), Grid::x(1), (&x, 4, &mut y)).unwrap();
            let at = |i: usize| x.get(i).copied().unwrap_or(0);
            let expected: Vec<i16> =
                (0..127).map(|i| (0..4).map(|k| at(i + 128 * k)).sum::<i16>() + at(i)).collect();
            assert_eq!(y, expected, "{target}: {length}");
        }
    }
}

gcn_kernel! {
    /// Matrix loads and stores move whole dwords.
    #[workgroup(64)]
    #[targets(HasMfma)]
    fn matrix(a: &[f16], b: &[f16], c: &mut [f32]) {
        let left = TileA::<f16, 32, 8>::load(row_major(a, 8), 0, 0);
        let right = TileB::<f16, 8, 32>::load(col_major(b, 8), 0, 0);
        matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

#[test]
fn matrices_refuse_a_partial_dword() {
    let device = Device::simulator(Target::GFX942);
    let built = matrix.build(Target::GFX942).unwrap();
    assert!(!built.assembly(Comments::None).contains("short"), "no instructions for the last element");
    let (a, mut c) = (vec![f16::ONE; 256], vec![0.0; 1024]);
    device.launch(&matrix, &built, Grid::x(1), (&a, &a, &mut c)).unwrap();
    assert_eq!(c, [8.0; 1024]);
    let error = device.launch(&matrix, &built, Grid::x(1), (&a, &a[..255], &mut c)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `matrix`, argument `b`: 255 elements of `f16` do not end with a whole dword, as matrix loads and stores and \
         `assume_whole_dwords` ask for; make the length a multiple of 2"
    );
}
