//! Reference pages from the tables of `gcn-isa`: instructions, targets, layouts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gcn_isa::reference::{self, Page};
use gcn_isa::table::{self, Format, Unit};
use gcn_isa::target::Family;
use gcn_isa::{InstDesc, Target, layout};

/// Where an instruction is listed.
const FAMILIES: [(&str, &str); 5] = [
    ("scalar", "Scalar instructions"),
    ("matrix", "Matrix instructions"),
    ("lds", "LDS instructions"),
    ("memory", "Memory instructions"),
    ("vector", "Vector instructions"),
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

/// The targets that the tables compare: the first of each instruction set.
fn firsts() -> impl Iterator<Item = Target> {
    Target::KNOWN.into_iter().filter(|target| target.is_first_of_its_set())
}

/// Every row of the instruction table.
fn rows() -> impl Iterator<Item = &'static InstDesc> {
    Family::ALL.into_iter().flat_map(table::rows_of)
}

fn family(page: &Page) -> &'static str {
    let format = page.forms.first().and_then(|form| Format::named(form.format));
    match format.map(|format| (format, format.unit())) {
        _ if !page.matrix.is_empty() => "matrix",
        Some((Format::Vop3pMai | Format::Vop3px2, _)) => "matrix",
        Some((_, Unit::Scalar | Unit::ScalarMemory)) => "scalar",
        Some((_, Unit::Lds)) => "lds",
        Some((_, Unit::VectorMemory)) => "memory",
        _ => "vector",
    }
}

/// All instructions, a page for each family.
pub fn instructions() -> Vec<Chapter> {
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    let mut names: Vec<_> = rows().map(|row| row.mnemonic).collect();
    names.sort_unstable();
    names.dedup();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for page in names.into_iter().filter_map(|name| reference::page(name, None).ok()) {
        let family = family(&page);
        *counts.entry(family).or_default() += 1;
        let has =
            |target: &Target| [&page.targets, &page.elsewhere].iter().any(|on| on.contains(&target.name()));
        let targets = match firsts().filter(has).map(Target::name).collect::<Vec<_>>() {
            on if on.len() == firsts().count() => "all".to_owned(),
            on => on.join(", "),
        };
        let meaning = cell(page.semantics);
        let _ = writeln!(lines.entry(family).or_default(), "| `{}` | {targets} | {meaning} |", page.mnemonic);
    }
    let chapter = |(name, title): &(&str, &str)| {
        let count = counts.get(name).copied().unwrap_or_default();
        let text = format!(
            "# {title}\n\n{count} instructions, from the instruction table. `gcn inst NAME` prints the page of one: operands, \
             encodings, modifiers, counters and hazards. Targets stand for those that have the same instructions ([Targets](targets.md)); \
             *all* means {}.\n\n| instruction | targets | meaning |\n|---|---|---|\n{}",
            firsts().map(Target::name).collect::<Vec<_>>().join(", "),
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
    let mut names: Vec<_> = table::rows_of(target.family())
        .iter()
        .filter(|r| r.targets.contains(target))
        .map(|r| r.mnemonic)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

/// The targets, side by side.
pub fn targets() -> Chapter {
    let measured: Vec<Target> = firsts().collect();
    let row = |of: Fact| measured.iter().map(|target| of(*target)).collect::<Vec<_>>().join(" | ");
    let names = row(|target| target.name().to_owned());
    let mut out =
        format!("# Targets\n\nFrom `gcn_isa::Target` and the instruction table.\n\n| | {names} |\n|---|");
    out.push_str(&"---:|".repeat(measured.len()));
    out.push('\n');
    for (name, fact) in FACTS {
        let _ = writeln!(out, "| {name} | {} |", row(fact));
    }
    out.push_str("\nOther targets have the instructions of some of these:\n\n");
    for target in Target::KNOWN.into_iter().filter(|target| !measured.contains(target)) {
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
    for target in firsts() {
        let mut names: Vec<&str> = layout::matrix_instructions(target).map(|i| i.0.mnemonic).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "\n## {target}\n\n| instruction | M x N x K, blocks | passes | operations per clock and CU | A | B | D |\n\
             |---|---|---:|---:|---|---|---|"
        );
        for page in names.into_iter().filter_map(|name| reference::page(name, Some(target)).ok()) {
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
        assert!(rows().all(|row| lines(row.mnemonic) == 1));
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
            ("v_wmma_f32_16x16x16_f16", "matrix"),
            ("s_wait_loadcnt", "scalar"),
            ("v_permlanex16_b32", "vector"),
            ("ds_load_b32", "lds"),
            ("global_load_b32", "memory"),
        ];
        expected.into_iter().for_each(|(name, family)| assert_eq!(of(name), family, "{name}"));
    }

    #[test]
    fn facts_are_on_the_pages() {
        assert!(targets().1.contains("| banks of LDS | 32 | 32 | 32 | 32 | 32 | 64 |"));
        assert!(
            targets().1.contains("| gfx950 | gfx1010 |")
                && targets().1.contains("\n- gfx1201: those of gfx1200\n")
        );
        assert!(layouts().1.contains("| `v_mfma_f32_32x32x8_f16` | 32 x 32 x 8, 1 | 8 | 2048 |"));
        assert!(layouts().1.contains("| `v_wmma_f32_16x16x16_f16` | 16 x 16 x 16, 1 |"));
    }
}
