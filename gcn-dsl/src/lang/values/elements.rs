//! The iterator over the elements of an array of the device.

/// An iterator over device values.
#[derive(Debug, Clone)]
pub struct Elements<X>(std::vec::IntoIter<X>);

impl<X> Elements<X> {
    pub(in crate::lang) fn of(values: Vec<X>) -> Elements<X> {
        Elements(values.into_iter())
    }

    /// Returns the iterator unchanged: it already returns values, not references.
    #[must_use]
    pub fn copied(self) -> Self {
        self
    }

    /// Returns the iterator unchanged: it already returns values, not references.
    #[must_use]
    pub fn cloned(self) -> Self {
        self
    }
}

impl<X> Iterator for Elements<X> {
    type Item = X;
    fn next(&mut self) -> Option<X> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}
impl<X> DoubleEndedIterator for Elements<X> {
    fn next_back(&mut self) -> Option<X> {
        self.0.next_back()
    }
}
impl<X> ExactSizeIterator for Elements<X> {}
