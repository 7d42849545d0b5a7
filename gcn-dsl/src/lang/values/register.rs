//! `#[register("v10")] let`: variables in registers that the user chose.

use std::panic::Location;

use gcn_isa::{Reg, RegFile};

use crate::ir::{Type, Value};
use crate::lang::context::source;
use crate::lang::{Declare, Flatten, S, V, Var, Vector, with};
use crate::scalar::{Number, Scalar};

/// Register files, as types.
pub trait RegisterFile {
    /// The register file.
    const FILE: RegFile;
}

/// The scalar registers: `s0`, `s1`, …
#[derive(Debug)]
pub struct Sgprs;

/// The vector registers: `v0`, `v1`, …
#[derive(Debug)]
pub struct Vgprs;

/// The accumulation registers: `a0`, `a1`, …
#[derive(Debug)]
pub struct Agprs;

impl RegisterFile for Sgprs {
    const FILE: RegFile = RegFile::Sgpr;
}
impl RegisterFile for Vgprs {
    const FILE: RegFile = RegFile::Vgpr;
}
impl RegisterFile for Agprs {
    const FILE: RegFile = RegFile::Agpr;
}

/// Device values that can be in registers of file `F`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not live in `{F}`",
    label = "registers of another file",
    note = "uniform values `S<T>` and conditions `V<bool>` live in SGPRs (`s20`), varying values in VGPRs (`v10`), accumulators `Acc` in AGPRs (`a[0:15]`), and after `in_vgprs()` in VGPRs"
)]
pub trait InRegisters<F> {}

impl<T: Scalar> InRegisters<Sgprs> for S<T> {}
impl InRegisters<Sgprs> for V<bool> {}
impl<T: Number> InRegisters<Vgprs> for V<T> {}
impl<T: Number, const N: usize> InRegisters<Vgprs> for Vector<T, N> {}
impl<F, X: InRegisters<F>, const N: usize> InRegisters<F> for [X; N] {}

/// The expansion of `#[register("…")] let mut x = e`: declares a variable in `len` registers from number `first` on.
#[track_caller]
pub fn pinned<R: RegisterFile, X, D, F>(_flow: &F, first: u16, len: u8, init: D) -> Var<X, F>
where
    X: Flatten + InRegisters<R>,
    D: Declare<Value = X>,
{
    let mut values = Vec::new();
    init.declare().flatten(&mut values);
    let at = Location::caller();
    let to = Reg { file: R::FILE, index: first, len };
    let fit = fits(&values, to).map_err(|why| with(|c| c.fail(at, why)));
    Var::declare_in(&values, fit.ok().map(|()| to), source(at))
}

/// Checks that the values fit exactly into the registers `to`. The error is the message for the user.
fn fits(values: &[Value], to: Reg) -> Result<(), String> {
    let types: Vec<Type> = with(|c| values.iter().map(|v| c.builder.kernel().ty(*v)).collect());
    if types.iter().any(|ty| ty.registers().0 != to.file) {
        return Err(match to.file {
            RegFile::Agpr => {
                format!("this accumulator is in VGPRs, so it cannot be in `{to}`; leave out `in_vgprs()`")
            }
            _ => format!(
                "this accumulator is in AGPRs, so it cannot be in `{to}`; write `in_vgprs()`, or `a` for `v`"
            ),
        });
    }
    let needed: u32 = types.iter().map(|ty| u32::from(ty.registers().1)).sum();
    if needed != u32::from(to.len) {
        let registers = if to.len == 1 { "register" } else { "registers" };
        return Err(format!("`{to}` has {} {registers}, and the value takes {needed}", to.len));
    }
    Ok(())
}
