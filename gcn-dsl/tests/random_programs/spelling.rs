//! Other spellings of what a program does: iterators over arrays, indices `as usize`, orders of values, tuples, closures that change what
//! they capture, slices in structs. They mean what the plain text means, so the interpreter is the witness for both.

use std::cell::Cell;

use gcn_dsl::ir::{Bin, Pred};
use gcn_dsl::scalar::Elem;

use super::ast::{Expr, Op, Place, Program};
use super::print::{Words, is_plain, literal, operator};
use super::typing;

/// Chooses a spelling at each place, in turn.
#[derive(Default)]
pub struct Spelling(Cell<usize>);

/// True for integers, whose operations have the same result in any order.
fn is_integer(t: Elem) -> bool {
    !t.is_float() && t != Elem::Bool
}

impl Spelling {
    fn turn(&self, of: usize) -> usize {
        let turn = self.0.get();
        self.0.set(turn + 1);
        turn % of
    }
}

impl Words for Spelling {
    fn expr(&self, program: &Program, e: &Expr, arg: &dyn Fn(usize) -> String) -> Option<String> {
        let types: Vec<_> = e.args.iter().map(|a| typing::ty(program, a)).collect::<Option<_>>()?;
        let device = types.iter().all(|t| t.place != Place::Host);
        let integers = types.iter().all(|t| is_integer(t.elem));
        let of = types.first().map(|t| t.elem);
        match e.op {
            // Two numbers of the host are one, computed with the rules of the host.
            _ if types.iter().all(|t| t.place == Place::Host) => None,
            Op::Bin(op @ (Bin::Add | Bin::Xor | Bin::And | Bin::Or | Bin::Min | Bin::Max)) if integers => {
                let list = format!("[{}, {}]", arg(0), arg(1));
                let t = of?;
                Some(match (op, self.turn(3)) {
                    (Bin::Add, 0) => format!("({list}.iter().sum::<{t}>())"),
                    (Bin::Add, 1) => format!("({list}.iter().fold({}, |p, q| p + q))", literal(t, 0)),
                    (Bin::Xor, 0) => format!("({list}.into_iter().fold({}, |p, q| p ^ q))", literal(t, 0)),
                    (Bin::Xor, 1) => format!("({list}.iter().rev().fold({}, |p, q| p ^ q))", literal(t, 0)),
                    (Bin::Or, 0) => format!("({list}.iter().skip(1).fold({}, |p, q| p | q))", arg(0)),
                    (Bin::And, 0) => format!("({list}.iter().take(1).fold({}, |p, q| p & q))", arg(1)),
                    (Bin::Min, 0 | 1) => format!("(*{list}.iter().min().unwrap())"),
                    (Bin::Max, 0 | 1) => format!("(*{list}.iter().max().unwrap())"),
                    _ => return None,
                })
            }
            Op::Cmp(pred) if integers && device => {
                let (a, b) = (arg(0), arg(1));
                Some(match (pred, self.turn(3)) {
                    (Pred::Lt, 0 | 1) => format!("({a}.cmp(&{b}) == std::cmp::Ordering::Less)"),
                    (Pred::Gt, 0 | 1) => format!("(matches!({a}.cmp(&{b}), std::cmp::Ordering::Greater))"),
                    (Pred::Ge, 0) => format!("(({b}..).contains(&{a}))"),
                    (Pred::Le, 0) => format!("((..={b}).contains(&{a}))"),
                    (Pred::Eq, 0) => format!("([{a}] == [{b}])"),
                    (Pred::Ne, 0) => format!("(![{a}].contains(&{b}))"),
                    (Pred::Eq, 1) => format!("([{b}].iter().any(|v| *v == {a}))"),
                    (Pred::Ne, 1) => format!("(({a}, 1u32) != ({b}, 1u32))"),
                    _ => return None,
                })
            }
            Op::Select
                if of == Some(Elem::Bool) && types[0].place != Place::Host && types[1].elem != Elem::Bool =>
            {
                (self.turn(3) == 0).then(|| format!("[{}, {}][{} as usize]", arg(2), arg(1), arg(0)))
            }
            Op::In(t) => match self.turn(4) {
                0 if device => Some(format!("in_{t}[{} as usize]", arg(0))),
                1 if device => Some(format!("(Rows {{ of: in_{t}, step: 1 }}).at({})", arg(0))),
                _ => None,
            },
            Op::Cast(to @ (Elem::U32 | Elem::U64)) if device && matches!(of, Some(Elem::U8 | Elem::U16)) => {
                (self.turn(2) == 0).then(|| format!("({to}::from({}))", arg(0)))
            }
            _ => None,
        }
    }

    fn set(
        &self,
        program: &Program,
        var: usize,
        op: Option<Bin>,
        value: &Expr,
        text: &str,
    ) -> Option<String> {
        let decl = program.vars[var].ty;
        let given = typing::ty(program, value)?;
        // A closure's parameter says the element only: each lane's variable takes what all share as well.
        let fits = !is_plain(program, var) && given.place != Place::Host && given.place == decl.place;
        let turn = self.turn(3);
        match (op.and_then(operator), turn) {
            (Some(sign), 0) if fits => {
                Some(format!("{{ let mut change = |v: {}| x{var} {sign}= v; change({text}); }}", decl.elem))
            }
            (Some(sign), 1) => Some(format!("(x{var}, _) = (x{var} {sign} ({text}), 0);")),
            (None, 1) if op.is_none() && given.place != Place::Host => {
                Some(format!("(x{var}, _) = ({text}, 0);"))
            }
            _ => None,
        }
    }
}
