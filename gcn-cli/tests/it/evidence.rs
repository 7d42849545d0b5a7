//! Tests `gcn evidence`: counts over files and folders.

use crate::gcn_with;

/// A transcendental result that is read at once, and one that is read one wait state later.
const SOURCE: &str = "
    .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
    v_rcp_f32_e32 v0, v1
    v_mov_b32_e32 v2, v0
    v_rcp_f32_e32 v0, v1
    s_nop 0
    v_mov_b32_e32 v2, v0
    s_endpgm
";

const HEADER: &str = "rule\ttarget\tobjects\tsites\texact\tnops\tkept\tbroken\tcovered\tbroken_objects";

#[test]
fn counts_stand_in_one_line_for_each_rule_and_target() {
    let run = gcn_with(&["evidence", "-"], SOURCE.as_bytes());
    assert_eq!(run.err, "1 code objects, 6 instructions\n");
    let text = run.text();
    assert_eq!(text, format!("{HEADER}\ncdna3.21\tgfx942\t1\t2\t1\t1\t1\t1\t0\t1\n"));
}

#[test]
fn folders_are_searched_and_files_added_up() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("deeper")).expect("a folder");
    for name in ["a.s", "deeper/b.s", "notes.txt"] {
        std::fs::write(folder.path().join(name), SOURCE).expect("a file");
    }
    let path = folder.path().display().to_string();
    let run = gcn_with(&["evidence", &path, "--json"], b"");
    let json: serde_json::Value = serde_json::from_str(&run.text()).expect("JSON");
    assert_eq!((&json["objects"], &json["instructions"]), (&2.into(), &12.into()));
    let rule = &json["rules"][0];
    assert_eq!(
        (&rule["rule"], &rule["sites"], &rule["broken_objects"]),
        (&"cdna3.21".into(), &4.into(), &2.into())
    );
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.s"), SOURCE).expect("a file");
    std::fs::write(folder.path().join("b.s"), "\tv_nonsense v0\n").expect("a file");
    let run = gcn_with(&["evidence", &folder.path().display().to_string()], b"");
    assert_eq!(run.code, 2);
    assert!(String::from_utf8_lossy(&run.out).contains("cdna3.21"));
    assert!(run.err.contains("b.s") && run.err.contains("1 files were not counted"), "{}", run.err);
    let nothing = gcn_with(&["evidence", "-"], b"\tv_nonsense v0\n").failure(2);
    assert!(nothing.contains("no code could be read"), "{nothing}");
}
