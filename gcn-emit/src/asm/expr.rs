//! Expressions in postfix order, over numbers, symbols and positions.

use super::function::Function;
use super::operator::{Binary, Unary};
use super::place::Place;
use crate::object::RelocationKind;

/// The number of a symbol, in the order of first mention. A symbol that is set again after it was used gets a new
/// number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Sym(pub u32);

/// An expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Expr {
    /// A number.
    Const(i64),
    /// A symbol's value.
    Symbol(Sym),
    /// Items of [`Exprs`] in postfix order.
    Items { start: u32, count: u32 },
}

/// An item of an expression in postfix order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Item {
    Const(i64),
    Symbol(Sym),
    /// The current position, `.`.
    Here(Place),
    Unary(Unary),
    Binary(Binary),
    /// A function with this many arguments.
    Call(Function, u32),
    /// A specifier such as `@rel32@lo`, after the operand to which it applies.
    Specifier(RelocationKind),
}

impl Item {
    /// The number, if the item is one.
    pub fn number(&self) -> Option<i64> {
        if let Item::Const(value) = self { Some(*value) } else { None }
    }
}

/// All expressions other than plain numbers and single symbols.
#[derive(Default)]
pub(super) struct Exprs {
    items: Vec<Item>,
}

impl Exprs {
    /// The items of an expression.
    pub fn items(&self, start: u32, count: u32) -> &[Item] {
        let start = start as usize;
        self.items.get(start..start + count as usize).unwrap_or_default()
    }

    /// Stores items that are in postfix order.
    pub fn store(&mut self, items: &[Item]) -> Expr {
        match *items {
            [Item::Const(value)] => Expr::Const(value),
            [Item::Symbol(sym)] => Expr::Symbol(sym),
            _ => {
                let start = self.items.len() as u32;
                self.items.extend_from_slice(items);
                Expr::Items { start, count: items.len() as u32 }
            }
        }
    }
}
