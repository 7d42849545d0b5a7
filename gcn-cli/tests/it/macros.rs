//! Tests files with macros and included files, with every command that reads assembly.

use crate::gcn_with;

/// A kernel whose macro lacks a wait.
pub const MACROS: &str = include_str!("../data/macros.s");

fn run(arguments: &[&str]) -> crate::Run {
    gcn_with(arguments, MACROS.as_bytes())
}

#[test]
fn a_listing_has_what_was_expanded() {
    let text = run(&["asm", "-", "--show-encoding"]).text();
    let lines: Vec<&str> = text.lines().filter_map(|l| l.split_once(" ; ")).map(|l| l.0).collect();
    let want = [
        "ds_read_b32 v1, v4",
        "v_add_f32_e32 v2, v2, v1",
        "ds_read_b32 v1, v5",
        "v_add_f32_e32 v3, v3, v1",
        "ds_read_b32 v1, v6",
        "v_add_f32_e32 v3, v3, v1",
        "s_endpgm",
    ];
    assert_eq!(lines, want);
    let report: serde_json::Value = serde_json::from_str(&run(&["asm", "-", "--json"]).text()).expect("JSON");
    let place =
        |i: usize| (report["instructions"][i]["line"].clone(), report["instructions"][i]["origin"].clone());
    assert_eq!(place(3), (12.into(), "<stdin>:6, in `accumulate`".into()));
    assert_eq!(place(6), (15.into(), serde_json::Value::Null));
}

#[test]
fn branches_in_macros_keep_their_labels() {
    let source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.macro go to\ns_branch \\to\n.endm\nx: go x\ns_branch x\n";
    let text = gcn_with(&["asm", "-", "--show-encoding"], source.as_bytes()).text();
    let branches = text.lines().filter(|l| l.starts_with("s_branch x ;")).count();
    assert_eq!(branches, 2, "{text}");
}

#[test]
fn findings_name_the_call_and_the_line_of_the_macro() {
    let run = run(&["check", "-", "--level", "certain"]);
    let text = String::from_utf8(run.out).expect("UTF-8");
    assert_eq!(run.code, 1, "{text}");
    assert!(text.contains("<stdin>:11:2: error[waitcnt.raw]"), "{text}");
    assert!(text.contains("note: `v_add_f32_e32 v2, v2, v1` is in <stdin>:6, in `accumulate`"), "{text}");
    let json = gcn_with(&["check", "-", "--json"], MACROS.as_bytes());
    let report: serde_json::Value = serde_json::from_slice(&json.out).expect("JSON");
    let origin = "<stdin>:6, in `accumulate`, called from <stdin>:13, in `.irp`";
    let findings = report["files"][0]["findings"].as_array().expect("a list");
    let found =
        findings.iter().filter(|f| f["second"]["origin"] == origin).map(|f| f["second"]["line"].clone());
    assert_eq!(found.collect::<Vec<_>>(), [12, 12]);
}

#[test]
fn waits_are_not_put_into_macros_but_into_their_expansion() {
    let error = run(&["fix", "-"]).failure(1);
    assert!(error.contains("line 11: a wait has to change in what this line expands to"), "{error}");
    assert!(error.contains("<stdin>:6, in `accumulate`") && error.contains("--expand"), "{error}");
    let text = run(&["fix", "-", "--expand"]).text();
    let want = "\tds_read_b32 v1, v5\n\ts_waitcnt lgkmcnt(0)\n\tv_add_f32 v[vgprSum+1], v[vgprSum+1], v1\n";
    assert!(text.contains(want) && text.contains("; accumulate 4\n"), "{text}");
    assert!(!text.contains(".macro") && !text.contains(".irp address\n"), "{text}");
    assert_eq!(gcn_with(&["check", "-"], text.as_bytes()).code, 0);
    // If nothing inside the macro has to change, waits are inserted as usual.
    let waits = MACROS.replace("\tv_add", "\ts_waitcnt lgkmcnt(0)\n\tv_add");
    let source = waits.replace("\ts_endpgm", "\tds_read_b32 v9, v4\n\tv_mov_b32 v8, v9\n\ts_endpgm");
    let text = gcn_with(&["fix", "-"], source.as_bytes()).text();
    assert_eq!(text, source.replace("\tv_mov", "\ts_waitcnt lgkmcnt(0)\n\tv_mov"));
}

#[test]
fn reasons_are_listed_for_the_expansion() {
    let waits = MACROS.replace("\tv_add", "\ts_waitcnt lgkmcnt(0)\n\tv_add");
    let text = gcn_with(&["explain", "-"], waits.as_bytes()).text();
    assert_eq!(text.matches("waitcnt.raw: v1 of ds_read_b32").count(), 3, "{text}");
}

#[test]
fn files_are_included_from_folders() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    std::fs::create_dir(path("inc")).expect("a folder");
    std::fs::write(path("inc/body.s"), "\tv_add_f32 v0, v0, v1\n\ts_nopp 0\n").expect("a file");
    std::fs::write(path("inc/data"), [1, 2, 3, 4]).expect("a file");
    let source = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\t.include \"body.s\"\n\ts_endpgm\n\t.incbin \"data\"\n";
    std::fs::write(path("k.s"), source).expect("a file");
    let missing = gcn_with(&["asm", &path("k.s")], b"").failure(1);
    assert!(missing.contains("k.s:2:11: error: cannot read `body.s`"), "{missing}");
    let wrong = gcn_with(&["asm", &path("k.s"), "-I", &path("inc")], b"").failure(1);
    assert!(wrong.contains("body.s:2:2: error: gfx942 has no instruction `s_nopp`"), "{wrong}");
    assert!(wrong.contains("k.s:2: in `") && wrong.contains("which is included here"), "{wrong}");
    std::fs::write(path("inc/body.s"), "\tv_add_f32 v0, v0, v1\n").expect("a file");
    for command in ["asm", "check", "explain", "fix"] {
        let run = gcn_with(&[command, &path("k.s"), "-I", &path("inc")], b"");
        assert_eq!(run.code, 0, "{command}: {}", run.err);
    }
    let object = std::fs::read(path("k.hsaco")).expect("it was written");
    assert!(object.windows(8).any(|w| w == [0x00, 0x00, 0x81, 0xbf, 1, 2, 3, 4]));
}

#[test]
fn a_byte_order_mark_is_kept_and_not_in_the_way() {
    let source = format!("\u{feff}{}", crate::TWO_KERNELS);
    assert_eq!(gcn_with(&["fix", "-"], source.as_bytes()).text(), source);
    for command in ["check", "explain"] {
        let run = gcn_with(&[command, "-", "--target", "gfx942"], source.as_bytes());
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let run = gcn_with(&["asm", "-", "--show-encoding"], source.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
}
