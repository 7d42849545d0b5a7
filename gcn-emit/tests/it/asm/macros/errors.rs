//! Tests macros with errors: the message names the line of the body and those of the calls, or the limit that was exceeded. Also tests that
//! instructions know the macro calls from which they come.

use gcn_emit::asm::{Diagnostics, NoFiles, Options, assemble, assemble_readable, expand};

fn options() -> Options {
    Options { target: Some("gfx942".parse().unwrap()), keep_instructions: true, ..Options::default() }
}

fn errors(source: &str) -> Diagnostics {
    assemble("f.s", source, &options()).unwrap_err()
}

#[test]
fn an_error_names_the_line_of_the_body_and_those_of_the_calls() {
    let source = "\
.macro inner a
  s_nop 0
  s_nopp \\a
.endm
.macro outer b
  inner \\b
.endm
.rept 1
  outer 3
.endr
";
    let error = &errors(source).list[0];
    assert_eq!((error.line, error.column, error.length), (3, 3, 6));
    let notes: Vec<_> = error.notes.iter().map(|n| (n.line, n.message.as_str())).collect();
    let want = [
        (6, "in the expansion of `inner` here"),
        (9, "in the expansion of `outer` here"),
        (8, "in the expansion of `.rept` here"),
    ];
    assert_eq!(notes, want);
    let shown = error.to_string();
    // The message shows the line as it is in the file.
    assert!(shown.starts_with("f.s:3:3: error: ") && shown.contains("s_nopp 3"), "{shown}");
    assert!(shown.contains("note: f.s:6: in the expansion of `inner` here"), "{shown}");
}

/// Source, line of the error, and a part of the expected message or help.
type Case = (&'static str, u32, &'static str);

const CASES: [Case; 26] = [
    (".macro m\n", 1, "this body has no `.endm`"),
    (".rept 2\ns_nop 0\n", 1, "this body has no `.endr`"),
    (".endm\n", 1, "`.endm` outside of a macro or repetition"),
    (".exitm\n", 1, "`.exitm` outside of a macro or repetition"),
    (".macro m\n.endm\n.macro m\n.endm\n", 3, "macro `m` is already defined"),
    (".macro m\n.endm\n.macro m\n.endm\n", 3, "`.purgem`"),
    (".purgem m\n", 1, "there is no macro `m`"),
    (".macro m a:opt\n.endm\n", 1, "`opt` is not a qualifier"),
    (".macro m a a\n.endm\n", 1, "parameter `a` is given twice"),
    (".macro m a:vararg b\n.endm\n", 1, "takes the rest of the call"),
    (".macro m a:req\n.endm\nm\n", 3, "parameter `a` of macro `m` needs a value"),
    (".macro m a\n.endm\nm 1 2\n", 3, "macro `m` takes 1 values at most"),
    (".macro m a\n.endm\nm 1 2\n", 3, "parentheses or quotes"),
    (".macro m a\n.endm\nm b=2\n", 3, "macro `m` has no parameter `b`"),
    (".macro m a b\n.endm\nm a=2, 3\n", 3, "cannot be mixed"),
    (".macro m a\n.endm\nm 1=2\n", 3, "`=` cannot stand in a value"),
    (".macro m a\n.endm\nm (1\n", 3, "is not closed"),
    (".if 1\n", 1, "the condition has no `.endif`"),
    (".else\n", 1, "`.else` without `.if` or `.elseif` before it"),
    (".endif\n", 1, "`.endif` without `.if` before it"),
    (".if 1\n.else\n.elseif 1\n.endif\n", 3, "`.elseif` without"),
    (".if nothing\n.endif\n", 1, "an absolute expression is wanted"),
    (".macro m\n.if 0\n.endm\nm\ns_nop 0\n", 2, "the condition has no `.endif`"),
    (".rept -1\n.endr\n", 1, "the count has to be from 0"),
    (".altmacro\n.macro m a\n.endm\nm %x\n", 4, "an absolute expression is wanted"),
    (".include \"x\"\n", 1, "cannot read `x`: no files are read here"),
];

#[test]
fn errors_of_macros_name_the_place_and_the_remedy() {
    for (source, line, message) in CASES {
        let all = errors(source);
        let error = &all.list[0];
        let said = format!("{}; {}", error.message, error.help.as_deref().unwrap_or(""));
        assert!(error.line == line && said.contains(message), "{source}: {all}");
        assert_eq!(all.list.len(), 1, "{source}: {all}");
    }
}

#[test]
fn limits_are_named() {
    let cases = [
        (".macro m\nm\n.endm\nm\n", "macros are nested more than 20 deep"),
        (".rept 1000000000000\n.endr\n", "come to more than 67108864 bytes"),
        (".rept 2000000\n.endr\n", "come to more than 67108864 bytes"),
        (".rept 10000\n.rept 10000\ns_nop 0\n.endr\n.endr\n", "come to more than 67108864 bytes"),
        // Each call makes two calls, and each value is twice as long as the previous one.
        (
            ".macro m a\n.if 1\n.endif\nm \\a\\a\nm \\a\\a\n.endm\nm xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
            "come to more than 67108864 bytes",
        ),
        (".rept 5000000\n.long \\+\n.endr\n", "come to more than 67108864 bytes"),
    ];
    for (source, message) in cases {
        let all = errors(source);
        let found = all.list.iter().any(|d| d.message.contains(message));
        assert!(found, "{source}: {all}");
    }
}

#[test]
fn many_errors_in_one_macro_are_counted() {
    let source = ".macro m\ns_nopp 0\n.endm\n.rept 1000\nm\n.endr\n";
    let all = errors(source);
    assert_eq!((all.list.len(), all.more), (20, 980));
}

#[test]
fn instructions_know_their_line_and_their_origin() {
    let source = "\
.macro m a
  s_nop \\a
  s_nop 1
.endm
s_nop 2
m 3
.irp x, 4, 5
  m \\x
.endr
s_nop 6
";
    let assembly = assemble("f.s", source, &options()).unwrap();
    let of = |index: Option<u32>| index.map(|i| assembly.origins[i as usize].clone());
    let mut all = Vec::new();
    for inst in &assembly.instructions {
        let origin = of(inst.origin);
        let outer = origin.as_ref().and_then(|o| of(o.outer));
        all.push((inst.line, origin.map(|o| o.to_string()), outer.map(|o| o.to_string())));
    }
    let m = |line: u32| Some(format!("f.s:{line}, in `m`"));
    let irp = Some("f.s:8, in `.irp`".to_owned());
    let want = [
        (5, None, None),
        (6, m(2), None),
        (6, m(3), None),
        (7, m(2), irp.clone()),
        (7, m(3), irp.clone()),
        (7, m(2), irp.clone()),
        (7, m(3), irp.clone()),
        (10, None, None),
    ];
    assert_eq!(all, want);
}

#[test]
fn an_expanded_text_means_the_same() {
    let source = "\
k: ; start
.macro m a, b=7 ; a macro
  s_nop \\a
.if \\b > 5 /* a
 condition */
  s_nop \\b ; large
.else
  s_nop 0
.endif
.endm
.set n, 2
.rept n
  lab\\+: m n
  .set n, n + 1
.endr
here: m 1, 2 // a call
\ts_endpgm ; end
";
    let want = "\
k: ; start
.set n, 2
; .rept n
  lab0:
; m n
  s_nop n
  s_nop 7 ; large
  .set n, n + 1
  lab1:
; m n
  s_nop n
  s_nop 7 ; large
  .set n, n + 1
here:
; m 1, 2 // a call
  s_nop 1
  s_nop 0
\ts_endpgm ; end
";
    let expanded = expand("f.s", source, &options(), &NoFiles).unwrap();
    assert_eq!(expanded, want);
    let bytes = |text: &str| assemble("f.s", text, &options()).unwrap().module.sections[0].bytes.clone();
    assert_eq!(bytes(&expanded), bytes(source));
    // A text without macros is returned unchanged.
    let plain = "a: s_nop 0 /* x\n y */ ; z\r\n\n.long 1,2\n\ts_endpgm";
    assert_eq!(expand("f.s", plain, &options(), &NoFiles).unwrap(), plain);
}

#[test]
fn a_line_with_an_error_in_a_macro_is_left_out_of_all_calls() {
    let source = ".macro m a\ns_nop \\a\nnonsense \\a\ns_nop 1\n.endm\nm 0\nm 2\ns_endpgm\n";
    let salvaged = assemble_readable("f.s", source, &options()).unwrap();
    assert_eq!(salvaged.assembly.instructions.len(), 5);
    assert_eq!(salvaged.left_out.iter().map(|d| d.line).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_byte_order_mark_is_understood() {
    let source = "\u{feff}s_nop 0\ns_nopp\n";
    let error = &errors(source).list[0];
    assert_eq!((error.line, error.column), (2, 1));
    let error = &errors("\u{feff}s_nopp\n").list[0];
    assert_eq!((error.line, error.column), (1, 1));
}
