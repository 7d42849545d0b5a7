//! Reference pages from the tables of `gcn-isa`: instructions, targets, layouts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gcn_isa::reference::{self, Page};
use gcn_isa::{InstDesc, Target, table};

/// Where an instruction is listed, by the encoding formats of the manuals.
const FAMILIES: [(&str, &str, &[&str]); 5] = [
    ("scalar", "Scalar instructions", &["SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "SMEM"]),
    ("matrix", "Matrix instructions", &["VOP3P_MAI", "VOP3PX2"]),
    ("lds", "LDS instructions", &["DS"]),
    ("memory", "Memory instructions", &["MUBUF", "MTBUF", "FLAT", "GLOBAL", "SCRATCH", "MIMG"]),
    ("vector", "Vector instructions", &[]), // everything else
];

/// A page of the book: its file's name and its text.
pub type Chapter = (String, String);

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('|', "\\|")
        .replace('*', "\\*")
        .replace('_', "\\_")
}

fn family(page: &Page) -> &'static str {
    let format = page.forms.first().map_or("", |form| form.format);
    let known = FAMILIES.iter().find(|(.., formats)| formats.contains(&format));
    known.map_or("vector", |(name, ..)| name)
}

/// All instructions, a page for each family.
pub fn instructions() -> Vec<Chapter> {
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    let mut names: Vec<_> = table::mnemonics().collect();
    names.sort_unstable();
    names.dedup();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for page in names.into_iter().filter_map(|name| reference::page(name, None).ok()) {
        let family = family(&page);
        *counts.entry(family).or_default() += 1;
        let targets =
            if page.targets.len() == Target::ALL.len() { "all".to_owned() } else { page.targets.join(", ") };
        let meaning = cell(page.semantics);
        let _ = writeln!(lines.entry(family).or_default(), "| `{}` | {targets} | {meaning} |", page.mnemonic);
    }
    let chapter = |(name, title, _): &(&str, &str, &[&str])| {
        let count = counts.get(name).copied().unwrap_or_default();
        let text = format!(
            "# {title}\n\n{count} instructions, from the instruction table. `gcn inst NAME` prints the page of one: operands, \
             encodings, modifiers, counters and hazards. *All* means {}.\n\n| instruction | targets | meaning |\n|---|---|---|\n{}",
            Target::ALL.map(Target::name).join(", "),
            lines.get(name).map_or("", String::as_str)
        );
        ((*name).to_owned(), text)
    };
    FAMILIES.iter().map(chapter).collect()
}

fn yes(fact: bool) -> String {
    if fact { "yes" } else { "no" }.to_owned()
}

/// What a target's cell of a row shows.
type Fact = fn(Target) -> String;

/// The rows of the table of targets.
const FACTS: [(&str, Fact); 12] = [
    ("waves that a SIMD holds at most", |t| t.max_waves_per_simd().to_string()),
    ("VGPRs that the waves of a SIMD share, for each lane", |t| t.vgprs_per_simd().to_string()),
    ("allocation granule of VGPRs", |t| t.vgpr_granule().to_string()),
    ("AccVGPRs", |t| yes(t.has_agprs())),
    ("VGPRs and AccVGPRs in one file", |t| yes(t.has_unified_agprs())),
    ("VGPR tuples start at even registers", |t| yes(t.needs_even_vgpr_tuples())),
    ("SGPRs that a kernel can name", |t| t.addressable_sgprs().to_string()),
    ("LDS of a compute unit, bytes", |t| t.lds_per_cu().to_string()),
    ("banks of LDS", |t| t.lds_banks().to_string()),
    ("`s_barrier` with operations outstanding", |t| yes(t.has_back_off_barrier())),
    ("work-item ids packed in `v0`", |t| yes(t.has_packed_tid())),
    ("instructions", |t| count(t).to_string()),
];

fn count(target: Target) -> usize {
    table::mnemonics().filter(|name| table::find_mnemonic(target, name).next().is_some()).count()
}

/// The targets, side by side.
pub fn targets() -> Chapter {
    let measured = Target::REPRESENTATIVES;
    let names = measured.map(Target::name).join(" | ");
    let mut out =
        format!("# Targets\n\nFrom `gcn_isa::Target` and the instruction table.\n\n| | {names} |\n|---|");
    out.push_str(&"---:|".repeat(measured.len()));
    out.push('\n');
    for (name, fact) in FACTS {
        let _ = writeln!(out, "| {name} | {} |", measured.map(fact).join(" | "));
    }
    out.push_str("\nOther targets have the instructions of some of these:\n\n");
    for target in Target::ALL.into_iter().filter(|target| !measured.contains(target)) {
        let of: Vec<&str> = target.represented_by().into_iter().map(Target::name).collect();
        let _ = writeln!(out, "- {target}: those of {}", of.join(" and "));
    }
    ("targets".to_owned(), out)
}

/// The layouts of the matrix instructions.
pub fn layouts() -> Chapter {
    let mut out = "# Layouts of matrix instructions\n\nWhich lane and register hold element (i, k) of A, (k, j) of B and \
        (i, j) of D, from `gcn_isa::layout`. `gcn layout NAME --target T` lists every element, `--format svg` draws them.\n"
        .to_owned();
    for target in Target::REPRESENTATIVES.into_iter().filter(|t| t.has_agprs()) {
        let _ = writeln!(
            out,
            "\n## {target}\n\n| instruction | M x N x K, blocks | passes | operations per clock and CU | A | B | D |\n\
             |---|---|---:|---:|---|---|---|"
        );
        let multiplies = |name: &&str| table::find_mnemonic(target, name).any(InstDesc::is_matrix);
        let names = table::mnemonics().filter(multiplies);
        for page in names.filter_map(|name| reference::page(name, Some(target)).ok()) {
            for facts in &page.matrix {
                let place = |name: &str| {
                    let matrix = facts.matrices.iter().find(|m| m.matrix == name);
                    matrix.map_or(String::new(), |m| cell(&format!("lane {}, {}", m.lane, m.register)))
                };
                let numbers = |all: Vec<String>| all.join(" or ");
                let _ = writeln!(
                    out,
                    "| `{}` | {} x {} x {}, {} | {} | {} | {} | {} | {} |",
                    page.mnemonic,
                    facts.m,
                    facts.n,
                    facts.k,
                    facts.blocks,
                    numbers(facts.passes.iter().map(ToString::to_string).collect()),
                    numbers(facts.flops_per_clock.iter().map(ToString::to_string).collect()),
                    place("A"),
                    place("B"),
                    place("D"),
                );
            }
        }
    }
    ("layouts".to_owned(), out)
}

/// All generated reference pages.
pub fn chapters() -> Vec<Chapter> {
    let mut all = instructions();
    all.extend([targets(), layouts()]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_is_on_one_page() {
        let pages = instructions();
        let lines =
            |name: &str| pages.iter().filter(|(_, text)| text.contains(&format!("| `{name}` |"))).count();
        assert!(table::mnemonics().all(|name| lines(name) == 1));
        let of = |name: &str| {
            pages.iter().find(|(_, text)| text.contains(&format!("| `{name}` |"))).unwrap().0.as_str()
        };
        let expected = [
            ("s_waitcnt", "scalar"),
            ("v_add_f32", "vector"),
            ("v_mfma_f32_32x32x8_f16", "matrix"),
            ("ds_read_b32", "lds"),
            ("global_load_dword", "memory"),
            ("buffer_load_dword", "memory"),
            ("flat_load_dword", "memory"),
            ("scratch_load_dword", "memory"),
        ];
        expected.into_iter().for_each(|(name, family)| assert_eq!(of(name), family, "{name}"));
    }

    #[test]
    fn facts_are_on_the_pages() {
        assert!(targets().1.contains("| banks of LDS | 32 | 32 | 32 | 32 | 32 | 64 |"));
        assert!(layouts().1.contains("| `v_mfma_f32_32x32x8_f16` | 32 x 32 x 8, 1 | 8 | 2048 |"));
    }
}
