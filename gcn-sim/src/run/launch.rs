//! A checked launch: its geometry and inputs, and the memory that it allocates while it runs.

use gcn_emit::occupancy::Occupancy;

use crate::core::error::{LaunchError, SimError};
use crate::core::grid::{Geometry, Grid};
use crate::core::kernel::{Inputs, MAX_SCRATCH};
use crate::core::machine::Machine;
use crate::core::memory::{Memory, room};
use crate::core::options::Options;
use crate::core::params::multiprocessors;
use crate::core::value::LANES;
use crate::watch::Shared;

/// The data that all workgroups of a launch share.
pub(crate) struct Launch<'a> {
    pub machine: &'a Machine,
    pub geometry: Geometry,
    pub inputs: Inputs,
    pub options: Options,
    /// The state of sanitizers and hazard checks; `None` if there are no checks.
    pub watch: Option<Shared>,
    /// The addresses of temporary allocations.
    temporary: Vec<u64>,
}

impl Launch<'_> {
    /// The number of workgroups of this launch that fit on the device at once.
    pub(super) fn room(&self) -> u64 {
        multiprocessors(self.machine.target()) * self.resident()
    }

    /// The number of workgroups of this launch that fit on a compute unit (a workgroup processor on RDNA) at once; at least one.
    pub(crate) fn resident(&self) -> u64 {
        u64::from(self.machine.of_multiprocessor(&self.occupancy()).max(1))
    }

    /// Checks that the host has enough memory for the scratch of this many additional workgroups.
    pub(crate) fn check_scratch(&self, workgroups: u64) -> Result<(), SimError> {
        let of_wave = LANES as u64 * u64::from(self.machine.state().private_bytes);
        let bytes = workgroups.saturating_mul(of_wave * u64::from(self.geometry.waves()));
        Ok(room::check(bytes)?)
    }

    /// The numbers of waves and workgroups that fit on a compute unit.
    pub(crate) fn occupancy(&self) -> Occupancy {
        self.machine.occupancy(self.geometry.waves(), self.machine.state().lds_bytes)
    }

    /// Checks that a cooperative launch fits on the device, and initialises the data of its grid barrier, as the runtime does.
    pub(super) fn cooperate(&self, memory: &Memory) -> Result<(), LaunchError> {
        memory.gws().start();
        if !self.options.cooperative {
            return Ok(());
        }
        let (asked, most) = (self.geometry.count(), self.room());
        if asked > most {
            return Err(LaunchError::Cooperative { asked, most, target: self.machine.target() });
        }
        memory.gws().init(0, u32::try_from(asked - 1).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Frees the launch's temporary allocations.
    pub(crate) fn release(self, memory: &mut Memory) -> Result<(), SimError> {
        for address in self.temporary.into_iter().rev() {
            memory.take_back(address)?;
        }
        Ok(())
    }
}

/// The size in bytes of a line of the scalar cache. Runtimes allocate kernarg segments in multiples of this size.
const CACHE_LINE: usize = 64;

/// Checks a launch, and allocates the kernarg segment and the dispatch packet; [`Launch::release`] frees them.
pub(crate) fn prepare<'a>(
    machine: &'a Machine,
    memory: &mut Memory,
    grid: impl Into<Grid>,
    size: [u32; 3],
    kernarg: &[u8],
    options: &Options,
) -> Result<Launch<'a>, SimError> {
    let geometry = Geometry::new(grid.into(), size, machine.state().wave_size)?;
    check_sizes(machine)?;
    // Compilers may read to the end of the last cache line, because they load four dwords even if only three arguments' dwords are left.
    let address = memory.try_alloc(kernarg.len().next_multiple_of(CACHE_LINE))?;
    memory.write(address, kernarg)?;
    let mut temporary = vec![address];
    let mut dispatch_packet = 0;
    if machine.state().user_sgprs.dispatch_ptr {
        dispatch_packet = self::dispatch_packet(machine, memory, &geometry, address)?;
        temporary.push(dispatch_packet);
    }
    let preload = machine.state().preloaded(kernarg);
    let inputs = Inputs { kernarg: address, dispatch_packet, preload };
    let watch = Shared::new(machine, options);
    Ok(Launch { machine, geometry, inputs, options: *options, watch, temporary })
}

fn check_sizes(machine: &Machine) -> Result<(), LaunchError> {
    let (asked, available) = (machine.state().lds_bytes, machine.target().lds_per_cu());
    if asked > available {
        return Err(LaunchError::Lds { asked, available });
    }
    let (asked, available) = (machine.state().private_bytes, MAX_SCRATCH);
    if asked > available {
        return Err(LaunchError::Scratch { asked, available });
    }
    Ok(())
}

/// The AQL dispatch packet, with the fields that kernels read (HSA Platform System Architecture, 2.9.6).
fn dispatch_packet(
    machine: &Machine,
    memory: &mut Memory,
    geometry: &Geometry,
    kernarg: u64,
) -> Result<u64, SimError> {
    let mut packet = Vec::with_capacity(64);
    packet.extend([2u8, 0, 3, 0]);
    geometry.size.iter().for_each(|&n| packet.extend((n as u16).to_le_bytes()));
    packet.extend([0; 2]);
    geometry.items.iter().for_each(|n| packet.extend(n.to_le_bytes()));
    packet.extend(machine.state().private_bytes.to_le_bytes());
    packet.extend(machine.state().lds_bytes.to_le_bytes());
    packet.extend([0; 8]);
    packet.extend(kernarg.to_le_bytes());
    packet.resize(64, 0);
    let address = memory.alloc(packet.len());
    memory.write(address, &packet)?;
    Ok(address)
}
