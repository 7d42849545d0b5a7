//! Correct kernels compiled by Triton 3.9.0: every mode accepts them, and sanitizers report at most notes.
//!
//! Each kernel was once wrongly refused or reported: because of undefined halves of 64-bit operands, or because waves store the same value.
//! The tests of `gcn-tools` run 84 others.

use std::io::Read;

use gcn_isa::hazards::{Config, Grade};
use gcn_sim::launch::{Program, Spec};
use gcn_sim::{FindingKind, Mode, Options, Sanitize};

/// A kernel, its spec, and whether its waves store the same values without order.
const KERNELS: [(&[u8], &str, bool); 2] = [
    (
        include_bytes!("../data/triton-hist.gfx942.hsaco.gz"),
        r#"{"kernel": "hist", "grid": [3, 1, 1], "workgroup": [256, 1, 1], "dynamic_lds": 256, "args": [
            {"buffer": "i32", "shape": [3000], "init": {"random": {"seed": 1, "min": 0, "max": 63}}, "out": true},
            {"buffer": "i32", "shape": [64], "out": true}, {"i32": 3000}, null, null]}"#,
        true,
    ),
    (
        include_bytes!("../data/triton-cast_float32_float8_e4m3fn.gfx950.hsaco.gz"),
        r#"{"kernel": "cast", "grid": [4, 1, 1], "workgroup": [256, 1, 1], "args": [
            {"buffer": "f32", "shape": [4096], "init": "random", "out": true},
            {"buffer": "u8", "count": 4096, "out": true}, null, null]}"#,
        false,
    ),
];

#[test]
fn right_kernels_pass_strict_mode_and_the_sanitizers() {
    for (packed, spec, notes) in KERNELS {
        let mut object = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut object).unwrap();
        let program = Program::load(&object, None).unwrap();
        let spec = Spec::from_json(spec).unwrap();
        let run = |options: &Options| {
            let mut prepared = program.prepare(&spec, ".".as_ref()).unwrap();
            let stats = prepared.run(options).unwrap_or_else(|e| panic!("{}: {e}", program.name()));
            let outputs: Vec<Vec<u8>> = prepared.outputs().unwrap().into_iter().map(|o| o.bytes).collect();
            (stats, outputs)
        };
        let (_, expected) = run(&Options::default());
        let documented = Config::at_least(Grade::Documented);
        for mode in [Mode::Strict, Mode::Faithful] {
            let (stats, outputs) = run(&Options { mode, rules: documented, ..Options::default() });
            assert!(stats.stale.is_empty(), "{}: {}", program.name(), stats.stale[0]);
            assert!(outputs == expected, "{}: {mode:?}", program.name());
        }
        let (stats, outputs) =
            run(&Options { sanitize: Sanitize::all(), findings: 100, ..Options::default() });
        assert!(outputs == expected, "{}", program.name());
        let fault = stats.findings.iter().find(|f| f.kind != FindingKind::SameValue);
        assert!(fault.is_none(), "{}: {}", program.name(), fault.unwrap());
        assert_eq!(!stats.findings.is_empty(), notes, "{}", program.name());
    }
}
