//! The role of each instruction in the working function.

/// The number of a home: the place where a spilled value is kept.
pub(super) type HomeId = u32;

/// The role of an instruction in the working function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// An original instruction. The `n`-th instruction with this role is instruction `n` of the original function. It
    /// is never removed, so that the numbers stay in step; see `placeholder`.
    Own,
    /// A move from or to this home that belongs to the next original instruction.
    Before(HomeId),
    /// A move from or to this home that belongs to the previous original instruction.
    After(HomeId),
}

impl Role {
    /// The role of a move that is inserted before an instruction with role `self`.
    pub fn before(self, home: HomeId) -> Role {
        match self {
            Role::Own | Role::Before(_) => Role::Before(home),
            Role::After(_) => Role::After(home),
        }
    }

    /// The role of a move that is inserted after an instruction with role `self`.
    pub fn after(self, home: HomeId) -> Role {
        match self {
            Role::Own | Role::After(_) => Role::After(home),
            Role::Before(_) => Role::Before(home),
        }
    }

    pub fn home(self) -> Option<HomeId> {
        match self {
            Role::Own => None,
            Role::Before(home) | Role::After(home) => Some(home),
        }
    }
}
