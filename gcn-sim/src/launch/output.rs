//! The contents of the buffers after a run.

use std::path::Path;

use super::{Element, Out, npy};

/// A buffer after a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    /// The name of the argument.
    pub name: String,
    /// The type of the elements.
    pub element: Element,
    /// The dimensions.
    pub shape: Vec<u64>,
    /// The elements.
    pub bytes: Vec<u8>,
    /// The output that the spec requests for the buffer.
    pub out: Option<Out>,
}

impl Output {
    /// The elements as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = super::Number> {
        self.bytes.chunks_exact(self.element.bytes() as usize).map(|b| self.element.get(b))
    }

    /// The buffer's contents as a file: NumPy's format if the name ends in `.npy`, otherwise the bytes.
    pub fn file(&self, path: &Path) -> Vec<u8> {
        if path.extension().is_some_and(|e| e == "npy") {
            npy::write(self.element, &self.shape, &self.bytes)
        } else {
            self.bytes.clone()
        }
    }
}
