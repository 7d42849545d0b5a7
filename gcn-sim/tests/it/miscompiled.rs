//! Five functions that LLVM 22 miscompiles: the simulator must compute what the machine code says, not what the functions mean
//! (docs/findings.md, C1 to C5).

use std::io::Read as _;

use gcn_sim::launch::{Buffer, Element, Error, Program, Spec};
use gcn_sim::{Options, SimError};

const OBJECTS: [(bool, &[u8]); 4] = [
    (false, include_bytes!("../data/miscompiled-gfx90a-O0.co.gz")),
    (true, include_bytes!("../data/miscompiled-gfx90a-O1.co.gz")),
    (false, include_bytes!("../data/miscompiled-gfx942-O0.co.gz")),
    (true, include_bytes!("../data/miscompiled-gfx942-O1.co.gz")),
];

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut object = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut object).unwrap();
    object
}

fn run(packed: &[u8], kernel: &str, input: Buffer) -> Vec<u32> {
    let object = unpacked(packed);
    let spec = Spec::new([1, 1, 1], [64, 1, 1]).next(input).next(Buffer::zeros(Element::U32, 1024).shown());
    let mut launch = Program::load(&object, Some(kernel)).unwrap().prepare(&spec, ".".as_ref()).unwrap();
    launch.run(&Options::strict()).unwrap();
    let bytes = launch.buffer_at(1).unwrap().bytes;
    bytes.chunks(4).take(64).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
}

fn words(words: impl IntoIterator<Item = u32>) -> Buffer {
    Buffer::bytes(Element::U32, words.into_iter().flat_map(u32::to_le_bytes).collect())
}

#[test]
fn every_lane_leaves_a_loop_with_what_the_last_one_has() {
    // The number of trips of each lane, and the values of the trips.
    let trips = |lane: u32| if lane.is_multiple_of(5) { 101 + lane } else { lane };
    let value = |i: u32| if i == 0 { 32 } else { i.trailing_zeros() };
    let last = |lane: u32| {
        let n = trips(lane);
        let (mut i, mut a) = (0, n);
        while i < if n > 100 { n } else { a } {
            (a, i) = (value(i), i + 1);
        }
        (i, a)
    };
    for (optimised, object) in OBJECTS {
        let found = run(object, "leaves_a_loop", words((0..64).map(trips)));
        let longest = (0..64).map(last).max().unwrap();
        for lane in 0..64 {
            let (i, own) = last(lane);
            let meant = if optimised && i > 0 { longest.1 } else { own };
            assert_eq!(found[lane as usize], meant, "lane {lane}, optimised: {optimised}");
        }
        let differ = (0..64).filter(|lane| found[*lane as usize] != last(*lane).1).count();
        assert_eq!(differ > 0, optimised);
    }
}

#[test]
fn a_carry_within_a_sum_is_taken_for_its_own() {
    let mut random = gcn_test_support::Random::new(7);
    let pairs: [(u64, u64); 64] = std::array::from_fn(|_| (random.next_u64(), random.next_u64()));
    for (optimised, object) in OBJECTS {
        let input: Vec<u8> =
            pairs.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat()).collect();
        let found = run(object, "carries", Buffer::bytes(Element::U64, input));
        let addend = u64::from(pairs[0].0 as u32);
        let meant = |&(a, b): &(u64, u64)| u32::from(a.wrapping_mul(b).checked_add(addend).is_none());
        // The carry of either sum: no carry is missing, but some are superfluous.
        assert!(pairs.iter().zip(&found).all(|(pair, found)| meant(pair) <= *found));
        let differ = pairs.iter().zip(&found).filter(|(pair, found)| meant(pair) != **found).count();
        assert_eq!(differ > 0, optimised, "{differ}");
    }
}

#[test]
fn minus_zero_becomes_zero() {
    // Even without optimisation, multiplication and conversion are combined into one expression.
    for (_, object) in OBJECTS {
        let found = run(object, "signs", words(0..64));
        for (lane, found) in found.into_iter().enumerate() {
            let meant = if lane & 3 == 3 { 0xbc00 } else { 0x8000 };
            assert_eq!(found, if meant == 0x8000 { 0 } else { meant }, "lane {lane}");
        }
    }
}

#[test]
fn who_comes_to_an_arm_that_others_fall_into_has_nothing() {
    for (optimised, object) in OBJECTS {
        let input = |at: u32| if at.is_multiple_of(2) { at / 2 } else { at % 7 };
        let found = run(object, "falls_through", words((0..128).map(input)));
        let wrong: Vec<u32> = (0..64).filter(|lane| found[*lane as usize] != 7).collect();
        let direct: Vec<u32> = (0..64).filter(|lane| lane % 5 == 2).collect();
        assert_eq!(wrong, if optimised { direct } else { Vec::new() });
    }
}

/// `data/dynamic_alloca.c`: the frame has 16 bytes, and each array has 40, rounded up to 48, so the second one ends at byte 112.
#[test]
fn arrays_of_dynamic_size_are_64_times_too_far_away() {
    let objects: [(&[u8], u64); 2] = [
        // Here the stack pointer counts the bytes of 64 lanes; where the size of a single lane is needed, LLVM does not divide.
        (include_bytes!("../data/dynamic-alloca-gfx90a-O1.co.gz"), 64 * 16),
        // Here the stack pointer counts the bytes of one lane; LLVM adds the bytes of 64 lanes for the first array.
        (include_bytes!("../data/dynamic-alloca-gfx942-O1.co.gz"), 16 + 64 * 48),
    ];
    for (packed, address) in objects {
        let program = Program::load(&unpacked(packed), None).unwrap();
        let launch = |scratch| {
            let spec = Spec::new([1, 1, 1], [64, 1, 1]).next(Buffer::zeros(Element::U32, 64).shown());
            let spec = spec.int(1, Element::U32, 10);
            let mut launch = program.prepare(&Spec { scratch: Some(scratch), ..spec }, ".".as_ref()).unwrap();
            launch.run(&Options::default()).map(|_| launch.buffer_at(0).unwrap().bytes)
        };
        match launch(112) {
            Err(Error::Sim { error, .. }) => match *error {
                SimError::OutOfBounds(oob) => assert_eq!(oob.address, address),
                other => panic!("{other}"),
            },
            other => panic!("{other:?}"),
        }
        let sum: u32 = (0..10).map(|i| 3 * i + 5).sum();
        assert_eq!(launch(8192).unwrap(), sum.to_le_bytes().repeat(64));
    }
}
