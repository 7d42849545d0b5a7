//! Tests `gcn tune` on variants of a kernel: in shards, and all at once.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{gcn, two_kernels};

/// A folder with a code object and candidates, which run `fill` with different numbers of workgroups.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("gcn-tools-tune-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("all")).expect("a folder");
        std::fs::write(path.join("all/two.hsaco"), two_kernels()).expect("the object");
        Folder(path)
    }

    /// Writes a candidate; its run takes longer with more workgroups.
    fn candidate(&self, file: &str, groups: u32, kernel: &str) {
        let text = format!(
            r#"{{"object": "two.hsaco", "kernel": "{kernel}", "name": "fill", "problem": [8], "parameters": {{"groups": "{groups}"}},
                "long": {{"grid": {groups}, "workgroup": 64,
                "args": {{"x": {{"buffer": "u32", "count": 4096}}, "value": {{"u32": 7}}}}}}}}"#
        );
        std::fs::write(self.0.join("all").join(format!("{file}.tune.json")), text).expect("a candidate");
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn table(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(Path::new(path)).expect("a table");
    serde_json::from_str(&text).expect("a list")
}

#[test]
fn the_fastest_variant_is_found_by_shards_as_by_one() {
    let folder = Folder::new("shards");
    for (file, groups) in [("c", 1), ("a", 64), ("b", 16)] {
        folder.candidate(file, groups, "fill");
    }
    let all = folder.path("all");
    let whole = folder.path("whole.json");
    let said = gcn(&["tune", &all, "-o", &whole]).text();
    assert!(said.contains("groups=1 takes ") && said.contains("(3 variants, 0 do not run)"), "{said}");
    let parts: Vec<String> = (0..2).map(|i| folder.path(&format!("part{i}.json"))).collect();
    for (i, part) in parts.iter().enumerate() {
        gcn(&["tune", &all, "-o", part, "--shard", &format!("{i}/2"), "--jobs", "1"]).text();
    }
    assert_eq!((table(&parts[0]).len(), table(&parts[1]).len()), (2, 1));
    let merged = folder.path("merged.json");
    gcn(&["tune", "-o", &merged, "--merge", &parts[0], &parts[1]]).text();
    assert_eq!(table(&merged), table(&whole));
}

#[test]
fn what_does_not_run_is_a_result_and_what_is_known_is_not_run_again() {
    let folder = Folder::new("errors");
    folder.candidate("good", 1, "fill");
    folder.candidate("bad", 2, "nothing");
    let (all, out) = (folder.path("all"), folder.path("t.json"));
    let said = gcn(&["tune", &all, "-o", &out]).text();
    assert!(said.contains("groups=1 takes ") && said.contains("(2 variants, 1 do not run)"), "{said}");
    // A result that is already in the table is kept, even if it is wrong.
    let text = std::fs::read_to_string(&out).expect("a table");
    let mut entries = table(&out);
    let good = entries.iter_mut().find(|e| e["outcome"]["cycles"].is_u64()).expect("one that ran");
    good["outcome"]["cycles"] = Value::from(1);
    assert_ne!(serde_json::to_string_pretty(&entries).expect("JSON") + "\n", text);
    std::fs::write(&out, serde_json::to_string(&entries).expect("JSON")).expect("a table");
    assert!(gcn(&["tune", &all, "-o", &out]).text().contains("takes 1 cycles"));
}

#[test]
fn wrong_candidates_are_errors() {
    let folder = Folder::new("wrong");
    let out = folder.path("t.json");
    assert_eq!(gcn(&["tune", &folder.path("all"), "-o", &out]).code, 2, "a folder without candidates");
    folder.candidate("one", 1, "fill");
    folder.candidate("two", 1, "fill");
    let run = gcn(&["tune", &folder.path("all"), "-o", &out]);
    assert!(
        run.code == 1 && run.err.contains("the same name, target, problem and parameters"),
        "{}",
        run.err
    );
    std::fs::write(folder.path("all/two.tune.json"), "{").expect("a file");
    assert_eq!(gcn(&["tune", &folder.path("all"), "-o", &out]).code, 1);
    assert_eq!(gcn(&["tune", &folder.path("all"), "-o", &out, "--shard", "2/2"]).code, 2);
}
