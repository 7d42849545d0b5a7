//! Attributes of declarations: which ones are kept, and which ones are rejected.

use syn::Attribute;

use crate::errors::Errors;
use crate::parse::is_device;

/// How the messages of [`attributes`] name a device function.
pub(in crate::expand) const FUNCTION: &str = "device function";

/// The attributes that a device function or struct may have and that the expansion keeps.
pub(in crate::expand) const KEPT: [&str; 10] =
    ["doc", "allow", "expect", "cfg", "deprecated", "must_use", "device", "warn", "deny", "derive"];

pub(in crate::expand) fn is_kept(attr: &Attribute) -> bool {
    KEPT.iter().any(|name| attr.path().is_ident(name))
}

/// True for `#[track_caller]`: the function's instructions get the source line of its caller.
pub(in crate::expand) fn is_track_caller(attr: &Attribute) -> bool {
    attr.path().is_ident("track_caller")
}

/// Rejects attributes that have no meaning on this kind of declaration.
pub(in crate::expand) fn attributes(attrs: &[Attribute], what: &str, errors: &mut Errors) {
    for attr in attrs {
        if is_track_caller(attr) && what == FUNCTION {
            continue;
        }
        if !is_kept(attr) {
            errors.at(attr, format!("this attribute has no meaning on a {what}"));
        } else if is_device(attr) && !matches!(attr.meta, syn::Meta::Path(_)) {
            errors.at(attr, "`#[device]` takes no arguments");
        }
    }
}
