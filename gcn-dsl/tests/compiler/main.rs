//! The compiler below the language: lowering and register allocation, by what their modules offer each other.

mod ir;
mod lower;
mod regalloc;
