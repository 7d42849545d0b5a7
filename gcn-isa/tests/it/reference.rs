//! Tests the reference pages against the golden files with which the facts on the pages were measured.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gcn_isa::hazards::{Config, View};
use gcn_isa::reference::{self, Page, Pipe};
use gcn_isa::{Target, table};

use crate::golden;

#[test]
fn every_instruction_has_a_page_on_each_target_and_on_all() {
    let (mut pages, mut forms) = (0, 0);
    for target in Target::REPRESENTATIVES.into_iter().map(Some).chain([None]) {
        let mut names: Vec<&str> = table::rows()
            .iter()
            .filter(|r| target.is_none_or(|t| r.targets.contains(t)))
            .map(|r| r.mnemonic)
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let page = reference::page(name, target).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(page.mnemonic, name);
            assert!(!page.semantics.is_empty() && !page.witness.is_empty(), "{name}");
            for form in &page.forms {
                assert!(!form.targets.is_empty() && !form.class.is_empty() && form.bytes >= 4, "{form:?}");
                assert!(form.modifiers.iter().all(|m| !m.syntax.is_empty()), "{form:?}");
                assert!(form.operands.iter().all(|o| !o.kinds.is_empty()), "{form:?}");
                if let Some(target) = target {
                    assert_eq!(form.targets, [target.name()]);
                }
            }
            forms += page.forms.len();
            pages += 1;
        }
    }
    // There are 1,321 mnemonics. Each row of the table has one form, and one more for each of its targets.
    let keys: usize = table::rows().iter().map(|r| r.targets.representatives().count()).sum();
    assert_eq!(forms, table::rows().len() + keys);
    assert!(pages > 6 * 1000, "{pages}");
}

/// Tests that the pages of RDNA instructions list every form with its targets and kinds of operands, and say that hazards and counters are
/// unknown instead of saying that there are none.
#[test]
fn pages_of_rdna_say_what_is_missing() {
    let (mut pages, mut matrices, mut without_meaning, mut counted) = (0, 0, 0, 0);
    for target in ["gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx12-generic"] {
        let target: Target = target.parse().unwrap();
        let rows = table::rows_of(target.family()).iter().filter(|row| row.targets.contains(target));
        let pairs = |row: &&table::InstDesc| row.format == table::Format::Vopd && !row.id.is_multiple_of(16);
        let names: BTreeSet<&str> = rows.filter(|row| !pairs(row)).map(|row| row.mnemonic).collect();
        for name in names {
            let page = reference::page(name, Some(target)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((page.mnemonic, &page.hazards_elsewhere[..]), (name, &[target.name()][..]));
            assert!(page.hazards.iter().all(|h| h.id == "xnack.clause.rdna1"), "{name}");
            for form in &page.forms {
                assert_eq!(form.targets, [target.name()], "{form:?}");
                assert!(form.modifiers.iter().all(|m| !m.syntax.is_empty()), "{form:?}");
                assert!(form.operands.iter().all(|o| !o.kinds.is_empty()), "{form:?}");
                counted += usize::from(!form.counters.is_empty());
            }
            without_meaning += usize::from(page.semantics.is_empty());
            assert_eq!(page.semantics.is_empty(), page.witness.is_empty(), "{name}");
            matrices += page.matrix.len();
            pages += 1;
        }
    }
    // gfx1100 and gfx1151 have 12 each; gfx1201 and its generic target have 44 each.
    assert_eq!(matrices, 112);
    assert!(counted > 1500, "{counted}");
    assert!(pages > 6000 && without_meaning < pages / 2, "{pages} {without_meaning}");

    let page = reference::page("v_add_f32", None).unwrap();
    assert!(page.targets.contains(&"gfx900") && page.elsewhere.contains(&"gfx1201"));
    assert_eq!(page.hazards_elsewhere, [""; 0]);
    // Names may also be former names, names with the suffix of RDNA's DPP, and names of the halves of pairs.
    let on = Some("gfx1201".parse().unwrap());
    assert_eq!(reference::page("global_load_dword", on).unwrap().mnemonic, "global_load_b32");
    let dpp = reference::page("v_add_f32_e64_dpp", on).unwrap();
    assert!(dpp.forms.iter().all(|form| form.bytes == 12) && dpp.forms.len() == 2);
    assert_eq!(
        reference::page("v_dual_add_f32", on).unwrap_err().to_string(),
        "gfx1201 has no instruction `v_dual_add_f32` by itself; \
         it is half of pairs such as `v_dual_fmac_f32 :: v_dual_add_f32`"
    );
}

/// The pages by mnemonic. Each page is made only once.
#[derive(Default)]
struct Pages(HashMap<(&'static str, Target), Page>);

impl Pages {
    fn get(&mut self, mnemonic: &'static str, target: Target) -> &Page {
        self.0
            .entry((mnemonic, target))
            .or_insert_with(|| reference::page(mnemonic, Some(target)).unwrap_or_else(|e| panic!("{e}")))
    }
}

/// Tests that the pages show the measured rules. For each rule and target, the rule table has pairs of instructions measured with LLVM, and
/// the pages of both instructions must show the rule.
#[test]
fn hazards_of_the_measured_pairs_are_on_the_pages_of_both_instructions() {
    let text = golden::unpack(include_bytes!("../data/rules.tsv.gz"));
    let mut pages = Pages::default();
    let mut bound: BTreeMap<&str, usize> = BTreeMap::new();
    for row in golden::rows(&text) {
        let [_, target, .., first, second, _] = row[..] else { panic!("{row:?}") };
        if second.starts_with("exp ") || second.starts_with("v_interp_") || second.ends_with("s20, m0") {
            continue;
        }
        let target = golden::target(target);
        let (first, second) = (golden::inst(first, target), golden::inst(second, target));
        let config = Config::default().with_xnack(true);
        let needs = View::new(target, &first).required_all(&View::new(target, &second), config);
        for need in needs {
            let on_page = |page: &Page| page.hazards.iter().find(|h| h.id == need.rule.id).cloned();
            let as_first = on_page(pages.get(first.desc.mnemonic, target)).filter(|h| h.first);
            let as_second = on_page(pages.get(second.desc.mnemonic, target)).filter(|h| h.second);
            let as_first =
                as_first.unwrap_or_else(|| panic!("{target}: {} first in {first:?}", need.rule.id));
            assert!(as_second.is_some(), "{target}: {} second in {second:?}", need.rule.id);
            let states = as_first.wait_states.iter().find(|s| s.target == target.name()).expect("the target");
            assert!(states.after_this.contains(&need.states), "{target} {}: {states:?}", need.rule.id);
            *bound.entry(need.rule.id).or_default() += 1;
        }
    }
    let pairs: usize = bound.values().sum();
    assert_eq!((pairs, bound.len()), (1217, 90));
}

/// Tests that each rule is shown on some page but not on every page. A rule that no page shows would be useless, and a rule that every page
/// shows would give no information.
#[test]
fn every_rule_is_on_some_pages_and_not_on_all() {
    for target in Target::REPRESENTATIVES {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let mut second: BTreeMap<&str, usize> = BTreeMap::new();
        let mut names: Vec<&str> =
            table::rows().iter().filter(|r| r.targets.contains(target)).map(|r| r.mnemonic).collect();
        names.sort_unstable();
        names.dedup();
        for name in &names {
            for hazard in reference::page(name, Some(target)).expect("a page").hazards {
                *first.entry(hazard.id).or_default() += usize::from(hazard.first);
                *second.entry(hazard.id).or_default() += usize::from(hazard.second);
            }
        }
        for rule in gcn_isa::hazards::rules(target) {
            for (side, counts) in [("first", &first), ("second", &second)] {
                let count = counts.get(rule.id).copied().unwrap_or(0);
                assert!(count > 0 && count < names.len(), "{target} {}: {side} on {count} pages", rule.id);
            }
        }
    }
}

/// Tests the passes of matrix instructions against LLVM (for each pair of formats of the f8f6f4 instructions), and their numbers of
/// operations against the shapes.
#[test]
fn matrix_pages_have_speed_and_layout() {
    let facts = |name, target| reference::page(name, Some(target)).expect("a page").matrix[0].clone();
    let m = facts("v_mfma_f32_32x32x8_f16", Target::GFX942);
    assert_eq!((m.m, m.n, m.k, m.blocks, m.flops), (32, 32, 8, 1, 16_384));
    assert_eq!((m.passes, m.flops_per_clock, m.provenance), (vec![8], vec![2048], "measured"));
    assert_eq!(m.matrices.iter().map(|x| x.matrix).collect::<Vec<_>>(), ["A", "B", "C", "D"]);
    assert_eq!(m.matrices.iter().map(|x| x.dwords.clone()).collect::<Vec<_>>(), [[2], [2], [16], [16]]);

    let m = facts("v_mfma_f32_16x16x128_f8f6f4", Target::GFX950);
    assert_eq!((m.passes, m.flops_per_clock, m.flops), (vec![8, 4], vec![8192, 16_384], 65_536));
    assert_eq!(m.matrices[0].dwords, [8, 6, 4]);
    assert_eq!(m.provenance, "argued");

    let m = facts("v_smfmac_f32_32x32x16_f16", Target::GFX942);
    assert_eq!(m.matrices.iter().map(|x| x.matrix).collect::<Vec<_>>(), ["A", "B", "D", "index"]);
    let m = facts("v_mfma_scale_f32_32x32x64_f8f6f4", Target::GFX950);
    assert_eq!(m.matrices.len(), 6);
}

#[test]
fn counters_memory_and_pipes() {
    let form = |name: &str, form: &str, target| {
        let page = reference::page(name, Some(target)).expect("a page");
        page.forms.into_iter().find(|f| f.form == form).unwrap_or_else(|| panic!("{name} has no form {form}"))
    };
    // LLVM AMDGPU guide, memory model: FLAT instructions use both counters, and a load of more than a dword increases lgkmcnt by two.
    let counters = |f: &gcn_isa::reference::Form| {
        f.counters.iter().map(|c| (c.counter, c.count, c.with)).collect::<Vec<_>>()
    };
    let flat = form("flat_load_dwordx2", "", Target::GFX942);
    assert_eq!(counters(&flat), [("vmcnt", 1, None), ("lgkmcnt", 1, None)]);
    assert_eq!(
        (flat.memory.map(|m| (m.amount, m.unit, m.per)), flat.pipe),
        (Some((8, "bytes", "lane")), Pipe::Flat)
    );
    let scalar = form("s_load_dwordx4", "imm", Target::GFX90A);
    assert_eq!(counters(&scalar), [("lgkmcnt", 2, None)]);
    assert_eq!(scalar.address, "(SBASE.u64 + sext(OFFSET)) & ~3");
    let lds = form("ds_add_u32", "", Target::GFX906);
    assert_eq!(
        counters(&lds),
        [("lgkmcnt", 1, None), ("lgkmcnt", 1, Some("gds")), ("expcnt", 1, Some("gds"))]
    );
    let pipes = [
        ("v_add_f32", Pipe::VectorAlu),
        ("v_exp_f32", Pipe::Transcendental),
        ("v_mfma_f32_4x4x4_16b_f16", Pipe::Matrix),
        ("s_add_u32", Pipe::ScalarAlu),
        ("s_branch", Pipe::Control),
        ("s_waitcnt", Pipe::Control),
        ("buffer_load_dword", Pipe::VectorMemory),
        ("s_memtime", Pipe::ScalarMemory),
        ("ds_read_b32", Pipe::Lds),
    ];
    for (name, pipe) in pipes {
        let page = reference::page(name, Some(Target::GFX942)).expect("a page");
        assert!(page.forms.iter().all(|f| f.pipe == pipe), "{name}");
    }
}

#[test]
fn operands_modifiers_and_constant_rules() {
    let page = reference::page("V_ADD_F32_e64", Some(Target::GFX942)).expect("a page");
    assert_eq!((page.mnemonic, page.forms.len(), page.forms[0].printed), ("v_add_f32", 1, "v_add_f32_e64"));
    let form = &page.forms[0];
    assert_eq!(form.modifiers.iter().map(|m| &*m.syntax).collect::<Vec<_>>(), ["clamp", "mul:2|mul:4|div:2"]);
    assert_eq!(form.operands[1].source_modifiers, ["neg", "abs"]);
    assert!(!form.takes_literal && form.constant_rules.iter().any(|r| r == "no literal in this encoding"));
    assert!(form.constant_rules.iter().any(|r| r.starts_with("constant bus")));

    let page = reference::page("v_add_f32_e32", Some(Target::GFX942)).expect("a page");
    assert!(page.forms[0].takes_literal);
    let page = reference::page("global_load_dwordx4", Some(Target::GFX90A)).expect("a page");
    let form = page.forms.iter().find(|f| f.form == "vaddr_saddr").expect("the form");
    let [vdst, _, saddr] = &form.operands[..] else { panic!("three operands") };
    assert_eq!((&*vdst.dwords, vdst.vector_alignment, vdst.access), (&[4][..], 2, "written"));
    assert_eq!((&*saddr.dwords, saddr.scalar_alignment), (&[2][..], 2));
    assert!(form.modifiers.iter().any(|m| m.syntax == "offset:<-4096..4095>"), "{:?}", form.modifiers);
    let page = reference::page("global_load_dwordx4", Some(Target::GFX942)).expect("a page");
    let names: Vec<_> = page.forms[0].modifiers.iter().map(|m| m.syntax.clone()).collect();
    assert!(["sc0", "nt", "sc1"].iter().all(|n| names.iter().any(|m| m == n)), "{names:?}");
}

#[test]
fn names_aliases_and_suffixes() {
    let page = reference::page("v_mfma_f32_32x32x8f16", Some(Target::GFX942)).expect("an alias");
    assert_eq!(page.mnemonic, "v_mfma_f32_32x32x8_f16");
    assert!(page.aliases.iter().any(|a| a.name == "v_mfma_f32_32x32x8f16"));
    let page = reference::page("v_mfma_f32_32x32x8f16", Some(Target::GFX908)).expect("a mnemonic there");
    assert_eq!(page.mnemonic, "v_mfma_f32_32x32x8f16");
    assert_eq!(page.targets, ["gfx908", "gfx90a"]);
    let page = reference::page("v_add3_u32_e64", None).expect("a name with the suffix of its only encoding");
    assert_eq!(page.mnemonic, "v_add3_u32");

    let message = |name, target| reference::page(name, target).expect_err("an error").to_string();
    assert_eq!(
        message("v_ad_f32", None),
        "no target has an instruction `v_ad_f32`; the nearest name is `v_add_f32`"
    );
    assert_eq!(
        message("v_mfma_f32_32x32x16_f16", Some(Target::GFX942)),
        "gfx942 has no instruction `v_mfma_f32_32x32x16_f16`; gfx950 has it"
    );
    assert_eq!(
        message("s_wiatcnt", Some(Target::GFX90A)),
        "gfx90a has no instruction `s_wiatcnt`; the nearest name is `s_waitcnt`"
    );
    assert_eq!(message("qqqqqqqq", None), "no target has an instruction `qqqqqqqq`");
    assert_eq!(message("", None), "no target has an instruction ``");
    let long = "v".repeat(100_000);
    assert!(reference::page(&long, None).is_err_and(|e| e.nearest.is_empty()));
}
