//! Structs with private memory or LDS as fields: buffers that methods with `&mut self` fill.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX900, Target::GFX90A, Target::GFX950];

gcn_kernel! {
    /// Sums bytes in blocks of eight, as hash functions do.
    #[device]
    struct Hasher {
        data: Private<u8, 8>,
        state: [V<u32>; 2],
        len: V<u32>,
    }

    #[device]
    impl Hasher {
        fn new() -> Hasher {
            Hasher { data: Private::new(), state: [1, 7], len: 0 }
        }

        fn update(&mut self, byte: V<u32>) {
            self.data[self.len] = byte as u8;
            self.len += 1;
            if self.len == 8 {
                self.transform();
                self.len = 0;
            }
        }

        fn transform(&mut self) {
            let [mut a, mut b] = self.state;
            for k in 0..8 {
                a = a.rotate_left(5) + self.data[k] as u32;
                b ^= a;
            }
            self.state[0] += a;
            self.state[1] = b;
        }

        fn finish(&mut self) -> V<u32> {
            self.data[self.len] = 0x80;
            self.len += 1;
            while self.len < 8 {
                self.data[self.len] = 0;
                self.len += 1;
            }
            self.data[0] ^= 3;
            self.transform();
            self.state[0] ^ self.state[1]
        }
    }

    /// Each lane has a line of text of `len` bytes.
    #[workgroup(64)]
    fn hash(text: &[u8], len: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut hasher = Hasher::new();
        for k in 0..len[i] {
            hasher.update(text[i * 32 + k] as u32);
        }
        y[i] = hasher.finish();
    }
}

struct Host {
    data: [u8; 8],
    state: [u32; 2],
    len: usize,
}

impl Host {
    fn update(&mut self, byte: u8) {
        self.data[self.len] = byte;
        self.len += 1;
        if self.len == 8 {
            self.transform();
            self.len = 0;
        }
    }
    fn transform(&mut self) {
        let [mut a, mut b] = self.state;
        for byte in self.data {
            a = a.rotate_left(5).wrapping_add(byte.into());
            b ^= a;
        }
        self.state = [self.state[0].wrapping_add(a), b];
    }
    fn finish(mut self) -> u32 {
        self.data[self.len] = 0x80;
        self.data[self.len + 1..].fill(0);
        self.data[0] ^= 3;
        self.transform();
        self.state[0] ^ self.state[1]
    }
}

#[test]
fn methods_fill_a_buffer_of_their_own() {
    let text: Vec<u8> = (0..64 * 32).map(|i| (i * 7 + i / 32) as u8).collect();
    let len: Vec<u32> = (0..64).map(|i| i * 11 % 32).collect();
    for target in TARGETS {
        let mut y = vec![0; 64];
        hash.launch(&Device::simulator(target), Grid::x(1), (&text, &len, &mut y)).unwrap();
        for i in 0..64 {
            let mut host = Host { data: [0; 8], state: [1, 7], len: 0 };
            text[i * 32..][..len[i] as usize].iter().for_each(|byte| host.update(*byte));
            assert_eq!(y[i], host.finish(), "{target} {i}");
        }
    }
}

gcn_kernel! {
    #[device]
    struct Histogram<const N: usize> {
        bins: Lds<u32, N>,
        own: Private<f32, 4>,
        seen: V<u32>,
    }

    #[device]
    impl<const N: usize> Histogram<N> {
        fn count(&mut self, value: V<u32>) {
            self.bins.atomic(value % N as u32).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
            self.own[value & 3] += 0.5;
            self.seen += 1;
        }

        fn total(self) -> V<f32> {
            self.own[0] + self.own[1] + self.own[2] + self.own[3]
        }
    }

    #[workgroup(64)]
    fn count(x: &[u32], bins: &mut [u32], totals: &mut [f32]) {
        let i = local_id().x;
        let mut histogram = Histogram::<16> { bins: Lds::new(), own: Private::filled(0.0), seen: 0 };
        if i < 16 {
            histogram.bins[i] = 0;
        }
        barrier();
        for k in 0..3 {
            if x[i * 3 + k] != 5 {
                histogram.count(x[i * 3 + k]);
            }
        }
        barrier();
        if i < 16 {
            bins[i] = histogram.bins[i];
        }
        totals[i] = histogram.total() * 2.0 + (histogram.seen * 100) as f32;
    }
}

#[test]
fn a_struct_has_the_workgroups_memory() {
    let x: Vec<u32> = (0..192).map(|i| i * i % 37).collect();
    for target in TARGETS {
        let (mut bins, mut totals) = (vec![9; 16], vec![0.0; 64]);
        count.launch(&Device::simulator(target), Grid::x(1), (&x, &mut bins, &mut totals)).unwrap();
        let mut expected = vec![0; 16];
        x.iter().filter(|x| **x != 5).for_each(|x| expected[*x as usize % 16] += 1);
        assert_eq!(bins, expected, "{target}");
        for i in 0..64 {
            let seen = x[i * 3..][..3].iter().filter(|x| **x != 5).count();
            assert_eq!(totals[i], seen as f32 * 101.0, "{target} {i}");
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn another(y: &mut [u32], n: u32) {
        let mut hasher = Hasher::new();
        if n > 3 {
            hasher = Hasher::new();
        }
        y[0] = (&mut hasher).finish();
    }
}

/// A variable denotes the same array for its whole lifetime.
#[test]
fn a_variable_cannot_mean_another_array() {
    let error = another.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("assign its elements") && error.contains("memory_fields.rs"), "{error}");
}

gcn_kernel! {
    #[device]
    struct Own {
        data: Private<u32, 4>,
        count: V<u32>,
    }

    /// It is unknown which of two arrays the variable denotes, so a store would have to write to both.
    #[workgroup(64)]
    fn chosen_array(y: &mut [u32]) {
        let i = global_id().x;
        let mut own = [Own { data: Private::filled(0), count: 0 }, Own { data: Private::filled(1), count: 0 }];
        own[i % 2].count += 1;
        own[i % 2].data[1] = 7;
        y[i] = own[0].data[1] + own[1].count;
    }
}

#[test]
fn an_array_that_is_not_known_is_not_written() {
    let error = chosen_array.build(Target::GFX942).unwrap_err().to_string();
    assert!(
        error.contains("these structs hold different memory: keep the memory outside of them"),
        "{error}"
    );
}
