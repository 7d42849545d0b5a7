//! Collects the errors in the assembly for all targets. An error that several targets share is reported once.

use std::ops::Range;

use gcn_isa::Target;

use super::source::Item;
use crate::errors::Errors;

/// The maximum number of reported errors; a program without any waits would otherwise produce hundreds.
const MOST_ERRORS: usize = 40;

/// The errors found so far.
pub(crate) struct Faults {
    found: Vec<Fault>,
    target: Option<Target>,
    /// The number of targets that the program is checked for.
    targets: usize,
}

struct Fault {
    /// The index of the item with the error; `None` for the body as a whole.
    item: Option<usize>,
    /// The byte range of the error in the item's text; `None` for the whole item.
    range: Option<Range<usize>>,
    message: String,
    /// The targets on which the error occurs.
    targets: Vec<Target>,
    /// True for a syntax error: errors that other targets report at the same position have the same cause.
    syntax: bool,
}

impl Faults {
    pub fn new(targets: usize) -> Faults {
        Faults { found: Vec::new(), target: None, targets }
    }

    /// Sets the target to which subsequent errors belong.
    pub fn target(&mut self, target: Target) {
        self.target = Some(target);
    }

    /// True if an error has been found for the current target.
    pub fn any(&self) -> bool {
        self.found.iter().any(|f| self.target.is_some_and(|t| f.targets.contains(&t)))
    }

    /// Records that the item cannot be parsed for the current target. If it could not be parsed for an earlier target either, only the target
    /// is added to that error: the messages would differ only in the target's name.
    pub fn syntax(&mut self, item: usize, range: Option<Range<usize>>, message: String) {
        let same = self.found.iter_mut().find(|f| f.syntax && f.item == Some(item));
        match (same, self.target) {
            (Some(same), Some(target)) => same.targets.push(target),
            (None, Some(target)) => {
                self.found.push(Fault {
                    item: Some(item),
                    range,
                    message,
                    targets: vec![target],
                    syntax: true,
                });
            }
            (_, None) => {}
        }
    }

    /// Records that the program violates a rule at this item or, if `item` is `None`, as a whole.
    pub fn add(&mut self, item: Option<usize>, message: String) {
        let Some(target) = self.target else { return };
        match self.found.iter_mut().find(|f| f.item == item && f.message == message) {
            Some(same) => same.targets.push(target),
            None => {
                self.found.push(Fault { item, range: None, message, targets: vec![target], syntax: false });
            }
        }
    }

    /// Reports the collected errors, in the order of the items.
    pub fn report(mut self, items: &[Item], errors: &mut Errors) {
        self.found.sort_by_key(|f| f.item.unwrap_or(usize::MAX));
        let more = self.found.len().saturating_sub(MOST_ERRORS);
        for (index, fault) in self.found.iter().take(MOST_ERRORS).enumerate() {
            let mut message = fault.message.clone();
            // The message of a syntax error already names its target.
            if fault.targets.len() < self.targets && !fault.syntax {
                let names: Vec<&str> = fault.targets.iter().map(|t| t.name()).collect();
                message = format!("on {}: {message}", names.join(" and "));
            }
            let item = fault.item.and_then(|i| items.get(i));
            if let Some(item) = item {
                message += &item.note(fault.range.as_ref());
            }
            if index + 1 == MOST_ERRORS && more > 0 {
                message += &format!("\nand {more} more errors in this assembly");
            }
            // An error without an item points at the macro call.
            let tokens = item.map(|i| i.tokens(fault.range.as_ref())).unwrap_or_default();
            errors.at(tokens, message);
        }
    }
}
