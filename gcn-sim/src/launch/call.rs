//! A launch in memory that the caller keeps between launches, as a runtime does.

use gcn_emit::metadata::ValueKind;

use super::kernarg::{self, Sizes};
use super::sizes::{geometry, scratch};
use super::{Error, Program, Provided, Spec};
use crate::core::grid::{Geometry, Grid};
use crate::core::machine::Machine;
use crate::core::memory::Memory;
use crate::core::options::Options;
use crate::run::dispatch::{Hooks, Stats, run_with};
use crate::timed;

/// The sizes of a launch, and the data that the runtime provides.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The grid.
    pub grid: Grid,
    /// The size of a workgroup in work-items.
    pub workgroup: [u32; 3],
    /// The LDS size in bytes in addition to that in the descriptor.
    pub dynamic_lds: u32,
    /// The minimum scratch size of a work-item in bytes, for kernels with a stack of unknown size.
    pub stack: u32,
    /// The addresses that kernels receive in hidden arguments.
    pub provided: Provided,
}

/// A launch whose sizes have been checked, ready to run.
struct Ready {
    machine: Machine,
    geometry: Geometry,
    kernarg: Vec<u8>,
}

impl Program {
    /// True if the kernel has a hidden argument of this kind.
    pub fn asks_for(&self, kind: ValueKind) -> bool {
        self.all_args().iter().any(|a| a.value_kind == kind)
    }

    /// Runs the kernel in `memory`, which must contain the image of the kernel's object. `explicit` contains the bytes of the kernarg
    /// segment up to the end of the explicit arguments.
    ///
    /// ```no_run
    /// use gcn_sim::launch::{Call, Object, Provided};
    /// use gcn_sim::{Grid, Hooks, Memory, Options};
    ///
    /// let mut memory = Memory::new();
    /// let object = Object::load(&std::fs::read("saxpy.hsaco")?, |bytes| memory.alloc(bytes))?;
    /// memory.write(object.base(), object.image())?;
    /// let kernel = object.program(Some("saxpy"))?;
    /// let call = Call {
    ///     grid: Grid::Workgroups([4, 1, 1]),
    ///     workgroup: [64, 1, 1],
    ///     dynamic_lds: 0,
    ///     stack: 0,
    ///     provided: Provided::default(),
    /// };
    /// let x = memory.alloc(1024);
    /// kernel.call(&mut memory, &call, &x.to_le_bytes(), &Options::default(), &Hooks::default())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Spec`] if the kernel cannot be launched with these sizes; [`Error::Sim`].
    pub fn call(
        &self,
        memory: &mut Memory,
        call: &Call,
        explicit: &[u8],
        options: &Options,
        hooks: &Hooks<'_>,
    ) -> Result<Stats, Error> {
        let Ready { machine, geometry, kernarg } = self.ready(call, explicit)?;
        let items = Grid::Items(geometry.items);
        Ok(run_with(&machine, memory, items, geometry.size, &kernarg, options, hooks)?)
    }

    /// As [`Program::call`], in timed mode.
    ///
    /// # Errors
    /// The errors of [`Program::call`].
    pub fn call_timed(
        &self,
        memory: &mut Memory,
        call: &Call,
        explicit: &[u8],
        config: &timed::Config,
    ) -> Result<timed::TimedReport, Error> {
        let Ready { machine, geometry, kernarg } = self.ready(call, explicit)?;
        let items = Grid::Items(geometry.items);
        Ok(timed::run(&machine, memory, items, geometry.size, &kernarg, config)?)
    }

    fn ready(&self, call: &Call, explicit: &[u8]) -> Result<Ready, Error> {
        let mut spec = match call.grid {
            Grid::Workgroups(groups) => Spec::new(groups, call.workgroup),
            Grid::Items(items) => {
                Spec { grid: None, global: Some(items), ..Spec::new(items, call.workgroup) }
            }
        };
        spec.dynamic_lds = call.dynamic_lds;
        let geometry = geometry(self, &spec)?;
        let lds = self.machine().state().lds_bytes.saturating_add(call.dynamic_lds);
        let least = if self.has_dynamic_stack() { call.stack } else { 0 };
        let machine = self.machine().clone().with_sizes(lds, scratch(self, &spec).max(least));
        let mut kernarg = vec![0; (self.kernarg_bytes() as usize).min(kernarg::MOST_SEGMENT)];
        if explicit.len() > kernarg.len() {
            let problem =
                format!("{} bytes of arguments; the kernel takes {}", explicit.len(), kernarg.len());
            return Err(Error::spec(problem, "pass the arguments that the kernel declares"));
        }
        kernarg[..explicit.len()].copy_from_slice(explicit);
        let Call { dynamic_lds, provided, .. } = *call;
        kernarg::place_hidden(&mut kernarg, self.all_args(), &Sizes { geometry, dynamic_lds, provided })?;
        Ok(Ready { machine, geometry, kernarg })
    }
}
