//! The work-items of a launch and how they fall into workgroups and waves.
//!
//! A dispatch packet counts work-items (HSA Platform System Architecture, 2.9.6). Where they are not a multiple of the workgroup's
//! size in a dimension, the last workgroup in that dimension is partial: it has only the work-items that are left. Its waves
//! are filled by the flattened id that counts the work-items that are there (`currentworkitemflatid` of the HSA Programmer's
//! Reference Manual), so that it has as few waves as they need.

use gcn_isa::target::WaveSize;

use crate::core::error::LaunchError;

/// The size of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// So many workgroups in x, y and z, all of them full. HIP knows only such grids.
    Workgroups([u32; 3]),
    /// So many work-items in x, y and z, as a dispatch packet has them; OpenCL's global size.
    Items([u32; 3]),
}

impl From<[u32; 3]> for Grid {
    fn from(workgroups: [u32; 3]) -> Grid {
        Grid::Workgroups(workgroups)
    }
}

/// The sizes of a launch that can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Work-items.
    pub items: [u32; 3],
    /// Work-items of a full workgroup.
    pub size: [u32; 3],
    /// Workgroups, partial ones included.
    pub groups: [u32; 3],
    /// Lanes of a wave.
    pub wave: u32,
}

fn zip<A: Copy, B: Copy, C>(a: [A; 3], b: [B; 3], f: impl Fn(A, B) -> C) -> [C; 3] {
    std::array::from_fn(|d| f(a[d], b[d]))
}

impl Geometry {
    pub(crate) fn new(grid: Grid, size: [u32; 3], wave: WaveSize) -> Result<Geometry, LaunchError> {
        let wave = wave.lanes();
        let (Grid::Workgroups(given) | Grid::Items(given)) = grid;
        if given.contains(&0) {
            return Err(LaunchError::EmptyGrid(given));
        }
        let count = size.iter().try_fold(1u32, |n, &d| n.checked_mul(d)).unwrap_or(u32::MAX);
        if count == 0 || count > gcn_emit::kernel::MAX_WORKGROUP {
            return Err(LaunchError::WorkgroupSize(size));
        }
        match grid {
            Grid::Workgroups(groups) => {
                let items = zip(groups, size, u32::checked_mul);
                let [Some(x), Some(y), Some(z)] = items else {
                    return Err(LaunchError::TooManyItems { grid: groups, size });
                };
                Ok(Geometry { items: [x, y, z], size, groups, wave })
            }
            Grid::Items(items) => {
                if items.iter().zip(size).any(|(items, size)| *items < size) {
                    return Err(LaunchError::LessThanAWorkgroup { items, size });
                }
                Ok(Geometry { items, size, groups: zip(items, size, u32::div_ceil), wave })
            }
        }
    }

    /// Workgroups.
    pub(crate) fn count(&self) -> u64 {
        self.groups.iter().map(|&n| u64::from(n)).product()
    }

    /// Workgroup id of a linear index, x fastest.
    pub(crate) fn id(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.groups.map(u64::from);
        [index % x, index / x % y, index / x / y].map(|n| n as u32)
    }

    /// Linear index of a workgroup id.
    pub(crate) fn index(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.groups.map(u64::from);
        u64::from(x) + width * (u64::from(y) + height * u64::from(z))
    }

    /// Work-items of the workgroup `id`.
    pub(crate) fn size_of(&self, id: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|d| self.size[d].min(self.items[d] - id[d] * self.size[d]))
    }

    /// The wave count of so many work-items.
    fn waves_for(&self, size: [u32; 3]) -> u32 {
        size.iter().product::<u32>().div_ceil(self.wave)
    }

    /// Waves of the workgroup `id`.
    pub(crate) fn waves_of(&self, id: [u32; 3]) -> u32 {
        self.waves_for(self.size_of(id))
    }

    /// Waves of a full workgroup.
    pub(crate) fn waves(&self) -> u32 {
        self.waves_for(self.size)
    }

    /// Full workgroups in each dimension.
    pub(crate) fn full(&self) -> [u32; 3] {
        zip(self.items, self.size, |items, size| items / size)
    }

    /// Work-items of the partial workgroup in each dimension; 0 where there is none.
    pub(crate) fn remainder(&self) -> [u32; 3] {
        zip(self.items, self.size, |items, size| items % size)
    }

    /// Waves of all workgroups.
    pub(crate) fn all_waves(&self) -> u64 {
        let (full, rest) = (self.full(), self.remainder());
        // Each dimension has full workgroups and at most one partial one: eight kinds of workgroups.
        let kinds = (0..8).map(|kind: u32| {
            let is_rest = |d: usize| kind >> d & 1 == 1;
            let count = |d: usize| if is_rest(d) { u64::from(rest[d] > 0) } else { u64::from(full[d]) };
            let size = std::array::from_fn(|d| if is_rest(d) { rest[d] } else { self.size[d] });
            (0..3).map(count).product::<u64>() * u64::from(self.waves_for(size))
        });
        kinds.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_of_all_workgroups_are_the_sum_over_each() {
        for (items, size) in [
            ([100, 1, 1], [64, 1, 1]),
            ([70, 9, 5], [16, 8, 2]),
            ([32, 32, 1], [16, 16, 1]),
            ([33, 17, 3], [32, 16, 2]),
        ] {
            let g = Geometry::new(Grid::Items(items), size, WaveSize::W64).unwrap();
            let each = |index: u64| u64::from(g.waves_of(g.id(index)));
            assert_eq!(g.all_waves(), (0..g.count()).map(each).sum::<u64>(), "{items:?} {size:?}");
            let work_items =
                |index: u64| g.size_of(g.id(index)).iter().map(|n| u64::from(*n)).product::<u64>();
            let all = items.iter().map(|n| u64::from(*n)).product::<u64>();
            assert_eq!((0..g.count()).map(work_items).sum::<u64>(), all, "{items:?} {size:?}");
            assert!((0..g.count()).all(|index| g.index(g.id(index)) == index));
        }
    }
}
