//! Tests `gcn inst`, `gcn inspect` and `gcn layout`.

use crate::{gcn, gcn_with, two_kernels, unpack};

#[test]
fn an_instruction_has_a_page() {
    let page = gcn(&["inst", "v_mfma_f32_32x32x8_f16", "--target", "gfx942"]).text();
    // 32x32x8 f16 takes 8 passes on gfx942 and 16 on gfx90a, where it has another name (matrix instruction
    // calculator).
    for part in ["8 passes", "16384 FLOPs", "cdna3.106", "VOP3P_MAI", "vdst", "AGPR"] {
        assert!(page.contains(part), "{part} is missing in\n{page}");
    }
    let page = gcn(&["inst", "global_load_dword", "--target", "gfx90a"]).text();
    assert!(page.contains("vmcnt") && page.contains("saddr"), "{page}");
    let json = gcn(&["inst", "s_add_u32", "--json"]).text();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["mnemonic"], "s_add_u32");
    assert_eq!(json["forms"][0]["implicit_writes"][0], "scc");
}

#[test]
fn a_wrong_name_gets_the_nearest() {
    assert!(gcn(&["inst", "v_ad_f32"]).failure(1).contains("v_add_f32"));
    let error = gcn(&["inst", "v_mfma_f32_16x16x16_f16", "--target", "gfx908"]).failure(1);
    assert!(error.contains("gfx942"), "{error}");
    let error = gcn(&["inst", "v_permlane64_b32", "--target", "gfx90a"]).failure(1);
    assert!(error.contains("gfx1100"), "{error}");
}

#[test]
fn a_code_object_is_explained() {
    let text = gcn_with(&["inspect", "-"], &two_kernels()).text();
    for part in ["V5 for gfx942", "kernel fill", "kernel count", "4096 bytes of LDS", "global_buffer x"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let json = gcn_with(&["inspect", "-", "--json", "--kernel", "fill"], &two_kernels()).text();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["target_id"], "gfx942");
    // next_free_vgpr 3, and AGPRs from register 4 on: one allocation granule of 8 registers.
    assert_eq!((&json["kernels"][0]["vgprs"], &json["kernels"][0]["accum_offset"]), (&8.into(), &4.into()));
}

/// The location of each matrix element, as AMD's matrix instruction calculator prints it.
const LAYOUTS: &[u8] = include_bytes!("../../../gcn-isa/tests/data/layouts.tsv.gz");

#[test]
fn a_layout_has_the_measured_elements() {
    let name = "v_mfma_f32_16x16x16_f16";
    let measured = unpack(LAYOUTS);
    let mut expected: Vec<String> = measured
        .lines()
        .map(|l| l.split('\t').collect::<Vec<_>>())
        .filter(|r| r[0] == "gfx942" && r[1] == name && r[2].is_empty() && r[3] == "D")
        .map(|r| format!("D,{},{},{},{},{},{},{},0", r[4], r[5], r[6], r[7], r[8], r[9], r[10]))
        .collect();
    expected.sort();
    assert_eq!(expected.len(), 256);
    let csv = gcn(&["layout", name, "--target", "gfx942", "--matrix", "d", "--format", "csv"]).text();
    let mut rows: Vec<&str> = csv.lines().skip(1).collect();
    rows.sort_unstable();
    assert_eq!(rows, expected);
}

/// No two elements of an operand have the same label, even if a register holds two or four elements; and columns are numbered.
#[test]
fn elements_of_one_register_are_told_apart() {
    for (name, columns) in [("v_mfma_f32_32x32x8_f16", 8), ("v_mfma_f32_16x16x32_fp8_fp8", 32)] {
        let of =
            |format| gcn(&["layout", name, "--target", "gfx942", "--matrix", "a", "--format", format]).text();
        let (svg, csv, table) = (of("svg"), of("csv"), of("table"));
        let texts = |class: &str| {
            let start = format!("class=\"{class}\">");
            let texts = svg.split(&start).skip(1).filter_map(|rest| rest.split_once("</text>"));
            texts.map(|(text, _)| text.to_owned()).collect::<Vec<_>>()
        };
        let mut labels = texts("c m");
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), csv.lines().count() - 1, "{svg}");
        let numbers: Vec<String> = (0..columns).map(|column| column.to_string()).collect();
        assert_eq!(texts("n m"), numbers);
        let head =
            table.lines().skip_while(|line| !line.starts_with("block")).nth(1).expect("a line of numbers");
        assert_eq!(head.split_whitespace().collect::<Vec<_>>(), numbers, "{table}");
    }
}

#[test]
fn a_layout_is_a_table_a_picture_or_json() {
    let name = "v_mfma_f64_4x4x4_4b_f64";
    let table = gcn(&["layout", name, "--target", "gfx942", "--matrix", "a"]).text();
    assert!(table.contains("block 3") && table.contains("v0."), "{table}");
    let svg = gcn(&["layout", name, "--target", "gfx942", "--format", "svg"]).text();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("viewBox=") && svg.contains("class=\"ground\""), "{svg}");
    let json = gcn(&["layout", name, "--target", "gfx942", "--json"]).text();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["matrices"].as_array().map(Vec::len), Some(4));
    assert!(gcn(&["layout", "v_add_f32", "--target", "gfx942"]).failure(1).contains("not a matrix"));
    gcn(&["layout", name, "--target", "gfx942", "--cbsz", "7"]).failure(1);
}

/// The fields of `s_waitcnt`: S_WAITCNT in "SOPP Instructions" of the RDNA 2 and RDNA 3 ISA documents, and LLVM's AMDGPUBaseInfo.
#[test]
fn the_fields_of_a_wait_are_those_of_the_target() {
    for (target, fields) in [
        ("gfx906", "vmcnt [15:14][3:0], expcnt [6:4], lgkmcnt [11:8]"),
        ("gfx1030", "vmcnt [15:14][3:0], expcnt [6:4], lgkmcnt [13:8]"),
        ("gfx1100", "vmcnt [15:10], expcnt [2:0], lgkmcnt [9:4]"),
    ] {
        let page = gcn(&["inst", "s_waitcnt", "--target", target]).text();
        assert!(page.contains(&format!("  bits of the immediate: {fields}\n")), "{page}");
    }
    // It exists there, but its fields stand for no counter.
    assert!(!gcn(&["inst", "s_waitcnt", "--target", "gfx1201"]).text().contains("bits of the immediate"));
}
