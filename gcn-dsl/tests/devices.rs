//! The devices on which the kernels of `fresh` and `ported` run.

use gcn_dsl::launch::Launcher;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildError, BuildOptions, BuiltKernel, LaunchError, LaunchStats};
use gcn_isa::target::WaveSize;

/// A simulator. All kernels that do not ask for another wave size run in waves of `wave`.
pub struct Waves {
    device: Device,
    wave: WaveSize,
}

impl Launcher for Waves {
    type Args<'a, K: Kernel> = K::Args<'a>;

    fn target(&self) -> Target {
        self.device.target()
    }

    fn launch_built<K: Kernel>(
        &self,
        kernel: &K,
        built: &BuiltKernel,
        grid: Grid,
        args: K::Args<'_>,
    ) -> Result<LaunchStats, LaunchError> {
        let options = BuildOptions { wave: Some(self.wave), ..BuildOptions::default() };
        match kernel.build_with(self.target(), &options) {
            Ok(built) => self.device.launch(kernel, &built, grid, args),
            // `#[wave(64)]`: the kernel requires this wave size.
            Err(BuildError { cause: BuildCause::OtherWave { .. }, .. }) => {
                self.device.launch(kernel, built, grid, args)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// An old, a common and the newest target of GFX9, then one of each generation of RDNA except 3.5 ([`ALTERNATIVE`]).
const TARGETS: [Target; 7] = [
    Target::GFX900,
    Target::GFX90A,
    Target::GFX950,
    Target::GFX1010,
    Target::GFX1030,
    Target::GFX1100,
    Target::GFX1201,
];

/// RDNA 3.5, which alternates with RDNA 3.
const ALTERNATIVE: Target = Target::GFX1151;

/// Runs a kernel on every target, on RDNA in waves of both sizes. The results must be the same everywhere.
///
/// RDNA 3 runs it in waves of one size and RDNA 3.5 in waves of the other, by turns from kernel to kernel, because all four would take
/// longer than a difference between the two generations is worth.
pub fn everywhere<F: Fn(&Waves)>(run: F) {
    let turn = usize::from(std::any::type_name::<F>().bytes().fold(0, |parity, byte| parity ^ byte) & 1);
    for target in TARGETS {
        for (size, &wave) in target.wave_sizes().iter().enumerate() {
            let alternates = target == Target::GFX1100 && size != turn;
            let target = if alternates { ALTERNATIVE } else { target };
            // Prints the target and the wave size if the test panics.
            let _note = Note(target, wave);
            run(&Waves { device: Device::simulator(target), wave });
        }
    }
}

/// Prints the target and the wave size when a panic drops it.
struct Note(Target, WaveSize);

impl Drop for Note {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("on {} in waves of {} lanes", self.0, self.1.lanes());
        }
    }
}
