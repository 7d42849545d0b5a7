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

/// How far sums of f32 that matrix instructions make may be from [`product`] in f64: a bound that holds for every target, whatever its order
/// of additions.
///
/// The hardware adds groups of two to sixteen products to the sum before (docs/sim.md, "Matrix arithmetic"). In
/// units of 2^-24 times the sum of all |a * b|, which no partial sum exceeds, a group of n products errs by at most one for each product
/// that is cut or rounded, one for the sum before, which is cut as well, and one for the rounding of the result: n + 2, at most twice n.
/// Groups add up to `depth` products.
pub(crate) fn tolerance(dims: [usize; 2], a: &[f32], b: &[f32]) -> f64 {
    let magnitude = |sum: f64, a: &f32, b: &f32| sum + f64::from(a.abs()) * f64::from(b.abs());
    let largest = product(dims, a, b, magnitude).into_iter().fold(0.0, f64::max);
    2.0 * dims[1] as f64 * f64::exp2(-24.0) * largest
}

/// The sums in f64, which has room for all products of two halves, rounded to f32.
pub(crate) fn rounded(dims: [usize; 2], a: &[f32], b: &[f32]) -> Vec<f32> {
    let sums = product(dims, a, b, |sum: f64, a, b| sum + f64::from(*a) * f64::from(*b));
    sums.into_iter().map(|sum| sum as f32).collect()
}
