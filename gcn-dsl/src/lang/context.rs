//! The kernel that the current thread is building.

pub(super) mod calls;

use std::cell::RefCell;
use std::panic::Location;

use gcn_isa::Target;
use gcn_isa::program::SourceLoc;
use gcn_isa::target::WaveSize;

use crate::ir::build::Builder;
use crate::ir::{Inst, Kernel, Place, Type, Value};
use crate::scalar::{Elem, Scalar};
use calls::{CallSite, EndlessCall};

/// The scheduling state of the kernel that is being built.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// The number of enclosing manual blocks.
    pub manual: u32,
    /// The number of asynchronous operations so far.
    pub operations: u32,
}

/// The IR values of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SliceParts {
    pub resource: Value,
    pub pointer: Value,
    pub start: Option<Value>,
    pub len: Value,
    pub constant: bool,
}

/// Everything that device functions need while a kernel's body runs.
pub(crate) struct Context {
    pub builder: Builder,
    pub target: Target,
    pub workgroup: [u32; 3],
    /// The wave size.
    pub wave: WaveSize,
    pub error: Option<TraceError>,
    /// True if `debug_assert!` and `dbg!` are active.
    pub debug: bool,
    /// True if indices are checked at run time.
    pub bounds: bool,
    /// True if names of values are recorded.
    pub names: bool,
    pub schedule: Schedule,
    /// The number of enclosing assignments whose target is an element that a device index selects.
    pub choosing: u32,
    /// The slices that structs contain.
    pub(super) slices: Vec<SliceParts>,
    /// The LDS array for shuffles; `None` if no shuffle has needed one yet.
    pub(super) exchange: Option<crate::ir::LdsId>,
}

/// An error, found while a kernel's body ran on the host, that the type system cannot detect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {message}{}", calls.iter().map(|c| format!("\n  {c}")).collect::<String>())]
pub struct TraceError {
    /// The position in the user's source.
    pub location: String,
    /// The problem and its remedy.
    pub message: String,
    /// The calls of device functions around the position, innermost first.
    pub calls: Vec<CallSite>,
}

thread_local! {
    static CURRENT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Runs `f` on the state of the kernel that is being built.
///
/// # Panics
/// If no kernel is being built, so that there is nothing to append to. (Device values cannot be created then, either,
/// so this happens only in an explicit call, such as `global_id()` in host code.)
pub(crate) fn with<R>(f: impl FnOnce(&mut Context) -> R) -> R {
    let (mut f, mut result) = (Some(f), None);
    on_current(&mut |context| {
        if let Some(f) = f.take() {
            result = Some(f(context));
        }
    });
    // No closures here: each would be compiled once for every instance of this generic function.
    match result {
        Some(result) => result,
        None => unreachable!("`on_current` calls what it is given"),
    }
}

/// The part of [`with`] that is not generic. It is separate because a user's crate compiles hundreds of instances of
/// the generic part.
fn on_current(f: &mut dyn FnMut(&mut Context)) {
    CURRENT.with_borrow_mut(|current| match current {
        Some(context) => f(context),
        None => panic!("device functions can be called only in the body of a `gcn_kernel!` kernel"),
    });
}

/// Appends IR directly to the kernel that is being traced.
///
/// # Panics
/// Outside of a kernel's body.
#[doc(hidden)]
#[track_caller]
pub fn with_builder<R>(f: impl FnOnce(&mut Builder) -> R) -> R {
    with(|c| f(&mut c.builder))
}

/// Runs `f` on the state of the kernel that is being built, if there is one. For destructors, which must not panic.
pub(crate) fn try_with(f: impl FnOnce(&mut Context)) {
    CURRENT.with(|current| {
        if let Ok(mut current) = current.try_borrow_mut()
            && let Some(context) = current.as_mut()
        {
            f(context);
        }
    });
}

/// Restores the previous context, even if the body panics.
struct Restore(Option<Context>);

impl Drop for Restore {
    fn drop(&mut self) {
        let previous = self.0.take();
        CURRENT.with_borrow_mut(|current| *current = previous);
    }
}

/// Runs a kernel's body and returns its IR.
///
/// # Errors
/// The first [`TraceError`] that occurred in the body.
pub fn trace(
    name: &str,
    target: Target,
    workgroup: [u32; 3],
    body: impl FnOnce(),
) -> Result<Kernel, TraceError> {
    trace_with(name, target, workgroup, Tracing::default(), body)
}

/// Options of a trace: what is added to a kernel's own instructions, and the wave size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tracing {
    /// True if `debug_assert!` and `dbg!` are active.
    pub debug: bool,
    /// True if indices are checked at run time.
    pub bounds: bool,
    /// True if names of values are recorded.
    pub names: bool,
    /// The wave size; `None` for the target's default.
    pub wave: Option<WaveSize>,
}

/// Like [`trace`], with the options `also`.
///
/// # Errors
/// The first [`TraceError`] that occurred in the body.
pub fn trace_with(
    name: &str,
    target: Target,
    workgroup: [u32; 3],
    also: Tracing,
    body: impl FnOnce(),
) -> Result<Kernel, TraceError> {
    let wave = also.wave.unwrap_or(target.usual_wave());
    let mut builder = Builder::new(name);
    builder.set_wave(wave);
    let context = Context {
        builder,
        wave,
        target,
        workgroup,
        error: None,
        debug: also.debug,
        bounds: also.bounds,
        names: also.names,
        schedule: Default::default(),
        choosing: 0,
        slices: Vec::new(),
        exchange: None,
    };
    let previous = CURRENT.with_borrow_mut(|current| current.replace(context));
    let restore = Restore(previous);
    let outer_calls = calls::outside_of_calls();
    run(body);
    drop(outer_calls);
    let finished = CURRENT.with_borrow_mut(Option::take);
    drop(restore);
    let context = finished.unwrap_or_else(|| unreachable!("the body cannot take the context away"));
    match context.error {
        Some(error) => Err(error),
        None => Ok(context.builder.finish()),
    }
}

/// Runs the body. If device functions call each other endlessly, the stack unwinds to this function; the error has been
/// recorded by then.
fn run(body: impl FnOnce()) {
    // The kernel of such a body is incomplete; it is discarded with the context.
    if let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))
        && !payload.is::<EndlessCall>()
    {
        std::panic::resume_unwind(payload);
    }
}

impl Context {
    /// Appends an instruction with a result.
    pub fn value(&mut self, inst: Inst, ty: Type, loc: &'static Location<'static>) -> Value {
        self.builder.value(inst, ty, Some(source(loc)))
    }

    /// Appends an instruction without a result.
    pub fn effect(&mut self, inst: Inst, loc: &'static Location<'static>) {
        self.builder.effect(inst, Some(source(loc)));
    }

    /// Appends a constant.
    pub fn constant<T: Scalar>(&mut self, value: T, place: Place) -> Value {
        let elem = T::elem_in(self.wave);
        // Of a lane mask, keep only the bits for which the wave has lanes.
        let bits = if elem == T::ELEM { value.to_bits() } else { value.to_bits() & self.wave.mask() };
        self.builder.constant(bits, Type { place, elem, count: 1 })
    }

    /// `condition ? a : b`; both have the same type.
    pub fn choose(&mut self, condition: Value, a: Value, b: Value, loc: &'static Location<'static>) -> Value {
        let ty = self.builder.kernel().ty(a);
        self.value(Inst::Select(condition, a, b), ty, loc)
    }

    /// A varying u32 constant.
    pub fn v_u32(&mut self, value: u32) -> Value {
        self.builder.constant(u64::from(value), Type::varying(Elem::U32))
    }

    /// Records an error, except in a branch that is never run because its condition is known.
    pub fn fail_if_run(&mut self, loc: &'static Location<'static>, message: impl FnOnce() -> String) {
        if !self.builder.is_never_run() {
            self.fail(loc, message());
        }
    }

    /// Records an error; only the first one is kept.
    pub fn fail(&mut self, loc: &'static Location<'static>, message: String) {
        self.error.get_or_insert_with(|| TraceError {
            location: source(loc).to_string(),
            message,
            calls: calls::call_sites(),
        });
    }
}

/// A position in the user's source, with the calls of device functions that are being inlined there.
pub(crate) fn source(loc: &'static Location<'static>) -> SourceLoc {
    SourceLoc { call: calls::innermost(), ..SourceLoc::new(loc.file(), loc.line(), loc.column()) }
}
