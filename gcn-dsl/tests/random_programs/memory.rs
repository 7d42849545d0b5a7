//! Arguments, arrays and variables of types that are known only at run time.

use gcn_dsl::__private::{
    self as lang, Arguments, AtomicInteger, Lds, LoadAt, ReadOnly, S, Scope, Slice, StoreAt, V, Var,
    WholeWorkgroup, Writable,
};
use gcn_dsl::prelude::{Ordering, Private};
use gcn_dsl::scalar::{Elem, Number, Scalar};

use super::ast::{Fetch, LDS_LEN, PRIVATE_LEN, Place, VarDecl};
use super::bits::with_type;
use super::cells::put;
use super::value::{self, D, Val, of};

const LDS: usize = LDS_LEN as usize;
const PRIVATE: usize = PRIVATE_LEN as usize;

type Load = Box<dyn Fn(D<u32>) -> Val>;
type Store = Box<dyn Fn(D<u32>, Val)>;
/// The arguments are the index of the first element, the length, and the index in the part.
type Part = Box<dyn Fn(D<u32>, u32, V<u32>) -> Val>;
/// The arguments are the index, the width, and the element of the vector.
type Wide = Box<dyn Fn(V<u32>, u32, u32) -> Val>;
type FetchFn = Box<dyn Fn(Fetch, D<u32>, Val)>;

/// The operations that a slice or an array supports.
#[derive(Default)]
pub struct Memory {
    pub load: Option<Load>,
    pub uniform: Option<Load>,
    pub store: Option<Store>,
    /// The same as `store`, by `cells::put`.
    pub put: Option<Store>,
    pub part: Option<Part>,
    pub wide: Option<Wide>,
    pub fetch: Option<FetchFn>,
}

macro_rules! at {
    ($i:expr, $i2:ident => $body:expr) => {
        match $i {
            D::H($i2) => $body,
            D::S($i2) => $body,
            D::V($i2) => $body,
        }
    };
}

fn load<T: Number, M>(memory: M) -> Option<Load>
where
    M: LoadAt<u32, Output = V<T>> + LoadAt<S<u32>, Output = V<T>> + LoadAt<V<u32>, Output = V<T>> + 'static,
    Val: From<V<T>>,
{
    Some(Box::new(move |i| at!(i, i => Val::from(lang::load(&memory, i)))))
}

/// A load at a varying index. At a uniform index, read-only memory would give a uniform value.
fn load_lanes<T: Number>(slice: Slice<T, ReadOnly>) -> Option<Load>
where
    Slice<T, ReadOnly>: LoadAt<V<u32>, Output = V<T>>,
    Val: From<V<T>>,
{
    Some(Box::new(move |i| lang::load(&slice, i.lane()).into()))
}

/// The operations of every read-only slice.
fn read<T: Number>(slice: Slice<T, ReadOnly>) -> Memory
where
    Slice<T, ReadOnly>: LoadAt<V<u32>, Output = V<T>>
        + LoadAt<lang::PartOf<u32, u32>, Output = Slice<T, ReadOnly>>
        + LoadAt<lang::PartOf<lang::S<u32>, lang::S<u32>>, Output = Slice<T, ReadOnly>>,
    Val: From<V<T>>,
{
    let part: Part = Box::new(move |start, n, i| {
        let part = match start {
            D::H(a) => lang::load(&slice, lang::part(a, a + n)),
            start => lang::load(&slice, lang::part(start.wave(), start.wave() + n)),
        };
        lang::load(&part, i).into()
    });
    let wide: Wide = Box::new(move |i, n, k| match n {
        2 => slice.load_vector::<2>(i).get(k as usize).into(),
        4 => slice.load_vector::<4>(i).get(k as usize).into(),
        _ => slice.load_vector::<8>(i).get(k as usize).into(),
    });
    Memory { load: load_lanes(slice), part: Some(part), wide: Some(wide), ..Memory::default() }
}

fn store<T: Number, M>(memory: M) -> Option<Store>
where
    M: StoreAt<u32, Element = V<T>>
        + StoreAt<S<u32>, Element = V<T>>
        + StoreAt<V<u32>, Element = V<T>>
        + 'static,
    D<T>: TryFrom<Val, Error = Val>,
{
    Some(Box::new(move |i, value| {
        let value = of::<T>(value);
        at!(i, i => match value {
            D::H(x) => lang::store(&memory, i, x),
            D::S(x) => lang::store(&memory, i, x),
            D::V(x) => lang::store(&memory, i, x),
        });
    }))
}

fn fetch<T: AtomicInteger>(atomic: lang::Atomic<T>, scope: Scope, op: Fetch, value: V<T>) {
    let order = Ordering::Relaxed;
    match op {
        Fetch::Add => atomic.fetch_add(value, scope, order),
        Fetch::Min => atomic.fetch_min(value, scope, order),
        Fetch::Max => atomic.fetch_max(value, scope, order),
        Fetch::And => atomic.fetch_and(value, scope, order),
        Fetch::Or => atomic.fetch_or(value, scope, order),
        Fetch::Xor => atomic.fetch_xor(value, scope, order),
    };
}

pub fn input(arguments: &mut Arguments, elem: Elem) -> Memory {
    macro_rules! wide {
        ($t:ty) => {{
            let slice: Slice<$t, ReadOnly> = arguments.slice();
            let uniform: Load = Box::new(move |i| slice.uniform(i.wave()).into());
            Memory { uniform: Some(uniform), ..read::<$t>(slice) }
        }};
    }
    match elem {
        Elem::I32 => wide!(i32),
        Elem::U32 => wide!(u32),
        Elem::I64 => wide!(i64),
        Elem::U64 => wide!(u64),
        Elem::F32 => wide!(f32),
        Elem::F64 => wide!(f64),
        _ => with_type!(elem, T => {
            read::<T>(arguments.slice::<T>())
        }, bool => unreachable!("no slices of bool")),
    }
}

pub fn output(arguments: &mut Arguments, elem: Elem) -> Memory {
    with_type!(elem, T => {
        let slice: Slice<T, Writable> = arguments.slice_mut();
        Memory { load: load::<T, _>(slice), store: store::<T, _>(slice), ..Memory::default() }
    }, bool => unreachable!("no slices of bool"))
}

macro_rules! with_fetch {
    ($elem:expr, $t:ident => $body:expr, $other:expr) => {
        match $elem {
            Elem::U32 => {
                type $t = u32;
                $body
            }
            Elem::I32 => {
                type $t = i32;
                $body
            }
            Elem::U64 => {
                type $t = u64;
                $body
            }
            Elem::I64 => {
                type $t = i64;
                $body
            }
            _ => $other,
        }
    };
}

pub fn shared(arguments: &mut Arguments, elem: Elem) -> Memory {
    with_fetch!(elem, T => {
        let slice: Slice<T, Writable> = arguments.slice_mut();
        let f: FetchFn = Box::new(move |op, i, value| {
            let value = of::<T>(value).lane();
            fetch(at!(i, i => slice.atomic(i)), Scope::Agent, op, value);
        });
        Memory { fetch: Some(f), ..Memory::default() }
    }, unreachable!("no atomics on {elem}"))
}

pub fn lds(elem: Elem) -> Memory {
    with_type!(elem, T => {
        let array = Lds::<T, LDS>::new();
        let f = with_fetch!(elem, T => {
            // The same array with the concrete element type.
            let array = (&array as &dyn std::any::Any).downcast_ref::<Lds<T, LDS>>().copied();
            array.map(|array| {
                let f: FetchFn = Box::new(move |op, i, value| {
                    let value = of::<T>(value).lane();
                    fetch(at!(i, i => array.atomic(i)), Scope::Workgroup, op, value);
                });
                f
            })
        }, None);
        Memory { load: load::<T, _>(array), store: store::<T, _>(array), fetch: f, ..Memory::default() }
    }, bool => unreachable!("no LDS arrays of bool"))
}

/// A private array of zeros.
pub fn private(elem: Elem) -> Memory {
    with_type!(elem, T => {
        let zero = of::<T>(value::literal(elem, 0)).lane();
        let array = Private::<T, PRIVATE>::filled(zero);
        let lent: Store = Box::new(move |i, value| {
            put(&array, i.lane(), of::<T>(value).lane());
        });
        Memory { load: load::<T, _>(array), store: store::<T, _>(array), put: Some(lent), ..Memory::default() }
    }, bool => unreachable!("no private arrays of bool"))
}

/// Access to a variable in scope.
pub struct Variable {
    pub get: Box<dyn Fn() -> Val>,
    pub set: Box<dyn Fn(Val)>,
}

impl Variable {
    /// `let x = …`, or the variable of a loop.
    pub fn constant(value: Val) -> Variable {
        Variable { get: Box::new(move || value), set: Box::new(|_| unreachable!("not mutable")) }
    }
}

/// `let mut x: X = init`. The builder uses the block that contains an assignment. The type of the flow only matters to
/// rustc, whose checks `typing` does here.
pub fn declare(decl: VarDecl, init: Val) -> Variable {
    match decl.ty.elem {
        Elem::Bool => typed::<bool>(decl.ty.place, init),
        elem => with_type!(elem, T => typed::<T>(decl.ty.place, init), bool => unreachable!()),
    }
}

/// `let x: T;`
pub fn later(decl: VarDecl) -> Variable {
    with_type!(decl.ty.elem, T => {
        let var = std::rc::Rc::new(Var::<V<T>, WholeWorkgroup>::deferred(&WholeWorkgroup::new()));
        let again = var.clone();
        Variable {
            get: Box::new(move || again.get().into()),
            set: Box::new(move |v| var.set_first(&WholeWorkgroup::new(), of::<T>(v).lane())),
        }
    }, bool => unreachable!("numbers only"))
}

fn typed<T: Scalar>(place: Place, init: Val) -> Variable
where
    D<T>: TryFrom<Val, Error = Val>,
    Val: From<S<T>> + From<V<T>>,
{
    let top = WholeWorkgroup::new();
    if place == Place::Wave {
        let var = std::rc::Rc::new(Var::declare(&top, of::<T>(init).wave()));
        let again = var.clone();
        return Variable {
            get: Box::new(move || again.get().into()),
            set: Box::new(move |v| var.set(&top, of::<T>(v).wave())),
        };
    }
    let var = std::rc::Rc::new(Var::declare(&top, of::<T>(init).lane()));
    let again = var.clone();
    Variable {
        get: Box::new(move || again.get().into()),
        set: Box::new(move |v| var.set(&top, of::<T>(v).lane())),
    }
}
