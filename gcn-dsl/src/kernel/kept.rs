//! A cache of kernels that were built for a launch.

use std::sync::{Arc, Mutex, PoisonError};

use gcn_isa::Target;

use super::{BuildError, BuildOptions, BuiltKernel, build};
use crate::ir;
use crate::lang::{Arguments, Signature};

/// The capacity of the cache. If it is full, the kernel whose last launch was earliest is removed.
const MOST: usize = 64;

/// A cached kernel, with the inputs from which it was compiled.
///
/// The traced IR is part of the key. The body runs at each launch, since its instructions may depend on host values;
/// equal IR gives equal code. Tracing takes a small part of the time of a build.
struct Kept {
    target: Target,
    signature: Signature,
    traced: ir::Kernel,
    built: Arc<BuiltKernel>,
}

/// The cache, ordered by the time of each kernel's last launch.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The kernel of this signature, from the cache or newly built with the default options; `trace` runs the kernel's
/// body.
pub(crate) fn built(
    signature: Signature,
    trace: &dyn Fn(&mut Arguments),
    target: Target,
) -> Result<Arc<BuiltKernel>, BuildError> {
    let failed = BuildError::of(&signature.name);
    let options = BuildOptions::default();
    let (signature, traced) = build::traced(signature, trace, target, &options).map_err(&failed)?;
    if let Some(built) = find(target, &signature, &traced) {
        return Ok(built);
    }
    let compiled = build::compiled(signature.clone(), traced.clone(), target, &options, &mut |_| {});
    let built = Arc::new(compiled.map_err(failed)?);
    with_kept(|kept| {
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push(Kept { target, signature, traced, built: Arc::clone(&built) });
    });
    Ok(built)
}

fn find(target: Target, signature: &Signature, traced: &ir::Kernel) -> Option<Arc<BuiltKernel>> {
    let same = |kept: &Kept| kept.target == target && kept.signature == *signature && kept.traced == *traced;
    with_kept(|kept| {
        let at = kept.iter().rposition(same)?;
        let last = kept.remove(at);
        let built = Arc::clone(&last.built);
        kept.push(last);
        Some(built)
    })
}

/// Locks the cache. A poisoned lock is accepted: a panic cannot leave the list in an invalid state.
fn with_kept<R>(f: impl FnOnce(&mut Vec<Kept>) -> R) -> R {
    f(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}
