//! Selection of elements by an index that is known only on the device. Values in registers, and the elements of short
//! constant tables, are selected by the bits of the index. Longer constant tables are placed in memory after the code,
//! from which the element is loaded.

use std::panic::Location;

use crate::ir::build::Builder;
use crate::ir::{Bin, Inst, Manner, Memory, Type, Value};
use crate::lang::context::source;
use crate::lang::memory::access::LoadAt;
use crate::lang::memory::layout::Stored;
use crate::lang::memory::slice::{Slice, raw_buffer};
use crate::lang::values::constant::within;
use crate::lang::values::merge::Merge;
use crate::lang::{Declare, Flatten, IntoDevice, ReadOnly, S, V, with};
use crate::scalar::{Elem, Scalar};

/// Values among which a device index can select: host values, `S` and `V`, and arrays of them.
#[diagnostic::on_unimplemented(
    message = "an index of the device chooses among numbers and arrays of them, not among values of type `{Self}`",
    label = "elements of this type have a place that is known when the kernel is built",
    note = "write `#[unroll] for`, whose variable is a host `usize`; or keep the parts in arrays of their own"
)]
pub trait Choice: Copy {
    /// The type of the result for a varying index.
    type Varying;
    /// The type of the result for a uniform index.
    type Uniform;
    /// Selects element `i`, which is varying.
    fn at_varying(list: &[Self], i: V<u32>) -> Self::Varying;
    /// Selects element `i`, which is uniform.
    fn at_uniform(list: &[Self], i: S<u32>) -> Self::Uniform;
}

/// A scalar that can be an element of a list: a host value, `S` or `V`.
pub trait Entry: Copy {
    /// The element type.
    type Elem: Scalar;
    /// The type of the result for a uniform index.
    type AtUniform: Copy;
    /// The smallest length at which a list is read from memory at a varying index, if it consists of constants or was
    /// loaded from memory. A load of 64 dwords takes the address unit, which four SIMDs share, 16 clocks; a choice among
    /// this many takes each SIMD as many instructions of 4 clocks.
    const LOADED_FROM: usize = 16;
    /// As `LOADED_FROM`, at a uniform index. Selecting among [`MOST_CHOSEN`] elements in scalar registers takes about as
    /// long as a load that hits the cache.
    const LOADED_FROM_UNIFORM: usize = MOST_CHOSEN + 1;
    /// The element as a varying value.
    fn varying(self) -> V<Self::Elem>;
    /// The element in the form that a uniform index selects.
    fn uniform(self) -> Self::AtUniform;
    /// `a` if bit `bit` of `i` is clear, otherwise `b`.
    fn choose(
        i: S<u32>,
        bit: u32,
        a: Self::AtUniform,
        b: Self::AtUniform,
        loc: &'static Location<'static>,
    ) -> Self::AtUniform;
    /// Loads element `i` of a table in memory; `None` if the table does not consist of constants that can be stored in
    /// memory.
    #[track_caller]
    fn loaded(_table: &[Self], _i: V<u32>) -> Option<V<Self::Elem>> {
        None
    }
    /// As `loaded`, at a uniform index.
    #[track_caller]
    fn loaded_uniform(_table: &[Self], _i: S<u32>) -> Option<Self::AtUniform> {
        None
    }
    /// A value that is used after an error.
    fn placeholder() -> Self::AtUniform;
}

/// An array in read-only memory of which each element has been loaded separately.
struct Array {
    memory: Memory,
    /// The offset of the first element: a value plus a constant number of bytes.
    base: Value,
    offset: u32,
    stride: u32,
}

impl Array {
    fn of<T: Scalar>(list: &[V<T>]) -> Option<Array> {
        with(|c| {
            let places: Option<Vec<_>> = list.iter().map(|x| place(&c.builder, x.value)).collect();
            let places = places?;
            let [(memory, base, offset), (_, _, next), ..] = places[..] else { return None };
            let stride = next.checked_sub(offset).filter(|stride| *stride > 0)?;
            let follows = |(i, at): (usize, &(Memory, Value, u32))| {
                let expected = (i as u32).checked_mul(stride).and_then(|after| offset.checked_add(after));
                (at.0, at.1, Some(at.2)) == (memory, base, expected)
            };
            places.iter().enumerate().all(follows).then_some(Array { memory, base, offset, stride })
        })
    }
}

/// If a value was loaded from memory that nothing writes: the memory, the offset as a value, and a constant number of
/// bytes to add to it. `None` otherwise.
fn place(builder: &Builder, value: Value) -> Option<(Memory, Value, u32)> {
    let kernel = builder.kernel();
    let &Inst::Load { memory, offset, manner: Manner::Plain } = &kernel.def(value).inst else { return None };
    let Memory::Buffer(resource) = memory else { return None };
    if !kernel.read_only.contains(&resource) {
        return None;
    }
    if let Inst::Bin(Bin::Add, base, more) = kernel.def(offset).inst
        && let Some(more) = builder.as_const(more)
    {
        return Some((memory, base, more as u32));
    }
    Some((memory, offset, 0))
}

#[track_caller]
fn is_set(i: V<u32>, bit: u32) -> V<bool> {
    crate::lang::ne(i & (1 << bit), 0)
}

impl<T: Scalar> Entry for V<T> {
    type Elem = T;
    type AtUniform = V<T>;
    const LOADED_FROM: usize = 5;
    const LOADED_FROM_UNIFORM: usize = 5;
    fn varying(self) -> V<T> {
        self
    }
    /// If all elements of the list were loaded from one array in read-only memory, loads the selected one from that
    /// memory instead; `None` otherwise.
    #[track_caller]
    fn loaded(list: &[Self], i: V<u32>) -> Option<V<T>> {
        let array = Array::of(list)?;
        // An index past the end selects some element of the list, as the selection among registers does.
        let at =
            i.min(list.len() as u32 - 1) * array.stride + V::<u32>::from_value(array.base) + array.offset;
        let manner = Manner::Plain;
        Some(V::emit(Inst::Load { memory: array.memory, offset: at.value, manner }, Location::caller()))
    }
    #[track_caller]
    fn loaded_uniform(list: &[Self], i: S<u32>) -> Option<V<T>> {
        Self::loaded(list, i.into_device())
    }
    fn uniform(self) -> V<T> {
        self
    }
    fn choose(i: S<u32>, bit: u32, a: V<T>, b: V<T>, loc: &'static Location<'static>) -> V<T> {
        let condition: V<bool> = crate::lang::ne(i & (1 << bit), 0).into_device();
        V::emit(Inst::Select(condition.value, b.value, a.value), loc)
    }
    #[track_caller]
    fn placeholder() -> V<T> {
        V::emit(Inst::Const(0), Location::caller())
    }
}

macro_rules! uniform_choices {
    ($([$($generics:tt)*] $a:ty, $t:ty $(, $memory:ident)?;)*) => {$(
        impl<$($generics)*> Entry for $a {
            type Elem = $t;
            type AtUniform = S<$t>;
            #[track_caller]
            fn varying(self) -> V<$t> {
                self.into_device()
            }
            fn uniform(self) -> S<$t> {
                self.into_device()
            }
            fn choose(i: S<u32>, bit: u32, a: S<$t>, b: S<$t>, loc: &'static Location<'static>) -> S<$t> {
                let condition = crate::lang::ne(i & (1 << bit), 0);
                S::emit(Inst::Select(condition.value, b.value, a.value), loc)
            }
            #[track_caller]
            fn placeholder() -> S<$t> {
                S::emit(Inst::Const(0), Location::caller())
            }
            $(
                #[track_caller]
                fn loaded(table: &[Self], i: V<u32>) -> Option<V<$t>> {
                    Some($memory(table).load_at(i))
                }
                #[track_caller]
                fn loaded_uniform(table: &[Self], i: S<u32>) -> Option<S<$t>> {
                    Some($memory(table).load_at(i))
                }
            )?
        }
    )*};
}
uniform_choices! {
    [T: Scalar] S<T>, T; [] bool, bool;
    [] i8, i8, memory; [] u8, u8, memory; [] i16, i16, memory; [] u16, u16, memory;
    [] i32, i32, memory; [] u32, u32, memory; [] i64, i64, memory; [] u64, u64, memory;
    [] half::f16, half::f16, memory; [] half::bf16, half::bf16, memory; [] f32, f32, memory; [] f64, f64, memory;
}

/// A `usize` in a host list becomes a `u32` on the device.
impl Entry for usize {
    type Elem = u32;
    type AtUniform = S<u32>;
    #[track_caller]
    fn varying(self) -> V<u32> {
        index(self).varying()
    }
    #[track_caller]
    fn uniform(self) -> S<u32> {
        index(self).uniform()
    }
    fn choose(i: S<u32>, bit: u32, a: S<u32>, b: S<u32>, loc: &'static Location<'static>) -> S<u32> {
        u32::choose(i, bit, a, b, loc)
    }
    #[track_caller]
    fn placeholder() -> S<u32> {
        u32::placeholder()
    }
    #[track_caller]
    fn loaded(table: &[usize], i: V<u32>) -> Option<V<u32>> {
        u32::loaded(&each(table, |x| index(*x)), i)
    }
    #[track_caller]
    fn loaded_uniform(table: &[usize], i: S<u32>) -> Option<S<u32>> {
        u32::loaded_uniform(&each(table, |x| index(*x)), i)
    }
}

#[track_caller]
fn index(x: usize) -> u32 {
    let loc = Location::caller();
    u32::try_from(x).unwrap_or_else(|_| {
        let message =
            format!("a table of `usize` holds indices of the device, which are `u32`, and {x} is none");
        with(|c| c.fail(loc, message));
        0
    })
}

/// Places the table in memory after the code.
#[track_caller]
fn memory<T: Stored>(table: &[T]) -> Slice<T, ReadOnly> {
    let mut bytes = Vec::with_capacity(table.len() * T::BYTES as usize);
    table.iter().for_each(|x| x.append(&mut bytes));
    let loc = Location::caller();
    with(|c| {
        let dword = Type::uniform(Elem::U32);
        let start = c.builder.constants(&bytes);
        let pointer = c.value(Inst::Constants, Type { count: 2, ..dword }, loc);
        let mut constant = |x: u32| c.builder.constant(u64::from(x), dword);
        let (first, end) = (constant(start), constant(start + bytes.len() as u32));
        let len = constant(table.len() as u32);
        let resource = raw_buffer(c, pointer, end, Some(source(loc)));
        c.builder.read_only(resource);
        let types = std::marker::PhantomData;
        Slice { resource, pointer, start: Some(first), len, constant: true, types }
    })
}

/// The largest number of elements that a uniform index selects in registers; longer constant tables are placed in memory.
const MOST_CHOSEN: usize = 64;

/// Selects by the bits of the index, one after the other, lowest first; each bit halves the number of candidates.
#[track_caller]
fn chosen<X: Copy>(
    mut choices: Vec<X>,
    what: &str,
    placeholder: impl Fn() -> X,
    pick: impl Fn(u32, X, X) -> X,
) -> X {
    let loc = Location::caller();
    const MOST: usize = 256;
    if choices.is_empty() || choices.len() > MOST {
        let len = choices.len();
        crate::lang::with(|c| {
            let message = format!(
                "{what} of {len} elements cannot be indexed by a value of the device: it is a choice among 1 to {MOST} values in \
                 registers; pass the table to the kernel as `&[T]`"
            );
            c.fail(loc, message);
        });
        return placeholder();
    }
    with(|c| c.builder.indexed(source(loc)));
    let mut bit = 0;
    while choices.len() > 1 {
        choices =
            choices.chunks(2).map(|pair| pair.get(1).map_or(pair[0], |b| pick(bit, pair[0], *b))).collect();
        bit += 1;
    }
    choices[0]
}

impl<X: Entry> Choice for X {
    type Varying = V<X::Elem>;
    type Uniform = X::AtUniform;
    #[track_caller]
    fn at_varying(list: &[X], i: V<u32>) -> V<X::Elem> {
        let loc = Location::caller();
        if list.len() >= X::LOADED_FROM
            && let Some(element) = X::loaded(list, i)
        {
            return element;
        }
        let varying: Vec<V<X::Elem>> = list.iter().map(|x| x.varying()).collect();
        let pick = |bit, a: V<X::Elem>, b: V<X::Elem>| {
            V::emit(Inst::Select(is_set(i, bit).value, b.value, a.value), loc)
        };
        chosen(varying, "an array", || V::emit(Inst::Const(0), loc), pick)
    }
    #[track_caller]
    fn at_uniform(list: &[X], i: S<u32>) -> X::AtUniform {
        if list.len() >= X::LOADED_FROM_UNIFORM
            && let Some(element) = X::loaded_uniform(list, i)
        {
            return element;
        }
        let loc = Location::caller();
        let uniform: Vec<X::AtUniform> = list.iter().map(|x| x.uniform()).collect();
        chosen(uniform, "an array", X::placeholder, |bit, a, b| X::choose(i, bit, a, b, loc))
    }
}

/// Projects each element of a list to a part of it.
pub fn each<X, Y>(list: &[X], part: impl Fn(&X) -> Y) -> Vec<Y> {
    list.iter().map(part).collect()
}

/// A tuple is selected member by member.
macro_rules! tuples {
    ($(($($a:ident $i:tt),+))*) => {$(
        impl<$($a: Choice),+> Choice for ($($a,)+) {
            type Varying = ($($a::Varying,)+);
            type Uniform = ($($a::Uniform,)+);
            #[track_caller]
            fn at_varying(list: &[Self], i: V<u32>) -> Self::Varying {
                ($($a::at_varying(&each(list, |x| x.$i), i),)+)
            }
            #[track_caller]
            fn at_uniform(list: &[Self], i: S<u32>) -> Self::Uniform {
                ($($a::at_uniform(&each(list, |x| x.$i), i),)+)
            }
        }
    )*};
}
tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

/// The `table[i]` of `table[i][k]`: the row's index, and the elements of all rows, one row after the other. The
/// selection happens only when `k` is known.
#[derive(Debug, Clone)]
pub struct TableRow<X, I, const M: usize> {
    elements: Vec<X>,
    row: I,
}

impl<X: Choice, const M: usize> Choice for [X; M] {
    type Varying = TableRow<X, V<u32>, M>;
    type Uniform = TableRow<X, S<u32>, M>;
    fn at_varying(list: &[[X; M]], row: V<u32>) -> Self::Varying {
        TableRow { elements: list.iter().flatten().copied().collect(), row }
    }
    fn at_uniform(list: &[[X; M]], row: S<u32>) -> Self::Uniform {
        TableRow { elements: list.iter().flatten().copied().collect(), row }
    }
}

macro_rules! rows {
    ($($row:ty, $k:ty => $how:ident $at:ident;)*) => {$(
        impl<X: Choice, const M: usize> LoadAt<$k> for TableRow<X, $row, M> {
            type Output = X::$how;
            #[track_caller]
            fn load_at(&self, k: $k) -> X::$how {
                X::$at(&self.elements, self.row * M as u32 + k)
            }
        }
    )*};
    ($($row:ty => $how:ident $at:ident;)*) => {$(
        impl<X: Choice, const M: usize> LoadAt<usize> for TableRow<X, $row, M> {
            type Output = X::$how;
            #[track_caller]
            fn load_at(&self, k: usize) -> X::$how {
                let k = within(k, M, "element", || format!("an array of {M}"));
                X::$at(&self.elements, self.row * M as u32 + k as u32)
            }
        }
    )*};
}
rows! {
    S<u32>, S<u32> => Uniform at_uniform;
    S<u32>, V<u32> => Varying at_varying;
    V<u32>, S<u32> => Varying at_varying;
    V<u32>, V<u32> => Varying at_varying;
}
rows! { S<u32> => Uniform at_uniform; V<u32> => Varying at_varying; }

/// The elements of a row, which `iter()` gives; a kernel takes them by value.
#[derive(Debug)]
pub struct RowElements<X>(std::vec::IntoIter<X>);

impl<X> RowElements<X> {
    /// The elements by value.
    pub fn copied(self) -> std::vec::IntoIter<X> {
        self.0
    }
}

macro_rules! whole_rows {
    ($($row:ty => $how:ident;)*) => {$(
        impl<X: Choice, const M: usize> TableRow<X, $row, M> {
            /// All elements of the row.
            #[track_caller]
            fn to_array(&self) -> [X::$how; M] {
                let mut out = Vec::with_capacity(M);
                for k in 0..M {
                    out.push(self.load_at(k));
                }
                out.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
            }

            /// The elements of the row.
            #[track_caller]
            pub fn iter(&self) -> RowElements<X::$how> {
                RowElements(Vec::from(self.to_array()).into_iter())
            }

            /// The parts of `n` elements, the last with those that are left over.
            #[track_caller]
            pub fn chunks(&self, n: usize) -> std::vec::IntoIter<Vec<X::$how>>
            where
                X::$how: Copy,
            {
                let parts: Vec<Vec<X::$how>> = self.to_array().chunks(n).map(<[X::$how]>::to_vec).collect();
                parts.into_iter()
            }

            /// Every `n` elements that follow each other.
            #[track_caller]
            pub fn windows(&self, n: usize) -> std::vec::IntoIter<Vec<X::$how>>
            where
                X::$how: Copy,
            {
                let parts: Vec<Vec<X::$how>> = self.to_array().windows(n).map(<[X::$how]>::to_vec).collect();
                parts.into_iter()
            }
        }
        impl<X: Choice, const M: usize> IntoIterator for TableRow<X, $row, M> {
            type Item = X::$how;
            type IntoIter = std::vec::IntoIter<X::$how>;
            #[track_caller]
            fn into_iter(self) -> Self::IntoIter {
                self.iter().copied()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<X: Choice<$how: IntoDevice<Y>>, Y, const M: usize> IntoDevice<[Y; M]> for TableRow<X, $row, M> {
            #[track_caller]
            fn into_device(self) -> [Y; M] {
                self.to_array().into_device()
            }
        }
        impl<X: Choice<$how: Flatten>, const M: usize> Declare for TableRow<X, $row, M> {
            type Value = [X::$how; M];
            #[track_caller]
            fn declare(self) -> [X::$how; M] {
                self.to_array()
            }
        }
        /// A row of a table merges with an array that comes from another branch.
        #[diagnostic::do_not_recommend]
        impl<How, A: Merge<How, X::$how>, X: Choice<$how: Copy>, const M: usize> Merge<How, TableRow<X, $row, M>> for [A; M]
        {
            type Output = [A::Output; M];
            #[track_caller]
            fn left(self) -> Self::Output {
                self.map(A::left)
            }
            #[track_caller]
            fn right(b: TableRow<X, $row, M>) -> Self::Output {
                b.to_array().map(A::right)
            }
        }
    )*};
}
whole_rows! { S<u32> => Uniform; V<u32> => Varying; }

macro_rules! indexed {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<X: Choice, $($generics)*> LoadAt<V<u32>> for $list {
            type Output = X::Varying;
            #[track_caller]
            fn load_at(&self, i: V<u32>) -> X::Varying {
                X::at_varying(self, i)
            }
        }
        impl<X: Choice, $($generics)*> LoadAt<S<u32>> for $list {
            type Output = X::Uniform;
            #[track_caller]
            fn load_at(&self, i: S<u32>) -> X::Uniform {
                X::at_uniform(self, i)
            }
        }
    )*};
}
indexed! { [const N: usize] [X; N]; [] [X]; [] Vec<X>; }

impl<A: LoadAt<I> + ?Sized, I> LoadAt<I> for &A {
    type Output = A::Output;
    #[track_caller]
    fn load_at(&self, i: I) -> A::Output {
        (**self).load_at(i)
    }
}
