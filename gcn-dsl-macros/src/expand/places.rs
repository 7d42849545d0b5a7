//! Targets of assignments and of mutable borrows: variables, elements, fields, `&mut self`.

pub(crate) mod lend;
pub(crate) mod place;
pub(crate) mod question;
pub(crate) mod receiver;
