//! The Rust types of the results of instruction functions, by operand and mnemonic.
//!
//! If the first type that the mnemonic contains has the width of the result, it is the result's type; any other result
//! consists of untyped dwords. `build.rs` includes this file, too.

use gcn_isa::table::{Access, Behaviours, Class, Format, InstDesc, OperandDesc, OperandKinds};

/// The element type that a word of a mnemonic names: its Rust name and its width in bits. `Some(None)` for formats that
/// are handled as untyped dwords; `None` if the word names no type.
fn element(word: &str) -> Option<Option<(&'static str, u32)>> {
    Some(match word {
        "f16" => Some(("f16", 16)),
        "bf16" => Some(("bf16", 16)),
        "i16" => Some(("i16", 16)),
        "u16" => Some(("u16", 16)),
        "f32" => Some(("f32", 32)),
        "i32" => Some(("i32", 32)),
        "u32" | "b32" => Some(("u32", 32)),
        "f64" => Some(("f64", 64)),
        "i64" => Some(("i64", 64)),
        "u64" | "b64" => Some(("u64", 64)),
        "fp8" | "bf8" | "fp6" | "bf6" | "fp4" | "u8" | "i8" | "b8" | "b96" | "b128" => None,
        _ => return None,
    })
}

/// True for an operand in a VGPR, half a VGPR or an AGPR.
pub fn is_vector(operand: &OperandDesc) -> bool {
    operand.kinds.intersects(OperandKinds::VGPR | OperandKinds::HALF_VGPR | OperandKinds::AGPR)
}

/// The Rust type of the result in `operand` of `row`.
pub fn result(row: &InstDesc, operand: &OperandDesc) -> String {
    let scalar = !is_vector(operand);
    if scalar && row.format.is_vop() && row.class != Class::TransScalar {
        return if row.class == Class::Readlane { "S<u32>" } else { "V<bool>" }.into();
    }
    // Compare-and-swap takes two values and returns one.
    let swap = operand.access == Access::ReadWrite && row.does(Behaviours::EXCHANGES_IF_EQUAL);
    let dwords = u32::from(operand.dwords) / if swap { 2 } else { 1 };
    let named = row.mnemonic.split('_').find_map(element).flatten();
    if scalar { scalar_type(named, dwords) } else { vector_type(row, operand, named, dwords) }
}

fn scalar_type(named: Option<(&'static str, u32)>, dwords: u32) -> String {
    match (named, dwords) {
        (Some((name, bits)), d) if bits == 32 * d => format!("S<{name}>"),
        (_, 1) => "S<u32>".into(),
        (_, 2) => "S<u64>".into(),
        (_, d) => format!("Sgprs<{d}>"),
    }
}

fn vector_type(
    row: &InstDesc,
    operand: &OperandDesc,
    named: Option<(&'static str, u32)>,
    dwords: u32,
) -> String {
    let packed = row.entry.is_packed();
    let matrix = row.is_matrix();
    // An instruction that writes one half of a register and keeps the other returns both halves.
    let half = operand.access == Access::ReadWrite && row.does(Behaviours::KEEPS_PART);
    let vector = |name: &str, count: u32| format!("Vector<{name}, {count}>");
    match named {
        Some((name, 16)) if row.format.is_vop() && (packed || half || dwords > 1) => vector(name, 2 * dwords),
        Some((name, 16)) if packed => vector(name, 2 * dwords),
        Some((name @ ("f16" | "bf16"), 16)) if row.format.is_vop() && dwords == 1 => format!("V<{name}>"),
        Some((name, 32)) if dwords == 1 && !packed => format!("V<{name}>"),
        Some((name, 64)) if dwords == 2 && !packed => format!("V<{name}>"),
        Some((name, 32)) if (packed && dwords > 1) || matrix => vector(name, dwords),
        Some((name, 64)) if matrix => vector(name, dwords / 2),
        Some((name, 64)) if row.format == Format::Ds && dwords == 4 => vector(name, 2),
        _ => match dwords {
            1 => "V<u32>".into(),
            2 if named.is_none_or(|(_, bits)| bits != 32) => "V<u64>".into(),
            d => match named {
                Some((name, 32)) => vector(name, d),
                _ => vector("u32", d),
            },
        },
    }
}
