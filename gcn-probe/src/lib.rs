#![doc = include_str!("../README.md")]

pub mod bench;
pub mod builder;
pub mod case;
pub mod clock;
pub mod compare;
pub mod device;
pub mod form;
pub mod judge;
pub mod launch;
pub mod matrix;
pub mod page;
pub mod random;
pub mod report;
pub mod run;
pub mod suite;
pub mod waits;
