//! What the kernels of `fresh` and `ported` run on.

use gcn_dsl::launch::Launcher;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildError, BuildOptions, BuiltKernel, LaunchError, LaunchStats};
use gcn_isa::target::WaveSize;

/// A simulator, with waves of one size for all kernels that do not ask for another.
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
            // `#[wave(64)]`: the kernel counts on that.
            Err(BuildError { cause: BuildCause::OtherWave { .. }, .. }) => {
                self.device.launch(kernel, built, grid, args)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The oldest, a common and the newest target of GFX9.
const GFX9: [Target; 3] = [Target::GFX900, Target::GFX90A, Target::GFX950];
/// RDNA 1 and 2.
const GFX10: [Target; 2] = [Target::GFX1010, Target::GFX1030];
/// RDNA 3 and 4.
const SINCE_GFX11: [Target; 2] = [Target::GFX1100, Target::GFX1201];

/// Every kernel gives the same on GFX9 and on RDNA, there in waves of both sizes.
pub fn everywhere(run: impl Fn(&Waves)) {
    on(&[&GFX9[..], &GFX10, &SINCE_GFX11].concat(), run);
}

/// The same without RDNA 1 and 2, which refuse shuffles among 64 lanes.
pub fn where_64_lanes_shuffle(run: impl Fn(&Waves)) {
    on(&[&GFX9[..], &SINCE_GFX11].concat(), run);
}

fn on(targets: &[Target], run: impl Fn(&Waves)) {
    for &target in targets {
        for &wave in target.wave_sizes() {
            // Which of them a failure is on.
            let _note = Note(target, wave);
            run(&Waves { device: Device::simulator(target), wave });
        }
    }
}

/// Says in a panic where it was.
struct Note(Target, WaveSize);

impl Drop for Note {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("on {} in waves of {} lanes", self.0, self.1.lanes());
        }
    }
}
