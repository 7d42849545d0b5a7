//! Which types literals, numbers and indices take, and what programmers write for them in other languages.

pub(crate) mod counted;
pub(crate) mod habits;
pub(crate) mod named_numbers;
pub(crate) mod of_host;
pub(crate) mod typed;
