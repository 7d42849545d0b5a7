//! The order in which blocks are looked at until nothing changes.

/// Blocks to look at, in sweeps from the first to the last: one that a sweep has passed waits for the next sweep.
///
/// What changes at the end of a loop goes around all loops in one another at once. Always taking the first block that waits
/// would look at the innermost loop anew for each loop around it.
pub(super) struct Sweeps {
    waits: Vec<bool>,
    /// Those of this sweep, and those of the next one.
    now: std::collections::BinaryHeap<std::cmp::Reverse<usize>>,
    next: Vec<usize>,
    at: usize,
}

impl Sweeps {
    /// Only the first of so many blocks waits.
    pub fn from_entry(blocks: usize) -> Sweeps {
        let mut sweeps =
            Sweeps { waits: vec![false; blocks], now: Default::default(), next: Vec::new(), at: 0 };
        if blocks > 0 {
            sweeps.push(0);
        }
        sweeps
    }

    /// `block` is to be looked at, again if it has been.
    pub fn push(&mut self, block: usize) {
        if std::mem::replace(&mut self.waits[block], true) {
            return;
        }
        if block < self.at {
            self.next.push(block);
        } else {
            self.now.push(std::cmp::Reverse(block));
        }
    }
}

impl Iterator for Sweeps {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.now.is_empty() {
            self.now.extend(self.next.drain(..).map(std::cmp::Reverse));
        }
        let block = self.now.pop()?.0;
        self.waits[block] = false;
        self.at = block + 1;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sweep_has_passed_waits_for_the_next() {
        let mut sweeps = Sweeps::from_entry(5);
        assert_eq!(sweeps.next(), Some(0));
        sweeps.push(3);
        sweeps.push(1);
        sweeps.push(3);
        assert_eq!(sweeps.next(), Some(1));
        sweeps.push(0);
        sweeps.push(1);
        assert_eq!(sweeps.next(), Some(3));
        sweeps.push(4);
        assert_eq!(sweeps.collect::<Vec<_>>(), [4, 0, 1]);
    }
}
