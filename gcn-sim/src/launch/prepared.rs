//! A launch that is ready to run: with memory, arguments and sizes.

use std::path::Path;

use gcn_emit::metadata::ValueKind;

use super::bind::{Binder, Placed};
use super::kernarg::{self, Sizes};
use super::program::Program;
use super::sizes::{geometry, scratch};
use super::{Error, Output, Spec};
use crate::core::error::SimError;
use crate::core::grid::{Geometry, Grid};
use crate::core::machine::Machine;
use crate::core::memory::Memory;
use crate::core::options::Options;
use crate::core::site::Space;
use crate::run::dispatch::{Hooks, Stats, run_with};
use crate::timed;

/// A kernel that is ready to run once, created by [`Program::prepare`].
#[derive(Debug)]
pub struct Prepared {
    machine: Machine,
    memory: Memory,
    kernarg: Vec<u8>,
    geometry: Geometry,
    buffers: Vec<Placed>,
    /// The hidden arguments that are null.
    null: Vec<ValueKind>,
}

impl Program {
    /// Writes the image and the buffers to memory and the arguments to the kernarg segment. File names in the spec are relative to
    /// `folder`.
    ///
    /// # Errors
    /// An error that names the faulty part of the spec.
    pub fn prepare(&self, spec: &Spec, folder: &Path) -> Result<Prepared, Error> {
        Prepared::new(self, spec, folder)
    }
}

impl Prepared {
    fn new(program: &Program, spec: &Spec, folder: &Path) -> Result<Prepared, Error> {
        let geometry = geometry(program, spec)?;
        let state = program.machine().state();
        let lds = state.lds_bytes.saturating_add(spec.dynamic_lds);
        let machine = program.machine().clone().with_sizes(lds, scratch(program, spec));
        let mut memory = Memory::new();
        let image = program.image();
        memory.map(image.base, image.bytes.len()).map_err(SimError::from)?;
        memory.write(image.base, &image.bytes).map_err(SimError::from)?;
        let mut binder = Binder::new(memory, folder);
        let provided = kernarg::Provided::default();
        let sizes = Sizes { geometry, dynamic_lds: spec.dynamic_lds, provided };
        let (kernarg, null) = binder.bind(program, spec, &sizes)?;
        let Binder { memory, buffers, .. } = binder;
        Ok(Prepared { machine, memory, kernarg, geometry, buffers, null })
    }

    /// Runs the kernel.
    ///
    /// # Errors
    /// [`Error::Sim`], with a note on the buffer to which an address in it belongs.
    pub fn run(&mut self, options: &Options) -> Result<Stats, Error> {
        self.run_with(options, &Hooks::default())
    }

    /// As [`Prepared::run`], with hooks.
    ///
    /// # Errors
    /// The errors of [`Prepared::run`].
    pub fn run_with(&mut self, options: &Options, hooks: &Hooks<'_>) -> Result<Stats, Error> {
        let Prepared { machine, memory, kernarg, geometry, .. } = self;
        let (items, size) = (Grid::Items(geometry.items), geometry.size);
        let result = run_with(machine, memory, items, size, kernarg, options, hooks);
        result.map_err(|error| self.explain(error))
    }

    /// Runs the kernel in timed mode.
    ///
    /// # Errors
    /// The errors of [`Prepared::run`].
    pub fn run_timed(&mut self, config: &timed::Config) -> Result<timed::TimedReport, Error> {
        let Prepared { machine, memory, kernarg, geometry, .. } = self;
        let (items, size) = (Grid::Items(geometry.items), geometry.size);
        let result = timed::run(machine, memory, items, size, kernarg, config);
        result.map_err(|error| self.explain(error))
    }

    /// Adds a note to an error about the address that it contains.
    pub fn explain(&self, error: SimError) -> Error {
        let note = match &error {
            SimError::OutOfBounds(oob) if oob.space == Space::Global => self.whose(oob.address),
            SimError::OutOfBounds(oob) if oob.space == Space::Lds => Some(format!(
                "the workgroup has {} bytes of LDS; a launch adds to those of the descriptor with `dynamic_lds`",
                self.machine.state().lds_bytes
            )),
            _ => None,
        };
        Error::Sim { error: Box::new(error), note }
    }

    /// A note that names the buffer near an unallocated address; `None` if no buffer is near.
    fn whose(&self, address: u64) -> Option<String> {
        const NEAR: u64 = 0x1_0000;
        if address < NEAR {
            let names: Vec<_> = self.null.iter().map(|k| kernarg::kind_name(*k)).collect();
            let hidden = if names.is_empty() {
                String::new()
            } else {
                format!("; the simulator sets the hidden arguments {} to null", names.join(", "))
            };
            return Some(format!("the address is null or close to it{hidden}"));
        }
        let after = |b: &&Placed| {
            address >= b.address + b.bytes as u64 && address < b.address + b.bytes as u64 + NEAR
        };
        let before = |b: &&Placed| address < b.address && b.address - address <= NEAR;
        if let Some(b) = self.buffers.iter().find(after) {
            let past = address - b.address - b.bytes as u64;
            return Some(format!("the address is {past} bytes past the {} bytes of `{}`", b.bytes, b.name));
        }
        let b = self.buffers.iter().find(before)?;
        Some(format!("the address is {} bytes before `{}`", b.address - address, b.name))
    }

    /// The buffers for which the spec requests an output.
    ///
    /// # Errors
    /// None in practice, because the buffers exist.
    pub fn outputs(&self) -> Result<Vec<Output>, Error> {
        self.buffers.iter().filter(|b| b.out.is_some()).map(|b| self.output(b)).collect()
    }

    /// The buffer of the argument with this name.
    pub fn buffer(&self, name: &str) -> Option<Output> {
        self.buffers.iter().find(|b| b.name == name).and_then(|b| self.output(b).ok())
    }

    /// The buffer of the argument at this position, not counting hidden arguments.
    pub fn buffer_at(&self, position: usize) -> Option<Output> {
        self.buffers.iter().find(|b| b.position == position).and_then(|b| self.output(b).ok())
    }

    fn output(&self, b: &Placed) -> Result<Output, Error> {
        let bytes = self.memory.read(b.address, b.bytes).map_err(SimError::from)?;
        let (name, shape) = (b.name.clone(), b.shape.clone());
        Ok(Output { name, element: b.element, shape, bytes, out: b.out.clone() })
    }

    /// The decoded code, with the launch's sizes of LDS and scratch.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine and the memory, for runs of other kinds than [`Prepared::run`] offers.
    pub fn parts(&mut self) -> (&Machine, &mut Memory) {
        (&self.machine, &mut self.memory)
    }

    /// The bytes of the kernarg segment.
    pub fn kernarg(&self) -> &[u8] {
        &self.kernarg
    }

    /// The number of work-items in x, y and z.
    pub fn global(&self) -> [u32; 3] {
        self.geometry.items
    }

    /// The number of workgroups in x, y and z, including partial ones.
    pub fn grid(&self) -> [u32; 3] {
        self.geometry.groups
    }

    /// The size of a workgroup in x, y and z.
    pub fn workgroup(&self) -> [u32; 3] {
        self.geometry.size
    }
}
