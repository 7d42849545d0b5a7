//! Writes one typed function for each table instruction that a kernel may call (`gcn_dsl::isa`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use gcn_isa::table::{
    self, Access, Format, ImplicitRegs, InstDesc, MemBytes, Modifiers, OperandDesc, OperandKinds,
};
use gcn_isa::{Class, Target};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut rows: BTreeMap<&'static str, &'static InstDesc> = BTreeMap::new();
    for row in table::rows().iter().filter(|row| is_callable(row)) {
        let best = rows.entry(row.mnemonic).or_insert(row);
        if preference(row) < preference(best) {
            *best = row;
        }
    }
    let mut out = String::new();
    for row in rows.values() {
        if let Some(function) = function(row) {
            out.push_str(&function);
        }
    }
    let path = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("isa.rs");
    std::fs::write(&path, out).expect("OUT_DIR is writable");
}

/// Instructions whose effect is on registers and memory that the language knows. What steers the wave (branches, EXEC),
/// reads flags that the compiler does not keep (SCC, VCC), or is the compiler's own (waits) is not callable.
fn is_callable(row: &InstDesc) -> bool {
    let format = !matches!(
        row.format,
        Format::Vop1Dpp
            | Format::Vop1Sdwa
            | Format::Vop2Dpp
            | Format::Vop2Sdwa
            | Format::VopcSdwa
            | Format::Vop3px2
            | Format::Scratch
            | Format::Mtbuf
    );
    let class = !matches!(
        row.class,
        Class::Branch
            | Class::Endpgm
            | Class::Cmpx
            | Class::Movrel
            | Class::GprIdx
            | Class::Barrier
            | Class::Waitcnt
            | Class::Nop
            | Class::Trap
            | Class::Gws
            | Class::Gds
    );
    let flags = ImplicitRegs::SCC | ImplicitRegs::VCC;
    let reads = !row.implicit_reads.intersects(flags);
    let writes = !row.implicit_writes.intersects(ImplicitRegs::EXEC | ImplicitRegs::M0 | ImplicitRegs::VCC);
    let only_flag = row.implicit_writes.contains(ImplicitRegs::SCC)
        && !row.operands.iter().any(|o| o.access == Access::Write);
    let tied = row.operands.iter().any(|o| o.access == Access::ReadWrite);
    let forms =
        ["", "imm", "offen", "nortn_offen", "rtn_offen", "vaddr_saddr", "nortn_vaddr_saddr", "nortn", "rtn"];
    format && class && reads && writes && !only_flag && !tied && forms.contains(&row.form)
}

/// Smaller is the better representative of a mnemonic: the encoding with the widest choice of operands, newest target.
fn preference(row: &InstDesc) -> (u8, u8) {
    let encoding = match row.format {
        Format::Vop3a | Format::Vop3b => 0,
        _ if row.form.starts_with("rtn") => 2,
        _ => 1,
    };
    (encoding, u8::from(!row.targets.contains(Target::GFX942)))
}

fn function(row: &InstDesc) -> Option<String> {
    let dsts: Vec<&OperandDesc> = row.operands.iter().filter(|o| o.access == Access::Write).collect();
    let (result, make) = match dsts.as_slice() {
        [] => (String::new(), "effect(".to_owned()),
        [dst] => {
            let ty = result_type(row, dst)?;
            (format!(" -> {ty}"), "result(".to_owned())
        }
        _ => return None,
    };
    let mut params = Vec::new();
    let mut args = Vec::new();
    for operand in row.operands.iter().filter(|o| o.access == Access::Read) {
        if operand.kinds == OperandKinds::OFF {
            return None;
        }
        let name = operand.name;
        if operand.kinds.contains(OperandKinds::IMM) {
            params.push(format!("{name}: i64"));
            args.push(format!("Arg::Imm({name})"));
            continue;
        }
        let vector = operand.kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR);
        let kind = if vector { "Source" } else { "UniformSource" };
        params.push(format!("{name}: impl {kind}<{}>", operand.dwords));
        args.push(format!("{name}.arg()"));
    }
    let offset = row.modifiers.contains(Modifiers::OFFSET);
    if offset {
        params.push("offset: i32".to_owned());
    }
    let mut out = String::new();
    document(&mut out, row);
    let offset = if offset { "offset" } else { "0" };
    let end = if dsts.is_empty() { ";" } else { "" };
    let effects = row.mem_bytes != MemBytes::None || dsts.is_empty();
    let _ = writeln!(
        out,
        "#[track_caller]\npub fn {}({}){result} {{\n    {make}{:?}, &[{}], {offset}, {effects}){end}\n}}\n",
        row.mnemonic,
        params.join(", "),
        row.mnemonic,
        args.join(", "),
    );
    Some(out)
}

fn document(out: &mut String, row: &InstDesc) {
    let names: Vec<&str> = Target::ALL
        .into_iter()
        .filter(|t| table::find_mnemonic(*t, row.mnemonic).next().is_some())
        .map(Target::name)
        .collect();
    let operands: Vec<String> = row
        .operands
        .iter()
        .map(|o| {
            let access = if o.access == Access::Write { "written" } else { "read" };
            format!("`{}` ({access}, {} dwords)", o.name, o.dwords)
        })
        .collect();
    let _ = writeln!(out, "/// `{}`: class {}.", row.mnemonic, row.class.name());
    let _ = writeln!(
        out,
        "///\n/// Operands: {}.",
        if operands.is_empty() { "none".into() } else { operands.join(", ") }
    );
    let _ = writeln!(out, "/// Targets: {}.", names.join(", "));
    if let Some(passes) = Target::ALL.iter().rev().find_map(|t| row.passes(*t)) {
        let _ = writeln!(out, "/// Matrix passes: {passes}.");
    }
    if row.modifiers.contains(Modifiers::OFFSET) {
        let _ = writeln!(out, "/// `offset` is the immediate byte offset.");
    }
}

/// The Rust type of a destination: by the first type in the mnemonic where its width agrees, else plain dwords.
fn result_type(row: &InstDesc, dst: &OperandDesc) -> Option<String> {
    let scalar = !dst.kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR);
    if scalar && row.format.is_vop() {
        return match row.class {
            Class::Readlane => Some("S<u32>".into()),
            _ => Some("V<bool>".into()),
        };
    }
    let named = row.mnemonic.split('_').find_map(|word| {
        Some(match word {
            "f16" => ("f16", 1),
            "f32" => ("f32", 1),
            "i32" => ("i32", 1),
            "u32" | "b32" => ("u32", 1),
            "f64" => ("f64", 2),
            "i64" => ("i64", 2),
            "u64" | "b64" => ("u64", 2),
            _ => return None,
        })
    });
    let packed = row.mnemonic.contains("_pk_") || row.mnemonic.contains("_pk");
    let element = match (named, dst.dwords) {
        (Some((name, width)), d) if width == d && !packed => name,
        (_, 1) => "u32",
        (_, 2) => "u64",
        (Some((name, 1)), d) if !scalar => return Some(format!("Vector<{name}, {d}>")),
        (Some((name, 2)), d) if !scalar => return Some(format!("Vector<{name}, {}>", d / 2)),
        (None, d) if !scalar => return Some(format!("Vector<u32, {d}>")),
        _ => return None,
    };
    Some(format!("{}<{element}>", if scalar { "S" } else { "V" }))
}
