//! Schedules, waits and registers: the stages after instruction selection, and the requests of kernels that concern
//! them.

mod cold;
mod fill;
mod invariant;
mod islands;
mod list;
mod manual;
mod order;
mod ping_pong;
mod pinned;
mod pipeline;
mod priority;
mod registers;
mod schedule_text;
mod selection;
mod source_lines;
mod spill_lds;
mod timeline;

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::Target;
use gcn_isa::WaveSize;

/// One target for each instruction set that differs, with each wave size that it supports.
fn places() -> Vec<(Target, WaveSize)> {
    let rdna = [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201];
    let targets = Target::REPRESENTATIVES.into_iter().chain(rdna);
    targets.flat_map(|target| target.wave_sizes().iter().map(move |wave| (target, *wave))).collect()
}

fn options(wave: WaveSize) -> BuildOptions {
    BuildOptions { wave: Some(wave), ..BuildOptions::default() }
}
