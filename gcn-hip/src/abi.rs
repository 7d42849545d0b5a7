//! The library's functions as C calls them: they read the caller's pointers and leave the rest to [`crate::state`].
//!
//! `data/functions.tsv` lists all functions of the library with their versions and, for implemented ones, their Rust paths.

pub(crate) mod advice;
pub(crate) mod copies;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod fatbin;
pub(crate) mod graph;
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod occupancy;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod rtc;
pub(crate) mod status;
pub(crate) mod stream;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};
use crate::host::{self, Ptr};
use crate::state::{State, lock, thread};

/// `hipError_t`.
pub(crate) type Code = u32;

/// `dim3`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl From<Dim3> for [u32; 3] {
    fn from(d: Dim3) -> [u32; 3] {
        [d.x, d.y, d.z]
    }
}

/// Runs a function of the library. A panic is not propagated to the caller, and an error is stored for `hipGetLastError`.
pub(crate) fn call(f: impl FnOnce() -> Result) -> Code {
    let result = catch_unwind(AssertUnwindSafe(f)).unwrap_or(Err(Error::Unknown));
    match result {
        Ok(()) => 0,
        // `NotReady` is not an error, but the answer "no" to a query.
        Err(Error::NotReady) => Error::NotReady as Code,
        Err(error) => {
            thread(|t| t.last = error as Code);
            error as Code
        }
    }
}

/// As [`call`], with the runtime locked.
pub(crate) fn with(f: impl FnOnce(&mut State) -> Result) -> Code {
    call(|| f(&mut lock()))
}

/// A value with a C layout.
pub(crate) trait Plain: Copy {
    fn to_bytes(self) -> Vec<u8>;
}

macro_rules! plain {
    ($($t:ty),*) => { $(impl Plain for $t {
        fn to_bytes(self) -> Vec<u8> {
            self.to_le_bytes().to_vec()
        }
    })* };
}
plain!(u8, u32, i32, u64, usize, f32);

impl Plain for Ptr {
    fn to_bytes(self) -> Vec<u8> {
        self.address().to_le_bytes().to_vec()
    }
}

impl Plain for Option<Ptr> {
    fn to_bytes(self) -> Vec<u8> {
        self.map_or(0, Ptr::address).to_le_bytes().to_vec()
    }
}

/// A pointer to which the caller wants a result written.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Out<T>(Ptr, std::marker::PhantomData<T>);

impl<T: Plain> Out<T> {
    /// Checks that the pointer is not null, before an operation whose result would be lost.
    pub(crate) fn check(self) -> Result {
        if self.0.is_null() { Err(Error::InvalidValue) } else { Ok(()) }
    }

    pub(crate) fn set(self, value: T) -> Result {
        self.check()?;
        host::put(self.0, &value.to_bytes());
        Ok(())
    }

    /// Writes a value, unless the pointer is null because the caller does not need it.
    pub(crate) fn set_if(self, value: T) {
        if !self.0.is_null() {
            host::put(self.0, &value.to_bytes());
        }
    }

    /// The element with this index, if the pointer is to an array.
    pub(crate) fn at(self, index: usize) -> Out<T> {
        let place = if self.0.is_null() { self.0 } else { self.0.plus(index * size_of::<T>()) };
        Out(place, std::marker::PhantomData)
    }

    /// The address, for writing a structure field by field; an error if the pointer is null.
    pub(crate) fn place(self) -> Result<Ptr> {
        self.check()?;
        Ok(self.0)
    }
}

/// Reads `count` 8-byte words of a structure or an array that the caller passes.
pub(crate) fn words(at: Ptr, count: usize) -> Result<Vec<u64>> {
    if at.is_null() && count > 0 {
        return Err(Error::InvalidValue);
    }
    Ok((0..count).map(|n| host::word(at.plus(8 * n))).collect())
}

/// Reads a C string.
pub(crate) fn text(at: Ptr) -> Result<String> {
    if at.is_null() {
        return Err(Error::InvalidValue);
    }
    let mut bytes = Vec::new();
    loop {
        match host::bytes(at.plus(bytes.len()), 1)[0] {
            0 => return String::from_utf8(bytes).map_err(|_| Error::InvalidValue),
            byte => bytes.push(byte),
        }
    }
}
