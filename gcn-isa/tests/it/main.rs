//! Integration tests of the facts and analyses, against golden data.

mod cfg;
mod check;
mod columns;
mod dataflow;
mod delay;
mod entries;
mod evidence;
mod golden;
mod hazards;
mod indexing;
mod layout;
mod llvm_defects;
mod memory_model;
mod msb;
mod processors;
mod rdna;
mod reference;
mod remedies;
mod semantics;
mod spelling;
mod wait;
