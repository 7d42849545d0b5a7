//! The arguments of a program, and the memory that it writes.

use gcn_dsl::scalar::Elem;
use gcn_test_support::Random;

use super::ast::{INPUT_LEN, NUMBERS, POINTED, POINTED_LEN, Program, SHARED, SHARED_LEN, SLOTS};
use super::bits;

/// Arrays are indexed by element type; the entries of types that do not have the item are empty.
#[derive(Clone, Debug)]
pub struct Data {
    pub args: [u64; 15],
    pub inputs: [Vec<u64>; 15],
    /// The elements that pointers point to, in the order of [`POINTED`], and their addresses while the program runs.
    pub pointed: [Vec<u64>; 3],
    pub pointed_at: [u64; 3],
    pub results: Results,
}

/// The memory that a program may write.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    pub outputs: [Vec<u64>; 15],
    /// In the order of [`SHARED`].
    pub shared: [Vec<u64>; 4],
}

/// The bits of a value of a type: small, huge, special and random values.
pub fn value(elem: Elem, rng: &mut Random) -> u64 {
    let random =
        (rng.below(1 << 31) as u64) << 40 ^ (rng.below(1 << 31) as u64) << 20 ^ rng.below(1 << 31) as u64;
    let mask = u64::MAX >> (64 - 8 * elem.bytes());
    if elem == Elem::Bool {
        return random & 1;
    }
    if !elem.is_float() {
        let bits = match rng.below(6) {
            0 => random % 8,
            1 => 0u64.wrapping_sub(random % 8),
            2 => (mask ^ mask >> 1) ^ (random % 3),
            3 => random % 100,
            4 => 1 << (random % 64),
            _ => random,
        };
        return bits & mask;
    }
    let small = ((random % 2000) as f64 - 1000.0) / 8.0;
    let special =
        [0.0, -0.0, 1.0, -1.5, f64::INFINITY, f64::NEG_INFINITY, 65504.0, 3e38, 1e-40, 2147483648.0, 0.1];
    let x = match rng.below(8) {
        0 => special[random as usize % special.len()],
        1 => (random as f64) * if rng.one_in(2) { 1e-10 } else { -1.0 },
        2 if rng.one_in(40) => f64::NAN,
        3 => return float_bits(elem, random & mask),
        _ => small,
    };
    bits::cast(Elem::F64, elem, x.to_bits())
}

/// Random bits, except signalling NaNs, which no program contains as literals.
fn float_bits(elem: Elem, bits: u64) -> u64 {
    if bits::is_nan(elem, bits) { bits::cast(Elem::F64, elem, 2.5f64.to_bits()) } else { bits }
}

impl Data {
    pub fn new(program: &Program) -> Data {
        let mut rng = Random::new(program.data ^ 0x5eed);
        let mut values = |elem: Elem, n: u32| (0..n).map(|_| value(elem, &mut rng)).collect::<Vec<u64>>();
        let mut data = Data {
            args: [0; 15],
            inputs: Default::default(),
            pointed: Default::default(),
            pointed_at: [0; 3],
            results: Results { outputs: Default::default(), shared: Default::default() },
        };
        for elem in NUMBERS {
            data.args[elem as usize] = values(elem, 1)[0];
            data.inputs[elem as usize] = values(elem, INPUT_LEN);
            data.results.outputs[elem as usize] = values(elem, program.lanes() * SLOTS);
        }
        data.args[Elem::Bool as usize] = values(Elem::Bool, 1)[0];
        for (k, elem) in SHARED.iter().enumerate() {
            data.results.shared[k] = values(*elem, SHARED_LEN);
        }
        data.pointed = POINTED.map(|elem| values(elem, POINTED_LEN));
        data
    }
}

impl Results {
    /// The first difference. All NaNs count as equal.
    pub fn difference(&self, want: &Results) -> Option<String> {
        for elem in NUMBERS {
            let (got, want) = (&self.outputs[elem as usize], &want.outputs[elem as usize]);
            if let Some(i) = differs(elem, got, want) {
                return Some(format!("out_{elem}[{i}] is {:#x} instead of {:#x}", got[i], want[i]));
            }
        }
        for (k, elem) in SHARED.iter().enumerate() {
            let (got, want) = (&self.shared[k], &want.shared[k]);
            if let Some(i) = differs(*elem, got, want) {
                return Some(format!("shared_{elem}[{i}] is {:#x} instead of {:#x}", got[i], want[i]));
            }
        }
        None
    }
}

fn differs(elem: Elem, got: &[u64], want: &[u64]) -> Option<usize> {
    let same = |a: u64, b: u64| a == b || bits::is_nan(elem, a) && bits::is_nan(elem, b);
    (0..want.len().max(got.len()))
        .find(|i| !matches!((got.get(*i), want.get(*i)), (Some(a), Some(b)) if same(*a, *b)))
}
