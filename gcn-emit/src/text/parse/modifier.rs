//! Modifiers from text.

use gcn_isa::table::{InstDesc, Modifiers};
use gcn_isa::{Format, Mods, Target};

use super::grammar::{RawMod, integer};
use crate::fields::ModField;
use crate::fields::modifier::is_permlane_swap_e64;
use crate::text::modifiers::cache_names;
use crate::text::symbols;

/// Sets one modifier. Returns the field that was set, or what is wrong.
pub(super) fn apply(
    desc: &InstDesc,
    target: Target,
    raw: &RawMod<'_>,
    mods: &mut Mods,
) -> Result<ModField, &'static str> {
    let (field, value) = meaning(desc, target, raw, mods)?;
    let accepted = field.accepted_bits(desc);
    if accepted == 0 {
        return Err("not a modifier of this instruction");
    }
    if value & !accepted != 0 {
        return Err("more bits than the instruction has");
    }
    field.set(mods, value);
    if field.get(mods) != value {
        return Err("the value is too large");
    }
    Ok(field)
}

fn meaning(
    desc: &InstDesc,
    target: Target,
    raw: &RawMod<'_>,
    mods: &Mods,
) -> Result<(ModField, u32), &'static str> {
    match raw.value {
        None => flag(desc, target, raw.name).map(|field| (field.0, field.1)),
        Some(text) => valued(desc, raw.name, text, mods),
    }
}

fn flag(desc: &InstDesc, target: Target, name: &str) -> Result<(ModField, u32), &'static str> {
    let (glc, slc, scc) =
        if desc.format == Format::Smem { ("glc", "slc", "scc") } else { cache_names(target) };
    let field = match name {
        "clamp" => ModField::Clamp,
        "offen" => ModField::Offen,
        "idxen" => ModField::Idxen,
        "lds" => ModField::Lds,
        "gds" => ModField::Gds,
        "tfe" => ModField::Tfe,
        "row_mirror" => return Ok((ModField::DppCtrl, 0x140)),
        "row_half_mirror" => return Ok((ModField::DppCtrl, 0x141)),
        _ if name == glc => ModField::Glc,
        _ if name == slc => ModField::Slc,
        _ if name == scc => ModField::Scc,
        "glc" | "slc" | "scc" | "sc0" | "sc1" | "nt" => {
            return Err("the cache bits are glc, slc, scc up to gfx90a and sc0, nt, sc1 from gfx942 on");
        }
        _ => return Err("needs a value"),
    };
    Ok((field, 1))
}

/// Modifiers whose value is a plain number.
const NUMBERS: [(&str, ModField); 9] = [
    ("offset", ModField::Offset),
    ("offset0", ModField::Offset0),
    ("offset1", ModField::Offset1),
    ("cbsz", ModField::Cbsz),
    ("abid", ModField::Abid),
    ("blgp", ModField::Blgp),
    ("bitop3", ModField::Bitop3),
    ("row_mask", ModField::RowMask),
    ("bank_mask", ModField::BankMask),
];

/// Modifiers whose value is a list of bits.
const BIT_LISTS: [(&str, ModField); 5] = [
    ("op_sel", ModField::OpSel),
    ("op_sel_hi", ModField::OpSelHi),
    ("neg_lo", ModField::NegLo),
    ("neg_hi", ModField::NegHi),
    ("neg", ModField::Neg),
];

/// Modifiers whose value is an SDWA selector.
const SELECTORS: [(&str, ModField); 3] =
    [("dst_sel", ModField::DstSel), ("src0_sel", ModField::Src0Sel), ("src1_sel", ModField::Src1Sel)];

fn valued(desc: &InstDesc, name: &str, text: &str, mods: &Mods) -> Result<(ModField, u32), &'static str> {
    if let Some((_, field)) = NUMBERS.iter().find(|n| n.0 == name) {
        return number(desc, *field, text).map(|value| (*field, value));
    }
    if let Some((_, field)) = BIT_LISTS.iter().find(|n| n.0 == name) {
        return bit_list(text).map(|value| (*field, value));
    }
    if let Some((_, field)) = SELECTORS.iter().find(|n| n.0 == name) {
        let value = symbols::SDWA_SELECTORS.iter().position(|s| *s == text);
        return value
            .map(|v| (*field, v as u32))
            .ok_or("not an SDWA selector (BYTE_0 to BYTE_3, WORD_0, WORD_1, DWORD)");
    }
    let small = integer(text).and_then(|n| u32::try_from(n).ok());
    match (name, small) {
        ("mul", Some(2)) => Ok((ModField::Omod, 1)),
        ("mul", Some(4)) => Ok((ModField::Omod, 2)),
        ("div", Some(2)) => Ok((ModField::Omod, 3)),
        ("mul" | "div", _) => Err("only mul:2, mul:4 and div:2 exist"),
        ("dst_unused", _) => {
            let value = symbols::SDWA_UNUSED.iter().position(|s| *s == text);
            value
                .map(|v| (ModField::DstUnused, v as u32))
                .ok_or("not UNUSED_PAD, UNUSED_SEXT or UNUSED_PRESERVE")
        }
        // Bit 1 of the place where other instructions have op_sel.
        ("bound_ctrl", Some(1)) if is_permlane_swap_e64(desc) => {
            Ok((ModField::OpSel, u32::from(mods.op_sel) | 2))
        }
        ("fi", Some(1)) if is_permlane_swap_e64(desc) => Ok((ModField::OpSel, u32::from(mods.op_sel) | 1)),
        // Both spellings set the bit; bound_ctrl:0 is the older one.
        ("bound_ctrl", Some(0 | 1)) => Ok((ModField::BoundCtrl, 1)),
        ("format", _) => buffer_format(text).map(|value| (ModField::Format, value)),
        ("dfmt", Some(value @ 0..=15)) => Ok((ModField::Format, u32::from(mods.format) & 0x70 | value)),
        ("nfmt", Some(value @ 0..=7)) => Ok((ModField::Format, u32::from(mods.format) & 0xf | value << 4)),
        _ => dpp_control(name, text).map(|ctrl| (ModField::DppCtrl, ctrl)),
    }
}

fn number(desc: &InstDesc, field: ModField, text: &str) -> Result<u32, &'static str> {
    if field == ModField::Offset && desc.mnemonic == "ds_swizzle_b32" && text.starts_with("swizzle") {
        return symbols::parse_swizzle(text).map(u32::from).ok_or("not a swizzle that exists");
    }
    let value = integer(text).ok_or("not a number")?;
    if field == ModField::Offset {
        return i32::try_from(value).map(|v| v as u32).map_err(|_| "the value is too large");
    }
    u32::try_from(value).map_err(|_| "the value does not fit")
}

/// The words of `[a,b,…]`.
fn list(text: &str) -> Option<impl Iterator<Item = &str>> {
    Some(text.strip_prefix('[')?.strip_suffix(']')?.split(',').map(str::trim))
}

fn bit_list(text: &str) -> Result<u32, &'static str> {
    let words = list(text).ok_or("not a list of bits like [0,1]")?;
    let mut value = 0;
    for (i, word) in words.enumerate() {
        match word {
            "0" => {}
            "1" if i < 8 => value |= 1 << i,
            _ => return Err("not a list of bits like [0,1]"),
        }
    }
    Ok(value)
}

fn buffer_format(text: &str) -> Result<u32, &'static str> {
    if let Some(value) = integer(text) {
        return u32::try_from(value).ok().filter(|v| *v < 0x80).ok_or("the format has 7 bits");
    }
    let words = list(text).ok_or("not a format like [BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]")?;
    let (mut data, mut num) = (1, 0);
    for word in words {
        if let Some(i) = symbols::DATA_FORMATS.iter().position(|f| *f == word) {
            data = i as u32;
        } else if let Some(i) = symbols::NUM_FORMATS.iter().position(|f| *f == word) {
            num = i as u32;
        } else {
            return Err("not the name of a data or number format");
        }
    }
    Ok(data | num << 4)
}

fn dpp_control(name: &str, text: &str) -> Result<u32, &'static str> {
    if name == "quad_perm" {
        let lanes: Option<Vec<u32>> =
            list(text).and_then(|l| l.map(|w| w.parse().ok().filter(|n| *n < 4)).collect());
        return match lanes.as_deref() {
            Some(&[a, b, c, d]) => Ok(a | b << 2 | c << 4 | d << 6),
            _ => Err("quad_perm takes four lanes from 0 to 3"),
        };
    }
    let written = format!("{name}:{text}");
    if let Some((_, ctrl)) = symbols::DPP_NAMED.iter().find(|d| d.0 == written) {
        return Ok((*ctrl).into());
    }
    let counted = symbols::DPP_COUNTED.iter().find(|d| d.0 == name).ok_or("no such modifier")?;
    let count = text.parse::<u16>().ok().and_then(|n| n.checked_sub(counted.3)).map(|n| n + counted.1);
    count.filter(|ctrl| *ctrl <= counted.2).map(u32::from).ok_or("the lane count does not exist")
}

/// The required modifier of this form that was not written, if there is one.
pub(super) fn missing(desc: &InstDesc, written: &[ModField]) -> Option<&'static str> {
    if desc.modifiers.contains(Modifiers::DPP_CTRL) && !written.contains(&ModField::DppCtrl) {
        return Some("a DPP control such as quad_perm:[0,1,2,3]");
    }
    let required =
        ModField::ALL.iter().find(|(field, _)| field.is_required(desc) && !written.contains(field));
    required.map(|(_, name)| *name)
}
