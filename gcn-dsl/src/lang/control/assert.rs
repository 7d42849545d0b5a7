//! Traps, assertions, and values that the simulator prints.

use std::panic::Location;

use smallvec::SmallVec;

use crate::ir::probe::{Probe, Role};
use crate::ir::{Arg, Call, Effect, Inst, Place, Type, Value};
use crate::lang::context::source;
use crate::lang::control::if_begin;
use crate::lang::values::data::is_memory;
use crate::lang::values::flow::WholeWorkgroup;
use crate::lang::{Flatten, IntoDevice, S, V, ballot, ne, with};
use crate::scalar::Elem;

/// Stops the kernel if any lane gets here. The simulator reports the source line; on a GPU the runtime's trap handler
/// ends the queue with an error.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(64)]
///     fn checked(x: &[u32], y: &mut [u32]) {
///         let i = global_id().x;
///         if x[i] > 100 {
///             trap();
///         }
///         y[i] = x[i];
///     }
/// }
/// let device = Device::simulator(Target::GFX942);
/// let mut y = [0; 64];
/// checked.launch(&device, Grid::x(1), (&[7; 64], &mut y))?;
/// let error = checked.launch(&device, Grid::x(1), (&[101; 64], &mut y)).unwrap_err();
/// assert!(error.to_string().contains("trap"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn trap() {
    let loc = Location::caller();
    // `s_trap` ignores EXEC, so in divergent code put a branch around it that skips it if no lane is active.
    if with(|c| c.builder.divergence()) == 0 {
        return stop(loc);
    }
    let anyone = IntoDevice::<V<bool>>::into_device(true);
    guarded(ne(ballot(anyone), 0), loc);
}

fn guarded(condition: S<bool>, loc: &'static Location<'static>) {
    let guard = if_begin(condition, &WholeWorkgroup::new());
    stop(loc);
    guard.end();
}

pub(in crate::lang) fn stop(loc: &'static Location<'static>) {
    let mut call = Call::plain("s_trap", [], Type::uniform(Elem::U32));
    call.args.push(Arg::Imm(i64::from(gcn_isa::Inst::ABORTING_TRAP)));
    call.results = SmallVec::new();
    call.effect = Effect::Kept;
    with(|c| c.effect(Inst::Machine(Box::new(call)), loc));
}

/// True if the kernel is built with [`BuildOptions::debug`](crate::BuildOptions::debug). This is a host value.
pub fn debugging() -> bool {
    with(|c| c.debug)
}

/// Conditions that `assert!` accepts: conditions of the host, which are known when the kernel is built.
#[diagnostic::on_unimplemented(
    message = "`assert!`, `assert_eq!` and `assert_ne!` check once, when the kernel is built, and this is known on the device only",
    label = "a `{Self}`, not a value of the host",
    note = "`debug_assert!(condition, \"message\")`, `debug_assert_eq!` and `debug_assert_ne!` check in each lane"
)]
pub trait HostCondition {
    /// The condition's value.
    fn holds(self) -> bool;
}
impl HostCondition for bool {
    fn holds(self) -> bool {
        self
    }
}

/// The expansion of the condition in `assert!`.
pub fn on_host(condition: impl HostCondition) -> bool {
    condition.holds()
}

/// A value that `assert_eq!` and `assert_ne!` compare.
#[derive(Debug)]
pub struct Asserted<'a, X>(pub &'a X);

macro_rules! of_device {
    ($($handle:ident)*) => {$(
        impl<T> Asserted<'_, $handle<T>> {
            /// Rejects a value of the device.
            pub fn is_of_host(&self)
            where
                $handle<T>: HostCondition,
            {
            }
        }
    )*};
}
of_device!(S V);

/// Values of the host. Method lookup finds this after [`Asserted::is_of_host`].
pub trait AssertedOnHost {
    /// Does nothing.
    fn is_of_host(&self) {}
}
impl<X> AssertedOnHost for Asserted<'_, X> {}

/// Conditions that `debug_assert!` accepts in a kernel.
#[diagnostic::on_unimplemented(
    message = "`debug_assert!` in a kernel checks a condition, not `{Self}`",
    label = "expected `S<bool>`, `V<bool>` or a host `bool`, found `{Self}`"
)]
pub trait DebugCondition {
    /// Stops the kernel with the message if the condition is false in any lane.
    fn check(self, message: String, loc: &'static Location<'static>);
}

impl DebugCondition for bool {
    fn check(self, message: String, loc: &'static Location<'static>) {
        if !self {
            with(|c| c.fail(loc, format!("assertion failed: {message}")));
        }
    }
}

impl DebugCondition for S<bool> {
    #[track_caller]
    fn check(self, message: String, loc: &'static Location<'static>) {
        with(|c| c.builder.note(source(loc), format!("assertion failed: {message}")));
        guarded(!self, loc);
    }
}

impl DebugCondition for V<bool> {
    #[track_caller]
    fn check(self, message: String, loc: &'static Location<'static>) {
        ne(ballot(!self), 0).not_met(message, loc);
    }
}

impl S<bool> {
    fn not_met(self, message: String, loc: &'static Location<'static>) {
        with(|c| c.builder.note(source(loc), format!("assertion failed: {message}")));
        guarded(self, loc);
    }
}

/// The expansion of `debug_assert!`.
#[track_caller]
pub fn debug_assert<C: DebugCondition>(condition: C, message: String) {
    condition.check(message, Location::caller());
}

/// The expansion of `dbg!(x)`: returns `x`, which the simulator prints if the kernel is built with
/// [`BuildOptions::debug`](crate::BuildOptions::debug).
#[track_caller]
pub fn dbg<X: Flatten>(x: X, text: &'static str) -> X {
    let loc = Location::caller();
    if debugging() {
        let mut leaves = Vec::new();
        x.flatten(&mut leaves);
        leaves.retain(|leaf| !is_memory(*leaf));
        let count = leaves.len();
        for (leaf, value) in leaves.into_iter().enumerate() {
            probe(value, (text, Role::Shown), (count > 1).then_some(leaf), loc);
        }
    }
    x
}

/// Makes the simulator show a value. For each dword `x` of the value, emits `x ^ number`: the simulator recognises this
/// instruction by `number`, and nothing uses its result.
pub(in crate::lang) fn probe(
    value: Value,
    (text, role): (&'static str, Role),
    leaf: Option<usize>,
    loc: &'static Location<'static>,
) {
    with(|c| {
        let ty = c.builder.kernel().ty(value);
        let place = if ty.place == Place::Uniform { Place::Uniform } else { Place::Varying };
        let dword = Type { place, elem: Elem::U32, count: 1 };
        let dwords: Vec<Value> = if ty.elem == Elem::Bool {
            vec![c.value(Inst::Cast(value), dword, loc)]
        } else if ty.dwords() == 1 && ty.place != Place::Acc {
            vec![c.value(Inst::Bitcast(value), dword, loc)]
        } else {
            (0..ty.dwords()).map(|i| c.value(Inst::Extract { from: value, dword: i }, dword, loc)).collect()
        };
        for (i, part) in dwords.into_iter().enumerate() {
            let probe = Probe { text, role, leaf, dword: i as u8, ty, loc: source(loc) };
            let number = c.builder.probe(probe);
            let (mnemonic, scc) = match place {
                Place::Uniform => ("s_xor_b32", Some(Type::uniform(Elem::Bool))),
                _ => ("v_xor_b32", None),
            };
            let mut call = Call::plain(mnemonic, [], dword);
            call.args = SmallVec::from_slice(&[Arg::Literal(number), Arg::Value(part)]);
            call.results.extend(scc);
            call.effect = Effect::Kept;
            c.value(Inst::Machine(Box::new(call)), dword, loc);
        }
    });
}
