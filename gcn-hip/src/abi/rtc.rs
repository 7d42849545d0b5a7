//! Compiling while the program runs: `hiprtc`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, PoisonError};

use super::Out;
use crate::host::{self, Ptr};
use crate::registry::Registry;
use crate::rtc::{Error, Program, Result};
use crate::state::{current_device, lock};

/// `hiprtcResult`.
type Code = u32;

static PROGRAMS: LazyLock<Mutex<Registry<Program>>> = LazyLock::new(|| Mutex::new(Registry::new(9)));

fn call(f: impl FnOnce() -> Result) -> Code {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => error as Code,
        Err(_) => Error::Internal as Code,
    }
}

/// The same for a program that is there.
fn with(program: u64, f: impl FnOnce(&mut Program) -> Result) -> Code {
    call(|| {
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        f(programs.get_mut(program).ok_or(Error::InvalidProgram)?)
    })
}

/// A string of C.
fn text(at: Ptr) -> Result<String> {
    super::text(at).map_err(|_| Error::InvalidInput)
}

/// The strings of an array.
fn texts(at: Ptr, count: i32) -> Result<Vec<String>> {
    let count = usize::try_from(count).map_err(|_| Error::InvalidInput)?;
    if at.is_null() && count > 0 {
        return Err(Error::InvalidInput);
    }
    (0..count).map(|n| text(host::pointer(at.plus(8 * n)))).collect()
}

fn set<T: super::Plain>(place: Out<T>, value: T) -> Result {
    place.set(value).map_err(|_| Error::InvalidInput)
}

/// Writes bytes where there is room for them.
fn put(at: Ptr, bytes: &[u8]) -> Result {
    if at.is_null() {
        return Err(Error::InvalidInput);
    }
    host::put(at, bytes);
    Ok(())
}

pub(crate) extern "C" fn version(major: Out<i32>, minor: Out<i32>) -> Code {
    call(|| {
        set(major, 9)?;
        set(minor, 0)
    })
}

pub(crate) extern "C" fn get_error_string(code: Code) -> *const u8 {
    let name = match code {
        0 => "HIPRTC_SUCCESS\0",
        1 => "HIPRTC_ERROR_OUT_OF_MEMORY\0",
        2 => "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE\0",
        3 => "HIPRTC_ERROR_INVALID_INPUT\0",
        4 => "HIPRTC_ERROR_INVALID_PROGRAM\0",
        5 => "HIPRTC_ERROR_INVALID_OPTION\0",
        6 => "HIPRTC_ERROR_COMPILATION\0",
        7 => "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE\0",
        8 => "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION\0",
        9 => "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION\0",
        10 => "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID\0",
        11 => "HIPRTC_ERROR_INTERNAL_ERROR\0",
        100 => "HIPRTC_ERROR_LINKING\0",
        _ => "Invalid HIPRTC error code\0",
    };
    name.as_ptr()
}

pub(crate) extern "C" fn create_program(
    place: Out<u64>,
    source: Ptr,
    name: Ptr,
    count: i32,
    headers: Ptr,
    names: Ptr,
) -> Code {
    call(|| {
        place.check().map_err(|_| Error::InvalidInput)?;
        let name = if name.is_null() { "source.hip".to_owned() } else { text(name)? };
        let headers = texts(names, count)?.into_iter().zip(texts(headers, count)?).collect();
        let program = Program { source: text(source)?, name, headers, ..Program::default() };
        let handle = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).add(program);
        set(place, handle)
    })
}

/// Destroys the program whose handle is at the place.
pub(crate) extern "C" fn destroy_program(place: Out<u64>) -> Code {
    call(|| {
        let at = place.place().map_err(|_| Error::InvalidInput)?;
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        programs.remove(host::word(at)).ok_or(Error::InvalidProgram)?;
        set(place, 0)
    })
}

pub(crate) extern "C" fn add_name_expression(program: u64, name: Ptr) -> Code {
    with(program, |program| {
        if program.compiled.is_some() {
            return Err(Error::NoNameExpressionsAfterCompilation);
        }
        program.names.push(text(name)?);
        Ok(())
    })
}

pub(crate) extern "C" fn compile_program(program: u64, count: i32, options: Ptr) -> Code {
    with(program, |program| {
        let options = texts(options, count)?;
        let target = lock().model(current_device()).map(|model| model.id().to_string());
        program.compile(&options, &target.unwrap_or_default())
    })
}

/// The symbol of a name expression, as long as the program is there.
pub(crate) extern "C" fn get_lowered_name(program: u64, name: Ptr, place: Out<u64>) -> Code {
    with(program, |program| {
        let compiled = program.compiled.as_ref().ok_or(Error::NoLoweredNamesBeforeCompilation)?;
        let symbol = compiled.symbols.get(&text(name)?).ok_or(Error::NameExpressionNotValid)?;
        set(place, symbol.as_ptr() as u64)
    })
}

pub(crate) extern "C" fn get_code_size(program: u64, size: Out<usize>) -> Code {
    with(program, |program| set(size, program.compiled.as_ref().ok_or(Error::InvalidProgram)?.code.len()))
}

pub(crate) extern "C" fn get_code(program: u64, place: Ptr) -> Code {
    with(program, |program| put(place, &program.compiled.as_ref().ok_or(Error::InvalidProgram)?.code))
}

/// What the compiler said, with the zero at its end; nothing at all if it said nothing.
fn log(program: &Program) -> Vec<u8> {
    let mut log = program.log.clone().into_bytes();
    if !log.is_empty() {
        log.push(0);
    }
    log
}

pub(crate) extern "C" fn get_program_log_size(program: u64, size: Out<usize>) -> Code {
    with(program, |program| set(size, log(program).len()))
}

pub(crate) extern "C" fn get_program_log(program: u64, place: Ptr) -> Code {
    with(program, |program| put(place, &log(program)))
}
