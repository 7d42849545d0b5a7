//! Copies from global memory directly to LDS, without passing through registers.

use crate::isa::{self, Offen};
use crate::lang::{Index, IntoDevice, Lds, S, Slice, lane_id, wave_size};
use crate::scalar::Number;

impl<T: Number, const N: usize> Lds<T, N> {
    /// Starts a copy of one element per lane that bypasses registers: lane `k` of the wave copies `from[i]` to element
    /// `start + k` (`buffer_load_dword … lds`). Elements have 4 bytes. If `i` is past the end of `from`, 0 is written;
    /// inactive lanes write nothing.
    ///
    /// This wave sees the elements without a barrier, other waves after a [`barrier()`](crate::lang::barrier); the
    /// compiler inserts the waits for the copy. Code between the copy and its first use is executed while the copy is
    /// in progress.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     /// Rotates each block of 256 elements by one wave.
    ///     #[workgroup(256)]
    ///     fn rotate(x: &[f32], y: &mut [f32]) {
    ///         let block = Lds::<f32, 256>::new();
    ///         let i = local_id().x;
    ///         block.copy_from(wave_id() * 64, &x, global_id().x);
    ///         barrier();
    ///         y[global_id().x] = block[(i + 64) & 255];
    ///     }
    /// }
    /// let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
    /// let mut y = vec![0.0; 256];
    /// rotate.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut y))?;
    /// assert_eq!((y[0], y[255]), (64.0, 63.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn copy_from<A>(&self, start: impl IntoDevice<S<u32>>, from: &Slice<T, A>, i: impl Index) {
        const { assert!(T::ELEM.bytes() == 4, "a copy to LDS moves elements of 4 bytes") };
        let m0 = start.into_device() * 4u32 + self.address();
        isa::buffer_load_dword_lds(Offen(i.index() * 4u32), *from, 0, m0, 0);
    }

    /// Like [`copy_from`](Lds::copy_from), for four elements at once: lane `k` copies `from[i..i + 4]` to the elements
    /// from `start + 4 * k` on. gfx950 only; `i` should be a multiple of 4.
    #[track_caller]
    pub fn copy_four_from<A>(&self, start: impl IntoDevice<S<u32>>, from: &Slice<T, A>, i: impl Index) {
        const { assert!(T::ELEM.bytes() == 4, "a copy to LDS moves elements of 4 bytes") };
        let m0 = start.into_device() * 4u32 + self.address();
        isa::buffer_load_dwordx4_lds(Offen(i.index() * 4u32), *from, 0, m0, 0);
    }

    /// Copies `from[first..first + N]` to the array; the waves of the workgroup share the work. Elements have 4 bytes,
    /// and `N` must be a multiple of the workgroup's size. Elements past the end of `from` become 0. All lanes of the
    /// workgroup must reach the call.
    #[track_caller]
    pub fn fill_from<A>(&self, from: &Slice<T, A>, first: impl IntoDevice<S<u32>>) {
        let first = first.into_device();
        let lanes: u32 = crate::lang::with(|c| c.workgroup.iter().product());
        if lanes == 0 || !(N as u32).is_multiple_of(lanes) || !lanes.is_multiple_of(wave_size()) {
            let loc = std::panic::Location::caller();
            let message = format!(
                "{N} elements cannot be shared by a workgroup of {lanes}: the workgroup has whole waves of {} lanes, and the \
                 array a multiple of its size",
                wave_size()
            );
            crate::lang::with(|c| c.fail(loc, message));
            return;
        }
        for part in 0..N as u32 / lanes {
            let start = crate::lang::wave_id() * wave_size() + part * lanes;
            self.copy_from(start, from, first + start + lane_id());
        }
    }
}
