//! `Option` and `Result` of the device. They have the names that Rust's have, so that rustc's messages say what the user wrote;
//! `compound/option.rs` and `compound/result.rs` hold what they can do, and call them by other names.

use crate::ir::Value;

/// `Option` under a name that host code does not have.
pub type Maybe<X> = Option<X>;

/// `Result` under a name that host code does not have.
pub type Outcome<X, E> = Result<X, E>;

/// What `Option<T>` means in a kernel and in the signature of a device function: whether there is a value, and the value. `Some(x)`,
/// `None`, `match`, `if let`, `let … else` and the methods below work as with Rust's own.
///
/// Whether there is a value is known per lane (`V<bool>`) if the value varies, and once for all lanes if it is uniform. Where it is
/// known when the kernel is built, no instruction is left of it.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// The index of the first element of `x` from `from` on that is above `limit`.
///     #[device]
///     fn find(x: &[u32], limit: u32, from: V<u32>) -> Option<V<u32>> {
///         for k in from..x.len() {
///             if x[k] > limit {
///                 return Some(k);
///             }
///         }
///         None
///     }
///
///     #[workgroup(64)]
///     fn next_large(x: &[u32], y: &mut [u32]) {
///         let i = global_id().x;
///         y[i] = match find(x, 10, i) {
///             Some(k) => k,
///             None => u32::MAX,
///         };
///     }
/// }
/// let mut y = [0; 64];
/// next_large.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&[1, 20, 3, 30], &mut y))?;
/// assert_eq!(y[..5], [1, 1, 3, 3, u32::MAX]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Option<X> {
    /// A condition of the place of `X`.
    pub(super) some: Value,
    pub(super) value: X,
}

/// What `Result<X, E>` means in a kernel and in the signature of a device function: whether there is a value, the value, and the
/// error. `Ok(x)`, `Err(e)`, `match`, `if let`, `let … else`, `?` and the methods below work as with Rust's own; an error does not
/// become another type by itself, `map_err` makes it one.
///
/// Which of both it is is known per lane (`V<bool>`) if one of them varies, and once for all lanes otherwise. Where it is known when
/// the kernel is built, no instruction is left of it.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// A quotient, or what is wrong with it.
///     #[device]
///     fn divided(a: V<u32>, b: V<u32>) -> Result<V<u32>, V<u32>> {
///         if b == 0 {
///             return Err(1);
///         }
///         a.checked_sub(b).map(|rest| rest / b).ok_or(2)
///     }
///
///     #[workgroup(64)]
///     fn quotients(a: &[u32], b: &[u32], y: &mut [u32]) {
///         let i = global_id().x;
///         y[i] = match divided(a[i], b[i]) {
///             Ok(quotient) => quotient,
///             Err(code) => 1000 + code,
///         };
///     }
/// }
/// let mut y = [0; 64];
/// quotients.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&[9, 9, 9], &[3, 0, 10], &mut y))?;
/// assert_eq!(y[..3], [2, 1001, 1002]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Result<X, E> {
    /// A condition of the place of both.
    pub(super) ok: Value,
    pub(super) value: X,
    pub(super) error: E,
}
