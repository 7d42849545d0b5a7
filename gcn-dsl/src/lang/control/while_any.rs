//! Loops for the implementation of library functions.

use std::marker::PhantomData;

use crate::ir::{Region, Stmt, Value, Variable};
use crate::lang::{Flatten, with};

/// A loop under construction that changes values of type `X`. Each lane runs as many iterations as it needs, and waits
/// for the others.
///
/// The loop's parts are not closures: an instruction in a closure would get a source position in this crate, not in the
/// user's source.
pub(in crate::lang) struct WhileAny<X> {
    variables: Vec<Variable>,
    head: Option<(Region, Value)>,
    types: PhantomData<X>,
}

impl<X: Flatten> WhileAny<X> {
    /// Begins the loop with these initial values, and the code that computes its condition.
    pub fn begin(init: X) -> Self {
        let mut values = Vec::new();
        init.flatten(&mut values);
        let variables = with(|c| {
            let types: Vec<_> = values.iter().map(|v| c.builder.kernel().ty(*v)).collect();
            types.into_iter().map(|ty| c.builder.declare(ty)).collect()
        });
        let new = WhileAny { variables, head: None, types: PhantomData };
        new.write(&values);
        with(|c| c.builder.open(true));
        new
    }

    fn write(&self, values: &[Value]) {
        with(|c| self.variables.iter().zip(values).for_each(|(var, v)| c.builder.write(*var, *v, None)));
    }

    /// The current values of the loop's variables.
    pub fn values(&self) -> X {
        let values: Vec<Value> = with(|c| self.variables.iter().map(|v| c.builder.read(*v, None)).collect());
        X::unflatten(&mut values.into_iter())
    }

    /// Begins the body. Lanes where `condition`, a `bool`, is true run another iteration.
    pub fn test(&mut self, condition: Value) {
        let head = with(|c| {
            let head = c.builder.close(true);
            c.builder.open(true);
            head
        });
        self.head = Some((head, condition));
    }

    /// Ends the body. `next` are the values for the next iteration. Returns each lane's final values.
    pub fn end(self, next: X) -> X {
        let mut values = Vec::new();
        next.flatten(&mut values);
        self.write(&values);
        with(|c| {
            let body = c.builder.close(true);
            if let Some((head, cond)) = self.head.clone() {
                c.builder.stmt(Stmt::While { head, cond, body });
            }
        });
        self.values()
    }
}
