//! Symbols: values, bindings, types, sizes; and directives without effect.

use super::super::Assembler;
use super::super::args::{Args, is_name};
use super::super::expr::{Expr, Sym};
use super::super::fault::{Fault, Located, Result};
use super::super::span::Span;
use super::super::symbols::Def;
use crate::object::{Binding, SymbolKind, Visibility};

impl<'s> Assembler<'s> {
    /// Parses an expression whose value must be known at this point.
    pub fn absolute(&mut self, args: &mut Args<'s>) -> Result<i64> {
        args.peek();
        let at = args.position();
        let expr = self.expr(args)?;
        let located = |fault| Located::new(args.span_from(at), fault);
        self.number_now(expr, true).map_err(located)?.ok_or_else(|| located(Fault::NotAbsolute))
    }

    /// Executes `name = expression`; `args` are positioned after the `=`.
    pub fn assignment(&mut self, name: &'s str, span: Span, args: &mut Args<'s>) -> Result<()> {
        if name == "." {
            let to = self.expr(args)?;
            args.end()?;
            return self.org(to, 0, args.statement());
        }
        self.assign(name, span, args, false)
    }

    fn assign(&mut self, name: &'s str, span: Span, args: &mut Args<'s>, fixed: bool) -> Result<()> {
        let expr = self.expr(args)?;
        args.end()?;
        // A value that is known at this point is final, even if its symbols change later. A difference of labels is evaluated after layout,
        // as in llvm-mc, because the size of an instruction may depend on it.
        let number = self.number_now(expr, false).map_err(|fault| Located::new(args.statement(), fault))?;
        let expr = number.map_or(expr, Expr::Const);
        let sym = self.symbols.intern(name.into(), span);
        if let Some(value) = number
            && self.set_next_free(sym, value)
        {
            self.symbols.get_mut(sym).flags.predefined = false;
            self.symbols.register(sym);
            return Ok(());
        }
        let symbol = self.symbols.get(sym);
        let sym = match symbol.def {
            Def::Undefined => sym,
            // The symbol is replaced even if nothing has used it: its position in the symbol table is that of its last definition, as in
            // llvm-mc.
            Def::Value(_) if !fixed && !symbol.flags.fixed => self.symbols.replace(sym, span),
            _ => return Err(Located::new(span, Fault::Redefined(name.to_owned()))),
        };
        let symbol = self.symbols.get_mut(sym);
        symbol.def = Def::Value(expr);
        symbol.flags.fixed |= fixed;
        symbol.flags.predefined = false;
        self.symbols.register(sym);
        self.register(expr);
        Ok(())
    }

    /// Defines an external symbol, which the text must not redefine, as in llvm-mc.
    pub fn define(&mut self, name: &str, value: i64) {
        let sym = self.symbols.intern(name.to_owned().into(), Span::default());
        let symbol = self.symbols.get_mut(sym);
        symbol.def = Def::Value(Expr::Const(value));
        (symbol.flags.fixed, symbol.flags.predefined) = (true, false);
        self.symbols.register(sym);
    }

    /// Parses the symbol that a directive names.
    fn named(&mut self, args: &mut Args<'s>) -> Result<(Sym, &'s str, Span)> {
        args.peek();
        let at = args.position();
        let name = args.name()?;
        let span = args.span_from(at);
        Ok((self.symbols.intern(name.into(), span), name, span))
    }
}

/// `.set name, expression`; `.equiv` rejects a name that is already defined.
pub(super) fn set<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    args.peek();
    let at = args.position();
    let symbol = args.name()?;
    let span = args.span_from(at);
    if symbol == "." {
        return Err(Located::new(span, Fault::Expected("a name")));
    }
    args.comma()?;
    asm.assign(symbol, span, args, name == ".equiv")
}

/// An attribute that a directive gives to a symbol.
#[derive(Clone, Copy)]
enum Attribute {
    Binding(Binding),
    Visibility(Visibility),
}

const ATTRIBUTES: [(&str, Attribute); 8] = [
    (".global", Attribute::Binding(Binding::Global)),
    (".globl", Attribute::Binding(Binding::Global)),
    (".local", Attribute::Binding(Binding::Local)),
    (".weak", Attribute::Binding(Binding::Weak)),
    (".weak_reference", Attribute::Binding(Binding::Weak)),
    (".hidden", Attribute::Visibility(Visibility::Hidden)),
    (".internal", Attribute::Visibility(Visibility::Internal)),
    (".protected", Attribute::Visibility(Visibility::Protected)),
];

/// Executes an attribute directive, such as `.globl a, b`.
pub(super) fn attribute<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let attribute = ATTRIBUTES.iter().find(|(n, _)| *n == name).map(|row| row.1);
    if args.at_end() {
        return Ok(());
    }
    loop {
        let (sym, symbol_name, span) = asm.named(args)?;
        match attribute {
            Some(Attribute::Binding(new)) => bind(asm, sym, symbol_name, new, span)?,
            Some(Attribute::Visibility(new)) => asm.symbols.get_mut(sym).visibility = new,
            None => {}
        }
        asm.symbols.register(sym);
        if !args.eat(b',') {
            return args.end();
        }
    }
}

fn bind(asm: &mut Assembler<'_>, sym: Sym, name: &str, new: Binding, span: Span) -> Result<()> {
    let symbol = asm.symbols.get_mut(sym);
    match symbol.binding {
        Some(old) if old != new => {
            if (old, new) == (Binding::Global, Binding::Weak) {
                symbol.binding = Some(new);
                asm.warn(span, "a global symbol becomes weak");
                return Ok(());
            }
            let fault =
                Fault::Binding { name: name.to_owned(), old: binding_name(old), new: binding_name(new) };
            Err(Located::new(span, fault))
        }
        _ => {
            symbol.binding = Some(new);
            Ok(())
        }
    }
}

fn binding_name(binding: Binding) -> &'static str {
    match binding {
        Binding::Local => "local",
        Binding::Global => "global",
        Binding::Weak => "weak",
    }
}

/// Symbol types by name.
const KINDS: [(&str, SymbolKind); 12] = [
    ("function", SymbolKind::Function),
    ("STT_FUNC", SymbolKind::Function),
    ("object", SymbolKind::Object),
    ("STT_OBJECT", SymbolKind::Object),
    ("common", SymbolKind::Object),
    ("STT_COMMON", SymbolKind::Object),
    ("notype", SymbolKind::None),
    ("STT_NOTYPE", SymbolKind::None),
    ("tls_object", SymbolKind::Tls),
    ("STT_TLS", SymbolKind::Tls),
    ("gnu_unique_object", SymbolKind::Object),
    ("STT_GNU_UNIQUE", SymbolKind::Object),
];

/// `.type name, @function`
pub(super) fn kind<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let (sym, ..) = asm.named(args)?;
    // The comma is optional.
    args.eat(b',');
    let at = args.position();
    let name = match args.peek() {
        Some(b'"') => args.raw_string()?,
        Some(b'@' | b'%' | b'#') => {
            args.skip(1);
            args.take_while(is_name)
        }
        _ => args.take_while(is_name),
    };
    let kind = KINDS.iter().find(|(n, _)| *n == name).map(|row| row.1);
    let kind = kind.ok_or_else(|| {
        Located::new(args.span_from(at), Fault::Expected("@function, @object, @notype or @tls_object"))
    })?;
    args.end()?;
    let symbol = asm.symbols.get_mut(sym);
    // A later `.type` does not remove the type function or object from a symbol.
    if kind != SymbolKind::None || symbol.kind == SymbolKind::None {
        symbol.kind = kind;
    }
    asm.symbols.register(sym);
    Ok(())
}

/// `.size name, expression`
pub(super) fn size<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let (sym, ..) = asm.named(args)?;
    args.comma()?;
    args.peek();
    let at = args.position();
    let expr = asm.expr(args)?;
    let span = args.span_from(at);
    args.end()?;
    asm.symbols.get_mut(sym).size = Some((expr, span));
    Ok(())
}

/// `.comm name, size [, log2 of the alignment]`, `.lcomm name, size`
pub(super) fn common<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let (sym, symbol_name, span) = asm.named(args)?;
    args.comma()?;
    args.peek();
    let at = args.position();
    let size = asm.absolute(args)?;
    let range = Fault::Range { what: "the size", value: size, low: 0, high: i64::MAX };
    let size = u64::try_from(size).map_err(|_| Located::new(args.span_from(at), range))?;
    let mut align = 1;
    if name != ".lcomm" && args.eat(b',') {
        args.peek();
        let at = args.position();
        let power = asm.absolute(args)?;
        let range =
            Fault::Range { what: "the power of two of the alignment", value: power, low: 0, high: 31 };
        align = u32::try_from(power)
            .ok()
            .filter(|n| *n < 32)
            .map(|n| 1u64 << n)
            .ok_or_else(|| Located::new(args.span_from(at), range))?;
    }
    args.end()?;
    let symbol = asm.symbols.get(sym);
    if symbol.def != Def::Undefined {
        return Err(Located::new(span, Fault::Redefined(symbol_name.to_owned())));
    }
    let local = name == ".lcomm" || symbol.binding == Some(Binding::Local);
    if local {
        return local_common(asm, sym, size, align, args.statement());
    }
    let symbol = asm.symbols.get_mut(sym);
    symbol.kind = SymbolKind::Object;
    symbol.binding = symbol.binding.or(Some(Binding::Global));
    symbol.def = Def::Common { size, align };
    asm.symbols.register(sym);
    Ok(())
}

/// Allocates memory in `.bss`.
fn local_common(asm: &mut Assembler<'_>, sym: Sym, size: u64, align: u64, span: Span) -> Result<()> {
    use super::super::emit::SectionKey;
    use super::super::section::Fill;
    let key = SectionKey { name: ".bss", ..SectionKey::default() };
    asm.in_section(&key, span, |asm| {
        asm.align(align, Fill::Value(0, 1), u64::MAX, span)?;
        let here = asm.here();
        let symbol = asm.symbols.get_mut(sym);
        symbol.def = Def::Label(here);
        symbol.kind = SymbolKind::Object;
        symbol.binding = Some(Binding::Local);
        symbol.size = Some((Expr::Const(size as i64), span));
        asm.symbols.register(sym);
        asm.repeat(size, 0, 1, span)
    })
}

/// A directive without arguments that only affects the order of sections: `.addrsig`.
pub(super) fn no_arguments<'s>(_: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.end()
}

/// `.addrsig_sym name`
pub(super) fn names_only<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    asm.named(args)?;
    args.end()
}

/// A directive without effect.
pub(super) fn ignored<'s>(_: &mut Assembler<'s>, _: &mut Args<'s>, _: &'static str) -> Result<()> {
    Ok(())
}

/// `.end`
pub(super) fn end<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.end()?;
    asm.ended = true;
    Ok(())
}

/// `.err`, `.error "text"`
pub(super) fn error<'s>(_: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let text = if args.at_end() { name.to_owned() } else { args.text()?.into_owned() };
    args.end()?;
    Err(Located::new(args.statement(), Fault::User(text)))
}

/// `.warning "text"`
pub(super) fn warning<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let text = if args.at_end() { name.to_owned() } else { args.text()?.into_owned() };
    args.end()?;
    asm.warn(args.statement(), &text);
    Ok(())
}
