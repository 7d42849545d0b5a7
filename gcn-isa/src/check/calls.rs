//! Tracks the calls along a path, so that a path returns from a function to the call by which it entered.

use smallvec::SmallVec;

use crate::cfg::Flow;

/// The calls along a path, as block numbers, the innermost call last. On a forward path, these are the calls from which the path has not
/// returned. On a backward path, they are the calls whose returns are on the path. A function whose caller is not in the list may return to
/// any call.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Calls(SmallVec<[u32; 2]>);

/// The maximum depth of calls. If calls are nested more deeply, the outermost ones are forgotten.
const MOST: usize = 8;

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The calls after following an edge; `None` if a path with these calls cannot take the edge.
    pub fn forward(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.enters(from, to).then_some(from), flow.ends_call(from, to))
    }

    /// The calls after following an edge backwards; `None` if a path with these calls cannot have come along the edge.
    pub fn back(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.ends_call(from, to), flow.enters(from, to).then_some(from))
    }

    /// An edge to an unknown target may lead into any function, so all calls are forgotten.
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
