//! The matrix product that references have in common.

/// The elements of a * b, row by row; `a` has rows of `depth` elements, `b` columns of them. Each begins as 0
/// and takes its products by `add`, `k` ascending.
pub(crate) fn product<T, C: Copy + Default>(
    [columns, depth]: [usize; 2],
    a: &[T],
    b: &[T],
    add: impl Fn(C, &T, &T) -> C,
) -> Vec<C> {
    let dot = |row: &[T], col: &[T]| row.iter().zip(col).fold(C::default(), |sum, (a, b)| add(sum, a, b));
    let rows = a.chunks_exact(depth);
    rows.flat_map(|row| b.chunks_exact(depth).take(columns).map(|col| dot(row, col)).collect::<Vec<C>>())
        .collect()
}
