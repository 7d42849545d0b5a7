//! Divides the work-items of a launch into workgroups and waves.
//!
//! A dispatch packet states the grid in work-items (HSA Platform System Architecture, 2.9.6). If the grid is not a multiple of the
//! workgroup's size in some dimension, the last workgroup in that dimension is partial. The existing work-items of a partial workgroup are
//! numbered consecutively (`currentworkitemflatid` of the HSA Programmer's Reference Manual) and fill waves in that order, so it has as few
//! waves as possible.

use gcn_isa::target::WaveSize;

use crate::core::error::LaunchError;

/// The size of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// The number of workgroups in x, y and z, all of them full. HIP supports only such grids.
    Workgroups([u32; 3]),
    /// The number of work-items in x, y and z, as in a dispatch packet; OpenCL's global size.
    Items([u32; 3]),
}

impl From<[u32; 3]> for Grid {
    fn from(workgroups: [u32; 3]) -> Grid {
        Grid::Workgroups(workgroups)
    }
}

/// The checked sizes of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// The number of work-items in each dimension.
    pub items: [u32; 3],
    /// The size of a full workgroup in work-items.
    pub size: [u32; 3],
    /// The number of workgroups in each dimension, including partial ones.
    pub groups: [u32; 3],
    /// The number of lanes of a wave.
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

    /// The total number of workgroups.
    pub(crate) fn count(&self) -> u64 {
        self.groups.iter().map(|&n| u64::from(n)).product()
    }

    /// The ID of the workgroup with a linear index; x varies fastest.
    pub(crate) fn id(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.groups.map(u64::from);
        [index % x, index / x % y, index / x / y].map(|n| n as u32)
    }

    /// The linear index of a workgroup ID.
    pub(crate) fn index(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.groups.map(u64::from);
        u64::from(x) + width * (u64::from(y) + height * u64::from(z))
    }

    /// The size in work-items of the workgroup `id`.
    pub(crate) fn size_of(&self, id: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|d| self.size[d].min(self.items[d] - id[d] * self.size[d]))
    }

    /// The number of waves of a workgroup of this size.
    fn waves_for(&self, size: [u32; 3]) -> u32 {
        size.iter().product::<u32>().div_ceil(self.wave)
    }

    /// The number of waves of the workgroup `id`.
    pub(crate) fn waves_of(&self, id: [u32; 3]) -> u32 {
        self.waves_for(self.size_of(id))
    }

    /// The number of waves of a full workgroup.
    pub(crate) fn waves(&self) -> u32 {
        self.waves_for(self.size)
    }

    /// The number of full workgroups in each dimension.
    pub(crate) fn full(&self) -> [u32; 3] {
        zip(self.items, self.size, |items, size| items / size)
    }

    /// The size of the partial workgroup in each dimension; 0 if there is none.
    pub(crate) fn remainder(&self) -> [u32; 3] {
        zip(self.items, self.size, |items, size| items % size)
    }

    /// The number of waves of all workgroups.
    pub(crate) fn all_waves(&self) -> u64 {
        let (full, rest) = (self.full(), self.remainder());
        // In each dimension a workgroup is either full or partial, so there are eight kinds of workgroups.
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
