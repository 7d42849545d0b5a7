//! The matrix product and the error bounds that several references use.

/// The product a * b, row by row. `a` has rows of `depth` elements, `b` columns of `depth` elements. Each sum starts at
/// 0, and `add` adds the products to it in ascending order of `k`.
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

/// A bound on the difference between the sums that matrix instructions compute in f32 and those of [`product`] in f64.
/// It is valid for every target, whatever its order of additions.
///
/// The hardware adds groups of two to sixteen products to the previous sum (docs/sim.md, "Matrix arithmetic"). The unit of error is 2^-24
/// times the sum of all |a * b|, which no partial sum exceeds. A group of n products has an error of at most one unit for each product that
/// is truncated or rounded, one for the previous sum, which is truncated as well, and one for the rounding of the result: n + 2, which is
/// at most 2n. All groups together have `depth` products.
pub(crate) fn tolerance(dims: [usize; 2], a: &[f32], b: &[f32]) -> f64 {
    let magnitude = |sum: f64, a: &f32, b: &f32| sum + f64::from(a.abs()) * f64::from(b.abs());
    let largest = product(dims, a, b, magnitude).into_iter().fold(0.0, f64::max);
    2.0 * dims[1] as f64 * f64::exp2(-24.0) * largest
}

/// The product with sums in f64, rounded to f32. Products of two f16 are exact in f64.
pub(crate) fn rounded(dims: [usize; 2], a: &[f32], b: &[f32]) -> Vec<f32> {
    let sums = product(dims, a, b, |sum: f64, a, b| sum + f64::from(*a) * f64::from(*b));
    sums.into_iter().map(|sum| sum as f32).collect()
}
