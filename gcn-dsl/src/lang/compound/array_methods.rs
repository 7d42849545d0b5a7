//! Methods of arrays of device values that have the names of Rust's methods of arrays and slices. Rust's methods
//! compare and select on the host, where device values have no order; these emit instructions that compare and select
//! in each lane.

use std::ops::BitOr;
use std::panic::Location;

use super::enums::{Blank, Placed};
use super::iterator::{Ordered, any_element};
use super::option::{none, some};
use crate::ir::Pred;
use crate::lang::{Compare, HasElements, IntoDevice, LoadAt, Maybe, S, V, with};
use crate::scalar::Scalar;

/// Methods such as `a.fill(0)` and `a.sort()` for an array `a` of device values. Method lookup finds them before those
/// of slices.
pub trait DeviceArray<X> {
    /// Assigns `value` to every element.
    #[track_caller]
    fn fill<E: IntoDevice<X>>(&mut self, value: E);
    /// Sorts the elements in ascending order with a sorting network.
    #[track_caller]
    fn sort(&mut self)
    where
        X: Ordered;
    /// The same as [`sort`](DeviceArray::sort): a stable sort gives the same result, since equal elements cannot be
    /// told apart.
    #[track_caller]
    fn sort_unstable(&mut self)
    where
        X: Ordered,
    {
        self.sort();
    }
    /// Assigns the elements of `from`, which must have the same length.
    #[track_caller]
    fn copy_from_slice<E: IntoDevice<X> + Copy>(&mut self, from: &[E]);
    /// Exchanges the elements `i` and `j`. At an index of the device this takes instructions for each element.
    #[track_caller]
    fn swap<I: Copy, J: Copy>(&mut self, i: I, j: J)
    where
        Self: HasElements<I, Element = X> + HasElements<J, Element = X>,
        Self: LoadAt<I, Output = X> + LoadAt<J, Output = X>;
    /// The first element.
    fn first(&self) -> Maybe<X>;
    /// The last element.
    fn last(&self) -> Maybe<X>;
}

/// The compare-exchange steps, in order, of a network that sorts `n` elements: pairs `[i, j]` with `i < j`. It is
/// Batcher's merge exchange, Knuth's Algorithm M (The Art of Computer Programming, volume 3, 5.2.2).
pub(in crate::lang) fn network(n: usize) -> Vec<[usize; 2]> {
    let top = n.next_power_of_two() / 2;
    let mut pairs = Vec::new();
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            pairs.extend((0..n.saturating_sub(d)).filter(|i| i & p == r).map(|i| [i, i + d]));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    pairs
}

fn held<X: Copy + Blank + Placed>(element: Option<&X>) -> Maybe<X> {
    match element {
        Some(element) => some(*element),
        None => none().into_device(),
    }
}

for_each_type!(H<T> in [S, V] {
    impl<T: Scalar, const N: usize> DeviceArray<H<T>> for [H<T>; N] {
        #[track_caller]
        fn fill<E: IntoDevice<H<T>>>(&mut self, value: E) {
            *self = [value.into_device(); N];
        }
        #[track_caller]
        fn sort(&mut self)
        where
            H<T>: Ordered,
        {
            for [i, j] in network(N) {
                (self[i], self[j]) = (self[i].smaller(self[j]), self[i].larger(self[j]));
            }
        }
        #[track_caller]
        fn copy_from_slice<E: IntoDevice<H<T>> + Copy>(&mut self, from: &[E]) {
            if from.len() != N {
                let what = format!("an array of {N} elements takes {N}, and these are {}", from.len());
                with(|c| c.fail(Location::caller(), what));
            }
            for (to, from) in self.iter_mut().zip(from) {
                *to = (*from).into_device();
            }
        }
        #[track_caller]
        fn swap<I: Copy, J: Copy>(&mut self, i: I, j: J)
        where
            Self: HasElements<I, Element = H<T>> + HasElements<J, Element = H<T>>,
            Self: LoadAt<I, Output = H<T>> + LoadAt<J, Output = H<T>>,
        {
            let (a, b) = (self.load_at(i), self.load_at(j));
            self.change_at(i, |element| *element = b);
            self.change_at(j, |element| *element = a);
        }
        fn first(&self) -> Maybe<H<T>> {
            held(self.as_slice().first())
        }
        fn last(&self) -> Maybe<H<T>> {
            held(self.as_slice().last())
        }
    }
});

/// `a.contains(&v)` for an array of device values. Method lookup finds it before the method of slices, which would
/// compare on the host.
pub trait HasElement<E> {
    /// `V<bool>` if an element or the value is varying; otherwise `S<bool>`.
    type Output;
    /// True if an element equals `value`.
    fn contains(&self, value: &E) -> Self::Output;
}

impl<X, E, C, const N: usize> HasElement<E> for [X; N]
where
    X: Compare<E, Output = C> + Copy,
    E: Copy,
    C: BitOr<Output = C>,
    bool: IntoDevice<C>,
{
    type Output = C;
    #[track_caller]
    fn contains(&self, value: &E) -> C {
        any_element(self.iter().map(|x| x.compare(Pred::Eq, *value)))
    }
}

#[cfg(test)]
mod tests {
    use super::network;

    /// A network sorts every input if it sorts every sequence of zeros and ones (the 0-1 principle; Knuth, theorem Z).
    #[test]
    fn the_network_sorts() {
        for n in 0..=16usize {
            for bits in 0..1u32 << n {
                let mut x: Vec<bool> = (0..n).map(|i| bits >> i & 1 == 1).collect();
                for [i, j] in network(n) {
                    (x[i], x[j]) = (x[i] & x[j], x[i] | x[j]);
                }
                assert!(x.is_sorted(), "{n} elements: {bits:b}");
            }
        }
    }
}
