//! The stack of calls along a path, so that paths return to where they were called.

use smallvec::SmallVec;

use crate::cfg::Flow;

/// The calls along a path, as block numbers, the innermost last. On a forward path these are the calls from which it
/// has not returned; on a backward path, the calls whose returns it has passed. A function whose caller is not on the
/// stack may return to any call.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Calls(SmallVec<[u32; 2]>);

/// The greatest depth of calls; beyond it, the outermost calls are forgotten.
const MOST: usize = 8;

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Follows an edge; `None` if a path with these calls cannot take it.
    pub fn forward(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.enters(from, to).then_some(from), flow.ends_call(from, to))
    }

    /// Follows an edge backwards; `None` if a path with these calls cannot have come along it.
    pub fn back(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.ends_call(from, to), flow.enters(from, to).then_some(from))
    }

    /// An edge to an unknown target may lead into any function, so the calls are forgotten.
    fn along(&self, guess: bool, begins: Option<usize>, ends: Option<usize>) -> Option<Calls> {
        if guess {
            return Some(Calls::default());
        }
        let mut calls = self.clone();
        if let Some(call) = ends
            && let Some(open) = calls.0.pop()
            && open as usize != call
        {
            return None;
        }
        if let Some(call) = begins {
            if calls.0.len() >= MOST {
                calls.0.remove(0);
            }
            calls.0.push(call as u32);
        }
        Some(calls)
    }
}
