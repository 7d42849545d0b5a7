//! The types of literals, numbers and indices; and hints about idioms of other languages.

pub(crate) mod counted;
pub(crate) mod habits;
pub(crate) mod named_numbers;
pub(crate) mod of_host;
pub(crate) mod typed;
