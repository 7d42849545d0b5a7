//! Reports contain source lines: for compiled code from its DWARF, for assembly the lines of the assembly file.

use std::io::Read as _;

use gcn_emit::asm::{Options as AsmOptions, assemble};
use gcn_sim::launch::{Arg, Buffer, Element, Error, Number, Prepared, Program, Spec};
use gcn_sim::{Options, Sanitize, SimError, timed};

/// A kernel of `debug.cl`, whose lines are known from llvm-symbolizer: `gcn-emit/tests/data/lines/debug.tsv`.
fn compiled(kernel: &str, spec: &Spec) -> Prepared {
    let mut bytes = Vec::new();
    let packed = &include_bytes!("../data/debug.co.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    Program::load(&bytes, Some(kernel)).unwrap().prepare(spec, ".".as_ref()).unwrap()
}

fn past_the_end(n: i128) -> Prepared {
    let spec = Spec::new([1, 1, 1], [64, 1, 1])
        .next(Buffer::iota(Element::I32, 64))
        .next(Arg::Scalar(Element::I32, Number::Int(n)));
    compiled("past_the_end", &spec)
}

#[test]
fn an_access_out_of_bounds_of_compiled_code_names_the_line() {
    let error = past_the_end(1 << 20).run(&Options::default()).unwrap_err();
    let Error::Sim { error, .. } = error else { panic!("{error}") };
    let SimError::OutOfBounds(oob) = *error else { panic!("{error}") };
    // The store of `x[i + n] =` is at 0x1944 in the table.
    assert_eq!((oob.site.offset, oob.site.line.as_deref()), (0x1944, Some("debug.cl:7:12")));
}

#[test]
fn a_race_of_compiled_code_names_both_lines() {
    let spec = Spec { dynamic_lds: 512, ..Spec::new([1, 1, 1], [128, 1, 1]) };
    let spec = spec.next(Buffer::iota(Element::I32, 128));
    let options = Options { sanitize: Sanitize::RACES, findings: 8, ..Options::default() };
    let stats = compiled("race", &spec).run(&options).unwrap();
    let lines: Vec<_> = stats
        .findings
        .iter()
        .map(|f| (f.party.site.line.clone().unwrap(), f.other.as_ref().unwrap().site.line.clone().unwrap()))
        .collect();
    assert!(!lines.is_empty());
    // The lines of `shared[i] = x[i]` and `x[i] = shared[(i + 64) & 127]`.
    for (one, other) in lines {
        let mut both = [one.as_str(), other.as_str()].map(|line| line.split(':').nth(1).unwrap());
        both.sort_unstable();
        assert_eq!(both, ["13", "15"], "{one} {other}");
    }
}

#[test]
fn the_timed_listing_has_the_lines() {
    let listing = past_the_end(0).run_timed(&timed::Config::default()).unwrap().listing();
    let headings: Vec<_> = listing.lines().filter(|line| line.ends_with(':')).collect();
    // The lines in the table, up to `s_endpgm` at 0x194c.
    let expected = [
        "debug.cl:5:11:",
        "debug.cl:6:16:",
        "debug.cl:5:11:",
        "debug.cl:6:16:",
        "debug.cl:7:3:",
        "parts/step.h:4:10:",
        "debug.cl:7:12:",
        "debug.cl:9:1:",
    ];
    assert_eq!(headings, expected, "{listing}");
}

/// A kernel of these lines, the first of which is line 1.
fn assembled(body: &str) -> Program {
    let text = format!(
        "{body}
.globl k
.type k,@function
.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
.amdhsa_code_object_version 5
.rodata
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
"
    );
    let options = AsmOptions {
        keep_instructions: true,
        target: Some("gfx942".parse().unwrap()),
        ..AsmOptions::default()
    };
    let assembly = assemble("k.s", &text, &options).unwrap_or_else(|e| panic!("{e}"));
    let (bytes, lines) = assembly.code_object_with_lines("k.s").unwrap();
    Program::load(&bytes, None).unwrap().with_lines(lines)
}

#[test]
fn reports_about_assembly_name_its_lines() {
    // A fault found when loading, a missing wait, a trap, and an unknown instruction.
    let cases: [(&str, Options, &[&str]); 3] = [
        (
            "k:\n s_load_dword s2, s[0:1], 0x0\n\n s_add_u32 s3, s2, s2\n s_endpgm",
            Options::strict(),
            &["k.s:2", "k.s:4"],
        ),
        ("k:\n\n s_trap 2\n s_endpgm", Options::default(), &["k.s:3"]),
        ("k:\n v_mov_b32 v9, 0\n s_endpgm", Options::default(), &["k.s:2", "names v9"]),
    ];
    for (body, options, expected) in cases {
        let spec = Spec { rest_zero: true, ..Spec::new([1, 1, 1], [64, 1, 1]) };
        let mut prepared = assembled(body).prepare(&spec, ".".as_ref()).unwrap();
        let error = prepared.run(&options).unwrap_err().to_string();
        assert!(expected.iter().all(|e| error.contains(e)), "{error}");
    }
    let spec = Spec { rest_zero: true, ..Spec::new([1, 1, 1], [64, 1, 1]) };
    let early = "k:\n s_load_dword s2, s[0:1], 0x0\n s_add_u32 s3, s2, s2\n s_endpgm";
    let stats = assembled(early).prepare(&spec, ".".as_ref()).unwrap().run(&Options::faithful()).unwrap();
    let hazard = &stats.stale[0].hazard;
    assert_eq!((hazard.first.line.as_deref(), hazard.second.line.as_deref()), (Some("k.s:2"), Some("k.s:3")));
}
