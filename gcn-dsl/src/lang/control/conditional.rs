//! Conditional code for the implementation of library functions.

use std::marker::PhantomData;

use crate::ir::{Region, Stmt, Value, Variable};
use crate::lang::{Flatten, V, with};

/// A branch under construction that recomputes given values in the lanes in which a condition is true.
///
/// The body is not a closure, for the reason given in [`crate::lang::control::while_any`].
pub(in crate::lang) struct OnlyWhere<X> {
    variables: Vec<Variable>,
    condition: Value,
    types: PhantomData<X>,
}

impl<X: Flatten> OnlyWhere<X> {
    /// Begins the branch. `otherwise` are the values in the lanes in which `condition` is false.
    pub fn begin(condition: V<bool>, otherwise: X) -> Self {
        let mut values = Vec::new();
        otherwise.flatten(&mut values);
        let variables = with(|c| {
            let types: Vec<_> = values.iter().map(|v| c.builder.kernel().ty(*v)).collect();
            types.into_iter().map(|ty| c.builder.declare(ty)).collect()
        });
        let new = OnlyWhere { variables, condition: condition.value, types: PhantomData };
        new.write(&values);
        with(|c| c.builder.open(true));
        new
    }

    fn write(&self, values: &[Value]) {
        with(|c| self.variables.iter().zip(values).for_each(|(var, v)| c.builder.write(*var, *v, None)));
    }

    /// Ends the branch. `values` are the values in the lanes in which the condition is true. Returns the merged values.
    pub fn end(self, values: X) -> X {
        let mut flat = Vec::new();
        values.flatten(&mut flat);
        self.write(&flat);
        let joined: Vec<Value> = with(|c| {
            let then = c.builder.close(true);
            c.builder.stmt(Stmt::If { cond: self.condition, then, els: Region::default() });
            self.variables.iter().map(|v| c.builder.read(*v, None)).collect()
        });
        X::unflatten(&mut joined.into_iter())
    }
}
