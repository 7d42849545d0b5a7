//! Dense matrix instructions with a validated model other than a chain of fused multiply-adds: see [`super::model`].

use super::cut::{self, Format};
use super::dense::{Dense, Execution, Products, room, stretches};
use super::model::{Arithmetic, Model};
use super::sum;
use crate::core::fault::{Done, Fault};
use crate::core::machine::{Cx, Exec, Step};
use crate::core::matrix::MatrixArithmetic;
use crate::fp::host;

/// A matrix instruction that is computed by its model.
pub(super) struct Modelled {
    dense: Dense<f32>,
    model: Model,
    /// The formats of A and B.
    formats: [Format; 2],
}

impl Modelled {
    /// # Errors
    /// If an input type has no model.
    pub(super) fn new(dense: Dense<f32>, model: Model) -> Result<Modelled, String> {
        let format = |ty| Format::of(ty).ok_or("no model has its types".to_owned());
        Ok(Modelled { formats: [format(dense.shape.a)?, format(dense.shape.b)?], dense, model })
    }
}

impl Products<f32> for Modelled {
    const ROWS: [u16; 2] = [4, 32];

    #[inline(always)]
    fn add<const FUSED: bool, const N: usize, const R: usize>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        block: usize,
        acc: &mut [[f32; N]; N],
    ) -> Result<(), Fault> {
        let k = usize::from(self.dense.shape.k);
        let group = usize::from(self.model.group);
        let registers = self.dense.inputs(cx, s)?;
        let mut widened = room::<f32, N>();
        if self.model.arithmetic == Arithmetic::Tree {
            acc.as_flattened_mut().iter_mut().for_each(|c| *c = sum::flushed_to_plus_zero(*c));
        }
        for lines in stretches(block * k, k) {
            let [a, b] = self.dense.read(&registers, [lines.clone(), lines], &mut widened);
            let [a, b] = [&*a, &*b];
            match self.model.arithmetic {
                Arithmetic::Exact => sum::exact::<FUSED, N>(a, b, group, self.formats, acc),
                Arithmetic::Tree => sum::tree::<FUSED, N>(a, b, group, self.formats, acc),
                Arithmetic::CutInHalves => cut::add::<true, N>(a, b, group, self.formats, acc),
                _ => cut::add::<false, N>(a, b, group, self.formats, acc),
            }
        }
        Ok(())
    }
}

impl Exec for Modelled {
    fn execute(&self, cx: &mut Cx<'_>, s: &Step) -> Done {
        match cx.machine.matrix() {
            MatrixArithmetic::Chain => self.dense.execute(cx, s),
            MatrixArithmetic::Hardware => host::run(Execution { dense: &self.dense, products: self, cx, s })
                .map(|_| ())
                .map_err(Box::new),
        }
    }
}
