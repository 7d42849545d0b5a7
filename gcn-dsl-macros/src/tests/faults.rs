//! Each mistake gives one message, which is at the right tokens and suggests a remedy. Also tests what remains of a
//! kernel that has a mistake.

use proc_macro2::TokenStream;
use quote::quote;

use super::{errors, expand, in_body};

/// Checks that `body` has exactly one error and that its message contains `part`.
#[track_caller]
fn refused(body: TokenStream, part: &str) {
    let found = errors(in_body(body.clone()));
    assert_eq!(found.len(), 1, "{body}: {found:#?}");
    assert!(found[0].contains(part), "{body}: {}", found[0]);
}

#[test]
fn registers_that_do_not_exist() {
    for (name, part) in [
        (quote!("vcc"), "`vcc` names no registers"),
        (quote!("v256"), "the last one is `v255`"),
        (quote!("s102"), "the last one is `s101`"),
        (quote!("v[9:8]"), "ends before it begins"),
        (quote!("a[0:32]"), "at most 32 registers"),
        (quote!("v[11:12]"), "a multiple of 2, as in `v[10:11]`"),
        (quote!("s[6:9]"), "a multiple of 4, as in `s[4:7]`"),
        (quote!(v10), "write `#[register("),
    ] {
        refused(quote!(#[register(#name)] let p = a;), part);
    }
    refused(quote!(#[register("v10")] let (p, q) = a;), "one name for the registers");
}

#[test]
fn statements_that_kernels_do_not_have() {
    for (statement, part) in [
        ("break;", "outside of a loop"),
        ("continue;", "outside of a loop"),
        ("while a > 1 { break 'l; }", "no loop or block labelled `'l`"),
        ("'l: { continue 'l; }", "leave it with `break`"),
        ("while a > 1 { break 3; }", "assign it to a variable"),
        ("return 3;", "returns nothing"),
        ("f(if c { return } else { 3 });", "give the value a name"),
        ("match a { box p => {} _ => {} }", "is a constant, a range"),
        ("match a { (p | q) | [] => {} }", "write an arm for each"),
        ("match a { &p => {} }", "remove the `&` or `ref`"),
        ("if let Some(ref p) = q { f(p); }", "remove the `&` or `ref`"),
        ("while let &Some(p) = q { f(p); }", "remove the `&` or `ref`"),
        ("if let Some(p) = q && a > 1 { f(p); }", "match on a tuple"),
        ("let Some(p) = q else { f() };", "ends with `return`"),
        ("let p; f(p); p = 3;", "may have no value here"),
        ("let (p, q);", "declares one name"),
        ("async { f() };", "`async`"),
        ("f().await;", "`.await`"),
        ("f()?;", "else { return };"),
        ("#[pipeline] for i in [1, 2] { f(i); }", "write `#[unroll] for`"),
        ("for (i, j) in 0..4 { f(i); }", "plain name or `_`"),
        ("for i in (0..4).step_by(2).rev() { f(i); }", "`.rev()` and `.step_by(k)` in this order"),
        ("let p = |mut q| q;", "its own `let mut`"),
        ("let mut n: u128 = 3;", "use `comptime { … }`"),
        ("p.x = 3;", "declare it with `let mut`"),
        ("f() = 3;", "elements `a[i]`"),
        ("let mut p = a; let q = &mut p;", "the argument of a call"),
        ("let mut p = (a, a); f(&mut p.0, &mut p.0);", "lent already"),
        ("let mut p = (a, (a, a)); f(&mut p.1.0, &mut p.1);", "lent already"),
        ("f(&mut a[3]);", "only a device variable"),
        ("q = 3;", "declare it with `let mut q = …`"),
        ("a += 3;", "declare it with `let mut a = …`"),
    ] {
        refused(statement.parse().unwrap(), part);
    }
}

#[test]
fn closures_cannot_depend_on_which_lanes_run() {
    for (body, part) in [
        ("if a < 1 { p = 2; }", "assign it outside"),
        ("return 3", "not available in a closure"),
        ("p = 3", "assign it outside"),
        ("t[0] = 3", "assign it outside"),
    ] {
        let body: TokenStream = body.parse().unwrap();
        refused(quote! { let mut p = 1; let mut t = [0; 2]; let g = || #body; }, part);
    }
    let fine = errors(in_body(quote! {
        let g = |k| {
            let mut p = k;
            p += 1;
            y[a] = p;
            comptime if N > 1 { f(); }
            if a < 1 { 2 } else { match a { 0 => 3, _ => 4 } }
        };
        let h = || loop { if f() { break; } for i in 0..a { while a < i {} } };
    }));
    assert_eq!(fine, Vec::<String>::new());
}

#[test]
fn a_variable_has_a_value_on_every_way_out_of_a_loop() {
    for (body, part) in [
        ("let v; loop { if a > 1 { break; } v = 1; break; } y[a] = v;", "may have no value here"),
        ("let v; 'out: { if a > 1 { break 'out; } v = 1; } y[a] = v;", "may have no value here"),
        (
            "let v; 'out: loop { loop { if a > 1 { break 'out; } break; } v = 1; break; } y[a] = v;",
            "may have no value here",
        ),
        ("let mut v; while a > 1 { v = 1; } y[a] = v;", "may have no value here"),
        ("let v; { let v; v = 1; } y[a] = v;", "may have no value here"),
        ("let v; loop { v = 1; if a > 1 { break; } } y[a] = v;", "next trip of the loop"),
        ("let v; loop { v = 1; if a > 1 { continue; } break; } y[a] = v;", "next trip of the loop"),
        ("let v; for i in 0..a { v = i; }", "next trip of the loop"),
        ("let v; if a > 1 { v = 1; } v = 2; y[a] = v;", "declare it with `let mut v`"),
    ] {
        refused(body.parse().unwrap(), part);
    }
    let fine = errors(in_body(quote! {
        let v; loop { v = 1; break; }
        let mut w; loop { w = f(); if w > 1 { break; } }
        let x; 'out: loop { loop { if a > 1 { x = 1; break 'out; } if a > 2 { x = 2; break 'out; } } }
        let z; 'b: { if a > 1 { z = 1; break 'b; } z = 2; }
        let u; loop { if a > 1 { return; } if a > 3 { continue; } u = 1; break; }
        y[a] = v + w + x + z + u;
    }));
    assert_eq!(fine, Vec::<String>::new());
}

#[test]
fn attributes_without_effect() {
    refused(
        quote! { #[unrol] for i in 0..4 { f(i); } },
        "`#[unroll]`, `#[pipeline]` and `#[ping_pong]` before `for`",
    );
    refused(
        quote! { #[unroll] while a < 1 {} },
        "`#[unroll]`, `#[pipeline]` and `#[ping_pong]` before `for`",
    );
    refused(quote! { #[unroll(4)] for i in 0..4 { f(i); } }, "takes no arguments");
    refused(quote! { #[unroll(1)] while a > 1 { f(a); } }, "one trip at a time");
    let declared = |attrs: TokenStream| errors(quote! { #attrs fn k() {} }).join("|");
    assert!(declared(quote! { #[workgroup(64)] #[inline] }).contains("unknown attribute"));
    assert!(declared(quote! { #[workgroup(64)] #[workgroup(32)] }).contains("already"));
    assert!(declared(quote! { #[workgroup(64)] #[targets] }).contains("#[targets(gfx90a, gfx942)]"));
    assert!(declared(quote! { #[workgroup(1, 2, 3, 4)] }).contains("one to three sizes"));
    assert!(declared(quote! { #[workgroup(0)] }).contains("at least 1"));
    assert_eq!(declared(quote! { #[workgroup(1024)] #[allow(unused)] #[cfg(all())] }), "");
}

#[test]
fn loops_that_cannot_be_pipelined() {
    for (statement, part) in [
        ("#[pipeline(stages = 1)] for i in 0..a { f(i); }", "at least 2 stages"),
        ("#[pipeline(stages = 9)] for i in 0..a { f(i); }", "at most 8 stages"),
        ("#[pipeline(2)] for i in 0..a { f(i); }", "write `#[pipeline(stages = 2)]`"),
        ("#[pipeline(stages = 2, stages = 3)] for i in 0..a { f(i); }", "write `#[pipeline(stages = 2)]`"),
        ("#[pipeline(stages = 2 buffers = 2)] for i in 0..a { f(i); }", "write `#[pipeline(stages = 2)]`"),
        ("#[pipeline()] for i in 0..a { f(i); }", "write `#[pipeline(stages = 2)]`"),
        ("#[pipeline(buffers = 3)] for i in 0..a { f(i); }", "1 or 2 buffers in LDS"),
        ("#[pipeline(stages = 2)] while a < 1 {}", "not known before a trip ends"),
        ("#[unroll] #[pipeline(stages = 2)] for i in 0..4 { f(i); }", "keep one of the attributes"),
        ("#[pipeline(stages = 2)] let b = a;", "stands before a `for`"),
        ("#[pipeline(stages = 2)] for i in 0..a { if i == 3 { break; } }", "`break` leaves a trip"),
        ("#[pipeline(stages = 2)] for i in 0..a { if i == 3 { return; } }", "`return` leaves a trip"),
        ("#[schedule(manual)] { #[pipeline(stages = 2)] for i in 0..a { f(i); } }", "the written one"),
    ] {
        let statement: TokenStream = statement.parse().unwrap();
        refused(quote! { #statement }, part);
    }
    let fine =
        quote! { #[pipeline(stages = N + 1)] for i in 0..a { for j in 0..i { if j == 3 { break; } } } };
    assert_eq!(errors(in_body(fine)), Vec::<String>::new());
    for attr in [
        "#[pipeline]",
        "#[pipeline(buffers = 2)]",
        "#[pipeline(stages = N, buffers = M)]",
        "#[pipeline(buffers = 1, stages = 8)]",
    ] {
        let attr: TokenStream = attr.parse().unwrap();
        assert_eq!(errors(in_body(quote! { #attr for i in 0..a { f(i); } })), Vec::<String>::new());
    }
}

#[test]
fn phases_that_waves_would_not_share() {
    for (statement, part) in [
        ("#[ping_pong] for i in 0..a { f(i); }", "in one or more blocks with `#[matrix]`"),
        ("#[ping_pong] while a < 1 { f(a); }", "stands before a `for`"),
        ("#[ping_pong(2)] for i in 0..a { #[matrix] { f(i); } }", "takes no arguments"),
        ("#[unroll] #[ping_pong] for i in 0..4 { f(i); }", "has none on the device"),
        ("#[matrix] { f(a); }", "a statement of the body of a `#[ping_pong] for` itself"),
        ("#[ping_pong] for i in 0..a { #[matrix] { #[matrix] { f(i); } } }", "not in another phase"),
        (
            "#[ping_pong] for i in 0..a { if i == 1 { #[matrix] { f(i); } } }",
            "not in another phase, branch or loop",
        ),
        (
            "#[ping_pong] for i in 0..a { for j in 0..i { #[matrix] { f(j); } } }",
            "not in another phase, branch or loop",
        ),
        ("#[ping_pong] for i in 0..a { #[matrix] { f(i); } if i == 3 { break; } }", "`break` leaves a trip"),
        ("#[ping_pong] for i in 0..a { #[matrix] { if i == 3 { return; } } }", "`return` leaves a trip"),
        ("#[schedule(manual)] { #[ping_pong] for i in 0..a { #[matrix] { f(i); } } }", "the written one"),
    ] {
        let statement: TokenStream = statement.parse().unwrap();
        refused(quote! { #statement }, part);
    }
    let fine = quote! {
        #[ping_pong] for i in 0..a { #[unroll] for j in 0..2 { #[matrix] { for k in 0..i { if k == j { break; } } } } }
    };
    assert_eq!(errors(in_body(fine)), Vec::<String>::new());
}

#[test]
fn declarations() {
    let found = |signature: &str| {
        let signature: TokenStream = signature.parse().unwrap();
        errors(quote! { #[workgroup(64)] #signature {} })
    };
    for (signature, part) in [
        ("async fn k()", "`async`"),
        ("unsafe fn k()", "remove the word"),
        ("const fn k()", "remove the word"),
        ("extern \"C\" fn k()", "remove the ABI"),
        ("fn k() -> u32", "write results to a `&mut [T]`"),
        ("fn k<T>(#[host] n: u32)", "generic over constants only"),
        ("fn k<'a>()", "no lifetimes"),
        ("fn k() where u32: Copy", "no `where` clause"),
        ("fn k(x: &f32)", "`&[T]`"),
        ("fn k(x: &(f32, f32))", "`name: T`"),
        ("fn k((x, y): u32)", "plain name"),
        ("fn k(mut x: u32)", "let mut x = arg;"),
        ("fn k(self)", "no `self`"),
        ("fn k(n: usize)", "`usize` exists on the host only"),
        ("fn k(x: &[Option<f32>])", "the host and the device cannot share an `Option`"),
        ("fn k(x: Option<f32>)", "a `#[host]` parameter"),
    ] {
        let found = found(signature);
        assert_eq!(found.len(), 1, "{signature}: {found:#?}");
        assert!(found[0].contains(part), "{signature}: {}", found[0]);
    }
    let all = found("unsafe fn k(x: &f32, n: usize) -> u32");
    assert_eq!(all.len(), 4, "all faults are reported at once: {all:#?}");
}

#[test]
fn what_uses_a_faulty_kernel_does_not_err_as_well() {
    for input in [
        quote! { #[workgroup(64)] pub fn k<const N: usize>(x: &mut [f32]) { break; } },
        quote! { #[workgroup(64)] pub fn k<const N: usize>(x: &mut [f32]) { let = 3; } },
        quote! { pub fn k<const N: usize>(x: &mut [f32]) { y[0] = 1.0; } },
    ] {
        let text = expand(input);
        assert!(text.contains("pubstructk<constN:usize>;"), "{text}");
        assert!(text.contains("typeArgs<'a>=(&'amut[f32],);"), "{text}");
        assert!(text.contains("unreachable!"), "{text}");
        assert_eq!(text.matches("compile_error!").count(), 1, "{text}");
    }
}

#[test]
fn a_missing_instruction_does_not_hide_the_body_from_rustc() {
    let text = expand(quote! {
        #[workgroup(64)] #[targets(gfx900)] fn k(x: &[f32]) { v_accvgpr_read_b32(x[0]); }
    });
    assert!(text.contains("(v_accvgpr_read_b32(::gcn_dsl::__private::load(&x,0)))."), "{text}");
    assert!(text.contains("doesnotexistongfx900"), "{text}");
}

#[test]
fn instructions_that_all_targets_have_are_fine() {
    let found = errors(quote! {
        #[workgroup(64)] #[targets(gfx900, gfx942)] fn k(x: &[f32]) { isa::v_exp_f32(x[0]); not_an_instruction(); }
    });
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn other_ways_of_using_an_instruction_are_looked_up_too() {
    let found = errors(quote! {
        #[workgroup(64)] #[targets(gfx908, gfx90a)]
        fn k(x: &[f32]) {
            isa::v_mov_b32_dpp(x[0], x[0], o);
            isa::v_fmac_f64_dpp(x[0], x[0], x[0], o);
            isa::buffer_atomic_add_f64_rtn_with(x[0], x, x, 0, 0, o);
        }
    });
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("`v_fmac_f64_dpp` does not exist on gfx908"), "{}", found[0]);
    assert!(found[1].contains("`buffer_atomic_add_f64_rtn_with` does not exist on gfx908"), "{}", found[1]);
}

#[test]
fn input_that_is_no_kernel() {
    for (input, part) in [
        ("", "empty"),
        ("struct X;", "write `#[device] struct …`"),
        ("#[workgroup(64)] fn k(x: &[f32]);", "a kernel looks like"),
        ("#[workgroup(64)] fn k() { let = 3; }", "the body of `k` does not parse as Rust"),
    ] {
        let found = errors(input.parse().unwrap());
        assert_eq!(found.len(), 1, "{input}: {found:#?}");
        assert!(found[0].contains(part), "{input}: {}", found[0]);
    }
}

/// The library's limits, which apply when the kernel is built to values that are not literals.
#[path = "../../../gcn-dsl/src/ir/pipeline/stages.rs"]
mod stages;

#[test]
fn literal_stages_have_the_limits_of_all_others() {
    let (least, most) = stages::STAGES.into_inner();
    for n in 0..=most + 2 {
        let n = proc_macro2::Literal::u8_unsuffixed(n);
        let found = errors(in_body(quote! { #[pipeline(stages = #n)] for k in 0..a { y[k] = x[k]; } }));
        let fits = (least..=most).contains(&n.to_string().parse().unwrap());
        assert_eq!(found.is_empty(), fits, "{n}: {found:?}");
    }
}
