//! Names of targets.

use gcn_isa::Target;

/// The target of an identifier, if code can be compiled for it.
pub(crate) fn compiled(identifier: &str) -> Result<Target, String> {
    let target = Target::of_identifier(identifier).map_err(|error| error.to_string())?;
    if target.has_instructions() {
        Ok(target)
    } else {
        target.with_kernels().map_err(|error| error.to_string())
    }
}
