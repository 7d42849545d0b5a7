//! A launch with everything in place: memory, arguments, sizes.

use std::path::Path;

use gcn_emit::metadata::ValueKind;

use super::bind::{Binder, Placed};
use super::kernarg::{self, Sizes};
use super::{DYNAMIC_STACK, Element, Error, Out, Program, Spec, npy};
use crate::dispatch::{Options, Progress, Stats, run_with};
use crate::error::{SimError, Space};
use crate::grid::{Geometry, Grid};
use crate::machine::{CODE_BASE, Machine};
use crate::memory::Memory;
use crate::timed;

/// A kernel ready to run once: [`Program::prepare`] makes it.
#[derive(Debug)]
pub struct Prepared {
    machine: Machine,
    memory: Memory,
    kernarg: Vec<u8>,
    geometry: Geometry,
    buffers: Vec<Placed>,
    /// Hidden arguments that are null.
    null: Vec<ValueKind>,
}

/// A buffer after a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    /// The argument.
    pub name: String,
    /// Type of the elements.
    pub element: Element,
    /// Sizes of the dimensions.
    pub shape: Vec<u64>,
    /// The elements.
    pub bytes: Vec<u8>,
    /// What the spec wants of it.
    pub out: Option<Out>,
}

impl Output {
    /// The elements as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = super::Number> {
        self.bytes.chunks_exact(self.element.bytes() as usize).map(|b| self.element.get(b))
    }

    /// The content of a file: NumPy's format if its name ends in `.npy`, otherwise the bytes.
    pub fn file(&self, path: &Path) -> Vec<u8> {
        if path.extension().is_some_and(|e| e == "npy") {
            npy::write(self.element, &self.shape, &self.bytes)
        } else {
            self.bytes.clone()
        }
    }
}

impl Prepared {
    pub(super) fn new(program: &Program, spec: &Spec, folder: &Path) -> Result<Prepared, Error> {
        let geometry = geometry(program, spec)?;
        let state = program.machine().state();
        let lds = state.lds_bytes.saturating_add(spec.dynamic_lds);
        let machine = program.machine().clone().with_sizes(lds, scratch(program, spec));
        let mut memory = Memory::new();
        let image = &program.image().bytes;
        memory.map(CODE_BASE, image.len()).map_err(SimError::from)?;
        memory.write(CODE_BASE, image).map_err(SimError::from)?;
        let mut binder = Binder::new(memory, folder);
        let sizes = Sizes { geometry, dynamic_lds: spec.dynamic_lds };
        let (kernarg, null) = binder.bind(program, spec, &sizes)?;
        let Binder { memory, buffers, .. } = binder;
        Ok(Prepared { machine, memory, kernarg, geometry, buffers, null })
    }

    /// Runs the kernel.
    ///
    /// # Errors
    /// [`Error::Sim`], with a note on what an address in it belongs to.
    pub fn run(&mut self, options: &Options) -> Result<Stats, Error> {
        self.run_with(options, None)
    }

    /// The same, telling how far it is after each workgroup.
    ///
    /// # Errors
    /// Those of [`Prepared::run`].
    pub fn run_with(
        &mut self,
        options: &Options,
        progress: Option<&(dyn Fn(Progress) + Sync)>,
    ) -> Result<Stats, Error> {
        let Prepared { machine, memory, kernarg, geometry, .. } = self;
        let (items, size) = (Grid::Items(geometry.items), geometry.size);
        let result = run_with(machine, memory, items, size, kernarg, options, progress);
        result.map_err(|error| self.explain(error))
    }

    /// Runs the kernel in timed mode.
    ///
    /// # Errors
    /// Those of [`Prepared::run`].
    pub fn run_timed(&mut self, config: &timed::Config) -> Result<timed::Report, Error> {
        let Prepared { machine, memory, kernarg, geometry, .. } = self;
        let (items, size) = (Grid::Items(geometry.items), geometry.size);
        let result = timed::run(machine, memory, items, size, kernarg, config);
        result.map_err(|error| self.explain(error))
    }

    /// The error with a note on the address in it.
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

    /// What an address that is not allocated belongs to.
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
            return Some(format!("the address is {past} bytes behind the {} bytes of `{}`", b.bytes, b.name));
        }
        let b = self.buffers.iter().find(before)?;
        Some(format!("the address is {} bytes before `{}`", b.address - address, b.name))
    }

    /// Buffers that the spec wants back.
    ///
    /// # Errors
    /// None in practice: the buffers are there.
    pub fn outputs(&self) -> Result<Vec<Output>, Error> {
        self.buffers.iter().filter(|b| b.out.is_some()).map(|b| self.output(b)).collect()
    }

    /// A buffer by its argument.
    pub fn buffer(&self, name: &str) -> Option<Output> {
        self.buffers.iter().find(|b| b.name == name).and_then(|b| self.output(b).ok())
    }

    /// A buffer by its argument's position among those that are not hidden.
    pub fn buffer_at(&self, position: usize) -> Option<Output> {
        self.buffers.iter().find(|b| b.position == position).and_then(|b| self.output(b).ok())
    }

    fn output(&self, b: &Placed) -> Result<Output, Error> {
        let bytes = self.memory.read(b.address, b.bytes).map_err(SimError::from)?;
        let (name, shape) = (b.name.clone(), b.shape.clone());
        Ok(Output { name, element: b.element, shape, bytes, out: b.out.clone() })
    }

    /// The code, with the launch's sizes of LDS and scratch.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Machine and memory at once, for runs of another kind than [`Prepared::run`].
    pub fn parts(&mut self) -> (&Machine, &mut Memory) {
        (&self.machine, &mut self.memory)
    }

    /// The bytes of the kernarg segment.
    pub fn kernarg(&self) -> &[u8] {
        &self.kernarg
    }

    /// Work-items in x, y and z.
    pub fn global(&self) -> [u32; 3] {
        self.geometry.items
    }

    /// Workgroups in x, y and z, partial ones included.
    pub fn grid(&self) -> [u32; 3] {
        self.geometry.groups
    }

    /// Work-items of a workgroup in x, y and z.
    pub fn workgroup(&self) -> [u32; 3] {
        self.geometry.size
    }
}

/// The sizes of the launch, which the kernel must be compiled for.
fn geometry(program: &Program, spec: &Spec) -> Result<Geometry, Error> {
    let grid = match (spec.grid, spec.global) {
        (Some(groups), None) => Grid::Workgroups(groups),
        (None, Some(items)) => Grid::Items(items),
        (None, None) => {
            let remedy = "write `\"grid\": [X, Y, Z]`, in workgroups, or `\"global\"`, in work-items";
            return Err(Error::spec("there is no grid", remedy));
        }
        (Some(_), Some(_)) => return Err(Error::spec("there are both `grid` and `global`", "leave one out")),
    };
    let geometry = Geometry::new(grid, workgroup(program, spec)?).map_err(SimError::from)?;
    // Code for uniform workgroups does not look at the remainders (LLVM AMDGPU guide, `.uniform_work_group_size`).
    let uniform = program.metadata().and_then(|m| m.uniform_work_group_size) == Some(1);
    if uniform && geometry.remainder() != [0; 3] {
        let Geometry { items, size, .. } = geometry;
        let problem = format!("{items:?} work-items are no multiple of the workgroup's {size:?}");
        return Err(Error::spec(
            problem,
            "the kernel is compiled for full workgroups only (HIP, or `-cl-uniform-work-group-size`)",
        ));
    }
    Ok(geometry)
}

/// The workgroup: of the spec, which must agree with what the kernel requires, else what it requires.
fn workgroup(program: &Program, spec: &Spec) -> Result<[u32; 3], Error> {
    let metadata = program.metadata();
    let required = metadata.and_then(|m| m.reqd_workgroup_size);
    let wanted = match (spec.workgroup, required) {
        (Some(wanted), Some(required)) if wanted != required => {
            let problem = format!("the workgroup is {wanted:?}, the kernel requires {required:?}");
            return Err(Error::spec(problem, "leave it out"));
        }
        (wanted, required) => wanted.or(required),
    };
    let most = metadata.map_or(1024, |m| m.max_flat_workgroup_size);
    let remedy = format!("write `\"workgroup\": [X, Y, Z]` of at most {most} work-items");
    let wanted = wanted.ok_or_else(|| Error::spec("there is no workgroup size", remedy.clone()))?;
    let items = wanted.iter().try_fold(1u32, |n, d| n.checked_mul(*d)).unwrap_or(u32::MAX);
    if most > 0 && items > most {
        let problem = format!("a workgroup of {items} work-items is more than the kernel is compiled for");
        return Err(Error::spec(problem, remedy));
    }
    Ok(wanted)
}

/// Scratch bytes of a work-item.
fn scratch(program: &Program, spec: &Spec) -> u32 {
    let fixed = program.machine().state().private_bytes;
    let dynamic = program.metadata().and_then(|m| m.uses_dynamic_stack) == Some(true);
    spec.scratch.unwrap_or(fixed + if dynamic { DYNAMIC_STACK } else { 0 })
}
