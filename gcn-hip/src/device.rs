//! Properties and attributes of devices, from one table.

use gcn_emit::target_id::{Feature, TargetId};
use gcn_isa::Target;

/// The device models, one line for each target.
const MODELS: &str = include_str!("../data/models.tsv");

/// The properties of a device.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub target: Target,
    pub name: &'static str,
    clock_khz: u64,
    pub memory: u64,
    memory_clock_khz: u64,
    bus: u64,
    l2: u64,
    pci_chip: u64,
    pub cus: u64,
    /// True if the device shares the host's memory.
    integrated: bool,
    pub number: usize,
}

impl Model {
    /// The device with this number, with at most `memory` bytes of memory.
    pub(crate) fn of(target: Target, number: usize, memory: u64) -> Model {
        let named = |line: &&str| line.split('\t').next().and_then(|name| name.parse::<Target>().ok());
        let own = MODELS.lines().find(|line| named(line) == Some(target));
        // A target without an entry uses the entry of a target with the same instruction set.
        let set = target.instruction_set().measured_as();
        let alike = || MODELS.lines().find(|line| named(line).is_some_and(|t| t.instruction_set() == set));
        let (own, line) = (own.is_some(), own.or_else(alike));
        let fields: Vec<&'static str> = line.unwrap_or_default().split('\t').collect();
        let field = |at: usize| fields.get(at).and_then(|f| f.parse().ok()).unwrap_or(0u64);
        Model {
            target,
            name: fields.get(1).copied().filter(|_| own).unwrap_or("AMD GPU"),
            clock_khz: field(2) * 1000,
            // If the table has no line for the target, its memory size is unknown, and only the caller's limit applies.
            memory: line.map_or(memory, |_| memory.min(field(3) << 30)),
            memory_clock_khz: field(4) * 1000,
            bus: field(5),
            l2: field(6) * 1024,
            pci_chip: fields.get(7).and_then(|f| u64::from_str_radix(f, 16).ok()).unwrap_or(0),
            cus: gcn_sim::timed::compute_units(target),
            integrated: MODELS
                .lines()
                .filter_map(|line| line.strip_prefix("APU\t"))
                .any(|apus| apus.split(' ').any(|name| name == target.name())),
            number,
        }
    }

    /// The target ID with feature settings: no replay, and ECC if supported.
    pub(crate) fn id(&self) -> TargetId {
        let target = self.target;
        let xnack = if target.supports_xnack() { Feature::Off } else { Feature::Any };
        let sramecc = if target.supports_sramecc() { Feature::On } else { Feature::Any };
        TargetId { target, xnack, sramecc }
    }

    /// The clock frequency in Hz.
    pub(crate) fn clock(&self) -> f64 {
        self.clock_khz as f64 * 1e3
    }

    /// The major version of the processor.
    pub(crate) fn major(&self) -> u64 {
        self.target.version()[0].into()
    }

    /// The minor version of the processor. HIP does not report the stepping.
    pub(crate) fn minor(&self) -> u64 {
        self.target.version()[1].into()
    }

    /// The number of multiprocessors in HIP's sense: compute units, or workgroup processors of two compute units if kernels are compiled
    /// for these by default (clr, `rocdevice.cpp`, halves the number of compute units then).
    pub(crate) fn multiprocessors(&self) -> u64 {
        gcn_sim::timed::multiprocessors(self.target)
    }

    /// The value of an attribute for `hipDeviceGetAttribute`; `None` if the number is not an attribute.
    pub(crate) fn attribute(&self, number: u32) -> Option<i32> {
        let row = FACTS.iter().find(|f| f.attribute == Some(number));
        let known = number <= LAST_COMMON || (FIRST_AMD..=LAST_AMD).contains(&number);
        // Other known attributes are limits of textures or features that the device lacks; their value is 0.
        let value = row.map_or(known.then_some(0), |f| Some((f.value)(self)));
        value.map(|value| i32::try_from(value).unwrap_or(i32::MAX))
    }

    /// `hipDeviceProp_t` as in HIP 6 and later.
    pub(crate) fn properties(&self) -> Vec<u8> {
        let mut out = vec![0; PROPERTIES];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(NAME, self.name.as_bytes());
        put(ARCH_NAME, self.id().to_string().as_bytes());
        put(UUID, format!("{}{:08x}", gcn_sim::DEVICE_UUID, self.number).as_bytes());
        for dimension in 0..3 {
            put(MAX_THREADS_DIM + 4 * dimension, &1024u32.to_le_bytes());
            put(MAX_GRID + 4 * dimension, &(max_grid(dimension) as u32).to_le_bytes());
        }
        put(ARCH_FLAGS, &ARCH.to_le_bytes());
        for fact in FACTS {
            if let Some((at, size)) = fact.place {
                put(at, &(fact.value)(self).to_le_bytes()[..size]);
            }
        }
        out
    }
}

/// The size of `hipDeviceProp_t`, and the offsets of its non-numeric fields (HIP 6 and 7, `hip_runtime_api.h`).
const PROPERTIES: usize = 1472;
const NAME: usize = 0;
const UUID: usize = 256;
const MAX_THREADS_DIM: usize = 324;
const MAX_GRID: usize = 336;

/// The maximum number of workgroups of a grid in a dimension.
pub(crate) fn max_grid(dimension: usize) -> u64 {
    if dimension == 0 { i32::MAX as u64 } else { 65536 }
}
const ARCH_NAME: usize = 1160;
const ARCH_FLAGS: usize = 1428;
/// `hipDeviceArch_t` as in clr (`hip_device.cpp`): atomics and doubles, votes and shuffles, system-wide fences and 3D grids, but no funnel
/// shift, `__syncthreads_count`, surfaces, or dynamic parallelism.
const ARCH: u32 = 0x7ff | 1 << 12 | 1 << 15;

/// The last attribute that CUDA also has, and the range of AMD's attributes.
const LAST_COMMON: u32 = 91;
const FIRST_AMD: u32 = 10_000;
const LAST_AMD: u32 = 10_020;

/// A numeric property of a device.
struct Fact {
    /// The offset and size of the field in `hipDeviceProp_t`, if there is one.
    place: Option<(usize, usize)>,
    /// The number in `hipDeviceAttribute_t`, if there is one.
    attribute: Option<u32>,
    value: fn(&Model) -> u64,
}

const fn fact(offset: usize, size: usize, attribute: u32, value: fn(&Model) -> u64) -> Fact {
    Fact { place: Some((offset, size)), attribute: Some(attribute), value }
}

const fn attribute(number: u32, value: fn(&Model) -> u64) -> Fact {
    Fact { place: None, attribute: Some(number), value }
}

/// The fields of `hipDeviceProp_t` with their attributes.
const FACTS: &[Fact] = &[
    fact(288, 8, 84, |m| m.memory),                     // totalGlobalMem
    fact(296, 8, 74, |m| m.target.lds_per_cu().into()), // sharedMemPerBlock
    fact(304, 4, 71, |_| 65536),                        // regsPerBlock
    fact(308, 4, 87, |m| m.target.wave_size().into()),  // warpSize
    fact(312, 8, 58, |_| i32::MAX as u64),              // memPitch
    fact(320, 4, 56, |_| 1024),                         // maxThreadsPerBlock
    fact(348, 4, 5, |m| m.clock_khz),                   // clockRate
    fact(352, 8, 83, |_| i32::MAX as u64),              // totalConstMem
    fact(360, 4, 23, Model::major),                     // major
    fact(364, 4, 61, Model::minor),                     // minor
    fact(368, 8, 81, |_| 256),                          // textureAlignment
    fact(376, 8, 82, |_| 256),                          // texturePitchAlignment
    fact(388, 4, 63, Model::multiprocessors),           // multiProcessorCount
    fact(396, 4, 16, |m| m.integrated.into()), // integrated (clr from 6.2 on: what the driver calls an APU)
    fact(400, 4, 3, |_| 1),                    // canMapHostMemory
    fact(576, 4, 8, |_| 1),                    // concurrentKernels
    fact(584, 4, 67, |m| m.number as u64 + 1), // pciBusID
    fact(600, 4, 2, |_| 2),                    // asyncEngineCount
    fact(604, 4, 85, |_| 1),                   // unifiedAddressing
    fact(608, 4, 60, |m| m.memory_clock_khz),  // memoryClockRate
    fact(612, 4, 59, |m| m.bus),               // memoryBusWidth
    fact(616, 4, 19, |m| m.l2),                // l2CacheSize
    fact(624, 4, 57, |m| u64::from(m.target.max_waves_per_simd() * 4 * m.target.wave_size())), // maxThreadsPerMultiProcessor
    fact(628, 4, 78, |_| 1),                            // streamPrioritiesSupported
    fact(640, 8, 76, |m| m.target.lds_per_cu().into()), // sharedMemPerMultiprocessor
    fact(648, 4, 72, |m| u64::from(m.target.vgprs_per_simd() * 4 * m.target.wave_size())), // regsPerMultiprocessor
    fact(652, 4, 24, |_| 1),                                                               // managedMemory
    fact(676, 4, 9, |_| 1),                             // concurrentManagedAccess
    fact(684, 4, 4, |_| 1),                             // canUseHostPointerForRegisteredMem
    fact(688, 4, 10, |_| 1),                            // cooperativeLaunch
    fact(692, 4, 11, |_| 0),                            // cooperativeMultiDeviceLaunch
    fact(696, 8, 75, |m| m.target.lds_per_cu().into()), // sharedMemPerBlockOptin
    fact(708, 4, 13, |_| 1),                            // directManagedMemAccessFromHost
    fact(712, 4, 25, |m| u64::from(m.target.max_waves_per_simd()) * 4), // maxBlocksPerMultiProcessor
    fact(728, 4, 90, |_| 1),                            // hostRegisterSupported
    fact(744, 4, 88, |_| 1),                            // memoryPoolsSupported
    fact(1416, 8, 10_002, |m| m.target.lds_per_cu().into()), // maxSharedMemoryPerMultiProcessor
    fact(1424, 4, 10_000, |_| 100_000),                 // clockInstructionRate
    fact(1464, 4, 10_011, |_| 1),                       // isLargeBar
    fact(636, 4, 20, |_| 1),                            // localL1CacheSupported
    attribute(26, |_| 1024),                            // MaxBlockDimX
    attribute(27, |_| 1024),
    attribute(28, |_| 1024),
    attribute(29, |_| max_grid(0)), // MaxGridDimX
    attribute(30, |_| max_grid(1)),
    attribute(31, |_| max_grid(2)),
    attribute(55, |_| 1024),        // MaxThreadsDim
    attribute(10_013, |_| 1),       // CanUseStreamWaitValue
    attribute(10_015, |m| m.cus),   // PhysicalMultiProcessorCount
    attribute(10_016, |_| 1),       // FineGrainSupport
    attribute(10_017, |_| 100_000), // WallClockRate
    attribute(10_018, |_| 1),       // NumberOfXccs
    attribute(10_019, |m| if m.target.has_agprs() { 512 } else { 256 }), // MaxAvailableVgprsPerThread
    attribute(10_020, |m| m.pci_chip), // PciChipId
];

/// The size of the host's memory in bytes. A device gets at most three quarters of it.
pub(crate) fn host_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib: Option<u64> = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kib.map_or(8 << 30, |kib| kib * 1024 / 4 * 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are what PyTorch reports for a Radeon RX 7900 XTX: `major=11, minor=0, gcnArchName='gfx1100',
    /// multi_processor_count=48`, and a warp size of 32. AMD's table lists 96 compute units.
    #[test]
    fn multiprocessors_of_rdna_are_workgroup_processors() {
        let model = Model::of(Target::GFX1100, 0, u64::MAX);
        let attribute = |number| model.attribute(number);
        assert_eq!([87, 23, 61, 63].map(attribute), [Some(32), Some(11), Some(0), Some(48)]);
        assert_eq!((attribute(10_015), model.id().to_string()), (Some(96), "gfx1100".to_owned()));
        // gfx1101 (Navi 32) has the same instructions as gfx1100 (Navi 31), and no entry of its own.
        let sibling = Model::of(Target::GFX1101, 0, u64::MAX);
        assert_eq!((sibling.name, sibling.attribute(63)), ("AMD GPU", Some(48)));
        // According to LLVM's AMDGPU guide, gfx1103 and gfx1151 are APUs; the other targets here are not.
        let integrated = |target| Model::of(target, 0, u64::MAX).attribute(16);
        assert_eq!([Target::GFX1103, Target::GFX1151].map(integrated), [Some(1); 2]);
        assert_eq!([Target::GFX942, Target::GFX1100, Target::GFX1201].map(integrated), [Some(0); 3]);
        let mi300x = Model::of(Target::GFX942, 0, u64::MAX);
        assert_eq!([87, 23, 61, 63].map(|n| mi300x.attribute(n)), [Some(64), Some(9), Some(4), Some(304)]);
    }
}
