//! Allocations that have not been verified. If a kernel is allocated several times, with its instructions in different
//! orders, only the allocation that is used needs to be verified.

use std::borrow::Cow;

use super::assign::Order;
use super::classes::Coalesce;
use super::{
    AllocError, Allocated, Coalesced, Job, Limits, Pressure, SpillTo, Spills, input, pins, spill, verify,
};
use crate::mir::Function;

/// The strategies, tried in this order until one fits. Those with full coalescing come first: a copy that is not
/// coalesced costs an instruction on every execution, while the order of assignment costs nothing at run time.
const ATTEMPTS: [(Coalesce, Order); 4] = [
    (Coalesce::All, Order::Start),
    (Coalesce::All, Order::Size),
    (Coalesce::Whole, Order::Start),
    (Coalesce::Whole, Order::Size),
];

/// An allocation that has not been verified.
pub struct Draft<'f> {
    f: Cow<'f, Function>,
    limits: Limits,
    allocated: Allocated,
    /// True if the allocation may contain spill code.
    is_spilled: bool,
}

/// Allocates `f` within `limits`.
///
/// # Errors
/// [`AllocError::DoesNotFit`] if the registers do not suffice, with the point of highest pressure and the widest values
/// there; [`AllocError::Malformed`] if `f` breaks a rule of [`crate::mir`].
pub fn draft<'f>(f: Cow<'f, Function>, limits: &Limits) -> Result<Draft<'f>, AllocError> {
    input::check(&f)?;
    let job = Job::new(&f, limits);
    pins::check(&job)?;
    let mut first = job.coalesced(ATTEMPTS[0].0);
    let pressure = job.pressure(&first.classes);
    let (allocated, is_spilled) = match without_spilling(&job, &mut first, &pressure)? {
        Ok(done) => (done, false),
        Err(_) if limits.spill != SpillTo::default() => {
            (spill::allocate(&f, limits, spill::Start { job, coalesced: first, pressure })?, true)
        }
        Err(misfit) => return Err(misfit),
    };
    Ok(Draft { f, limits: *limits, allocated, is_spilled })
}

/// Makes an allocation with the first strategy that fits. The inner error is that of the first strategy, whose classes
/// are `first`.
fn without_spilling(
    job: &Job<'_>,
    first: &mut Coalesced,
    pressure: &Pressure,
) -> Result<Result<Allocated, AllocError>, AllocError> {
    let [(_, order), others @ ..] = ATTEMPTS;
    let misfit = match job.attempt(first, pressure, order) {
        Ok(done) => return Ok(Ok(done)),
        Err(error @ AllocError::DoesNotFit { .. }) => error,
        Err(error) => return Err(error),
    };
    // Without `tuple`, the register pressure itself exceeds the limit. Less coalescing only adds live ranges, so the
    // other strategies cannot fit either.
    if matches!(misfit, AllocError::DoesNotFit { tuple: None, .. }) {
        return Ok(Err(misfit));
    }
    for (coalesce, order) in others {
        let mut coalesced = job.coalesced(coalesce);
        let pressure = job.pressure(&coalesced.classes);
        match job.attempt(&mut coalesced, &pressure, order) {
            Ok(done) => return Ok(Ok(done)),
            Err(AllocError::DoesNotFit { tuple: Some(_), .. }) => {}
            Err(AllocError::DoesNotFit { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(Err(misfit))
}

impl Draft<'_> {
    /// The spill code of the allocation.
    #[must_use]
    pub fn spills(&self) -> &Spills {
        &self.allocated.spills
    }

    /// Verifies and returns the allocation. Allocations with spill code are verified in release builds as well, because
    /// spill code is rare and is the most intricate part. If the verifier rejects the optimised spill code, it is
    /// replaced by conservative spill code, which must be accepted.
    ///
    /// # Errors
    /// The verifier's, or those of the allocation with conservative spill code.
    pub fn verified(self) -> Result<Allocated, AllocError> {
        let Draft { f, limits, allocated, is_spilled } = self;
        if !is_spilled {
            if cfg!(debug_assertions) {
                verify(&f, &allocated)?;
            }
            return Ok(allocated);
        }
        let Err(refused) = verify(&f, &allocated) else { return Ok(allocated) };
        let mut conservative = spill::conservatively(&f, &limits)?;
        verify(&f, &conservative)?;
        conservative.refused = Some(refused);
        Ok(conservative)
    }
}
