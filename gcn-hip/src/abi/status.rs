//! Errors, versions, and functions that are not implemented.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::{Code, Out, call, text, with};
use crate::error::{self, Error};
use crate::host::Ptr;
use crate::state::{lock, thread};

/// The version that the library reports: HIP 7.1.
const VERSION: i32 = 7 * 10_000_000 + 100_000 + 25424;

pub(crate) extern "C" fn init(flags: u32) -> Code {
    with(|s| {
        s.model(0)?;
        if flags == 0 { Ok(()) } else { Err(Error::InvalidValue) }
    })
}

pub(crate) extern "C" fn driver_get_version(version: Out<i32>) -> Code {
    call(|| version.set(VERSION))
}

pub(crate) extern "C" fn runtime_get_version(version: Out<i32>) -> Code {
    call(|| version.set(VERSION))
}

pub(crate) extern "C" fn get_last_error() -> Code {
    thread(|t| std::mem::take(&mut t.last))
}

pub(crate) extern "C" fn peek_at_last_error() -> Code {
    thread(|t| t.last)
}

pub(crate) extern "C" fn get_error_name(code: Code) -> *const u8 {
    error::name(code).as_ptr()
}

pub(crate) extern "C" fn get_error_string(code: Code) -> *const u8 {
    error::text(code).as_ptr()
}

pub(crate) extern "C" fn drv_get_error_name(code: Code, out: Out<u64>) -> Code {
    call(|| {
        out.check()?;
        out.set(if error::is_known(code) { error::name(code).as_ptr() as u64 } else { 0 })?;
        if error::is_known(code) { Ok(()) } else { Err(Error::InvalidValue) }
    })
}

pub(crate) extern "C" fn drv_get_error_string(code: Code, out: Out<u64>) -> Code {
    call(|| {
        out.check()?;
        out.set(if error::is_known(code) { error::text(code).as_ptr() as u64 } else { 0 })?;
        if error::is_known(code) { Ok(()) } else { Err(Error::InvalidValue) }
    })
}

/// `hipProfilerStart` and `hipProfilerStop`: accepted, without an effect.
pub(crate) extern "C" fn profiler() -> Code {
    lock();
    0
}

/// The implementation of every function that has no path in the table: reports the function's name, once.
pub(crate) extern "C" fn unsupported(name: Ptr) -> Code {
    static SAID: Mutex<Option<HashSet<u64>>> = Mutex::new(None);
    call(|| {
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.get_or_insert_default().insert(name.address()) {
            eprintln!("gcn-hip: {} is not supported", text(name)?);
        }
        Err(Error::NotSupported)
    })
}
