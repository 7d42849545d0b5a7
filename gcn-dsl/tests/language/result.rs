//! `Result` and enums with parameters: the same lines compiled for the device and for the host.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX900, Target::GFX90A, Target::GFX950];

gcn_kernel! {
    #[device]
    enum Fault {
        Empty,
        Large(V<u32>),
    }

    #[device]
    fn at(x: &[u32], i: V<u32>) -> Result<V<u32>, Fault> {
        if i >= x.len() {
            return Err(Fault::Empty);
        }
        match x[i] {
            large @ 90.. => Err(Fault::Large(large)),
            small => Ok(small),
        }
    }

    /// `?` in operands, arguments, branches and loops, also with errors of other types.
    #[device]
    fn walk(x: &[u32], i: V<u32>) -> Result<V<u32>, V<u32>> {
        let code = |fault: Fault| match_fault(fault);
        let first = at(x, i).map_err(code)?;
        let sum = i + at(x, first).map_err(code)? * 2;
        let mut last = i;
        for _ in 0..3 {
            last = match at(x, last).map_err(code)? % 3 {
                0 => at(x, last / 2).map_err(code)?,
                1 => last + 1,
                _ => break,
            };
        }
        let half = sum.checked_div(at(x, 7).map_err(code)? % 4).ok_or(3)?;
        let low = half.checked_sub(last % 8).ok_or_else(|| half + 500)?;
        if low == 13 {
            return Err(4);
        }
        Ok(low)
    }

    #[device]
    fn match_fault(fault: Fault) -> V<u32> {
        match fault {
            Fault::Empty => 1,
            Fault::Large(by) => 1000 + by,
        }
    }

    #[workgroup(64)]
    fn walks(x: &[u32], y: &mut [u32], z: &mut [u32]) {
        let i = global_id().x;
        y[i] = match walk(x, i) {
            Ok(value) => value,
            Err(code) => code + 100_000,
        };
        let found = at(x, i);
        let mut bits: V<u32> = 0;
        if found.is_ok() {
            bits += 1;
        }
        if let Err(Fault::Large(by)) = found {
            bits += by * 8;
        }
        let Ok(small) = found else {
            z[i] = bits;
            return;
        };
        let next = found.and_then(|v| at(x, v + 1)).map(|v| v + 2);
        z[i] = bits + small * 1024 + next.unwrap_or(7) * 256 + found.ok().map_or(0, |v| v & 2);
    }

    #[workgroup(64)]
    fn uniform(n: u32, limit: u32, y: &mut [u32]) {
        let left = n.checked_sub(limit).ok_or(limit);
        y[lane_id()] = match left {
            Ok(left) => left,
            Err(limit) => 1000 + limit,
        };
    }
}

#[derive(Clone, Copy)]
enum HostFault {
    Empty,
    Large(u32),
}

fn host_at(x: &[u32], i: u32) -> Result<u32, HostFault> {
    match x.get(i as usize) {
        None => Err(HostFault::Empty),
        Some(large @ 90..) => Err(HostFault::Large(*large)),
        Some(small) => Ok(*small),
    }
}

fn host_walk(x: &[u32], i: u32) -> Result<u32, u32> {
    let code = |fault| match fault {
        HostFault::Empty => 1,
        HostFault::Large(by) => 1000 + by,
    };
    let first = host_at(x, i).map_err(code)?;
    let sum = i + host_at(x, first).map_err(code)? * 2;
    let mut last = i;
    for _ in 0..3 {
        last = match host_at(x, last).map_err(code)? % 3 {
            0 => host_at(x, last / 2).map_err(code)?,
            1 => last + 1,
            _ => break,
        };
    }
    let half = sum.checked_div(host_at(x, 7).map_err(code)? % 4).ok_or(3u32)?;
    let low = half.checked_sub(last % 8).ok_or_else(|| half + 500)?;
    if low == 13 {
        return Err(4);
    }
    Ok(low)
}

fn host_bits(x: &[u32], i: u32) -> u32 {
    let found = host_at(x, i);
    let bits = match found {
        Ok(_) => 1,
        Err(HostFault::Large(by)) => by * 8,
        Err(HostFault::Empty) => 0,
    };
    let Ok(small) = found else { return bits };
    let next = found.and_then(|v| host_at(x, v + 1)).map(|v| v + 2);
    bits + small * 1024 + next.unwrap_or(7) * 256 + found.ok().map_or(0, |v| v & 2)
}

#[test]
fn results_leave_as_on_the_host() {
    for seventh in [30, 32, 33] {
        let mut x: Vec<u32> = (0..90).map(|i| (i * 37 + 11) % 95).collect();
        x[7] = seventh;
        let want: Vec<u32> =
            (0..128).map(|i| host_walk(&x, i).unwrap_or_else(|code| code + 100_000)).collect();
        let bits: Vec<u32> = (0..128).map(|i| host_bits(&x, i)).collect();
        let kinds = [1, 3, 4].map(|code| want.iter().any(|w| *w == 100_000 + code));
        assert!(kinds[0] && (seventh != 32 || kinds[1]), "{want:?}");
        for target in TARGETS {
            let (mut y, mut z) = (vec![0; 128], vec![0; 128]);
            walks.launch(&Device::simulator(target), Grid::x(2), (&x, &mut y, &mut z)).unwrap();
            assert_eq!(y, want, "{target}");
            assert_eq!(z, bits, "{target}");
        }
    }
}

#[test]
fn results_of_uniform_values_are_uniform() {
    for (n, limit, want) in [(9, 4, 5), (2, 4, 1004)] {
        let mut y = vec![0; 64];
        uniform.launch(&Device::simulator(Target::GFX942), Grid::x(1), (n, limit, &mut y)).unwrap();
        assert_eq!(y, [want; 64]);
    }
}

gcn_kernel! {
    /// One of two.
    #[device]
    enum Either<A, B> {
        Left(A),
        Right(B),
        Neither,
    }

    #[device]
    fn sorted(x: V<u32>) -> Either<V<u32>, V<f32>> {
        if x % 3 == 0 {
            return Either::Left(x / 3);
        }
        match x % 3 {
            1 => Either::Right(x as f32 * 0.5),
            _ => Either::Neither,
        }
    }

    /// A number, and what is known about it.
    #[device]
    enum Known<T: Float, const N: usize> {
        Exact(V<T>),
        Between([V<T>; N]),
    }

    #[device]
    fn middle<T: Float>(of: Known<T, 2>) -> V<T> {
        match of {
            Known::Exact(x) => x,
            Known::Between([low, high]) => (low + high) * 0.5,
        }
    }

    #[workgroup(64)]
    fn sorts(x: &[u32], y: &mut [f32], z: &mut [f32]) {
        let i = global_id().x;
        let made = sorted(x[i]);
        y[i] = match made {
            Either::Left(whole) if whole > 20 => whole as f32,
            Either::Left(whole) => -(whole as f32),
            Either::Right(part) => part,
            Either::Neither => 0.25,
        };
        if let Either::Right(part) = made {
            y[i] = part + 1000.0;
        }
        let known = if x[i] % 2 == 0 { Known::Exact(x[i] as f32) } else { Known::Between([y[i], x[i] as f32]) };
        z[i] = middle(known);
    }
}

#[test]
fn enums_with_parameters_hold_what_they_are_given() {
    let x: Vec<u32> = (0..64).map(|i| (i * 29 + 3) % 101).collect();
    let of = |x: u32| match x % 3 {
        0 if x / 3 > 20 => (x / 3) as f32,
        0 => -((x / 3) as f32),
        1 => x as f32 * 0.5 + 1000.0,
        _ => 0.25,
    };
    let want: Vec<f32> = x.iter().map(|x| of(*x)).collect();
    let between = |x: u32| if x.is_multiple_of(2) { x as f32 } else { (of(x) + x as f32) * 0.5 };
    let middles: Vec<f32> = x.iter().map(|x| between(*x)).collect();
    for target in TARGETS {
        let (mut y, mut z) = (vec![0.0; 64], vec![0.0; 64]);
        sorts.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y, &mut z)).unwrap();
        assert_eq!(y, want, "{target}");
        assert_eq!(z, middles, "{target}");
    }
}

mod of_the_guide {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        enum Fault {
            Empty,
            Large(V<u32>),
        }

        #[device]
        enum Either<A, B> {
            Left(A),
            Right(B),
        }

        #[device]
        fn at(x: &[u32], i: V<u32>) -> Result<V<u32>, Fault> {
            if i >= x.len() {
                return Err(Fault::Empty);
            }
            match x[i] {
                large @ 100.. => Err(Fault::Large(large)),
                small => Ok(small),
            }
        }

        #[device]
        fn twice(x: &[u32], i: V<u32>) -> Result<Either<V<u32>, V<f32>>, Fault> {
            let next = at(x, at(x, i)?)?;
            Ok(if next % 2 == 0 { Either::Left(next / 2) } else { Either::Right(next as f32 / 2.0) })
        }

        #[workgroup(64)]
        fn follow(x: &[u32], y: &mut [f32]) {
            let i = global_id().x;
            y[i] = match twice(x, i) {
                Ok(Either::Left(whole)) => whole as f32,
                Ok(Either::Right(half)) => half,
                Err(Fault::Large(by)) => 1000.0 + by as f32,
                Err(Fault::Empty) => -1.0,
            };
        }
    }

    #[test]
    fn a_result_holds_an_enum_with_parameters() {
        let mut y = [0.0; 64];
        follow.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&[1, 3, 200, 6], &mut y)).unwrap();
        assert_eq!(y[..5], [1.5, 3.0, 1200.0, -1.0, -1.0]);
    }
}
