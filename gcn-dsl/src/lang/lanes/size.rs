//! The wave size.

use crate::lang::with;

/// The number of lanes in a wave of the kernel that is being built: 64 on GFX9; 32 on RDNA, or 64 with `#[wave(64)]` or
/// `BuildOptions::wave`.
///
/// This is a host number, which can be used for sizes and in `comptime`:
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// How many elements of each wave's are not 0.
///     #[workgroup(128)]
///     fn count(x: &[u32], counts: &mut [u32]) {
///         let i = global_id().x;
///         let found = ballot(x[i] != 0).count_ones();
///         if is_first_lane() {
///             counts[i / wave_size()] = found;
///         }
///     }
/// }
/// let x = vec![1; 128];
/// let mut counts = vec![0; 2];
/// count.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut counts))?;
/// assert_eq!(counts, [64, 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn wave_size() -> u32 {
    with(|c| c.wave.lanes())
}
