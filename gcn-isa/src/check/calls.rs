//! Paths that return from where they were called.

use smallvec::SmallVec;

use crate::cfg::Flow;

/// Calls that a path has to do with, by their blocks: forwards those that it is in, backwards those whose returns it came by. In
/// functions that the path does not know the caller of, it may go to any.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Calls(SmallVec<[u32; 2]>);

/// More calls within each other are not remembered.
const MOST: usize = 8;

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Along an edge; `None` if no path goes that way from here.
    pub fn forward(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.enters(from, to).then_some(from), flow.ends_call(from, to))
    }

    /// Against an edge; `None` if no path comes that way.
    pub fn back(&self, flow: &Flow, from: usize, to: usize) -> Option<Calls> {
        self.along(flow.is_guess(to), flow.ends_call(from, to), flow.enters(from, to).then_some(from))
    }

    /// Where control only may go it may be in any function.
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
