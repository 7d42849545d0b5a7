//! The device's `Option` and `Result`. They have the names of Rust's types so that rustc's messages match the user's
//! code; `compound/option.rs` and `compound/result.rs` implement them under the names `Maybe` and `Outcome`.

use crate::ir::Value;

/// `Option` under a name that cannot be confused with Rust's own.
pub type Maybe<X> = Option<X>;

/// `Result` under a name that cannot be confused with Rust's own.
pub type Outcome<X, E> = Result<X, E>;

/// The type that `Option<T>` stands for in a kernel and in the signature of a device function: a condition that says
/// whether there is a value, and the value. `Some(x)`, `None`, `match`, `if let`, `let … else` and the methods below
/// work as with Rust's own.
///
/// If the value is varying, the condition is a `V<bool>`: each lane may or may not have a value. If the value is
/// uniform, the condition is uniform, too. If the condition is known when the kernel is built, it takes no instruction.
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
    /// The condition, uniform or varying as `X` is.
    pub(super) some: Value,
    pub(super) value: X,
}

/// The type that `Result<X, E>` stands for in a kernel and in the signature of a device function: a condition that says
/// whether it is `Ok`, the value, and the error. `Ok(x)`, `Err(e)`, `match`, `if let`, `let … else`, `?` and the
/// methods below work as with Rust's own, except that `?` does not convert errors; use `map_err`.
///
/// If the value or the error is varying, the condition is a `V<bool>`: each lane has one or the other. Otherwise the
/// condition is uniform. If the condition is known when the kernel is built, it takes no instruction.
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
    /// The condition, uniform if both `X` and `E` are.
    pub(super) ok: Value,
    pub(super) value: X,
    pub(super) error: E,
}
