//! Matrix operands, tiles and their loads.

mod capability;
mod conflicts;
mod fragments;
mod mixed;
mod multiply;
mod part;
mod radeon;
mod readme;
mod tile;
mod timing;
mod transposed;
mod wide;
