//! Schedules, waits and registers: what follows instruction selection, and what kernels ask of it.

mod cold;
mod fill;
mod invariant;
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
