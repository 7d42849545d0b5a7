//! The worklist of the dataflow analyses over blocks (Kildall 1973).

/// A queue of blocks to visit, in sweeps from the first block to the last. If a block is queued after the current sweep
/// has gone beyond it, it is visited in the next sweep.
///
/// The order matters for nested loops: a change at the end of an inner loop propagates around all enclosing loops
/// within one sweep. A worklist that always takes the first queued block would instead iterate the innermost loop to
/// its fixpoint in every iteration over each enclosing loop.
pub(super) struct Worklist {
    queued: Vec<bool>,
    /// The blocks of the current sweep, those of the next one, and the current position.
    now: std::collections::BinaryHeap<std::cmp::Reverse<usize>>,
    next: Vec<usize>,
    at: usize,
}

impl Worklist {
    /// A worklist for `blocks` blocks in which the first one is queued.
    pub fn from_entry(blocks: usize) -> Worklist {
        let mut worklist =
            Worklist { queued: vec![false; blocks], now: Default::default(), next: Vec::new(), at: 0 };
        if blocks > 0 {
            worklist.push(0);
        }
        worklist
    }

    /// Queues `block`, even if it has been visited before.
    pub fn push(&mut self, block: usize) {
        if std::mem::replace(&mut self.queued[block], true) {
            return;
        }
        if block < self.at {
            self.next.push(block);
        } else {
            self.now.push(std::cmp::Reverse(block));
        }
    }
}

impl Iterator for Worklist {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.now.is_empty() {
            self.now.extend(self.next.drain(..).map(std::cmp::Reverse));
        }
        let block = self.now.pop()?.0;
        self.queued[block] = false;
        self.at = block + 1;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sweep_has_passed_waits_for_the_next() {
        let mut worklist = Worklist::from_entry(5);
        assert_eq!(worklist.next(), Some(0));
        worklist.push(3);
        worklist.push(1);
        worklist.push(3);
        assert_eq!(worklist.next(), Some(1));
        worklist.push(0);
        worklist.push(1);
        assert_eq!(worklist.next(), Some(3));
        worklist.push(4);
        assert_eq!(worklist.collect::<Vec<_>>(), [4, 0, 1]);
    }
}
