//! A struct that is stored in memory, with methods, and a function that writes to a private array. They are declared in
//! another macro call than the programs that use them.

use gcn_dsl::prelude::*;

gcn_kernel! {
    /// Numbers with C layout.
    #[device]
    #[repr(C)]
    pub struct Cell {
        pub low: u32,
        pub wide: i64,
    }

    #[device]
    impl Cell {
        pub fn step(&mut self, by: V<u32>) -> V<u32> {
            let old = self.low;
            self.low = old.rotate_left(3) ^ by;
            self.wide -= old as i64;
            old
        }

        pub fn twice(&mut self, by: V<u32>) -> V<u32> {
            let first = self.step(by);
            first ^ self.step(by + 1)
        }

        pub fn peek(&self) -> V<u32> {
            self.low ^ self.wide as u32
        }
    }

    /// A varying cell.
    #[device]
    pub fn cell(low: V<u32>, wide: V<i64>) -> V<Cell> {
        Cell { low, wide }
    }

    /// `into[i] = x`
    #[device]
    pub fn put<T: Number>(into: &mut Private<T, 8>, i: V<u32>, x: V<T>) {
        into[i] = x;
    }
}

/// `step` on the host.
pub fn host_step(cell: &mut [u64], by: u32) -> u32 {
    let old = cell[0] as u32;
    cell[0] = u64::from(old.rotate_left(3) ^ by);
    cell[1] = cell[1].wrapping_sub(u64::from(old));
    old
}
