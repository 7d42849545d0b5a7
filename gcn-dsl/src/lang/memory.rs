//! Memory: slices, pointers, LDS, private arrays, atomics, and the layout of what they hold.

pub(super) mod access;
pub(super) mod atomic;
pub(super) mod bounds;
pub(super) mod cache;
pub(super) mod const_index;
pub(super) mod deref;
pub(super) mod dma;
pub(super) mod dynamic_index;
pub(super) mod element_assign;
pub(super) mod index;
pub(super) mod layout;
pub(super) mod lds;
pub(super) mod lds_row;
pub(super) mod lds_slice;
pub(super) mod ordering;
pub(super) mod place;
pub(super) mod pointer;
pub(super) mod private;
pub(super) mod slice;
pub(super) mod subslice;
pub(super) mod vector;
