//! The compiler below the language: lowering and register allocation, tested through the interfaces of their modules.

mod ir;
mod lower;
mod regalloc;
