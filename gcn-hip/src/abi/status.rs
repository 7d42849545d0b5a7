//! Errors, versions, and functions that are not implemented.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::{Code, Out, call, text, with};
use crate::error::{self, Error};
use crate::host::{self, Function, Ptr, functions};
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

/// The values of `hipDriverProcAddressQueryResult` for `hipGetProcAddress`.
const FOUND: u32 = 0;
const UNKNOWN_NAME: u32 = 1;
const NEWER_VERSION: u32 = 2;
/// The flag with which `hipGetProcAddress` returns functions that use the per-thread default stream.
const PER_THREAD: u64 = 2;
/// The version from which on the names of functions with changed structures refer to the suffixed functions, as in the macros of the
/// headers.
const STRUCTURES_CHANGED: usize = 600;

pub(crate) extern "C" fn get_proc_address(
    name: Ptr,
    place: Out<u64>,
    version: i32,
    flags: u64,
    said: Out<u32>,
) -> Code {
    call(|| {
        place.check()?;
        let name = text(name)?;
        // Programs pass versions in the form 701, or the result of `hipDriverGetVersion`.
        let version = usize::try_from(version).map_err(|_| Error::InvalidValue)?;
        let version = if version >= 10_000_000 { version / 100_000 } else { version };
        let named = |suffix: &str| -> Vec<Function> {
            functions().filter(|f| f.name.strip_prefix(name.as_str()) == Some(suffix)).collect()
        };
        let suffixes = ["_spt", "R0600", ""];
        let asked = [flags == PER_THREAD, version >= STRUCTURES_CHANGED, true];
        let wanted = suffixes.iter().zip(asked).filter(|(_, asked)| *asked).map(|(suffix, _)| named(suffix));
        let Some(found) = wanted.into_iter().find(|found| !found.is_empty()) else {
            said.set_if(UNKNOWN_NAME);
            return Err(Error::InvalidValue);
        };
        let newest = found.iter().filter(|f| f.version <= version).max_by_key(|f| f.version);
        let Some(newest) = newest else {
            said.set_if(NEWER_VERSION);
            return Err(Error::InvalidValue);
        };
        said.set_if(FOUND);
        place.set(newest.address as u64)
    })
}

/// `hipProfilerStart` and `hipProfilerStop`: accepted, without an effect.
pub(crate) extern "C" fn profiler() -> Code {
    lock();
    0
}

/// The name of the function with this number in AMD's tracer, which this library does not support.
pub(crate) extern "C" fn api_name(number: u32) -> *const std::ffi::c_char {
    host::traced_name(number as usize)
}

/// `hipRegisterTracerCallback` and `__hipGetPCH`, which do nothing: there is no tracer and no precompiled header.
pub(crate) extern "C" fn nothing() {}

/// Called for every function without a Rust path in `data/functions.tsv`: reports the function's name, once.
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
