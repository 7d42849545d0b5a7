//! Run-time compilation: `hiprtc`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, PoisonError};

use super::Out;
use crate::host::{self, Ptr};
use crate::registry::Registry;
use crate::rtc::{Compiled, Error, Link, Program, Result};
use crate::state::{current_device, lock};

/// `hiprtcResult`.
type Code = u32;

static PROGRAMS: LazyLock<Mutex<Registry<Program>>> = LazyLock::new(|| Mutex::new(Registry::new(9)));

static LINKS: LazyLock<Mutex<Registry<Link>>> = LazyLock::new(|| Mutex::new(Registry::new(10)));

fn call(f: impl FnOnce() -> Result) -> Code {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => error as Code,
        Err(_) => Error::Internal as Code,
    }
}

/// Calls `f` with an existing program.
fn with(program: u64, f: impl FnOnce(&mut Program) -> Result) -> Code {
    call(|| {
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        f(programs.get_mut(program).ok_or(Error::InvalidProgram)?)
    })
}

/// Reads a C string.
fn text(at: Ptr) -> Result<String> {
    super::text(at).map_err(|_| Error::InvalidInput)
}

/// Reads an array of C strings.
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

/// Writes bytes to the caller's buffer.
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

/// Destroys the program whose handle is at `place`.
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

/// The symbol of a name expression; valid as long as the program exists.
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

/// The bitcode of a program that was compiled for linking.
fn bitcode(program: &Program) -> Result<&[u8]> {
    let compiled: Option<&Compiled> = program.compiled.as_ref().filter(|compiled| compiled.is_bitcode);
    Ok(&compiled.ok_or(Error::InvalidProgram)?.code)
}

pub(crate) extern "C" fn get_bitcode_size(program: u64, size: Out<usize>) -> Code {
    if size.check().is_err() {
        return Error::InvalidInput as Code;
    }
    with(program, |program| set(size, bitcode(program)?.len()))
}

pub(crate) extern "C" fn get_bitcode(program: u64, place: Ptr) -> Code {
    if place.is_null() {
        return Error::InvalidInput as Code;
    }
    with(program, |program| put(place, bitcode(program)?))
}

/// Calls `f` with an existing linker.
fn linking(link: u64, f: impl FnOnce(&mut Link) -> Result) -> Code {
    call(|| {
        let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
        f(links.get_mut(link).ok_or(Error::InvalidInput)?)
    })
}

/// `HIPRTC_JIT_IR_TO_ISA_OPT_EXT`, strings for the compiler, and `HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT`, their number. Other options are
/// CUDA's.
const OPTIONS: u32 = 10_000;
const NUMBER_OF_OPTIONS: u32 = 10_001;

pub(crate) extern "C" fn link_create(count: u32, options: Ptr, values: Ptr, place: Out<u64>) -> Code {
    call(|| {
        place.check().map_err(|_| Error::InvalidInput)?;
        if count > 0 && (options.is_null() || values.is_null()) {
            return Err(Error::InvalidInput);
        }
        let value = |wanted: u32| {
            let found = (0..count as usize).find(|n| host::word32(options.plus(4 * n)) == wanted);
            found.map(|n| host::pointer(values.plus(8 * n)))
        };
        let number = value(NUMBER_OF_OPTIONS).map_or(0, Ptr::address);
        let options = match value(OPTIONS) {
            Some(strings) => texts(strings, i32::try_from(number).map_err(|_| Error::InvalidInput)?)?,
            None => Vec::new(),
        };
        let link = Link { options, ..Link::default() };
        set(place, LINKS.lock().unwrap_or_else(PoisonError::into_inner).add(link))
    })
}

/// `HIPRTC_JIT_INPUT_LLVM_BITCODE`, the only supported input; the others are CUDA's or bundles.
const BITCODE: u32 = 100;

pub(crate) extern "C" fn link_add_data(
    link: u64,
    kind: u32,
    data: Ptr,
    bytes: usize,
    _name: Ptr,
    _options: u32,
    _keys: Ptr,
    _values: Ptr,
) -> Code {
    linking(link, |link| {
        if kind != BITCODE || data.is_null() || bytes == 0 {
            return Err(Error::InvalidInput);
        }
        link.inputs.push(host::bytes(data, bytes));
        Ok(())
    })
}

pub(crate) extern "C" fn link_add_file(
    link: u64,
    kind: u32,
    path: Ptr,
    _options: u32,
    _keys: Ptr,
    _values: Ptr,
) -> Code {
    linking(link, |link| {
        if kind != BITCODE {
            return Err(Error::InvalidInput);
        }
        let input = std::fs::read(text(path)?).map_err(|_| Error::ProgramCreation)?;
        link.inputs.push(input);
        Ok(())
    })
}

/// Links the inputs; the code object is valid as long as the linker exists.
pub(crate) extern "C" fn link_complete(link: u64, place: Out<u64>, size: Out<usize>) -> Code {
    linking(link, |link| {
        place.check().and(size.check()).map_err(|_| Error::InvalidInput)?;
        let target = lock().model(current_device()).map(|model| model.id().to_string());
        link.complete(&target.unwrap_or_default())?;
        set(place, link.linked.as_ptr() as u64)?;
        set(size, link.linked.len())
    })
}

pub(crate) extern "C" fn link_destroy(link: u64) -> Code {
    call(|| {
        let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
        links.remove(link).map(|_| ()).ok_or(Error::InvalidInput)
    })
}

/// The compiler's messages with a terminating zero; empty if there are none.
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
