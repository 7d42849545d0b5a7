//! Tests the semantics lines against the instruction table. Whatever a line reads, writes or names with a width must be an operand or an
//! implicit register of the instruction, and whatever the table lists must occur in the line. The table was measured with LLVM and the
//! lines were written from the manuals, so each confirms the other.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::semantics::{self, Semantics};
use gcn_isa::table::{Access, Format, ImplicitRegs, InstDesc};
use gcn_isa::{Target, table};

/// The table rows of each mnemonic.
fn instructions() -> BTreeMap<&'static str, Vec<&'static InstDesc>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in table::rows() {
        all.entry(row.mnemonic).or_default().push(row);
    }
    all
}

fn line(mnemonic: &str) -> Semantics {
    semantics::of(mnemonic).unwrap_or_else(|| panic!("{mnemonic} has no semantics line"))
}

#[test]
fn every_mnemonic_of_gfx9_has_a_line_of_its_own() {
    for mnemonic in instructions().into_keys() {
        let s = line(mnemonic);
        assert_eq!(s.mnemonic, mnemonic);
        assert!(!s.line.is_empty() && !s.witness.is_empty(), "{mnemonic}");
        assert!(s.line.is_ascii() || s.line.contains('…'), "{mnemonic}: {}", s.line);
    }
}

/// The names of an operand in the notation of the lines: the name for reading it and the name for writing it.
fn names(row: &InstDesc, operand: usize) -> (Option<&'static str>, Option<&'static str>) {
    let desc = &row.operands[operand];
    let vector_result = row.operands.iter().any(|o| o.name == "vdst");
    let name = match desc.name {
        "sdst" if vector_result => "SD",
        "sdst" | "vdst" => "D",
        "vdst1" => "D1",
        "src0" | "ssrc0" => "S0",
        "src1" | "ssrc1" => "S1",
        "src2" => "S2",
        "sdata" | "vdata" if desc.access == Access::Write => "D",
        "vdata" if desc.access == Access::ReadWrite && !row.form.contains("rtn") => "D",
        "sdata" | "vdata" | "data0" => "DATA",
        "data1" => "DATA1",
        "literal" => "LITERAL",
        "simm16" => "SIMM16",
        "simm8" => "SIMM8",
        "simm" => "SIMM7",
        "hwreg" => "HWREG",
        "idx" => "IDX",
        "scale_src0" => "SCALE0",
        "scale_src1" => "SCALE1",
        "addr" | "vaddr" | "saddr" | "soffset" | "sbase" | "srsrc" | "offset" => "ADDR",
        other => panic!("{}: operand {other} has no name in the notation", row.mnemonic),
    };
    match (name, desc.access) {
        // An atomic that returns a value takes its data from the register in which it returns the value.
        ("DATA", Access::ReadWrite) => (Some("DATA"), Some("D")),
        (_, Access::Read) => (Some(name), None),
        (_, Access::Write) => (None, Some(name)),
        (_, Access::ReadWrite) => (Some(name), Some(name)),
    }
}

/// Names in the notation that denote operands.
const OPERANDS: [&str; 18] = [
    "D", "D1", "SD", "S0", "S1", "S2", "DATA", "DATA1", "LITERAL", "SIMM16", "SIMM8", "SIMM7", "HWREG",
    "IDX", "SCALE0", "SCALE1", "ADDR", "C",
];

/// The words of a text, each with the text after it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[rest.find(is_word)?..];
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some((word, after))
    })
}

/// The names that a line reads and writes.
#[derive(Default, Debug)]
struct Uses<'a> {
    reads: BTreeSet<&'a str>,
    writes: BTreeSet<&'a str>,
}

impl<'a> Uses<'a> {
    fn of(line: &'a str) -> Uses<'a> {
        let mut uses = Uses::default();
        for statement in line.split("; ") {
            uses.statement(statement);
        }
        uses
    }

    /// Adds a statement `targets = value`. Names in brackets on the left side are read; in a text without `=`, all words are read.
    fn statement(&mut self, statement: &'a str) {
        // Separate the condition of a conditional statement such as "a == b: D = c".
        let mut parts: Vec<&str> = statement.split(" = ").collect();
        let value = parts.pop().unwrap_or("");
        self.read(value);
        if let Some(kept) = value.strip_suffix(" kept") {
            self.reads.extend(words(kept).map(|w| w.0).filter(|w| *w == "D"));
        }
        for target in parts {
            let (index, written) = match target.rsplit_once(": ") {
                Some((condition, written)) => (condition, written),
                None => ("", target),
            };
            self.read(index);
            let mut depth = 0;
            let mut plain = String::new();
            for c in written.chars() {
                match c {
                    '[' => depth += 1,
                    ']' => depth -= 1,
                    _ if depth == 0 => plain.push(c),
                    _ => {}
                }
            }
            for (word, _) in words(written) {
                if words(&plain).any(|w| w.0 == word) {
                    self.writes.insert(word);
                } else {
                    self.reads.insert(word);
                }
            }
        }
    }

    fn read(&mut self, text: &'a str) {
        self.reads.extend(words(text).map(|w| w.0));
    }

    fn mentions(&self, word: &str) -> bool {
        self.reads.contains(word) || self.writes.contains(word)
    }
}

#[test]
fn lines_name_the_operands_of_the_table_and_all_of_them() {
    let mut faults = Vec::new();
    for (mnemonic, rows) in instructions() {
        let text = line(mnemonic).line;
        let uses = Uses::of(text);
        let all: Vec<_> = rows.iter().flat_map(|r| (0..r.operands.len()).map(|i| names(r, i))).collect();
        let read: BTreeSet<&str> = all.iter().filter_map(|n| n.0).collect();
        let written: BTreeSet<&str> = all.iter().filter_map(|n| n.1).collect();
        for name in OPERANDS {
            let known = read.contains(name) || written.contains(name);
            // C of a matrix instruction is operand S2; the address in the lines of LDS DMA instructions is computed from M0.
            if name == "C" {
                if uses.mentions("C") && !read.contains("S2") {
                    faults.push(format!("{mnemonic}: C without S2: {text}"));
                }
                continue;
            }
            if uses.mentions(name) && !known {
                faults.push(format!("{mnemonic}: {name} is not an operand: {text}"));
            }
            if known && !uses.mentions(name) {
                faults.push(format!("{mnemonic}: {name} is not mentioned: {text}"));
            }
            if uses.writes.contains(name) && !written.contains(name) && name != "ADDR" {
                faults.push(format!("{mnemonic}: {name} is not written by the table: {text}"));
            }
        }
        old_value(mnemonic, text, &rows, &uses, &mut faults);
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// True for moves to the SGPR at a distance from the named one. Such a line mentions the number of the destination instead of its value.
fn relative(mnemonic: &str) -> bool {
    mnemonic.starts_with("s_movreld_")
}

/// Checks that the line reads the old value of the destination if and only if the table lists this read.
fn old_value(mnemonic: &str, text: &str, rows: &[&InstDesc], uses: &Uses<'_>, faults: &mut Vec<String>) {
    let result =
        |r: &&InstDesc| r.operands.iter().find(|o| matches!(o.name, "vdst" | "sdst" | "vdata")).copied();
    let tied = rows.iter().any(|r| {
        r.keeps_other_half()
            || result(r).is_some_and(|o| o.access == Access::ReadWrite && !r.form.contains("rtn"))
    });
    let always_tied = rows.iter().any(|r| result(r).is_some_and(|o| o.access == Access::ReadWrite))
        && !rows.iter().any(|r| r.form.contains("rtn"));
    let reads = reads_old_value(text, uses);
    if reads && !tied && !relative(mnemonic) {
        faults.push(format!("{mnemonic}: the table does not read the destination: {text}"));
    }
    if always_tied && !reads {
        faults.push(format!("{mnemonic}: the table reads the destination: {text}"));
    }
    // Bits that remain unchanged whatever the modifiers are count as read in every form, because typed functions and register allocation
    // use only the kind of access.
    let writes_only = rows.iter().any(|r| result(r).is_some_and(|o| o.access == Access::Write));
    if text.contains(" kept") && writes_only {
        faults.push(format!("{mnemonic}: a form only writes a destination of which bits are kept: {text}"));
    }
}

/// True if `D` occurs on the right side before it is assigned, or if some of its bits are kept.
fn reads_old_value(text: &str, uses: &Uses<'_>) -> bool {
    if text.contains(" kept") {
        return true;
    }
    let mut assigned = false;
    for statement in text.split("; ") {
        let mut parts: Vec<&str> = statement.split(" = ").collect();
        let value = parts.pop().unwrap_or("");
        if !assigned && words(value).any(|w| w.0 == "D") && (!parts.is_empty() || !uses.writes.contains("D"))
        {
            return true;
        }
        assigned |= parts.iter().any(|p| words(p).any(|w| w.0 == "D"));
    }
    false
}

#[test]
fn lines_name_the_implicit_registers_of_the_table_and_all_of_them() {
    let registers = [
        ("SCC", ImplicitRegs::SCC),
        ("VCC", ImplicitRegs::VCC),
        ("EXEC", ImplicitRegs::EXEC),
        ("M0", ImplicitRegs::M0),
        ("FLAT_SCRATCH", ImplicitRegs::FLAT_SCRATCH),
    ];
    let mut faults = Vec::new();
    for (mnemonic, rows) in instructions() {
        let text = line(mnemonic).line;
        let uses = Uses::of(text);
        let vector = rows.iter().any(|r| !r.is_salu() && !r.is_smem());
        for (name, flag) in registers {
            let read = rows.iter().any(|r| r.implicit_reads.contains(flag));
            let written = rows.iter().any(|r| r.implicit_writes.contains(flag));
            let fault = match name {
                // Every vector instruction reads EXEC as its mask; branches on EXEC have no implicit read in the table.
                "EXEC" if uses.writes.contains(name) != written && !restores_exec(mnemonic) => {
                    Some("written")
                }
                "EXEC" if uses.reads.contains(name) && !read && !vector && !reads_exec(mnemonic) => {
                    Some("read")
                }
                "EXEC" => None,
                // FLAT instructions for scratch memory have their base in this register; the address states this, but the line does not.
                "FLAT_SCRATCH" if rows.iter().any(|r| r.is_vmem()) => None,
                // In VOP2, the selector is VCC.
                "VCC" if uses.mentions(name) && rows.iter().any(|r| r.operand_index("src2").is_some()) => {
                    None
                }
                _ if uses.writes.contains(name) && !written => Some("written"),
                _ if uses.reads.contains(name) && !read && !written => Some("read"),
                _ if (read || written) && !uses.mentions(name) => Some("not mentioned"),
                _ => None,
            };
            if let Some(what) = fault {
                faults.push(format!("{mnemonic}: {name} {what}: {text}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// True for forks, which change EXEC. LLVM never emits forks and does not list this change.
fn restores_exec(mnemonic: &str) -> bool {
    matches!(mnemonic, "s_cbranch_g_fork" | "s_cbranch_i_fork" | "s_cbranch_join")
}

fn reads_exec(mnemonic: &str) -> bool {
    restores_exec(mnemonic) || matches!(mnemonic, "s_cbranch_execz" | "s_cbranch_execnz")
}

#[test]
fn the_widths_in_a_line_are_those_of_the_operands() {
    let (mut checked, mut faults) = (0, Vec::new());
    for (mnemonic, rows) in instructions() {
        let text = line(mnemonic).line;
        for row in rows {
            for (i, operand) in row.operands.iter().enumerate() {
                let (read, written) = names(row, i);
                for name in [read, written].into_iter().flatten().collect::<BTreeSet<_>>() {
                    if operand.dwords == 0 || matches!(name, "ADDR" | "SD" | "HWREG") || row.is_matrix() {
                        continue;
                    }
                    for (_, after) in words(text).filter(|w| w.0 == name) {
                        let Some(bits) = typed(after).or_else(|| highest_bit(after).map(|b| b + 1)) else {
                            continue;
                        };
                        checked += 1;
                        let exact = typed(after).is_some() && bits >= 32;
                        let fits = bits <= 32 * u32::from(operand.dwords);
                        if !fits || exact && bits.div_ceil(32) != u32::from(operand.dwords) {
                            faults.push(format!(
                                "{mnemonic} {:?}: {name} has {} dwords: {text}",
                                row.format, operand.dwords
                            ));
                        }
                    }
                }
            }
        }
    }
    faults.sort();
    faults.dedup();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(checked > 8_000, "{checked}");
}

/// The width in a type such as `.f32` at the start of a text.
fn typed(after: &str) -> Option<u32> {
    let name = words(after.strip_prefix('.')?).next()?.0;
    name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

/// The upper bound in `[hi:lo]` at the start of a text.
fn highest_bit(after: &str) -> Option<u32> {
    let inside = after.strip_prefix('[')?.split(']').next()?;
    inside.split_once(':')?.0.parse().ok()
}

#[test]
fn memory_lines_access_memory_and_others_do_not() {
    for (mnemonic, rows) in instructions() {
        let text = line(mnemonic).line;
        let memory = rows.iter().any(|r| {
            (r.is_vmem() || r.is_smem()) && r.mem_bytes != table::MemBytes::None && !mnemonic.contains("time")
        });
        assert_eq!(text.contains("MEM["), memory, "{mnemonic}: {text}");
        let lds = rows.iter().any(|r| r.form.ends_with("_lds") || r.class.name().ends_with("_lds"))
            || rows.iter().any(|r| r.is_ds() && r.class.name().starts_with("lds_"))
                && !matches!(mnemonic, "ds_nop" | "ds_swizzle_b32" | "ds_permute_b32" | "ds_bpermute_b32");
        assert_eq!(text.contains("LDS["), lds, "{mnemonic}: {text}");
    }
}

#[test]
fn every_memory_form_says_how_its_address_is_made() {
    for row in table::rows() {
        let text = line(row.mnemonic).line;
        let needs = Uses::of(text).mentions("ADDR") && row.format != Format::Sopp;
        let address = semantics::address(row);
        assert!(!needs || !address.is_empty(), "{} {}", row.printed, row.form);
        for operand in row.operands {
            let name = operand.name.to_ascii_uppercase();
            let part =
                matches!(operand.name, "addr" | "vaddr" | "saddr" | "soffset" | "sbase" | "srsrc" | "offset");
            let off = operand.kinds == gcn_isa::table::OperandKinds::OFF;
            if part && !off && !row.form.is_empty() {
                assert!(
                    address.contains(&name),
                    "{} {}: {address} does not use {name}",
                    row.printed,
                    row.form
                );
            }
        }
    }
}

/// Tests the exact text of a few lines against the notation of the manual.
#[test]
fn samples() {
    let samples = [
        ("s_add_u32", "D.u32 = S0.u32 + S1.u32; SCC = carry out"),
        ("s_bfe_u32", "D.u32 = (S0.u32 >> S1[4:0]) & ((1 << S1[22:16]) - 1); SCC = D != 0"),
        ("v_add_f32", "D.f32 = S0.f32 + S1.f32"),
        ("v_alignbyte_b32", "D.b32 = low 32 bits of {S0.b32, S1.b32} >> (8 * S2[1:0])"),
        // "The multiply-add is performed as an FMA" (MI100 ISA 6.7).
        (
            "v_mad_mix_f32",
            "D.f32 = fma(in0, in1, in2); in_i = op_sel_hi[i] ? f32(the half of S_i that op_sel[i] names, f16) : S_i.f32, for S0, S1, S2",
        ),
        ("v_cmpx_lt_f32", "D[lane] = EXEC[lane] = S0.f32 < S1.f32"),
        ("flat_load_short_d16_hi", "D[31:16] = MEM[ADDR].b16; D[15:0] kept"),
        (
            "ds_write2st64_b64",
            "LDS[ADDR0].b64 = DATA.b64; LDS[ADDR1].b64 = DATA1.b64; ADDR0 = ADDR + 512 * OFFSET0, ADDR1 = ADDR + 512 * OFFSET1",
        ),
    ];
    for (mnemonic, expected) in samples {
        assert_eq!(line(mnemonic).line, expected);
    }
    assert!(table::find_mnemonic(Target::GFX942, "v_add_f32").next().is_some());
}
