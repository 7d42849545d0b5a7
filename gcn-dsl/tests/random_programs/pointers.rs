//! Pointers in variables of a traced program: `let mut p: *const u32 = at_u32.add(i);`.

use std::rc::Rc;

use gcn_dsl::__private::{self as lang, Arguments, LanePtr, Ptr, ReadOnly, V, Var, WholeWorkgroup};
use gcn_dsl::scalar::{Elem, Number};

use super::ast::POINTED;
use super::held::{Held, Values};
use super::value::{D, Val, of};

/// The arguments that are pointers, in the order of [`POINTED`].
#[derive(Clone, Copy, Default)]
pub struct Pointers(Option<Ptr<u32, ReadOnly>>, Option<Ptr<f32, ReadOnly>>, Option<Ptr<u16, ReadOnly>>);

impl Pointers {
    /// Takes the next argument.
    pub fn take(&mut self, arguments: &mut Arguments, elem: Elem) {
        match POINTED.iter().position(|t| *t == elem) {
            Some(0) => self.0 = Some(arguments.pointer()),
            Some(1) => self.1 = Some(arguments.pointer()),
            Some(2) => self.2 = Some(arguments.pointer()),
            _ => unreachable!("no pointers to {elem}"),
        }
    }

    /// `let mut objectK: *const T = at_T.add(i);`
    pub fn declare(self, elem: Elem, values: Values) -> Rc<dyn Held> {
        match POINTED.iter().position(|t| *t == elem) {
            Some(0) => Pointer::declare(self.0, values),
            Some(1) => Pointer::declare(self.1, values),
            _ => Pointer::declare(self.2, values),
        }
    }
}

struct Pointer<T> {
    to: Var<LanePtr<T, ReadOnly>, WholeWorkgroup>,
    /// The pointer that is the argument.
    start: Ptr<T, ReadOnly>,
}

impl<T: Number> Pointer<T>
where
    Val: From<V<T>>,
{
    fn declare(start: Option<Ptr<T, ReadOnly>>, values: Values) -> Rc<dyn Held> {
        let start = start.expect("a used argument");
        Rc::new(Pointer { to: Var::declare(&WholeWorkgroup::new(), at(start, values)), start })
    }
}

fn at<T: Number>(start: Ptr<T, ReadOnly>, values: Values) -> LanePtr<T, ReadOnly> {
    start.add(of::<u32>(values(true).1[0]).lane() & 63)
}

impl<T: Number> Held for Pointer<T>
where
    Val: From<V<T>>,
{
    fn set(&self, _: Option<D<bool>>, values: Values) {
        self.to.set(&WholeWorkgroup::new(), at(self.start, values));
    }
    fn take(&self, _: &mut dyn FnMut(usize, Vec<Val>)) {
        unreachable!("`typing` knows what is taken apart")
    }
    fn pointed(&self, i: Val) -> Val {
        lang::load(&self.to.get(), of::<u32>(i).lane() & 63).into()
    }
}
