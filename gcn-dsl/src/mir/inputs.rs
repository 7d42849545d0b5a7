//! The initial state of a kernel's registers.

use gcn_emit::kernel::{InitialSgprs, UserSgprs};
use gcn_isa::Target;

/// The dispatch state that the lowered kernel needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The kernarg segment pointer is read.
    pub kernarg: bool,
    /// The dispatch packet is read.
    pub dispatch_packet: bool,
    /// Workgroup ids read, by dimension.
    pub workgroup_id: [bool; 3],
    /// Highest dimension of work-item id read.
    pub local_id_dims: u8,
    /// Scratch bytes of a lane, a multiple of 4; see [`Inputs::reserve_scratch`].
    pub scratch_bytes: u32,
}

impl Inputs {
    /// User SGPRs that the descriptor asks for.
    pub fn user_sgprs(&self, target: Target) -> UserSgprs {
        let mut user = UserSgprs::empty();
        user.set(UserSgprs::KERNARG_SEGMENT_PTR, self.kernarg);
        user.set(UserSgprs::DISPATCH_PTR, self.dispatch_packet);
        let set_up = self.scratch_bytes > 0 && !target.has_architected_flat_scratch();
        user.set(UserSgprs::FLAT_SCRATCH_INIT, set_up);
        user
    }

    /// The SGPRs that the dispatch fills, and with what.
    pub fn initial_sgprs(&self, target: Target) -> InitialSgprs {
        InitialSgprs {
            user: self.user_sgprs(target),
            workgroup_ids: self.workgroup_id.map(|read| read && !target.has_ids_in_ttmps()),
            scratch_wave_offset: self.scratch_bytes > 0 && !target.has_architected_flat_scratch(),
            ..InitialSgprs::default()
        }
    }
}
