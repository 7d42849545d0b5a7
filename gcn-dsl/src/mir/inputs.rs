//! The initial state of a kernel's registers: the inputs that a dispatch must provide.

use gcn_emit::kernel::{InitialSgprs, UserSgprs};
use gcn_isa::Target;

/// The parts of the dispatch state that the lowered kernel uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inputs {
    /// True if the kernarg segment pointer is used.
    pub kernarg: bool,
    /// True if the dispatch packet pointer is used.
    pub dispatch_packet: bool,
    /// For each dimension, true if the workgroup id is used.
    pub workgroup_id: [bool; 3],
    /// The number of dimensions of the work-item id that are used: all dimensions up to the highest that is used.
    pub local_id_dims: u8,
    /// Bytes of scratch memory per lane, a multiple of 4; see [`Inputs::reserve_scratch`].
    pub scratch_bytes: u32,
}

impl Inputs {
    /// The user SGPRs that the descriptor must request.
    pub fn user_sgprs(&self, target: Target) -> UserSgprs {
        let mut user = UserSgprs::empty();
        user.set(UserSgprs::KERNARG_SEGMENT_PTR, self.kernarg);
        user.set(UserSgprs::DISPATCH_PTR, self.dispatch_packet);
        let set_up = self.scratch_bytes > 0 && !target.has_architected_flat_scratch();
        user.set(UserSgprs::FLAT_SCRATCH_INIT, set_up);
        user
    }

    /// The SGPRs that are initialised at dispatch, with their contents.
    pub fn initial_sgprs(&self, target: Target) -> InitialSgprs {
        InitialSgprs {
            user: self.user_sgprs(target),
            workgroup_ids: self.workgroup_id.map(|read| read && !target.has_ids_in_ttmps()),
            scratch_wave_offset: self.scratch_bytes > 0 && !target.has_architected_flat_scratch(),
            ..InitialSgprs::default()
        }
    }
}
