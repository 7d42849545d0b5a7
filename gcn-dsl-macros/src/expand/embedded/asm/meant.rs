//! Finds the function in `gcn_dsl::isa` for a line: its mnemonic, its encoding variant, and the candidate rows of the instruction table.

use gcn_isa::Target;
use gcn_isa::table::{
    self, Behaviours, Class, Format, ImplicitRegs, InstDesc, Modifiers, OperandDesc, OperandKinds, Variant,
};
use gcn_isa::target::{Family, Subtarget};

use super::{Line, Operand, What};

/// The instruction that a line denotes.
pub(super) struct Meant {
    pub mnemonic: String,
    pub variant: Variant,
    /// The rows of the function on all targets, in order of preference. Never empty.
    pub rows: Vec<&'static InstDesc>,
    /// The row whose operands have the same form as those of the line.
    pub row: &'static InstDesc,
}

impl Meant {
    /// The function's name, without the suffix `_with`.
    pub fn function(&self) -> String {
        format!("{}{}", self.mnemonic, self.variant.suffix())
    }

    /// The registers that at least one of the rows reads implicitly.
    pub fn implicit_reads(&self) -> ImplicitRegs {
        self.rows.iter().fold(ImplicitRegs::empty(), |all, row| all | row.implicit_reads)
    }

    /// The modifiers that at least one of the rows has.
    pub fn modifiers(&self) -> Modifiers {
        self.rows.iter().fold(Modifiers::empty(), |all, row| all | row.modifiers)
    }
}

/// The rows with this mnemonic in the first instruction family that has it.
fn rows_of(mnemonic: &str) -> impl Iterator<Item = &'static InstDesc> {
    let of = |family: Family| {
        let mut seen = Vec::new();
        let targets = Target::KNOWN.into_iter().filter(move |target| target.family() == family);
        let all = targets.flat_map(move |target| {
            let sizes = target.wave_sizes().iter();
            let on = sizes.filter_map(move |wave| Subtarget::new(target, *wave));
            on.flat_map(move |on| table::find_mnemonic(on, mnemonic))
        });
        let once = |row: &&InstDesc| {
            !seen.contains(&row.id) && {
                seen.push(row.id);
                true
            }
        };
        all.filter(once).collect::<Vec<_>>()
    };
    Family::ALL.into_iter().map(of).find(|rows| !rows.is_empty()).into_iter().flatten()
}

/// The mnemonic without an encoding suffix such as `_dpp`, and the variant that the suffix selects. If several
/// encodings have the same operands, the compiler chooses among them.
fn without_suffix(text: &str) -> (&str, Option<Variant>) {
    let suffixes =
        [("_dpp", Some(Variant::Dpp)), ("_sdwa", Some(Variant::Sdwa)), ("_e32", None), ("_e64", None)];
    let found = suffixes.iter().find_map(|(suffix, variant)| Some((text.strip_suffix(suffix)?, *variant)));
    found.filter(|(plain, _)| rows_of(plain).any(|row| row.format.is_vop())).unwrap_or((text, None))
}

/// The spelling of a mnemonic in the instruction table.
fn canonical(text: &str) -> &str {
    if rows_of(text).next().is_some() {
        return text;
    }
    gcn_isa::reference::aliases().find(|(alias, ..)| *alias == text).map_or(text, |(_, name, _)| name)
}

/// False for an instruction without operands: its modifiers follow the mnemonic directly.
pub(super) fn has_operands(text: &str) -> bool {
    rows_of(without_suffix(text).0).next().is_none_or(|row| !row.operands.is_empty())
}

impl Line {
    pub(super) fn has(&self, flags: Modifiers) -> bool {
        self.modifiers.iter().any(|m| m.flag().is_some_and(|f| f.intersects(flags)))
    }

    /// Resolves the line, or returns the reason why that is impossible.
    pub(super) fn meant(&self) -> Result<Meant, String> {
        let text = self.mnemonic.to_string();
        let (plain, said) = without_suffix(&text);
        let mnemonic = canonical(plain).to_owned();
        let Some(any) = rows_of(&mnemonic).next() else {
            let near = gcn_isa::reference::nearest(&text, None);
            let hint = near.first().map_or(String::new(), |name| format!("; the nearest name is `{name}`"));
            return Err(format!("no target has an instruction `{text}`{hint}"));
        };
        if let Some(reason) = belongs_to_the_language(any) {
            return Err(format!("`{mnemonic}` is not available in `asm!`: {reason}"));
        }
        let has = |variant: Variant| rows_of(&mnemonic).any(|row| row.variant() == variant);
        let variant = match said {
            Some(variant) => variant,
            None if self.has(Modifiers::DPP) => Variant::Dpp,
            None if self.has(Modifiers::SDWA) => Variant::Sdwa,
            None if self.has(Modifiers::LDS) && has(Variant::Lds) => Variant::Lds,
            None if self.has(Modifiers::GLC) && has(Variant::Rtn) => Variant::Rtn,
            None => Variant::Plain,
        };
        let mut rows: Vec<_> = rows_of(&mnemonic).filter(|row| row.variant() == variant).collect();
        rows.sort_by_key(|row| row.preference());
        let Some(first) = rows.first() else {
            let what = variant.suffix().trim_start_matches('_').to_uppercase();
            return Err(format!("`{mnemonic}` has no {what} form on any target"));
        };
        if first.operands.len() != self.operands.len() {
            return Err(self.wrong_number(&mnemonic, first, has(Variant::Rtn)));
        }
        let Some(row) = rows.iter().copied().find(|row| self.fits(row)) else {
            return Err(format!(
                "`{mnemonic}` does not address like this, by `off`, `offen` and `idxen` as they stand here; \
                 `gcn_dsl::isa::{mnemonic}` says how"
            ));
        };
        if !row.size_suffix().is_empty() {
            let mut names: Vec<_> =
                rows.iter().map(|row| format!("`{mnemonic}{}`", row.size_suffix())).collect();
            names.sort();
            names.dedup();
            return Err(format!(
                "operands of `{mnemonic}` have other sizes in waves of another size, which a line does not say: call one of \
                 {} in `gcn_dsl::isa`",
                names.join(", ")
            ));
        }
        // A function is named after the mnemonic in the first family that has its operation.
        let mnemonic = row.entry.mnemonic.to_owned();
        Ok(Meant { mnemonic, variant, rows, row })
    }

    fn wrong_number(&self, mnemonic: &str, row: &InstDesc, returns: bool) -> String {
        let names: Vec<&str> = row.operands.iter().map(|o| o.name).collect();
        let (given, wanted) = (self.operands.len(), names.len());
        let hint = match row.variant() {
            Variant::Plain if returns && given == wanted + 1 => {
                "; with `glc` (`sc0`) it gives the old value too"
            }
            Variant::Rtn if given + 1 == wanted => "; without `glc` (`sc0`) it gives no old value",
            Variant::Lds if given == wanted + 1 => "; what is loaded goes to LDS, at the address in M0",
            _ => "",
        };
        format!("`{mnemonic}` has {wanted} operands ({}), not {given}{hint}", names.join(", "))
    }

    /// True if the row has the line's addressing mode. Only memory instructions have several.
    fn fits(&self, row: &InstDesc) -> bool {
        let off = |(slot, operand): (&OperandDesc, &Operand)| {
            (slot.kinds == OperandKinds::OFF) == matches!(operand.what, What::Off)
        };
        let number = |(slot, operand): (&OperandDesc, &Operand)| {
            // In scalar memory instructions, the offset is either an immediate or a register.
            slot.kinds.contains(OperandKinds::IMM) == matches!(operand.what, What::Number(..))
        };
        let operands = || row.operands.iter().zip(&self.operands);
        let same = |flag: Modifiers| row.required.contains(flag) == self.has(flag);
        let buffer = row.format.is_buffer();
        operands().all(off)
            && (!buffer || [Modifiers::OFFEN, Modifiers::IDXEN].into_iter().all(same))
            && (row.format != Format::Smem
                || operands().next_back().is_none_or(number)
                || row.operands.len() < 2)
    }
}

/// The reason why `asm!` does not accept an instruction and what to write instead; `None` if it does.
fn belongs_to_the_language(row: &InstDesc) -> Option<&'static str> {
    let scratch = matches!(row.format, Format::Scratch | Format::VScratch)
        || row.is_smem() && row.implicit_reads.contains(ImplicitRegs::FLAT_SCRATCH);
    Some(match row.class {
        Class::Endpgm => "the compiler ends the kernel, after its last statement",
        Class::Branch => "control flow is the language's: `if`, `while`, `for`",
        class if class == Class::GprIdx || row.is_relative() => {
            "it addresses registers by a number that is known when the kernel runs, and registers are given out before; index an \
             array, or `select` among values"
        }
        _ if row.does(Behaviours::SKIPS_VECTOR) => {
            "it makes the wave skip vector instructions, the compiler's own too; write `if` on a uniform condition"
        }
        Class::MfmaLdScale => {
            "it is the first half of `v_mfma_scale_f32_16x16x128_f8f6f4` and `v_mfma_scale_f32_32x32x64_f8f6f4`; write those"
        }
        _ if scratch => "scratch memory is the compiler's; write a `Private` array, or use LDS",
        _ if row.implicit_writes.contains(ImplicitRegs::EXEC) => {
            "EXEC is the language's: write `if` on a `V<bool>`, which `v_cmp_…` gives too"
        }
        _ => return None,
    })
}
