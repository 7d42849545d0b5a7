//! The answers on which the page relies, compared with other sources about the same text.

use serde_json::{Value, json};

fn ask(request: Value) -> Value {
    serde_json::from_str(&gcn_playground::answer(&request.to_string())).expect("answers are JSON")
}

const SAXPY: (&str, &str) = (include_str!("../examples/3-saxpy.s"), include_str!("../examples/3-saxpy.json"));

#[test]
fn machine_code_is_that_of_llvm() {
    let text = include_str!("../examples/1-matrix.s");
    let answer = ask(json!({ "do": "analyse", "text": text, "target": "gfx900" }));
    // llvm-mc 22 -mcpu=gfx942 -show-encoding
    assert_eq!(answer["lines"]["6"][0]["bytes"], "0000ccd310250204");
    // CDNA3 ISA, table 37: 11 wait states after 8 passes.
    assert_eq!(answer["findings"][0]["need"]["wait_states"], 11);
}

#[test]
fn the_examples_are_as_their_first_lines_say() {
    for (text, findings) in [
        (include_str!("../examples/1-matrix.s"), 1),
        (include_str!("../examples/2-load.s"), 2),
        (SAXPY.0, 0),
        (include_str!("../examples/4-barrier.s"), 0),
        (include_str!("../examples/6-product.s"), 0),
        (include_str!("../examples/7-radeon.s"), 2),
    ] {
        let answer = ask(json!({ "do": "analyse", "text": text }));
        assert_eq!(answer["findings"].as_array().map(Vec::len), Some(findings), "{text}\n{answer}");
        let fixed = ask(json!({ "do": "fix", "text": text, "strip": true }));
        let again = ask(json!({ "do": "analyse", "text": fixed["text"] }));
        assert_eq!(again["findings"], json!([]), "{fixed}");
    }
}

/// RDNA code is encoded, checked and fixed, with waves of the requested size.
#[test]
fn rdna_is_encoded_checked_and_repaired() {
    let text = "k: v_cmp_eq_u32 vcc_lo, v0, v1\ns_endpgm\n";
    let answer = ask(json!({ "do": "analyse", "text": text, "target": "gfx1100" }));
    // llvm-mc 22 -mcpu=gfx1100 -show-encoding
    assert_eq!(answer["lines"]["1"][0]["bytes"], "0003947c", "{answer}");
    assert_eq!(answer["findings"], json!([]));
    // With waves of 64 lanes, VCC is a pair of registers.
    let answer = ask(json!({ "do": "analyse", "text": text, "target": "gfx1100", "wave": 64 }));
    assert_ne!(answer["errors"], json!([]), "{answer}");
    let answer = ask(json!({ "do": "analyse", "text": text, "target": "gfx1100", "wave": 16 }));
    assert_eq!(answer["error"], "a wave has 32 or 64 lanes, not 16");
    let text = "k: global_load_b32 v1, v[2:3], off\nv_mov_b32 v0, v1\ns_endpgm\n";
    let answer = ask(json!({ "do": "analyse", "text": text, "target": "gfx1100" }));
    assert_eq!(answer["findings"][0]["rule"], "waitcnt.raw", "{answer}");
    let answer = ask(json!({ "do": "fix", "text": text, "target": "gfx1100" }));
    assert!(answer["text"].as_str().unwrap().contains("s_waitcnt vmcnt(0)"), "{answer}");
}

#[test]
fn the_page_offers_every_target() {
    let page = include_str!("../page/main.js");
    let list =
        page.split("const TARGETS = [").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    let mut offered: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    offered.sort_unstable();
    let mut known: Vec<&str> = gcn_isa::Target::KNOWN.into_iter().map(gcn_isa::Target::name).collect();
    known.sort_unstable();
    assert_eq!(offered, known);
}

#[test]
fn a_product_of_matrices_is_right() {
    let (text, spec) = (include_str!("../examples/6-product.s"), include_str!("../examples/6-product.json"));
    let answer = ask(json!({ "do": "run", "text": text, "spec": spec, "mode": "strict", "sanitize": "all" }));
    let c: Vec<f64> =
        answer["buffers"][0]["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    // The left factor is all ones; the right one has the elements 0, 1, 2, ... column by column, 64 in each.
    let column = |c: u32| (0..64).map(|k| f64::from(c * 64 + k)).sum::<f64>();
    let expected: Vec<f64> = (0..32).flat_map(|_| (0..32).map(column)).collect();
    assert_eq!(c, expected, "{answer}");
}

/// Without the wait, the Radeon example computes wrong numbers and every command reports the wait; with it the result is right.
#[test]
fn a_radeon_runs_with_stale_and_with_right_values() {
    let (text, spec) = (include_str!("../examples/7-radeon.s"), include_str!("../examples/7-radeon.json"));
    let twice: Vec<u32> = (0..64).map(|i| 2 * i).collect();
    let faithful = |text: &Value| ask(json!({ "do": "run", "text": text, "spec": spec, "mode": "faithful" }));
    let early = faithful(&json!(text));
    assert!(early["buffers"][0]["values"] != json!(twice), "{early}");
    let fixed = ask(json!({ "do": "fix", "text": text }));
    assert!(fixed["text"].as_str().unwrap().contains("s_wait_loadcnt 0x0"), "{fixed}");
    let right = faithful(&fixed["text"]);
    assert_eq!(right["buffers"][0]["values"], json!(twice), "{right}");
}

#[test]
fn words_are_those_of_the_target() {
    let words = |text: &str, target: &str, before: &str| {
        let answer = ask(json!({ "do": "complete", "text": text, "target": target, "before": before }));
        let all = answer["candidates"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        all.iter().map(|c| c["label"].as_str().expect("a word").to_owned()).collect::<Vec<_>>()
    };
    // CDNA3 has fp8 matrix instructions, CDNA2 has none.
    assert!(
        words("", "gfx942", "v_mfma_f32_32x32x16_fp8").contains(&"v_mfma_f32_32x32x16_fp8_fp8".to_owned())
    );
    assert!(words("", "gfx90a", "v_mfma_f32_32x32x16_fp8").is_empty());
    assert!(
        words(".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"", "gfx942", "v_mfma_f32_32x32x16_fp8").is_empty()
    );
    assert_eq!(words("again: s_nop 0\n", "gfx942", "x: s_branch ag"), ["again"]);
    assert_eq!(words("", "gfx942", "global_load_dword v0, v[2:3], off sc"), ["sc0", "sc1", "scc"]);
    assert!(words("", "gfx942", "s_nop 0 ; v_a").is_empty());
}

#[test]
fn bad_requests_are_answered_with_errors() {
    for request in [
        json!({ "do": "nothing" }),
        json!({ "do": "run", "text": SAXPY.0, "spec": "{" }),
        json!({ "do": "run", "text": SAXPY.0, "spec": SAXPY.1, "mode": "loud" }),
        json!({ "do": "run", "text": SAXPY.0, "spec": SAXPY.1, "sanitize": "everything" }),
        json!({ "do": "analyse", "text": "s_endpgm", "target": "gfx1" }),
        json!({ "do": "template", "text": "s_endpgm", "target": "gfx90a" }),
        json!({ "do": "timeline", "text": "", "spec": SAXPY.1 }),
    ] {
        let answer = ask(request.clone());
        assert!(answer["error"].as_str().is_some_and(|e| !e.is_empty()), "{request}: {answer}");
    }
}
