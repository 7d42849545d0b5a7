//! Targets of writes in a loop or a call: elements of arrays by `iter_mut`, variables by `&mut self` methods that
//! another `gcn_kernel!` declares, private memory by `&mut`. The reference is plain Rust.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 2] = [Target::GFX906, Target::GFX942];

mod random {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Rng {
            pub state: V<u32>,
            pub calls: u32,
        }

        #[device]
        impl Rng {
            pub fn next(&mut self) -> V<u32> {
                self.state = self.state * 747796405 + 1;
                self.state
            }
            pub fn count(&mut self) -> u32 {
                self.calls += 1;
                self.calls
            }
            pub fn peek(&self) -> V<u32> {
                self.state
            }
        }

        #[device]
        pub trait Source {
            fn draw(&mut self) -> V<u32>;
        }

        #[device]
        impl Source for Rng {
            fn draw(&mut self) -> V<u32> {
                self.next() + 1
            }
        }
    }
}
use random::Source;

gcn_kernel! {
    #[device]
    struct Holder {
        rng: random::Rng,
        sum: V<u32>,
    }

    #[device]
    fn twice(rng: &mut random::Rng) -> V<u32> {
        rng.next() + rng.next()
    }

    #[device]
    fn any_source<R: Source>(rng: &mut R) -> V<u32> {
        rng.draw() + rng.draw()
    }

    #[workgroup(64)]
    fn methods(often: u32, y: &mut [u32]) {
        let i = global_id().x;
        let mut rng = random::Rng { state: i, calls: 0 };
        let first = rng.next();
        let mut holder = Holder { rng, sum: 0 };
        for _ in 0..often {
            holder.sum += holder.rng.next();
            holder.sum += holder.rng.peek();
        }
        let calls = holder.rng.count() + holder.rng.count();
        y[i] = first + holder.sum + twice(&mut holder.rng) + any_source(&mut rng) + rng.next() + calls;
    }

    #[workgroup(64)]
    fn elements(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut all: [u32; 4] = [1, 2, 3, 4];
        for (k, e) in all.iter_mut().enumerate() {
            *e += x[i] * k as u32;
        }
        for e in &mut all {
            *e *= 2;
            if i % 5 == 0 {
                *e += 1;
            }
        }
        let mut before = 0;
        for e in all.iter_mut() {
            let own = *e;
            *e = before;
            before += own;
        }
        for k in 0..4 {
            y[i * 4 + k] = all[k];
        }
    }

    #[device]
    fn fill(own: &mut Private<u32, 8>, shared: &mut Lds<u32, 64>, x: V<u32>) {
        for k in 0..8 {
            own[k] = x + k;
        }
        shared[lane_id()] = x;
    }

    #[workgroup(64)]
    fn memory(y: &mut [u32]) {
        let i = global_id().x;
        let mut own = Private::<u32, 8>::new();
        let mut shared = Lds::<u32, 64>::new();
        fill(&mut own, &mut shared, i * 10);
        barrier();
        y[i] = own[i % 8] + shared[63 - lane_id()];
    }
}

fn next(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(747_796_405).wrapping_add(1);
    *state
}

#[test]
fn methods_of_another_macro_change_variables() {
    for target in TARGETS {
        let mut y = vec![0; 64];
        methods.launch(&Device::simulator(target), Grid::x(1), (2, &mut y)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let mut rng = i as u32;
            let mut terms = vec![next(&mut rng)];
            let mut held = rng;
            for _ in 0..2 {
                terms.extend([next(&mut held), held]);
            }
            terms.extend([next(&mut held), next(&mut held)]);
            terms.extend([next(&mut rng) + 1, next(&mut rng) + 1, next(&mut rng), 1 + 2]);
            assert_eq!(*y, terms.iter().fold(0, |a: u32, b| a.wrapping_add(*b)), "{target} {i}");
        }
    }
}

#[test]
fn iterators_over_places() {
    let x: Vec<u32> = (0..64).map(|i| i * 7 % 13).collect();
    for target in TARGETS {
        let mut y = vec![0; 256];
        elements.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        for (i, y) in y.chunks(4).enumerate() {
            let mut all = [1, 2, 3, 4];
            for (k, e) in all.iter_mut().enumerate() {
                *e += x[i] * k as u32;
            }
            for e in &mut all {
                *e *= 2;
                if i % 5 == 0 {
                    *e += 1;
                }
            }
            let mut before = 0;
            for e in &mut all {
                (*e, before) = (before, before + *e);
            }
            assert_eq!(y, all, "{target} {i}");
        }
    }
}

#[test]
fn memory_is_lent() {
    for target in TARGETS {
        let mut y = vec![0; 64];
        memory.launch(&Device::simulator(target), Grid::x(1), (&mut y,)).unwrap();
        assert_eq!(y, (0..64).map(|i| i * 10 + i % 8 + (63 - i) * 10).collect::<Vec<u32>>(), "{target}");
    }
}
