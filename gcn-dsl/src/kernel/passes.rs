//! The passes over the IR: one table in the order in which they run, and the loop that runs them.

use gcn_isa::Target;

use super::error::{BuildCause, Malformed};
use super::{BuildOptions, limits};
use crate::ir::pipeline::Pipelined;
use crate::ir::verify::verify;
use crate::ir::{
    Kernel, behind, bytes, contract, dce, defaults, distribute, far, gvn, implied, into_branches, licm,
    merge, packed, ping_pong, pipeline, private, products, sink, tails, uniform,
};
use crate::lang::Signature;

/// Returns true if a pass should run at this point.
type When = fn(&Passes<'_>) -> bool;
/// Runs a pass.
type Run = fn(&mut Passes<'_>, &mut Kernel) -> Result<Left, BuildCause>;

/// A row of the table of passes.
pub(super) struct Pass {
    /// The name of the pass, for the environment variable `GCN_PRINT_AFTER`.
    pub name: &'static str,
    /// A description of what the pass does.
    pub what: &'static str,
    when: When,
    run: Run,
}

/// The work that a pass leaves to the cleanup passes that follow it (dead-code elimination, value numbering, hoisting).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The pass is itself a cleanup pass.
    Cleaned,
    /// Nothing changed.
    Nothing,
    /// There may be unused instructions or redundant computations.
    Work,
}

impl From<bool> for Left {
    fn from(changed: bool) -> Left {
        if changed { Left::Work } else { Left::Nothing }
    }
}

/// The state of a run of the passes: the inputs on which the passes' conditions depend, and the passes' reports.
pub(super) struct Passes<'a> {
    target: Target,
    signature: &'a Signature,
    options: &'a BuildOptions,
    /// True if the kernel has `#[pipeline]` loops, whose statements must stay in their order.
    pipelined: bool,
    /// True if the last pass that ran was a cleanup pass.
    clean: bool,
    /// True if a pass has left work for cleanup passes since the last cleanup.
    changed: bool,
    /// The loops that were pipelined.
    pub pipelines: Vec<Pipelined>,
}

const ALWAYS: When = |_| true;
const CHANGED: When = |p| p.changed;
const PIPELINED: When = |p| p.pipelined;

/// The functions of the cleanup passes.
const DCE: Run = |_, kernel| {
    dce::run(kernel);
    Ok(Left::Cleaned)
};
const GVN: Run = |_, kernel| {
    gvn::run(kernel);
    Ok(Left::Cleaned)
};
const LICM: Run = |_, kernel| {
    licm::run(kernel);
    Ok(Left::Cleaned)
};

/// A row of the table.
const fn row(name: &'static str, when: When, run: Run, what: &'static str) -> Pass {
    Pass { name, what, when, run }
}

/// All passes, in order.
#[rustfmt::skip]
#[expect(clippy::redundant_closure_for_method_calls, reason = "the methods are of a `Passes` of one lifetime, rows of any")]
pub(super) const PASSES: &[Pass] = &[
    row("ping_pong", ALWAYS, |p, k| ping_pong::run(k, p.target).map(|()| Left::Work).map_err(Into::into),
        "checks the barriers of `#[ping_pong]` loops and sets the priorities of their two groups of waves"),
    row("private", ALWAYS, |_, k| { private::run(k); Ok(Left::Work) },
        "private arrays whose indices are all constants become variables"),
    row("uniform", ALWAYS, |p, k| { uniform::run(k, p.target); Ok(Left::Work) },
        "variables of uniform floats that only vector instructions can compute move to vector registers"),
    row("contract", |p| p.signature.contract, |_, k| { contract::run(k); Ok(Left::Work) },
        "in code with `#[contract]`, a sum with a product as an operand becomes a fused multiply-add"),
    row("dce", ALWAYS, DCE, "instructions that nothing uses are removed"),
    row("gvn", |p| p.options.merge, GVN,
        "equal computations become one, because accesses are neighbours only if their offsets share a value"),
    row("merge", |p| p.options.merge, |_, k| { merge::run(k); Ok(Left::Work) },
        "accesses of neighbouring elements become one wider access"),
    row("gvn", ALWAYS, GVN, "equal computations become one (global value numbering)"),
    row("implied", ALWAYS, |_, k| Ok(implied::run(k).into()),
        "branches on a condition that an enclosing branch has tested are replaced by the side that runs"),
    row("dce", ALWAYS, DCE, "unused instructions are removed again"),
    row("bytes", ALWAYS, |p, k| Ok(bytes::run(k, p.target).into()),
        "sums over the bytes of words become dot products"),
    row("products", ALWAYS, |_, k| Ok(products::run(k).into()),
        "if both halves of a 64-bit product are used, one multiplication computes them"),
    row("packed", ALWAYS, |p, k| Ok(packed::run(k, p.target).into()),
        "pairs of equal operations become packed ones"),
    row("dce", CHANGED, DCE, "unused instructions are removed, if `bytes`, `products` or `packed` changed something"),
    row("tails", ALWAYS, |p, k| Ok(tails::run(k, p.target).into()),
        "the last elements of slices of 8- and 16-bit types, which wide accesses would lose, get accesses of their own"),
    row("gvn", CHANGED, GVN, "equal computations become one again, if `tails` changed something"),
    row("dce", CHANGED, DCE, "unused instructions are removed again, if `tails` changed something"),
    row("gvn", PIPELINED, GVN, "equal computations become one again, before pipelining"),
    row("licm", PIPELINED, LICM,
        "computations that are the same in every iteration move before the loop, before pipelining"),
    row("pipeline", ALWAYS, |p, k| p.pipeline(k),
        "in `#[pipeline]` loops, loads of later iterations start early"),
    row("dce", CHANGED, DCE, "unused instructions are removed again, if there is a `#[pipeline]` loop"),
    row("reserve_lds", ALWAYS, |p, k| p.reserve_lds(k),
        "reserves LDS for spilled registers, if arrays of dynamic size come after it"),
    row("far", ALWAYS, |_, k| Ok(far::run(k).into()),
        "for LDS arrays beyond the reach of an instruction's offset, the array's address becomes part of the index"),
    row("gvn", |p| p.changed || !p.pipelined, GVN,
        "equal computations become one again, unless loops are pipelined and `far` changed nothing"),
    row("licm", |p| p.changed || !p.pipelined, LICM,
        "loop-invariant computations move before the loop, unless loops are pipelined and `far` changed nothing"),
    row("distribute", |p| !p.pipelined, |_, k| Ok(distribute::run(k).into()),
        "products of sums become sums of products, of which the loop computes only what it changes, in scalar registers"),
    row("dce", CHANGED, DCE, "unused instructions are removed, if `distribute` changed something"),
    row("gvn", CHANGED, GVN, "equal computations become one, if `distribute` changed something"),
    row("licm", CHANGED, LICM, "invariant computations move out of further loops, if `distribute` changed something"),
    row("into_branches", |p| !p.pipelined, |_, k| { into_branches::run(k); Ok(Left::Nothing) },
        "scalar arithmetic whose results only one side of a branch needs moves into that side"),
    row("defaults", |p| !p.pipelined, |_, k| { defaults::run(k); Ok(Left::Nothing) },
        "if one side of a branch only writes values that were computed before it, these writes move before the branch"),
    row("behind", |p| !p.pipelined, |_, k| { behind::run(k); Ok(Left::Nothing) },
        "arithmetic on loaded values moves down past branches, to just before its first use"),
    row("sink", |p| !p.pipelined, |_, k| { sink::run(k); Ok(Left::Nothing) },
        "computations whose result overwrites a variable move down to that write"),
];

/// Names and descriptions of all passes over the IR, in order.
#[doc(hidden)]
pub fn passes() -> impl Iterator<Item = (&'static str, &'static str)> {
    PASSES.iter().map(|pass| (pass.name, pass.what))
}

/// Runs the pass of this name on `kernel`. All options of the signature on which passes depend are enabled.
///
/// # Errors
/// The error of the pass, or an error if no pass has this name.
#[doc(hidden)]
pub fn run_pass(name: &str, kernel: &mut Kernel, target: Target) -> Result<(), BuildCause> {
    let signature = Signature { contract: true, ..Signature::new(&kernel.name, &[], [64, 1, 1]) };
    let options = BuildOptions::default();
    let pass = PASSES.iter().find(|pass| pass.name == name);
    let pass = pass.ok_or_else(|| BuildCause::Limits(format!("no pass is called `{name}`")))?;
    (pass.run)(&mut Passes::new(target, &signature, &options), kernel)?;
    verify(kernel).map_err(|fault| Box::new(Malformed { pass: pass.name, fault }))?;
    Ok(())
}

impl<'a> Passes<'a> {
    /// The state before the first pass on a kernel of this signature.
    pub fn new(target: Target, signature: &'a Signature, options: &'a BuildOptions) -> Passes<'a> {
        let pipelines = Vec::new();
        Passes { target, signature, options, pipelined: false, clean: false, changed: false, pipelines }
    }

    /// Runs all passes on the IR that the kernel's body generated.
    pub fn run(&mut self, kernel: &mut Kernel) -> Result<(), BuildCause> {
        let print_after = std::env::var("GCN_PRINT_AFTER").unwrap_or_default();
        self.pipelined = !kernel.pipelines.is_empty();
        self.after("trace", kernel, &print_after)?;
        for pass in PASSES {
            if !(pass.when)(self) {
                continue;
            }
            match (pass.run)(self, kernel)? {
                Left::Cleaned => self.clean = true,
                left => {
                    let before = self.changed && !self.clean;
                    (self.changed, self.clean) = (before || left == Left::Work, false);
                }
            }
            self.after(pass.name, kernel, &print_after)?;
        }
        Ok(())
    }

    /// Prints the kernel if the user requested the IR after this pass, and verifies it if the options request it.
    fn after(&self, pass: &'static str, kernel: &Kernel, print: &str) -> Result<(), BuildCause> {
        if print == pass || print == "all" {
            eprintln!("; after {pass}\n{kernel}");
        }
        if self.options.verify {
            verify(kernel).map_err(|fault| Box::new(Malformed { pass, fault }))?;
        }
        Ok(())
    }

    fn pipeline(&mut self, kernel: &mut Kernel) -> Result<Left, BuildCause> {
        let more_lds =
            self.signature.registers.lds_spill.is_none() && kernel.lds.iter().all(|array| !array.dynamic);
        let (target, wave, workgroup) = (self.target, kernel.wave(), self.signature.workgroup);
        let machine = pipeline::Machine { target, wave, workgroup, more_lds };
        self.pipelines = pipeline::run(kernel, machine)?;
        Ok(Left::from(!self.pipelines.is_empty()))
    }

    fn reserve_lds(&mut self, kernel: &mut Kernel) -> Result<Left, BuildCause> {
        let room = limits::lds_room(self.signature, self.target, kernel);
        if kernel.lds.iter().any(|array| array.dynamic) && room.slots > 0 {
            kernel.lds_reserved = room.slot(room.slots);
        }
        Ok(Left::Nothing)
    }
}
