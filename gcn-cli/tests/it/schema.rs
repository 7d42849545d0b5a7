//! Checks that the output of commands with `--json` satisfies the schema that `gcn schema` prints.

use std::path::PathBuf;

use gcn_test_support::skipped;
use serde_json::Value;

use crate::{gcn, gcn_with};

/// The reason why a value does not satisfy a schema of the form that `gcn schema` prints; `None` if it does.
fn fault(schema: &Value, value: &Value, root: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").expect("a reference inside");
        return fault(&root["$defs"][name], value, root, at);
    }
    if let Some(all) = schema["anyOf"].as_array() {
        let faults: Vec<String> = all.iter().map_while(|schema| fault(schema, value, root, at)).collect();
        return (faults.len() == all.len()).then(|| faults.join(" or "));
    }
    let fits = match schema["type"].as_str() {
        None => true,
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(other) => panic!("{at}: type {other}"),
    };
    if !fits {
        return Some(format!("{at}: {value} is no {}", schema["type"]));
    }
    if let Some(items) = value.as_array() {
        let checked = items.iter().enumerate();
        return checked
            .into_iter()
            .find_map(|(i, item)| fault(&schema["items"], item, root, &format!("{at}[{i}]")));
    }
    let object = value.as_object()?;
    let known = schema["properties"].as_object();
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|key| !object.contains_key(*key)) {
        return Some(format!("{at}: no {missing}"));
    }
    object.iter().find_map(|(key, value)| {
        let of_key = known.and_then(|known| known.get(key)).unwrap_or(&schema["additionalProperties"]);
        if *of_key == Value::Bool(false) {
            return Some(format!("{at}: {key} is not declared"));
        }
        fault(of_key, value, root, &format!("{at}.{key}"))
    })
}

fn schema(command: &str) -> Value {
    serde_json::from_str(&gcn(&["schema", command]).text()).expect("JSON")
}

/// The path of a file in the folders of the test data and of the book's examples.
fn place(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let data = root.join("tests/data").join(name);
    let path = if data.exists() { data } else { root.join("../docs/book/examples").join(name) };
    path.to_str().expect("UTF-8").to_owned()
}

/// Command lines whose output is checked; names that contain a dot are files.
const RUNS: &str = "\
annotate sum.s made-stochastic.json --args sum.json --json
annotate sum.s made-host-trap.csv --json
asm two_kernels.s --show-encoding --json -o OUT
asm - --json -o OUT
check two_kernels.s unwaited.s theirs.s --json --advice
check OUT --json --advice
disasm OUT --json
disasm OUT --list --json
evidence two_kernels.s unwaited.s --json
explain theirs.s --json --writers
explain unwaited.s --json
fix theirs.s --strip --json -o FIXED
fix theirs.s unwaited.s --stats --json
inspect OUT --json
inspect OUT --list --json
inst v_mfma_f32_32x32x8_f16 --json
inst global_load_dwordx4 --target gfx90a --json
inst s_waitcnt --json
inst v_smfmac_f32_16x16x32_f16 --json
layout v_smfmac_f32_16x16x32_f16 --target gfx942 --json
layout v_mfma_f64_16x16x4_f64 --target gfx942 --json
mutate theirs.s --json
mutate OUT --json
rules --json
sim early.s --args early.json --json
sim early.s --args early.json --faithful --json
sim early.s --args early.json --sanitize all --profile --fidelity --seconds --json
sim early.s --args early.json --timed --estimate-clock f16 --json
sim OUT --list --json
targets generic --json
wait 3952 --json
wait 0xffff --json";

#[test]
fn outputs_fit_their_schemas() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    for line in RUNS.lines() {
        let arguments: Vec<String> = line
            .split(' ')
            .map(|word| match word {
                "OUT" | "FIXED" => written(word),
                word if word.contains('.') => place(word),
                word => word.to_owned(),
            })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // Standard input (`-`) is not assembly here; its errors are also printed as JSON.
        let run = gcn_with(&arguments, b"bogus\n");
        let value: Value =
            serde_json::from_slice(&run.out).unwrap_or_else(|e| panic!("{line}: {e}: {}", run.err));
        let schema = schema(arguments[0]);
        assert_eq!(fault(&schema, &value, &schema, "$"), None, "{line}");
    }
}

#[test]
fn every_command_with_json_has_a_schema() {
    let declared = gcn(&["schema"]).text();
    let help = gcn(&["--help"]).text();
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|name| !name.is_empty() && *name != "help") {
        let help = gcn(&[name, "--help"]).text();
        let (has_json, is_declared) =
            (help.contains("--json\n") || help.contains("--json "), declared.lines().any(|l| l == name));
        assert_eq!(has_json, is_declared, "{name}: --json, declared in gcn-cli/data/outputs.txt");
        let runs = RUNS.lines().any(|line| line.split(' ').next() == Some(name));
        assert_eq!(has_json, runs, "{name}: --json, has a line in RUNS of gcn-cli/tests/it/schema.rs");
        assert!(help.contains("Examples:\n  "), "{name} has no examples");
    }
    assert!(gcn(&["schema", "lsp"]).failure(2).contains("has no --json"));
}

#[test]
fn what_does_not_fit_is_seen() {
    let schema = schema("wait");
    let wait: Value = serde_json::from_str(&gcn(&["wait", "0", "--json"]).text()).unwrap();
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut value = wait.clone();
        change(&mut value);
        fault(&schema, &value, &schema, "$").unwrap()
    };
    assert_eq!(broken(&|v| v["immediate"] = "0".into()), "$.immediate: \"0\" is no \"integer\"");
    assert_eq!(broken(&|v| v["extra"] = 0.into()), "$: extra is not declared");
    assert_eq!(broken(&|v| v["counters"][1] = Value::Null), "$.counters[1]: null is no \"object\"");
    assert_eq!(broken(&|v| drop(v.as_object_mut().unwrap().remove("text"))), "$: no text");
}

/// Colours are printed on terminals only, and not even there with `NO_COLOR`. The program `script` provides a terminal.
#[test]
fn no_colour_where_it_is_not_wanted() {
    let unwaited = place("unwaited.s");
    let on_terminal = |variable: &str| {
        let command = format!("{} check {unwaited}", env!("CARGO_BIN_EXE_gcn"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
        if !variable.is_empty() {
            script.env("NO_COLOR", variable);
        }
        script.output().map(|run| String::from_utf8_lossy(&run.stdout).into_owned())
    };
    let (Ok(coloured), Ok(plain)) = (on_terminal(""), on_terminal("1")) else {
        skipped("`script` is not in PATH", "install `script` (Debian and Ubuntu: apt-get install bsdutils)");
        return;
    };
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    assert!(plain.contains("waitcnt.raw") && !plain.contains("\u{1b}["), "{plain}");
}

/// The command line takes precedence, then `NO_COLOR`, then the variables that force colours.
#[test]
fn colours_can_be_forced() {
    let is_coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut gcn = std::process::Command::new(env!("CARGO_BIN_EXE_gcn"));
        for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
            gcn.env_remove(name);
        }
        let run = gcn.args(arguments).envs(variables.iter().copied()).output().unwrap();
        let said = [run.stdout, run.stderr].concat();
        let coloured = said.contains(&0x1b);
        assert!(String::from_utf8_lossy(&said).contains("error"), "{arguments:?}");
        coloured
    };
    let unwaited = place("unwaited.s");
    for command in [&["check", &unwaited][..], &["inst", "v_no_such"], &["no-such-command"]] {
        assert!(!is_coloured(command, &[]), "{command:?}");
        for force in ["FORCE_COLOR", "CLICOLOR_FORCE"] {
            assert!(is_coloured(command, &[(force, "1")]), "{command:?} {force}");
            assert!(!is_coloured(command, &[(force, "1"), ("NO_COLOR", "1")]), "{command:?} {force}");
        }
    }
    assert!(!is_coloured(&["check", &unwaited], &[("FORCE_COLOR", "0"), ("CLICOLOR_FORCE", "0")]));
    assert!(is_coloured(&["check", &unwaited, "--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!is_coloured(&["--color", "never", "check", &unwaited], &[("FORCE_COLOR", "1")]));
}
