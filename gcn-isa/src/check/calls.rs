//! Paths that return from where they were called.

use smallvec::SmallVec;

use crate::cfg::Flow;

/// The calls on a path, by their blocks: forwards, those that the path is inside; backwards, those from whose returns
/// it came. In a function whose caller the path does not know, it may return to any.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Calls(SmallVec<[u32; 2]>);

/// More calls within each other are not remembered.
const MOST: usize = 8;

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Follows an edge; `None` if no path can take it from here.
    pub fn forward(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.enters(from, to).then_some(from), flow.ends_call(from, to))
    }

    /// Follows an edge backwards; `None` if no path can come along it.
    pub fn back(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.ends_call(from, to), flow.enters(from, to).then_some(from))
    }

    /// After an edge that is only possible, the path may be in any function.
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
