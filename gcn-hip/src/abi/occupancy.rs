//! The number of workgroups that fit on a compute unit.

use super::{Code, Out, call, with};
use crate::error::{Error, Result};
use crate::state::{State, current_device};

/// The number of workgroups of a kernel that fit on a compute unit.
fn blocks(s: &State, function: u64, block: i32, dynamic_lds: usize) -> Result<u32> {
    let function = s.functions.get(function).ok_or(Error::InvalidDeviceFunction)?;
    let size = u32::try_from(block).ok().filter(|n| *n > 0).ok_or(Error::InvalidValue)?;
    // Larger workgroups do not exist, so none fits.
    if size > 1024 {
        return Ok(0);
    }
    let dynamic = u32::try_from(dynamic_lds).unwrap_or(u32::MAX);
    Ok(function.program.machine().workgroups_per_cu(size, dynamic))
}

pub(crate) extern "C" fn max_active_blocks(
    count: Out<i32>,
    symbol: u64,
    block: i32,
    dynamic_lds: usize,
) -> Code {
    with(|s| {
        count.check()?;
        let function = s.kernel(symbol)?;
        count.set(blocks(s, function, block, dynamic_lds)? as i32)
    })
}

pub(crate) extern "C" fn max_active_blocks_with_flags(
    count: Out<i32>,
    symbol: u64,
    block: i32,
    dynamic_lds: usize,
    flags: u32,
) -> Code {
    if flags > DISABLE_CACHING_OVERRIDE {
        return call(|| Err(Error::InvalidValue));
    }
    max_active_blocks(count, symbol, block, dynamic_lds)
}

/// `hipOccupancyDisableCachingOverride`, the only flag.
const DISABLE_CACHING_OVERRIDE: u32 = 1;

/// The workgroup size with the highest occupancy (the largest such size), and a grid that fills the device.
pub(crate) extern "C" fn max_potential_block_size(
    grid: Out<i32>,
    block: Out<i32>,
    symbol: u64,
    dynamic_lds: usize,
    limit: i32,
) -> Code {
    with(|s| {
        grid.check()?;
        block.check()?;
        let function = s.kernel(symbol)?;
        let found = s.functions.get(function).ok_or(Error::InvalidDeviceFunction)?;
        let most = found.program.metadata().map_or(1024, |m| m.max_flat_workgroup_size.min(1024)) as i32;
        let most = if limit > 0 { most.min(limit) } else { most };
        let mut best = (0, 0, 0);
        let mut size = 64;
        while size - 64 < most {
            let size_here = size.min(most);
            let count = blocks(s, function, size_here, dynamic_lds)? as i32;
            best = best.max((count * size_here, size_here, count));
            size += 64;
        }
        let cus = s.model(current_device())?.multiprocessors() as i32;
        block.set(best.1)?;
        grid.set(best.2 * cus)
    })
}

pub(crate) extern "C" fn max_potential_block_size_with_flags(
    grid: Out<i32>,
    block: Out<i32>,
    symbol: u64,
    dynamic_lds: usize,
    limit: i32,
    flags: u32,
) -> Code {
    if flags > DISABLE_CACHING_OVERRIDE {
        return call(|| Err(Error::InvalidValue));
    }
    max_potential_block_size(grid, block, symbol, dynamic_lds, limit)
}
