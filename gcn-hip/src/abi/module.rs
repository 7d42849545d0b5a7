//! Modules and functions.

use super::device::{LAST_BANKS, LAST_CACHE, one_of};
use super::fatbin::image;
use super::{Code, Out, Plain, call, text, with};
use crate::error::{Error, Result};
use crate::host::{self, Ptr};
use crate::module::Function;
use crate::state::{State, lock};

pub(crate) extern "C" fn module_load(module: Out<u64>, path: Ptr) -> Code {
    call(|| {
        module.check()?;
        let path = text(path)?;
        let bytes = std::fs::read(path).map_err(|_| Error::FileNotFound)?;
        let handle = lock().load_module(&bytes)?;
        module.set(handle)
    })
}

pub(crate) extern "C" fn module_load_data(module: Out<u64>, data: Ptr) -> Code {
    call(|| {
        module.check()?;
        let handle = lock().load_module(image(data)?)?;
        module.set(handle)
    })
}

/// The options are for a JIT compiler and are ignored.
pub(crate) extern "C" fn module_load_data_ex(module: Out<u64>, data: Ptr, _n: u32, _k: Ptr, _v: Ptr) -> Code {
    module_load_data(module, data)
}

pub(crate) extern "C" fn module_unload(module: u64) -> Code {
    call(|| {
        let s = lock();
        // Pending launches may use kernels of the module.
        let none = if module == 0 { Error::InvalidHandle } else { Error::NotFound };
        let device = s.modules.get(module).ok_or(none)?.device;
        let works = s.pending_on(device);
        s.drained(works).unload_module(module)
    })
}

pub(crate) extern "C" fn module_get_function(function: Out<u64>, module: u64, name: Ptr) -> Code {
    with(|s| {
        function.check()?;
        let handle = s.function(module, &text(name)?)?;
        function.set(handle)
    })
}

pub(crate) extern "C" fn module_get_function_count(count: Out<u32>, module: u64) -> Code {
    with(|s| {
        let found = s.modules.get(module).ok_or(Error::InvalidHandle)?;
        count.set(found.object.kernels().count() as u32)
    })
}

pub(crate) extern "C" fn module_get_global(
    place: Out<u64>,
    size: Out<usize>,
    module: u64,
    name: Ptr,
) -> Code {
    with(|s| {
        let variable = s.global(module, &text(name)?)?;
        place.set_if(variable.address);
        size.set_if(variable.bytes as usize);
        Ok(())
    })
}

pub(crate) extern "C" fn get_func_by_symbol(function: Out<u64>, symbol: u64) -> Code {
    with(|s| {
        function.check()?;
        let handle = s.kernel(symbol)?;
        function.set(handle)
    })
}

/// The name of a kernel, for `hipKernelNameRef`; valid as long as its module is loaded.
pub(crate) extern "C" fn kernel_name_ref(function: u64) -> *const u8 {
    thread_local! {
        static NAME: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    let state = lock();
    let Some(found) = state.functions.get(function) else { return std::ptr::null() };
    let named = NAME.try_with(|name| {
        let mut name = name.borrow_mut();
        *name = [found.name.as_bytes(), b"\0"].concat();
        name.as_ptr()
    });
    // While a thread ends, its thread-local storage is no longer available.
    named.unwrap_or(std::ptr::null())
}

/// The name of the kernel that a host symbol denotes, for `hipKernelNameRefByPtr`.
pub(crate) extern "C" fn kernel_name_ref_by_ptr(symbol: u64, _stream: u64) -> *const u8 {
    let function = lock().kernel(symbol).unwrap_or(0);
    kernel_name_ref(function)
}

/// The results of `hipFuncGetAttributes` and `hipFuncGetAttribute`.
struct Attributes {
    lds: u32,
    most_dynamic: u32,
    carveout: u32,
    scratch: u32,
    registers: u32,
    threads: u32,
    version: u32,
}

impl Attributes {
    fn of(s: &State, function: &Function) -> Attributes {
        let state = function.program.machine().state();
        let target = function.program.machine().target();
        let left = target.lds_per_cu().saturating_sub(state.lds_bytes);
        let version = s.models.first().map_or(0, |m| (m.major() * 10 + m.minor()) as u32);
        Attributes {
            lds: state.lds_bytes,
            most_dynamic: function.most_dynamic_lds.unwrap_or(left),
            carveout: function.carveout,
            scratch: state.private_bytes,
            registers: if target.has_unified_agprs() { state.vgprs + state.agprs } else { state.vgprs },
            threads: function.program.metadata().map_or(1024, |m| m.max_flat_workgroup_size),
            version,
        }
    }
}

pub(crate) extern "C" fn func_get_attributes(attributes: Out<u8>, symbol: u64) -> Code {
    with(|s| {
        let place = attributes.place()?;
        let handle = s.kernel(symbol)?;
        let function = s.functions.get(handle).ok_or(Error::InvalidDeviceFunction)?;
        let a = Attributes::of(s, function);
        let mut bytes = [a.version.to_bytes(), 0u32.to_bytes()].concat();
        bytes.extend([0, u64::from(a.scratch)].iter().flat_map(|n| n.to_le_bytes()));
        let numbers = [a.most_dynamic, a.threads, a.registers, a.carveout, a.version, 0];
        bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
        bytes.truncate(FUNCTION_NUMBERS);
        bytes.extend(padding(bytes.len()));
        bytes.extend(u64::from(a.lds).to_le_bytes());
        host::put(place, &bytes);
        Ok(())
    })
}

/// The offset of the end of `ptxVersion` in `hipFuncAttributes`; `sharedSizeBytes` follows at the next multiple of 8.
const FUNCTION_NUMBERS: usize = 44;

fn padding(length: usize) -> Vec<u8> {
    vec![0; length.next_multiple_of(8) - length]
}

/// `hipFunction_attribute`.
pub(crate) extern "C" fn func_get_attribute(value: Out<u32>, attribute: u32, function: u64) -> Code {
    with(|s| {
        value.check()?;
        let function = s.functions.get(function).ok_or(Error::InvalidHandle)?;
        let a = Attributes::of(s, function);
        let numbers = [
            a.threads,
            a.lds,
            0,
            a.scratch,
            a.registers,
            a.version,
            a.version,
            0,
            a.most_dynamic,
            a.carveout,
        ];
        value.set(*numbers.get(attribute as usize).ok_or(Error::InvalidValue)?)
    })
}

/// `hipFuncSetAttribute`: the maximum dynamic LDS of a launch, or the partition of a cache, which has no effect.
pub(crate) extern "C" fn func_set_attribute(symbol: u64, attribute: u32, value: i32) -> Code {
    /// `hipFuncAttributeMaxDynamicSharedMemorySize` and `hipFuncAttributePreferredSharedMemoryCarveout`.
    const MOST_DYNAMIC: u32 = 8;
    const CARVEOUT: u32 = 9;
    with(|s| {
        let handle = s.kernel(symbol)?;
        match attribute {
            MOST_DYNAMIC => set_most_dynamic(s, handle, value),
            // A percentage, or -1 for the default.
            CARVEOUT if !(-1..=100).contains(&value) => Err(Error::InvalidValue),
            CARVEOUT => {
                s.functions.get_mut(handle).ok_or(Error::InvalidDeviceFunction)?.carveout =
                    value.max(0) as u32;
                Ok(())
            }
            _ => Err(Error::InvalidValue),
        }
    })
}

fn set_most_dynamic(s: &mut State, handle: u64, value: i32) -> Result {
    let function = s.functions.get_mut(handle).ok_or(Error::InvalidDeviceFunction)?;
    let machine = function.program.machine();
    let left = machine.target().lds_per_cu().saturating_sub(machine.state().lds_bytes);
    let value = u32::try_from(value).ok().filter(|v| *v <= left).ok_or(Error::InvalidValue)?;
    function.most_dynamic_lds = Some(value);
    Ok(())
}

pub(crate) extern "C" fn func_set_cache_config(symbol: u64, preference: u32) -> Code {
    func_set(symbol, preference, LAST_CACHE)
}

pub(crate) extern "C" fn func_set_shared_mem_config(symbol: u64, banks: u32) -> Code {
    func_set(symbol, banks, LAST_BANKS)
}

fn func_set(symbol: u64, setting: u32, last: u32) -> Code {
    with(|s| {
        s.kernel(symbol)?;
        one_of(setting, last)
    })
}
