//! Directives that only this target has.

use super::super::Assembler;
use super::super::args::Args;
use super::super::fault::{Fault, Located, Result};
use super::super::kernel::Kernel;
use super::super::symbols::Def;
use crate::object::{Binding, CodeObjectVersion, SymbolKind};
use crate::target_id::TargetId;

/// `.amdgcn_target "amdgcn-amd-amdhsa--gfx942:xnack-"`
pub(super) fn target<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.peek();
    let at = args.position();
    let text = args.text()?;
    let span = args.span_from(at);
    args.end()?;
    let id: TargetId = text.parse().map_err(|error| Located::new(span, Fault::Target(error)))?;
    match asm.target {
        None => {
            asm.target = Some(id);
            asm.define_generation();
            Ok(())
        }
        Some(wanted) if wanted == id => Ok(()),
        Some(wanted) => {
            Err(Located::new(span, Fault::OtherTarget { file: id.to_string(), wanted: wanted.to_string() }))
        }
    }
}

/// `.amdhsa_code_object_version 5`
pub(super) fn version<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.peek();
    let at = args.position();
    let number = asm.absolute(args)?;
    let span = args.span_from(at);
    args.end()?;
    let version = u32::try_from(number).ok().and_then(CodeObjectVersion::from_number);
    asm.version = version.ok_or_else(|| Located::new(span, Fault::Version(number)))?;
    Ok(())
}

/// `.amdgpu_lds name, size [, align]`
pub(super) fn lds<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.peek();
    let at = args.position();
    let name = args.name()?;
    let span = args.span_from(at);
    args.comma()?;
    let limit = asm.target.map_or(65_536, |id| i64::from(id.target.lds_per_cu()));
    let size = ranged(asm, args, "the size", 0, limit)?;
    let mut align = 4;
    if args.eat(b',') {
        align = ranged(asm, args, "the alignment", 1, 1 << 31)?;
    }
    if align & (align - 1) != 0 {
        return Err(Located::new(
            args.span_from(at),
            Fault::PowerOfTwo { what: "the alignment", value: align },
        ));
    }
    args.end()?;
    let (size, align) = (size as u64, align as u64);
    let sym = asm.symbols.intern(name.into(), span);
    let symbol = asm.symbols.get_mut(sym);
    // A repeated declaration is allowed if size and alignment are the same.
    if symbol.def != Def::Undefined && symbol.def != (Def::Lds { size, align }) {
        return Err(Located::new(span, Fault::Redefined(name.to_owned())));
    }
    symbol.def = Def::Lds { size, align };
    symbol.kind = SymbolKind::Object;
    symbol.binding = symbol.binding.or(Some(Binding::Global));
    asm.symbols.register(sym);
    Ok(())
}

fn ranged<'s>(
    asm: &mut Assembler<'s>,
    args: &mut Args<'s>,
    what: &'static str,
    low: i64,
    high: i64,
) -> Result<i64> {
    args.peek();
    let at = args.position();
    let value = asm.absolute(args)?;
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(Located::new(args.span_from(at), Fault::Range { what, value, low, high }))
}

/// `.amdhsa_kernel name`
pub(super) fn kernel<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.peek();
    let at = args.position();
    let name = args.name()?;
    let span = args.span_from(at);
    args.end()?;
    asm.open_kernel = Some(Kernel::new(name, args.statement()));
    if asm.target.is_none() {
        // The directives of the kernel are parsed nevertheless, so that their errors are reported too.
        return Err(Located::new(span, Fault::NoTarget));
    }
    Ok(())
}
