//! Modules, and the program's fat binaries.

use std::collections::HashMap;
use std::sync::Arc;

use gcn_sim::launch::Variable;

use super::{State, current_device};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{self, Ptr};
use crate::module::{self, FatBinary, Function, Symbol};

impl State {
    /// Loads a code object, or a bundle of them, for the thread's device.
    pub(crate) fn load_module(&mut self, bytes: &[u8]) -> Result<u64> {
        let device = current_device();
        let id = self.model(device)?.id();
        let module = module::load(&mut self.heap, bytes, device, id)?;
        Ok(self.modules.add(module))
    }

    pub(crate) fn unload_module(&mut self, module: u64) -> Result {
        let module = self.modules.remove(module).ok_or(Error::InvalidHandle)?;
        module.functions.values().for_each(|function| drop(self.functions.remove(*function)));
        self.heap.free(module.base, &[Kind::Image], Error::InvalidValue)
    }

    /// The handle of a kernel of a module. The kernel is decoded on first use.
    pub(crate) fn function(&mut self, module: u64, name: &str) -> Result<u64> {
        let found = self.modules.get_mut(module).ok_or(Error::InvalidHandle)?;
        if let Some(handle) = found.functions.get(name) {
            return Ok(*handle);
        }
        let program = Arc::new(found.object.program(Some(name)).map_err(|_| Error::NotFound)?);
        let name = name.to_owned();
        let function = Function {
            program,
            name: name.clone(),
            device: found.device,
            most_dynamic_lds: None,
            carveout: 0,
        };
        let handle = self.functions.add(function);
        found.functions.insert(name, handle);
        Ok(handle)
    }

    /// A variable of a module.
    pub(crate) fn global(&self, module: u64, name: &str) -> Result<&Variable> {
        let module = self.modules.get(module).ok_or(Error::InvalidHandle)?;
        module.object.variable(name).ok_or(Error::NotFound)
    }

    /// Registers a fat binary of the program.
    pub(crate) fn add_binary(&mut self, image: &'static [u8]) -> u64 {
        self.binaries.add(FatBinary { image, modules: HashMap::new(), managed: Vec::new() })
    }

    /// Unloads a fat binary with its symbols.
    pub(crate) fn remove_binary(&mut self, binary: u64) {
        let Some(removed) = self.binaries.remove(binary) else { return };
        for module in removed.modules.into_values().flatten() {
            // Cannot fail, because the module is loaded.
            let _ = self.unload_module(module);
        }
        self.kernels.retain(|_, symbol| symbol.binary != binary);
        self.variables.retain(|_, symbol| symbol.binary != binary);
    }

    /// The module of a fat binary for the thread's device. The module is loaded on first use.
    fn module_of(&mut self, binary: u64) -> Result<u64> {
        let device = current_device();
        let id = self.model(device)?.id();
        let found = self.binaries.get_mut(binary).ok_or(Error::InvalidDeviceFunction)?;
        if let Some(module) = found.modules.get(&device) {
            return *module;
        }
        let loaded = module::load(&mut self.heap, found.image, device, id);
        let module = loaded.map(|module| {
            for managed in &found.managed {
                if let Some(variable) = module.object.variable(&managed.name) {
                    let at = module.base.plus((variable.address - module.base.address()) as usize);
                    host::put(at, &managed.at.address().to_le_bytes());
                }
            }
            self.modules.add(module)
        });
        found.modules.insert(device, module);
        module
    }

    /// The handle of the kernel that a host symbol, or a handle, denotes.
    pub(crate) fn kernel(&mut self, symbol: u64) -> Result<u64> {
        if self.functions.get(symbol).is_some() {
            return Ok(symbol);
        }
        let Symbol { binary, name } =
            self.kernels.get(&symbol).cloned().ok_or(Error::InvalidDeviceFunction)?;
        let module = self.module_of(binary)?;
        self.function(module, &name).map_err(|_| Error::InvalidDeviceFunction)
    }

    /// The address and size of the variable that a host symbol denotes.
    pub(crate) fn variable(&mut self, symbol: u64) -> Result<(Ptr, usize)> {
        let Symbol { binary, name } = self.variables.get(&symbol).cloned().ok_or(Error::InvalidSymbol)?;
        let module = self.module_of(binary)?;
        let module = self.modules.get(module).ok_or(Error::InvalidSymbol)?;
        let variable = module.object.variable(&name).ok_or(Error::InvalidSymbol)?;
        let at = module.base.plus((variable.address - module.base.address()) as usize);
        Ok((at, variable.bytes as usize))
    }
}
