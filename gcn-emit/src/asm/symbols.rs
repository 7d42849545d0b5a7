//! The symbols of a file.

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::expr::{Expr, Sym};
use super::place::Place;
use super::span::Span;
use crate::object::{Binding, SymbolKind, Visibility};

/// How a symbol is defined.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Def {
    /// Not defined yet.
    Undefined,
    /// An address.
    Label(Place),
    /// A value assigned by `.set`.
    Value(Expr),
    /// Zeroed memory that the linker allocates.
    Common { size: u64, align: u64 },
    /// LDS that the linker does not allocate.
    Lds { size: u64, align: u64 },
}

/// A symbol.
#[derive(Debug)]
pub(super) struct Symbol<'s> {
    /// The name; empty for numeric labels.
    pub name: Cow<'s, str>,
    pub def: Def,
    /// The position of the first mention.
    pub mention: Span,
    /// The size, if `.size` specifies it.
    pub size: Option<(Expr, Span)>,
    pub kind: SymbolKind,
    /// The binding; `None` until it is specified. Without a specified binding, a symbol is local if it is defined, otherwise global.
    pub binding: Option<Binding>,
    pub visibility: Visibility,
    pub flags: Flags,
}

/// Flags of a symbol.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// True if some expression refers to the symbol.
    pub used: bool,
    /// True if the symbol's name starts with `.L`, or it is a numeric label. Such a symbol is in the symbol table only if a relocation
    /// needs it.
    pub temporary: bool,
    /// True if the symbol was defined by `.equiv` or as a label, so that it must not be defined again.
    pub fixed: bool,
    /// True if a later `.set` of the same name replaced the symbol.
    pub replaced: bool,
    /// True if the assembler itself defines the symbol, so that it is not in the symbol table.
    pub predefined: bool,
    /// True if the symbol has been added to the order of the symbol table.
    pub registered: bool,
}

/// All symbols, by number and by name.
#[derive(Default)]
pub(super) struct Symbols<'s> {
    list: Vec<Symbol<'s>>,
    by_name: HashTable<Sym>,
    hasher: DefaultHashBuilder,
    /// For each number, the last numeric label (`1:`) and the next one.
    numeric: HashMap<u64, Numeric>,
    /// Symbols in the order of the symbol table: the order in which they are first defined, given an attribute, or used in a value or an
    /// instruction. A use in a size or count does not matter (observed with llvm-mc 22).
    order: Vec<Sym>,
}

#[derive(Clone, Copy, Default)]
struct Numeric {
    last: Option<Sym>,
    next: Option<Sym>,
}

impl<'s> Symbols<'s> {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, sym: Sym) -> &Symbol<'s> {
        // This does not fail: symbol numbers come only from `push`, and symbols are never removed.
        &self.list[sym.0 as usize]
    }

    pub fn get_mut(&mut self, sym: Sym) -> &mut Symbol<'s> {
        &mut self.list[sym.0 as usize]
    }

    /// Adds a symbol to the order of the symbol table.
    pub fn register(&mut self, sym: Sym) {
        let flags = &mut self.list[sym.0 as usize].flags;
        if !std::mem::replace(&mut flags.registered, true) {
            self.order.push(sym);
        }
    }

    /// Symbols in the order of the symbol table.
    pub fn order(&self) -> &[Sym] {
        &self.order
    }

    /// The symbol with this name; `None` if it has not been mentioned.
    pub fn find(&self, name: &str) -> Option<Sym> {
        let hash = self.hasher.hash_one(name);
        self.by_name.find(hash, |sym| self.list[sym.0 as usize].name == name).copied()
    }

    /// The symbol of this name, created if necessary.
    pub fn intern(&mut self, name: Cow<'s, str>, mention: Span) -> Sym {
        let hash = self.hasher.hash_one(name.as_ref());
        let list = &self.list;
        if let Some(sym) = self.by_name.find(hash, |sym| list[sym.0 as usize].name == name) {
            return *sym;
        }
        let sym = self.push(name, mention);
        let (list, hasher) = (&self.list, &self.hasher);
        self.by_name.insert_unique(hash, sym, |sym| hasher.hash_one(list[sym.0 as usize].name.as_ref()));
        sym
    }

    /// A new symbol that replaces `old`, which is set again. Existing references keep the value of `old`.
    pub fn replace(&mut self, old: Sym, mention: Span) -> Sym {
        let name = self.get(old).name.clone();
        let hash = self.hasher.hash_one(name.as_ref());
        let new = self.push(name, mention);
        let before = &self.list[old.0 as usize];
        let (kind, binding, visibility, size) = (before.kind, before.binding, before.visibility, before.size);
        let flags = Flags { used: false, registered: false, ..before.flags };
        let after = &mut self.list[new.0 as usize];
        (after.kind, after.binding, after.visibility, after.size, after.flags) =
            (kind, binding, visibility, size, flags);
        self.list[old.0 as usize].flags.replaced = true;
        if let Ok(mut entry) = self.by_name.find_entry(hash, |sym| *sym == old) {
            *entry.get_mut() = new;
        }
        new
    }

    fn push(&mut self, name: Cow<'s, str>, mention: Span) -> Sym {
        let sym = Sym(self.list.len() as u32);
        let flags = Flags { temporary: name.is_empty() || name.starts_with(".L"), ..Flags::default() };
        self.list.push(Symbol {
            name,
            def: Def::Undefined,
            mention,
            size: None,
            kind: SymbolKind::None,
            binding: None,
            visibility: Visibility::Default,
            flags,
        });
        sym
    }

    /// Defines a numeric label. Earlier references `1f` refer to it, and so do references `1b` from here on.
    pub fn define_numeric(&mut self, number: u64, mention: Span) -> Sym {
        let next = self.numeric.get(&number).and_then(|n| n.next);
        let sym = next.unwrap_or_else(|| self.push(Cow::Borrowed(""), mention));
        self.numeric.insert(number, Numeric { last: Some(sym), next: None });
        sym
    }

    /// The symbol that `1b` denotes; `None` if no label `1` has been defined yet.
    pub fn numeric_before(&self, number: u64) -> Option<Sym> {
        self.numeric.get(&number).and_then(|n| n.last)
    }

    /// The symbol that `1f` denotes.
    pub fn numeric_behind(&mut self, number: u64, mention: Span) -> Sym {
        if let Some(sym) = self.numeric.get(&number).and_then(|n| n.next) {
            return sym;
        }
        let sym = self.push(Cow::Borrowed(""), mention);
        self.numeric.entry(number).or_default().next = Some(sym);
        sym
    }
}
