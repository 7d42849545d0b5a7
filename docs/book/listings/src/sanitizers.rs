//! Debugging with sanitizers: four kernels with one fault each.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Options, Sanitize};

use crate::{Output, Outputs, TARGET};

// ANCHOR: race
gcn_kernel! {
    /// Each work-item adds its neighbour's element, which the neighbour changes meanwhile.
    #[workgroup(128)]
    pub fn add_neighbour(x: &mut [u32]) {
        let block = Lds::<u32, 128>::new();
        let i = local_id().x;
        block[i] = x[i];
        barrier();
        block[i] = block[i] + block[(i + 1) % 128];
        barrier();
        x[i] = block[i];
    }
}
// ANCHOR_END: race

// ANCHOR: fixed
gcn_kernel! {
    /// The same with a barrier between the read and the write.
    #[workgroup(128)]
    pub fn add_neighbour_fixed(x: &mut [u32]) {
        let block = Lds::<u32, 128>::new();
        let i = local_id().x;
        block[i] = x[i];
        barrier();
        let sum = block[i] + block[(i + 1) % 128];
        barrier();
        block[i] = sum;
        barrier();
        x[i] = block[i];
    }
}
// ANCHOR_END: fixed

// ANCHOR: unwritten
gcn_kernel! {
    /// A histogram whose bins nobody has set to zero.
    #[workgroup(64)]
    pub fn histogram(x: &[u32], bins: &mut [u32]) {
        let local = Lds::<u32, 64>::new();
        let i = local_id().x;
        local.atomic(x[i] % 64).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
        barrier();
        bins[i] = local[i];
    }
}
// ANCHOR_END: unwritten

// ANCHOR: beyond
gcn_kernel! {
    /// Reads one element more than there is, through a pointer that nobody checks.
    #[workgroup(64)]
    pub fn differences(x: *const f32, y: &mut [f32]) {
        let i = local_id().x;
        y[i] = x[i + 1] - x[i];
    }
}
// ANCHOR_END: beyond

// ANCHOR: dbg
gcn_kernel! {
    /// Shows a value and stops where it is wrong.
    #[workgroup(64)]
    pub fn roots(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let value = x[i];
        debug_assert!(value >= 0.0);
        y[i] = value.sqrt();
    }
}
// ANCHOR_END: dbg

/// A device with one sanitizer.
fn with(sanitize: Sanitize) -> Device {
    Device::simulator_with(TARGET, Options { sanitize, ..Options::strict() })
}

/// What a launch says.
fn said<T>(result: Result<T, gcn_dsl::LaunchError>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "nothing was found".to_owned()) + "\n"
}

/// What the race sanitizer says.
pub fn race() -> String {
    said(add_neighbour.launch(&with(Sanitize::RACES), Grid::x(1), (&mut [0; 128],)))
}

/// What the sanitizer of LDS says.
pub fn unwritten() -> String {
    said(histogram.launch(&with(Sanitize::LDS), Grid::x(1), (&[0; 64], &mut [0; 64])))
}

/// What the check of bounds says.
pub fn beyond() -> Result<String, gcn_dsl::LaunchError> {
    let device = with(Sanitize::ACCESSES);
    let x = device.alloc::<f32>(64)?;
    device.write(x, &[1.0; 64])?;
    // The address differs from run to run of the host only in its layout; the message starts with what is the same.
    let text = said(differences.launch(&device, Grid::x(1), (x, &mut [0.0; 64])));
    device.free(x)?;
    Ok(text)
}

/// What the assertion says.
pub fn assertion() -> String {
    let mut x = [4.0; 64];
    x[5] = -1.0;
    said(roots.launch(&with(Sanitize::empty()), Grid::x(1), (&x, &mut [0.0; 64])))
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    Ok(vec![
        Output { name: "sanitize-race.txt", text: race() },
        Output { name: "sanitize-lds.txt", text: unwritten() },
        Output { name: "sanitize-bounds.txt", text: beyond()? },
        Output { name: "sanitize-assert.txt", text: assertion() },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found() {
        assert!(race().contains("data race in LDS"), "{}", race());
        assert!(unwritten().contains("uninitialised LDS"), "{}", unwritten());
        assert!(beyond().unwrap().contains("out of bounds"), "{}", beyond().unwrap());
        assert!(assertion().contains("value >= 0.0"), "{}", assertion());
    }

    #[test]
    fn the_fixed_kernel_is_clean_and_right() {
        let mut x: [u32; 128] = std::array::from_fn(|i| i as u32);
        add_neighbour_fixed.launch(&with(Sanitize::all()), Grid::x(1), (&mut x,)).unwrap();
        assert!((0..128).all(|i| x[i] as usize == i + (i + 1) % 128));
    }
}
