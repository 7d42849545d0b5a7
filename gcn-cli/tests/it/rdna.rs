//! Tests with kernels that Triton 3.9.0 and clang 22 compiled for RDNA: `check` reports nothing wrong, and `fix` needs few waits.

use crate::{gcn, unpack_bytes};

/// A kernel, with the expected results.
struct Kernel {
    name: &'static str,
    object: &'static [u8],
    /// The rules with at least one finding of level `documented`; docs/findings.md gives the reasons.
    found: &'static [&'static str],
    /// Options of `fix` in addition to `--strip`.
    options: &'static [&'static str],
    /// The number of counter waits that `fix` may insert beyond those of the compiler.
    more: usize,
}

macro_rules! kernels {
    ($($name:literal $found:expr, $options:expr, $more:literal;)*) => {
        const KERNELS: &[Kernel] = &[$(Kernel {
            name: $name,
            object: include_bytes!(concat!("../data/rdna/", $name, ".hsaco.gz")),
            found: &$found,
            options: &$options,
            more: $more,
        }),*];
    };
}

/// For kernels whose compiler tracks halves of registers separately, `fix` has to do so as well.
const HALVES: [&str; 2] = ["--without", "waitcnt.half"];

kernels! {
    "atomics.gfx1151.w32" [], [], 0;
    "calls.gfx1030.w64" [], [], 0;
    "calls.gfx1201.w32" [], [], 0;
    "chained_dot.gfx1151" [], [], 0;
    "gemm_f16_4w.gfx1100" [], [], 0;
    "gemm_f16_odd.gfx1201" [], HALVES, 0;
    // The finding is a defect of the kernel and must be fixed. Also, a reader of a half register is preceded by an
    // instruction that is written as data, where nothing can be inserted, so LLVM 22's interpretation is used.
    "gemm_fp8e5_32x32x64.gfx1100" ["barrier.lds"], [], 3;
    "lane_xor.gfx1100.w64" [], [], 0;
    "lds_reduce.gfx1030.w32" [], [], 0;
    // LLVM 22 does not wait for the invalidation of a cache before a return.
    "lds_reduce.gfx1201.w64" [], [], 1;
    "noinline_calls.gfx1201" [], [], 0;
    "softmax_w1.gfx1151" [], [], 0;
    "sort_i32.gfx1201" [], [], 0;
}

/// The rules that occur in the report of `check --json`.
fn rules(report: &[u8]) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_slice(report).expect("JSON");
    let mut rules = Vec::new();
    collect(&report, &mut rules);
    rules.sort();
    rules.dedup();
    rules
}

fn collect(value: &serde_json::Value, rules: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(all) => all.iter().for_each(|v| collect(v, rules)),
        serde_json::Value::Object(fields) => {
            if fields.contains_key("second")
                && let Some(rule) = fields.get("rule").and_then(|r| r.as_str())
            {
                rules.push(rule.to_owned());
            }
            fields.values().for_each(|v| collect(v, rules));
        }
        _ => {}
    }
}

#[test]
fn nothing_is_found_in_compiled_kernels_that_is_not_argued() {
    let dir = tempfile::TempDir::new().expect("a folder");
    for kernel in KERNELS {
        let path = dir.path().join(kernel.name);
        std::fs::write(&path, unpack_bytes(kernel.object)).expect("a file");
        let path = path.to_str().expect("ASCII");
        let run = gcn(&["check", "--level", "documented", "--json", path]);
        assert_eq!(rules(&run.out), kernel.found, "{}: {}", kernel.name, run.err);
        assert_eq!(run.code, i32::from(!kernel.found.is_empty()), "{}", kernel.name);
    }
}

/// The number of counter waits in a file.
fn counter_waits(text: &str) -> usize {
    let is_wait = |line: &&str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        let others = ["s_waitcnt_depctr", "s_wait_alu", "s_wait_event", "s_wait_idle"];
        (word.starts_with("s_waitcnt") || word.starts_with("s_wait_")) && !others.contains(&word)
    };
    text.lines().filter(is_wait).count()
}

#[test]
fn compiled_kernels_need_no_more_waits_than_their_compilers_have() {
    let dir = tempfile::TempDir::new().expect("a folder");
    for kernel in KERNELS {
        let [object, text, fixed] = ["", ".s", ".fixed.s"].map(|end| {
            let path = dir.path().join(format!("{}{end}", kernel.name));
            path.to_str().expect("ASCII").to_owned()
        });
        std::fs::write(&object, unpack_bytes(kernel.object)).expect("a file");
        let before = gcn(&["disasm", &object]).text();
        std::fs::write(&text, &before).expect("a file");
        gcn(&[&["fix", "--strip", &text, "-o", &fixed], kernel.options].concat()).text();
        let after = std::fs::read_to_string(&fixed).expect("a file");
        let (had, has) = (counter_waits(&before), counter_waits(&after));
        assert!(has <= had + kernel.more, "{}: {had} became {has}", kernel.name);
        assert!(has > 0 && had > 0, "{}", kernel.name);
        let options: Vec<&str> = kernel.options.to_vec();
        let unread = before.contains(".long").then_some("--allow-unread");
        let again =
            gcn(&[&["check", "--level", "documented", &fixed][..], &options, unread.as_slice()].concat());
        assert_eq!(again.code, 0, "{}: {}", kernel.name, again.err);
    }
}

/// `s_delay_alu` is only a hint: `explain` says so, and `check` does not require it.
#[test]
fn hints_are_explained_and_never_asked_for() {
    let dir = tempfile::TempDir::new().expect("a folder");
    let kernel = KERNELS.iter().find(|k| k.name.starts_with("softmax")).expect("a kernel with hints");
    let [object, text, without] = ["k.hsaco", "k.s", "without.s"].map(|name| {
        let path = dir.path().join(name);
        path.to_str().expect("ASCII").to_owned()
    });
    std::fs::write(&object, unpack_bytes(kernel.object)).expect("a file");
    let code = gcn(&["disasm", &object]).text();
    std::fs::write(&text, &code).expect("a file");
    let explained = gcn(&["explain", &text]).text();
    let hints = explained.lines().filter(|line| line.contains("s_delay_alu"));
    assert!(
        hints.clone().count() > 5 && hints.clone().all(|line| line.contains("; a hint: ")),
        "{explained}"
    );
    let rest: Vec<&str> = code.lines().filter(|line| !line.contains("s_delay_alu")).collect();
    std::fs::write(&without, rest.join("\n") + "\n").expect("a file");
    assert_eq!(
        gcn(&["check", "--level", "cautious", &without]).code,
        gcn(&["check", "--level", "cautious", &text]).code
    );
}

macro_rules! reductions {
    ($($target:literal)*) => {
        /// A kernel that sums 256 integers per workgroup through LDS, compiled by clang 22 for every RDNA instruction set: target, wave
        /// size, object.
        const REDUCTIONS: &[(&str, usize, &[u8])] = &[$(
            ($target, 32, include_bytes!(concat!("../data/rdna/lds_reduce.", $target, ".w32.hsaco.gz"))),
            ($target, 64, include_bytes!(concat!("../data/rdna/lds_reduce.", $target, ".w64.hsaco.gz"))),
        )*];
    };
}

reductions! { "gfx1030" "gfx1100" "gfx1151" "gfx1201" }

/// Two workgroups of 256 work-items.
const SPEC: &str = r#"{"kernel": "k", "grid": 2, "workgroup": 256,
    "args": [{"buffer": "i32", "count": 512, "init": "ones"}, {"buffer": "i32", "count": 2, "out": true}]}"#;

/// Samples of every instruction in the format of rocprofv3's host traps, with LLVM's text and all lanes active, and the number of samples.
/// `None` if LLVM is not installed.
fn samples(object: &str, target: &str, lanes: usize) -> Option<(String, usize)> {
    let objdump = gcn_test_support::llvm::tool("llvm-objdump")?;
    let mut command = std::process::Command::new(objdump);
    command.args(["-d", "--no-show-raw-insn", &format!("--mcpu={target}"), object]);
    if lanes == 64 {
        command.arg("--mattr=+wavefrontsize64");
    }
    let listing = String::from_utf8(command.output().expect("llvm-objdump runs").stdout).expect("UTF-8");
    let padding = |text: &str| text.starts_with("s_code_end") || text.starts_with("s_nop");
    let instructions: Vec<&str> = listing
        .lines()
        .filter_map(|line| Some(line.strip_prefix('\t')?.split_once("//")?.0.trim()))
        .filter(|text| !padding(text))
        .collect();
    let mut csv =
        "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\",\"Correlation_Id\"\n"
            .to_owned();
    for (time, text) in instructions.iter().enumerate() {
        csv += &format!("{time},{},1,\"{text}\",\"\",1\n", u64::MAX >> (64 - lanes));
    }
    Some((csv, instructions.len()))
}

/// Tests `sim` in its strict and timed modes, `timeline` and `annotate` with both wave sizes.
#[test]
fn kernels_are_simulated_timed_drawn_and_compared_with_samples() {
    let dir = tempfile::TempDir::new().expect("a folder");
    let spec = dir.path().join("spec.json");
    std::fs::write(&spec, SPEC).expect("a file");
    let spec = spec.to_str().expect("ASCII");
    for &(target, lanes, object) in REDUCTIONS {
        let name = format!("{target} {lanes}");
        let path = dir.path().join("k.hsaco");
        std::fs::write(&path, unpack_bytes(object)).expect("a file");
        let path = path.to_str().expect("ASCII");
        let json = |more: &[&str]| -> serde_json::Value {
            let run = gcn(&[&["sim", path, "--args", spec, "--json"], more].concat());
            serde_json::from_str(&run.text()).expect("JSON")
        };
        for more in [&["--strict", "--sanitize", "all"][..], &["--faithful"], &["--timed"]] {
            assert_eq!(json(more)["buffers"][0]["values"], serde_json::json!([256, 256]), "{name} {more:?}");
        }
        let waves = 512 / lanes;
        let timed = &json(&["--timed", "--cus", "1"])["timed"];
        assert_eq!(timed["by_wave"].as_array().map(Vec::len), Some(waves), "{name}");
        let picture = dir.path().join("t.svg");
        let picture = picture.to_str().expect("ASCII");
        gcn(&["timeline", path, "--args", spec, "-o", picture]).text();
        let drawn = std::fs::read_to_string(picture).expect("a picture");
        let rows =
            (0..2).flat_map(|group| (0..256 / lanes).map(move |wave| format!("wg {group} wave {wave},")));
        for row in rows {
            assert!(drawn.contains(&row), "{name}: {row}");
        }
        assert!(!drawn.contains(&format!("wg 0 wave {},", 256 / lanes)), "{name}");

        let Some((csv, count)) = samples(path, target, lanes) else { continue };
        let annotated = |more: &[&str]| {
            let arguments = [&["annotate", path, "-", "--args", spec], more].concat();
            crate::gcn_with(&arguments, csv.as_bytes()).text()
        };
        let text = annotated(&[]);
        let head = format!(
            "{count} samples by host trap sampling of 1 dispatches; 0 at no instruction of the code, 0 of other code or \
             dispatches\n{lanes}.0 of {lanes} lanes active\n"
        );
        assert!(text.starts_with(&head), "{name}: {text}");
        let profile: serde_json::Value = serde_json::from_str(&annotated(&["--json"])).expect("JSON");
        let lines = profile["instructions"].as_array().expect("a list");
        // The instructions at which waves stall according to the model are the wait instructions.
        let waits = lines.iter().filter(|line| line["model_reasons"][0][0] == "WAITCNT");
        let text = |line: &serde_json::Value| line["text"].as_str().is_some_and(|text| text.contains("wait"));
        assert!(waits.clone().count() > 1 && waits.clone().all(text), "{name}: {profile}");
    }
}
