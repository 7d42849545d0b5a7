//! Evaluates expressions.
//!
//! A value is a number, an address plus a number, or a difference of two addresses plus a number. These are the values
//! that a relocation can express. A symbol that is defined by an expression is evaluated once, with a worklist instead
//! of recursion.

use smallvec::SmallVec;

use super::Assembler;
use super::expr::{Expr, Item, Sym};
use super::fault::Fault;
use super::layout::Layout;
use super::operator::{Binary, Unary};
use super::place::Place;
use super::symbols::Def;
use crate::object::{Binding, RelocationKind};

/// The value of an expression.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Value {
    pub plus: Option<Atom>,
    pub minus: Option<Atom>,
    pub number: i64,
    pub specifier: Option<RelocationKind>,
}

/// An address.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Atom {
    /// The symbol, if the address has one.
    pub sym: Option<Sym>,
    /// The section and the offset in it, if the address is defined in this file.
    pub place: Option<(u32, u64)>,
}

impl Value {
    fn number(number: i64) -> Value {
        Value { number, ..Value::default() }
    }

    /// The number, if the value consists of a number only.
    pub fn absolute(&self) -> Option<i64> {
        let plain = self.plus.is_none() && self.minus.is_none() && self.specifier.is_none();
        plain.then_some(self.number)
    }

    fn negated(self) -> Value {
        Value {
            plus: self.minus,
            minus: self.plus,
            number: self.number.wrapping_neg(),
            specifier: self.specifier,
        }
    }

    fn added(self, other: Value) -> Result<Value, Fault> {
        let mut sum = Value { number: self.number.wrapping_add(other.number), ..Value::default() };
        sum.specifier = match (self.specifier, other.specifier) {
            (specifier, None) | (None, specifier) => specifier,
            _ => return Err(Fault::NotRelocatable),
        };
        // A specifier requests something other than an address from the linker, so the expression is not folded.
        let fold = sum.specifier.is_none();
        let mut plus: SmallVec<[Atom; 2]> = [self.plus, other.plus].into_iter().flatten().collect();
        let mut minus: SmallVec<[Atom; 2]> = [self.minus, other.minus].into_iter().flatten().collect();
        let known_pair = |plus: &[Atom], minus: &[Atom]| {
            plus.iter().enumerate().find_map(|(i, a)| {
                let found = minus.iter().position(|b| a.distance(*b).is_some())?;
                Some((i, found))
            })
        };
        while let Some((i, j)) = known_pair(&plus, &minus).filter(|_| fold) {
            let distance = plus.swap_remove(i).distance(minus.swap_remove(j));
            sum.number = sum.number.wrapping_add(distance.unwrap_or(0));
        }
        if plus.len() > 1 || minus.len() > 1 {
            return Err(Fault::NotRelocatable);
        }
        (sum.plus, sum.minus) = (plus.pop(), minus.pop());
        Ok(sum)
    }
}

impl Atom {
    /// `self - other`, if the distance is already known.
    fn distance(self, other: Atom) -> Option<i64> {
        if self.sym.is_some() && self.sym == other.sym {
            return Some(0);
        }
        let ((section, offset), (other_section, other_offset)) = (self.place?, other.place?);
        (section == other_section).then(|| offset.wrapping_sub(other_offset) as i64)
    }
}

/// The values of symbols that are defined by expressions.
#[derive(Default)]
pub(super) struct Memo {
    values: Vec<Known>,
}

#[derive(Clone, Copy, Default)]
enum Known {
    #[default]
    No,
    /// The symbol is being evaluated.
    Open,
    Value(Value),
    /// The symbol has no value. The error was reported at the symbol's first use.
    Fault,
}

impl Memo {
    pub fn new(symbols: usize) -> Memo {
        Memo { values: vec![Known::No; symbols] }
    }

    fn get(&self, sym: Sym) -> Known {
        self.values.get(sym.0 as usize).copied().unwrap_or_default()
    }

    /// Marks all symbols that depend on a symbol without a value as having no value themselves.
    fn give_up(&mut self, waiting: &[Sym], fault: Fault) -> Fault {
        waiting.iter().for_each(|sym| self.set(*sym, Known::Fault));
        fault
    }

    fn set(&mut self, sym: Sym, known: Known) {
        if let Some(slot) = self.values.get_mut(sym.0 as usize) {
            *slot = known;
        }
    }
}

impl Assembler<'_> {
    /// The value of an expression under the given `layout`.
    pub fn value(&self, expr: Expr, layout: &Layout, memo: &mut Memo) -> Result<Value, Fault> {
        let single;
        let items = match expr {
            Expr::Const(number) => return Ok(Value::number(number)),
            Expr::Symbol(sym) => {
                single = [Item::Symbol(sym)];
                &single[..]
            }
            Expr::Items { start, count } => self.exprs.items(start, count),
        };
        self.resolve_symbols(items, layout, memo)?;
        self.evaluate(items, layout, memo)
    }

    /// Evaluates every symbol on which `items` depend.
    fn resolve_symbols(&self, items: &[Item], layout: &Layout, memo: &mut Memo) -> Result<(), Fault> {
        let mut list: SmallVec<[Sym; 8]> = SmallVec::new();
        self.unresolved(items, memo, &mut list)?;
        while let Some(sym) = list.last().copied() {
            let Def::Value(expr) = self.symbols.get(sym).def else {
                list.pop();
                continue;
            };
            let single;
            let items = match expr {
                Expr::Symbol(sym) => {
                    single = [Item::Symbol(sym)];
                    &single[..]
                }
                Expr::Items { start, count } => self.exprs.items(start, count),
                Expr::Const(number) => {
                    memo.set(sym, Known::Value(Value::number(number)));
                    list.pop();
                    continue;
                }
            };
            match memo.get(sym) {
                // All symbols on which this symbol depends have been evaluated.
                Known::Open => {
                    list.pop();
                    match self.evaluate(items, layout, memo) {
                        Ok(value) => memo.set(sym, Known::Value(value)),
                        Err(fault) => {
                            memo.set(sym, Known::Fault);
                            return Err(memo.give_up(&list, fault));
                        }
                    }
                }
                Known::No => {
                    memo.set(sym, Known::Open);
                    let found = self.unresolved(items, memo, &mut list);
                    found.map_err(|fault| memo.give_up(&list, fault))?;
                }
                Known::Value(_) | Known::Fault => {
                    list.pop();
                }
            }
        }
        Ok(())
    }

    /// Appends those symbols of `items` that are defined by expressions and have not been evaluated.
    fn unresolved(&self, items: &[Item], memo: &Memo, list: &mut SmallVec<[Sym; 8]>) -> Result<(), Fault> {
        for item in items {
            let Item::Symbol(sym) = *item else { continue };
            if !matches!(self.symbols.get(sym).def, Def::Value(_)) {
                continue;
            }
            match memo.get(sym) {
                Known::No => list.push(sym),
                Known::Open => return Err(Fault::Cycle(self.symbols.get(sym).name.to_string())),
                Known::Fault => return Err(Fault::ReportedBefore),
                Known::Value(_) => {}
            }
        }
        Ok(())
    }

    fn evaluate(&self, items: &[Item], layout: &Layout, memo: &Memo) -> Result<Value, Fault> {
        let mut stack: SmallVec<[Value; 4]> = SmallVec::new();
        for item in items {
            let value = match *item {
                Item::Const(number) => Value::number(number),
                Item::Here(place) => {
                    let place = Some(layout.offset(self, place));
                    Value { plus: Some(Atom { sym: None, place }), ..Value::default() }
                }
                Item::Symbol(sym) => self.symbol_value(sym, layout, memo)?,
                Item::Specifier(specifier) => {
                    let value = stack.pop().unwrap_or_default();
                    Value { specifier: Some(specifier), ..value }
                }
                Item::Unary(unary) => self.unary(unary, stack.pop().unwrap_or_default())?,
                Item::Binary(binary) => {
                    let right = stack.pop().unwrap_or_default();
                    let left = stack.pop().unwrap_or_default();
                    self.binary(binary, left, right)?
                }
                Item::Call(function, count) => {
                    let start = stack.len().saturating_sub(count as usize);
                    let numbers: Option<SmallVec<[i64; 8]>> =
                        stack.drain(start..).map(|v| v.absolute()).collect();
                    Value::number(function.of(&numbers.ok_or(Fault::NotAbsolute)?, self.target())?)
                }
            };
            stack.push(value);
        }
        Ok(stack.pop().unwrap_or_default())
    }

    fn symbol_value(&self, sym: Sym, layout: &Layout, memo: &Memo) -> Result<Value, Fault> {
        let symbol = self.symbols.get(sym);
        let place = match symbol.def {
            Def::Label(place) => Some(layout.offset(self, place)),
            Def::Undefined | Def::Common { .. } | Def::Lds { .. } => None,
            Def::Value(_) => {
                let Known::Value(value) = memo.get(sym) else { return Err(Fault::ReportedBefore) };
                // The linker may replace the definition of a global name by another object's, so the reference to the name must be kept.
                let global = matches!(symbol.binding, Some(Binding::Global | Binding::Weak));
                match (global, value) {
                    (
                        true,
                        Value {
                            plus: Some(Atom { place: Some((section, offset)), .. }),
                            minus: None,
                            number,
                            ..
                        },
                    ) => Some((section, offset.wrapping_add_signed(number))),
                    _ => return Ok(value),
                }
            }
        };
        Ok(Value { plus: Some(Atom { sym: Some(sym), place }), ..Value::default() })
    }

    fn unary(&self, unary: Unary, value: Value) -> Result<Value, Fault> {
        match (unary, value.absolute()) {
            (_, Some(number)) => Ok(Value::number(unary.of(number))),
            (Unary::Plus, None) => Ok(value),
            (Unary::Minus, None) => Ok(value.negated()),
            _ => Err(Fault::NotAbsolute),
        }
    }

    fn binary(&self, binary: Binary, left: Value, right: Value) -> Result<Value, Fault> {
        match (binary, left.absolute(), right.absolute()) {
            (_, Some(a), Some(b)) => binary.of(a, b).map(Value::number),
            (Binary::Add, ..) => left.added(right),
            (Binary::Sub, ..) => left.added(right.negated()),
            _ => Err(Fault::NotRelocatable),
        }
    }

    /// The value of an expression, if it is a number that is already known while the file is being read. Differences of labels are
    /// evaluated only if `fold`.
    pub fn number_now(&self, expr: Expr, fold: bool) -> Result<Option<i64>, Fault> {
        if let Expr::Const(number) = expr {
            return Ok(Some(number));
        }
        let mut budget = DEPTH;
        self.now(expr, fold, &mut budget).map(|value| value.and_then(|v| v.absolute()))
    }

    /// The value of an expression, if it is already known; `None` otherwise.
    fn now(&self, expr: Expr, fold: bool, budget: &mut u32) -> Result<Option<Value>, Fault> {
        let single;
        let items = match expr {
            Expr::Const(number) => return Ok(Some(Value::number(number))),
            Expr::Symbol(sym) => {
                single = [Item::Symbol(sym)];
                &single[..]
            }
            Expr::Items { start, count } => self.exprs.items(start, count),
        };
        *budget = budget.saturating_sub(1);
        if *budget == 0 {
            return Ok(None);
        }
        let mut stack: SmallVec<[Value; 4]> = SmallVec::new();
        for item in items {
            let value = match *item {
                Item::Const(number) => Value::number(number),
                Item::Here(place) if fold => self.label_now(place),
                Item::Symbol(sym) => match self.symbols.get(sym).def {
                    Def::Value(expr) => match self.now(expr, fold, budget)? {
                        Some(value) => value,
                        None => return Ok(None),
                    },
                    Def::Label(place) if fold => self.label_now(place),
                    _ => return Ok(None),
                },
                Item::Unary(unary) => self.unary(unary, stack.pop().unwrap_or_default())?,
                Item::Binary(binary) => {
                    let right = stack.pop().unwrap_or_default();
                    let left = stack.pop().unwrap_or_default();
                    self.binary(binary, left, right)?
                }
                Item::Call(function, count) => {
                    let start = stack.len().saturating_sub(count as usize);
                    let numbers: Option<SmallVec<[i64; 8]>> =
                        stack.drain(start..).map(|v| v.absolute()).collect();
                    let Some(numbers) = numbers else { return Ok(None) };
                    Value::number(function.of(&numbers, self.target())?)
                }
                Item::Here(_) | Item::Specifier(_) => return Ok(None),
            };
            stack.push(value);
        }
        Ok(stack.pop())
    }

    /// The value of a label. The distance to another label in the same stream is already known if there is no gap between the labels.
    fn label_now(&self, place: Place) -> Value {
        // The stream and the number of preceding gaps together serve as the section in `Atom::distance`. If there are too many gaps for
        // that, differences are not folded.
        let run = place
            .stream
            .0
            .checked_mul(1 << 12)
            .and_then(|run| run.checked_add(place.gaps))
            .filter(|_| place.gaps < 1 << 12);
        Value { plus: Some(Atom { sym: None, place: run.map(|run| (run, place.bytes)) }), ..Value::default() }
    }
}

/// The maximum depth of symbols that are defined by other symbols, for evaluation while the file is being read.
const DEPTH: u32 = 64;
