//! Collects the errors in the assembly over all targets: an error that several targets share is reported once.

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
    /// The byte range of the error in the item's text.
    range: Option<Range<usize>>,
    message: String,
    /// The targets on which the error occurs.
    targets: Vec<Target>,
    /// A syntax error: other targets' errors at this place have the same cause.
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

    /// True if the current target has an error.
    pub fn any(&self) -> bool {
        self.found.iter().any(|f| self.target.is_some_and(|t| f.targets.contains(&t)))
    }

    /// The instruction or label cannot be parsed. Only the first error of an item is kept: the messages of different
    /// targets for one mistake differ only in their names.
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

    /// Records that the program violates a rule at this item or, if `None`, as a whole.
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
            // Messages about syntax errors already name their target.
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
            // Without an item the error points at the macro call.
            let tokens = item.map(|i| i.tokens(fault.range.as_ref())).unwrap_or_default();
            errors.at(tokens, message);
        }
    }
}
