//! `.amdhsa_kernel`: translates directives into a kernel descriptor.
//!
//! Values may be expressions that are known only at the end of the file, so descriptors are computed after layout.
//! Checks and fields follow the LLVM AMDGPU guide, *AMDHSA Kernel Assembler Directives* and *Kernel Descriptor*.

use gcn_isa::WaveSize;

use super::Assembler;
use super::args::Args;
use super::eval::Memo;
use super::expr::{Expr, Item, Sym};
use super::fault::{Fault, Located, Result};
use super::fixup::{Fixup, FixupKind};
use super::function::extra_sgprs;
use super::layout::Layout;
use super::place::{Place, StreamId};
use super::span::Span;
use super::symbols::Def;
use crate::descriptor::directive::{self, ROWS, Slot};
use crate::descriptor::field as f;
use crate::descriptor::{CODE_ENTRY_OFFSET, DESCRIPTOR_BYTES, KernelDescriptor, SGPR_BLOCK};
use crate::object::{Binding, RelocationKind, SymbolKind, Visibility};
use crate::target_id::{Feature, TargetId};
use crate::text::nearest;

/// The number of VGPR blocks that the descriptor can express.
const VGPR_BLOCKS: i64 = 64;
/// The number of VGPRs before the first AGPR must be a multiple of this.
const ACCUM_STEP: i64 = 4;

/// The directives between `.amdhsa_kernel` and `.end_amdhsa_kernel`, and `.end_amdhsa_kernel` itself.
pub(super) fn directives() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name).chain([".end_amdhsa_kernel"])
}

/// A kernel and the contents of its directives.
#[derive(Debug)]
pub(super) struct Kernel {
    name: String,
    /// The position of the `.amdhsa_kernel` directive.
    pub span: Span,
    /// The values, by row of the directive table.
    values: [Option<(Expr, Span)>; ROWS.len()],
    /// The position of the descriptor.
    place: Place,
}

impl Kernel {
    pub fn new(name: &str, span: Span) -> Kernel {
        let place = Place { stream: StreamId(0), gaps: 0, bytes: 0 };
        Kernel { name: name.to_owned(), span, values: [None; ROWS.len()], place }
    }
}

impl<'s> Assembler<'s> {
    /// Parses a statement between `.amdhsa_kernel` and `.end_amdhsa_kernel`.
    pub fn in_kernel(
        &mut self,
        mut kernel: Kernel,
        name: &'s str,
        text: &'s str,
        at: usize,
        span: Span,
    ) -> Result<()> {
        let mut args = Args::new(text, at);
        args.rewind(span.len as usize);
        if name == ".end_amdhsa_kernel" {
            args.end()?;
            return self.end_kernel(kernel, span);
        }
        let read = self.kernel_directive(&mut kernel, name, &mut args, span);
        self.open_kernel = Some(kernel);
        read
    }

    fn kernel_directive(
        &mut self,
        kernel: &mut Kernel,
        name: &str,
        args: &mut Args<'s>,
        span: Span,
    ) -> Result<()> {
        let Some(index) = directive::find(name, self.target.map(|id| id.target)) else {
            let known = directives();
            let fault = if name.starts_with(".amdhsa_") || name.starts_with(".end") {
                Fault::UnknownDirective { name: name.to_owned(), nearest: nearest(name, known) }
            } else {
                Fault::Expected("`.amdhsa_…` or `.end_amdhsa_kernel`")
            };
            return Err(Located::new(span, fault));
        };
        let row = &ROWS[index];
        args.peek();
        let at = args.position();
        let expr = self.expr(args)?;
        let value = args.span_from(at);
        args.end()?;
        if let Some(why) = self.target.and_then(|id| row.on.refuses(id.target)) {
            let target = self.target.map_or(gcn_isa::Target::GFX900, |id| id.target);
            return Err(Located::new(span, Fault::KernelTarget { name: row.name, target, why }));
        }
        if kernel.values[index].replace((expr, value)).is_some() {
            return Err(Located::new(span, Fault::Repeated(row.name)));
        }
        Ok(())
    }

    /// Reserves space for the descriptor and defines its symbol.
    fn end_kernel(&mut self, mut kernel: Kernel, span: Span) -> Result<()> {
        let Some(id) = self.target else { return Err(Located::new(span, Fault::ReportedBefore)) };
        let required = [Slot::NextFreeVgpr, Slot::NextFreeSgpr, Slot::AccumOffset];
        for (row, value) in ROWS.iter().zip(&kernel.values) {
            if required.contains(&row.slot) && row.on.refuses(id.target).is_none() && value.is_none() {
                return Err(Located::new(kernel.span, Fault::Missing(row.name)));
            }
        }
        let descriptor = self.symbols.intern(format!("{}.kd", kernel.name).into(), kernel.span);
        let code = self.symbols.intern(kernel.name.clone().into(), kernel.span);
        let symbol = self.symbols.get_mut(code);
        // A name without a definition counts as global.
        let unsaid = if symbol.def == Def::Undefined { Binding::Global } else { Binding::Local };
        let (binding, visibility) = (symbol.binding.unwrap_or(unsaid), symbol.visibility);
        // With default visibility, the linker could replace the code, and then its distance from the descriptor would not be known.
        if visibility == Visibility::Default {
            symbol.visibility = Visibility::Protected;
        }
        symbol.flags.used = true;
        kernel.place = self.here();
        let symbol = self.symbols.get_mut(descriptor);
        if symbol.def != Def::Undefined {
            return Err(Located::new(kernel.span, Fault::Redefined(symbol.name.to_string())));
        }
        symbol.def = Def::Label(kernel.place);
        symbol.kind = SymbolKind::Object;
        symbol.binding = Some(binding);
        symbol.visibility = visibility;
        symbol.size = Some((Expr::Const(DESCRIPTOR_BYTES as i64), kernel.span));
        symbol.flags.fixed = true;
        self.symbols.register(descriptor);
        self.register_values(&kernel, code);
        self.write_entry(&kernel, code, descriptor)?;
        self.kernels.push(kernel);
        Ok(())
    }

    /// Adds the symbols in the values to the symbol table, in the order of the descriptor's words instead of the directives.
    fn register_values(&mut self, kernel: &Kernel, code: Sym) {
        for word in 0..=Slot::LAST_WORD {
            if word == Slot::ENTRY_WORD {
                self.symbols.register(code);
            }
            for (row, value) in ROWS.iter().zip(&kernel.values) {
                if let Some((expr, _)) = value.filter(|_| row.slot.word() == word) {
                    self.register(expr);
                }
            }
        }
    }

    /// Writes an empty descriptor with the distance to the code.
    fn write_entry(&mut self, kernel: &Kernel, code: Sym, descriptor: Sym) -> Result<()> {
        let items = [
            Item::Symbol(code),
            Item::Specifier(RelocationKind::Rel64),
            Item::Symbol(descriptor),
            Item::Binary(super::operator::Binary::Sub),
        ];
        let expr = self.exprs.store(&items);
        let place = Place { bytes: kernel.place.bytes + CODE_ENTRY_OFFSET, ..kernel.place };
        if self.section().is_nobits() {
            return Err(Located::new(kernel.span, Fault::NotZero(self.section().name.clone())));
        }
        self.fixups.push(Fixup { place, kind: FixupKind::Entry, expr, span: kernel.span });
        self.bytes(&[0; DESCRIPTOR_BYTES], kernel.span)
    }

    /// Writes every descriptor.
    pub fn write_kernels(&mut self, layout: &Layout, memo: &mut Memo, sections: &mut [Vec<u8>]) {
        let Some(id) = self.target else { return };
        for kernel in std::mem::take(&mut self.kernels) {
            let mut values =
                Values { id, wave: self.wave(id.target), kernel: &kernel, numbers: [None; ROWS.len()] };
            if self.kernel_numbers(&mut values, layout, memo) {
                match values.descriptor() {
                    Ok(descriptor) => {
                        let (section, offset) = layout.offset(self, kernel.place);
                        let at = offset as usize;
                        let bytes = sections
                            .get_mut(section as usize)
                            .and_then(|s| s.get_mut(at..at + DESCRIPTOR_BYTES));
                        if let Some(bytes) = bytes {
                            bytes.copy_from_slice(&descriptor.to_bytes());
                        }
                    }
                    Err(error) => self.report(error),
                }
            }
        }
    }

    /// Evaluates the values of all directives. If one has no value, reports that and returns false.
    fn kernel_numbers(&mut self, values: &mut Values<'_>, layout: &Layout, memo: &mut Memo) -> bool {
        let mut good = true;
        for (index, row) in ROWS.iter().enumerate() {
            let Some((expr, span)) = values.kernel.values[index] else { continue };
            let number = self.value(expr, layout, memo).and_then(|v| v.absolute().ok_or(Fault::NotAbsolute));
            let high = (1i64 << row.slot.value_bits()) - 1;
            let checked = number.and_then(|value| match value {
                0.. if value <= high => Ok(value),
                _ => Err(Fault::Range { what: "the value", value, low: 0, high }),
            });
            match checked {
                Ok(value) => values.numbers[index] = Some(value),
                Err(fault) => {
                    good = false;
                    self.report(Located::new(span, fault));
                }
            }
        }
        good
    }
}

/// The evaluated values of a kernel's directives.
struct Values<'k> {
    id: TargetId,
    /// The wave size, if the kernel does not specify it.
    wave: WaveSize,
    kernel: &'k Kernel,
    numbers: [Option<i64>; ROWS.len()],
}

impl Values<'_> {
    fn get(&self, slot: Slot) -> Option<i64> {
        ROWS.iter().zip(&self.numbers).find(|(row, _)| row.slot == slot).and_then(|(_, number)| *number)
    }

    /// The source position of the value in `slot`; if it has none, the position of the kernel.
    fn span(&self, slot: Slot) -> Span {
        let rows = ROWS.iter().zip(&self.kernel.values).find(|(row, _)| row.slot == slot);
        rows.and_then(|(_, value)| *value).map_or(self.kernel.span, |(_, span)| span)
    }

    fn limit(&self, slot: Slot, what: &'static str, have: i64, limit: i64, unit: &'static str) -> Result<()> {
        if have <= limit {
            return Ok(());
        }
        Err(Located::new(self.span(slot), Fault::KernelLimit { what, have, limit, unit }))
    }

    fn descriptor(&self) -> Result<KernelDescriptor> {
        let mut d = KernelDescriptor {
            group_segment_fixed_size: self.get(Slot::GroupSegment).unwrap_or(0) as u32,
            private_segment_fixed_size: self.get(Slot::PrivateSegment).unwrap_or(0) as u32,
            kernarg_size: self.get(Slot::KernargSize).unwrap_or(0) as u32,
            ..KernelDescriptor::default()
        };
        let (mut user, mut exceptions) = (0, 0);
        for (row, number) in ROWS.iter().zip(&self.numbers).filter(|(row, _)| row.on.has(self.id.target)) {
            let Some(value) = number.map(|n| n as u32).or(row.default) else { continue };
            match row.slot {
                Slot::Field(field) => d.set(field, value),
                Slot::UserSgpr { bit, .. } => user |= value << bit,
                Slot::Exception(bit) => exceptions |= value << bit,
                _ => {}
            }
        }
        d.set(f::ENABLE_WAVEFRONT_SIZE32, (self.wave() == WaveSize::W32).into());
        d.set(f::USER_SGPRS, user);
        d.set(f::EXCEPTIONS, exceptions);
        d.set(f::user_sgpr_count(self.id.target), self.user_sgprs()?);
        d.kernarg_preload = self.preload()?;
        d.set(f::GRANULATED_WORKITEM_VGPR_COUNT, self.vgpr_blocks()?);
        self.shared_vgprs(&d)?;
        d.set(f::GRANULATED_WAVEFRONT_SGPR_COUNT, self.sgpr_blocks()?);
        if self.id.target.has_unified_agprs() {
            d.set(f::ACCUM_OFFSET, self.accum_offset()?);
        }
        Ok(d)
    }

    /// The number of user SGPRs: the number that is initialised, or a larger number that the kernel requests.
    fn user_sgprs(&self) -> Result<u32> {
        let set_up = ROWS.iter().zip(&self.numbers).map(|(row, number)| match row.slot {
            Slot::UserSgpr { registers, .. } if *number == Some(1) => i64::from(registers),
            Slot::PreloadLength => number.unwrap_or(0),
            _ => 0,
        });
        let set_up: i64 = set_up.sum();
        let field = f::user_sgpr_count(self.id.target);
        let slot = Slot::UserSgprCount(field);
        let count = self.get(slot).unwrap_or(set_up);
        let what = "the enabled user SGPRs are";
        self.limit(slot, what, set_up, count, "are counted by `.amdhsa_user_sgpr_count`")?;
        let most = (1 << field.bits) - 1;
        self.limit(slot, "the user SGPRs are", count, most, "fit in the descriptor")?;
        Ok(count as u32)
    }

    /// `KERNARG_PRELOAD_SPEC`: length and offset in dwords.
    fn preload(&self) -> Result<u16> {
        let length = self.get(Slot::PreloadLength).unwrap_or(0);
        let offset = self.get(Slot::PreloadOffset).unwrap_or(0);
        let what = "the preloaded dwords of kernel arguments are";
        let most = self.id.target.most_user_sgprs();
        self.limit(Slot::PreloadLength, what, length, most.into(), "fit in user SGPRs")?;
        if length > 0 {
            let have = (length + offset) * 4;
            // A size of 0 means that the size is not specified.
            if let Some(limit) = self.get(Slot::KernargSize).filter(|size| *size > 0) {
                let what = "the preloaded kernel arguments end at byte";
                self.limit(Slot::PreloadLength, what, have, limit, "bytes are there")?;
            }
        }
        Ok((length | offset << 7) as u16)
    }

    /// The wave size.
    fn wave(&self) -> WaveSize {
        match self.get(Slot::Field(f::ENABLE_WAVEFRONT_SIZE32)) {
            Some(0) => WaveSize::W64,
            Some(_) => WaveSize::W32,
            None => self.wave,
        }
    }

    fn vgpr_blocks(&self) -> Result<u32> {
        let granule = i64::from(self.id.target.vgpr_file(self.wave()).block);
        let count = self.get(Slot::NextFreeVgpr).unwrap_or(0);
        let limit = VGPR_BLOCKS * granule;
        self.limit(Slot::NextFreeVgpr, "the VGPRs are", count, limit, "can be allocated")?;
        Ok(((count.max(1) + granule - 1) / granule - 1) as u32)
    }

    /// Checks the VGPRs that the two halves of a 64-lane wave share in addition to their own VGPRs.
    fn shared_vgprs(&self, d: &KernelDescriptor) -> Result<()> {
        let slot = Slot::Field(f::SHARED_VGPR_COUNT);
        let shared = self.get(slot).unwrap_or(0);
        if shared > 0 && self.get(Slot::Field(f::ENABLE_WAVEFRONT_SIZE32)) == Some(1) {
            return Err(Located::new(
                self.span(slot),
                Fault::Expected("0, since waves of 32 lanes share no VGPRs"),
            ));
        }
        let blocks = 2 * shared + i64::from(d.get(f::GRANULATED_WORKITEM_VGPR_COUNT));
        let limit = if shared > 0 { VGPR_BLOCKS - 1 } else { blocks };
        self.limit(
            slot,
            "the shared VGPRs in blocks of 4 with the VGPRs are",
            blocks,
            limit,
            "can be allocated",
        )
    }

    fn sgpr_blocks(&self) -> Result<u32> {
        let flag = |slot, default: bool| self.get(slot).map_or(default, |value| value != 0);
        let target = self.id.target;
        let has_mask = target.supports_xnack() && self.id.xnack != Feature::Off;
        if let Some(value) = self.get(Slot::ReserveXnackMask).filter(|value| *value != i64::from(has_mask)) {
            let fault =
                Fault::KernelXnack { name: ".amdhsa_reserve_xnack_mask", value, want: has_mask.into() };
            return Err(Located::new(self.span(Slot::ReserveXnackMask), fault));
        }
        if !target.counts_sgprs() {
            return Ok(0);
        }
        let (vcc, flat) = (flag(Slot::ReserveVcc, true), flag(Slot::ReserveFlatScratch, true));
        // Preloaded arguments occupy the user SGPRs whether or not the code names them.
        let preloaded = self.get(Slot::PreloadLength).is_some_and(|length| length > 0);
        let set_up = if preloaded { i64::from(self.user_sgprs()?) } else { 0 };
        let count = self.get(Slot::NextFreeSgpr).unwrap_or(0).max(set_up);
        self.limit(
            Slot::NextFreeSgpr,
            "the numbered SGPRs are",
            count,
            target.addressable_sgprs().into(),
            "can be addressed",
        )?;
        let all = count + i64::from(extra_sgprs(target, vcc, flat, has_mask));
        self.limit(
            Slot::NextFreeSgpr,
            "the SGPRs with the reserved ones are",
            all,
            16 * i64::from(SGPR_BLOCK),
            "can be allocated",
        )?;
        Ok((all.max(1) as u32).div_ceil(SGPR_BLOCK) - 1)
    }

    fn accum_offset(&self) -> Result<u32> {
        let offset = self.get(Slot::AccumOffset).unwrap_or(0);
        let located = |fault| Err(Located::new(self.span(Slot::AccumOffset), fault));
        if !(ACCUM_STEP..=256).contains(&offset) {
            return located(Fault::Range { what: "the offset", value: offset, low: ACCUM_STEP, high: 256 });
        }
        if offset % ACCUM_STEP != 0 {
            return located(Fault::Expected("a multiple of 4"));
        }
        let vgprs = self.get(Slot::NextFreeVgpr).unwrap_or(0).max(1);
        let limit = (vgprs + ACCUM_STEP - 1) / ACCUM_STEP * ACCUM_STEP;
        self.limit(
            Slot::AccumOffset,
            "AGPRs begin at",
            offset,
            limit,
            "VGPRs are allocated by `.amdhsa_next_free_vgpr`",
        )?;
        Ok((offset / ACCUM_STEP - 1) as u32)
    }
}
