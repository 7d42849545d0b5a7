//! Uniform values of several registers.

use std::panic::Location;

use crate::ir::{Inst, Place, Type, Value};
use crate::lang::{Flatten, S, with};
use crate::scalar::Elem;

/// `N` consecutive SGPRs: a buffer resource, or the result of a wide scalar load.
///
/// ```
/// use gcn_dsl::{isa::{self, Sgprs}, prelude::*};
/// gcn_kernel! {
///     /// Writes a word through a resource that the kernel makes itself.
///     #[workgroup(64)]
///     fn put(y: *mut u32, bytes: u32) {
///         let [low, high] = isa::halves(y);
///         let format: u32 = 0x0002_7000;
///         let resource = Sgprs::from([low, high, bytes, format]);
///         isa::buffer_store_dword(lane_id(), isa::Offen(lane_id() * 4), resource, 0, 0);
///     }
/// }
/// # put.build(Target::GFX942).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sgprs<const N: usize> {
    pub(super) value: Value,
}

impl<const N: usize> Sgprs<N> {
    pub(super) const TYPE: Type = Type { place: Place::Uniform, elem: Elem::U32, count: N as u8 };

    /// Dword number `k`.
    ///
    /// # Panics
    /// If `k` is not below `N`.
    #[track_caller]
    pub fn get(self, k: usize) -> S<u32> {
        assert!(k < N, "dword {k} of {N}");
        let inst = Inst::Extract { from: self.value, dword: k as u8 };
        S::emit(inst, Location::caller())
    }
}

impl<const N: usize> From<[S<u32>; N]> for Sgprs<N> {
    #[track_caller]
    fn from(parts: [S<u32>; N]) -> Self {
        let inst = Inst::Concat(parts.iter().map(|p| p.value).collect());
        Sgprs { value: with(|c| c.value(inst, Self::TYPE, Location::caller())) }
    }
}

impl<const N: usize> Flatten for Sgprs<N> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Sgprs { value: crate::lang::next_value(values) }
    }
}
