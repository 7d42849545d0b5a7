//! Tests each rule of the expansion: the tokens that a statement becomes.

use proc_macro2::TokenStream;
use quote::quote;

use super::body;

/// Checks that `input` expands to `expected`, token for token. In `expected`, `lang` stands for `::gcn_dsl::__private`
/// and `flow` for the flow token.
#[track_caller]
fn becomes(input: TokenStream, expected: &str) {
    let text = body(input.clone());
    let expected: String = expected
        .split_whitespace()
        .collect::<String>()
        .replace("lang::", "::gcn_dsl::__private::")
        .replace("&flow", "&__gcn_flow")
        .replace("let~flow", "let__gcn_flow");
    assert!(text.contains(&expected), "{input}\nshould become\n{expected}\nbut the expansion is\n{text}");
}

#[test]
fn lets() {
    becomes(quote! { let p = a; }, "let p = a;");
    becomes(quote! { let p: V<f32> = 1.0; }, "let p = lang::annotate::<V<f32>,_>(1.0);");
    becomes(quote! { let p: f16 = h; }, "let p = lang::of_type::<f16,_>(h);");
    becomes(quote! { let p: half::bf16 = h; }, "let p = lang::of_type::<half::bf16,_>(h);");
    becomes(quote! { let p: [[u32; 2]; 3] = h; }, "let p = lang::of_type::<[[u32; 2]; 3],_>(h);");
    becomes(quote! { let p: usize = N; }, "let p: usize = N;");
    becomes(quote! { let p: &str = s; }, "let p: &str = s;");
    becomes(quote! { let (p, q) = (a, x[a]); }, "let (p, q) = (a, lang::load(&x, a),);");
    becomes(quote! { #[allow(unused)] let p = a; }, "#[allow(unused)] let p = a;");
    becomes(
        quote! { let mut p: f32 = 0.0; p += y[a]; },
        "let mut p = lang::Var::declare(&flow, lang::annotate::<::gcn_dsl::V<f32>,_>(0.0));",
    );
    becomes(
        quote! { let mut p: V<u32> = 0; },
        "let mut p = lang::Var::declare(&flow, lang::annotate::<V<u32>,_>(0));",
    );
}

#[test]
fn scopes() {
    becomes(quote! { let mut p = 1; { let p = 2; f(p); } f(p); }, "{ let p = 2; f(p); } f(p.get());");
    becomes(
        quote! { let mut i = 1; for i in 0..a { f(i); } f(i); },
        "let i = __gcn_loop.index(); f(i); } if lang::traced() { break; } } let (__gcn_left, __gcn_returned)
         = (__gcn_loop.kind(), lang::Leave::together()); __gcn_loop.end(&__gcn_left, &__gcn_returned) } f(i.get());",
    );
    becomes(quote! { let mut i = 1; let g = |i| i + 1; f(i); }, "let g = |i| { i + 1 }; f(i.get());");
    becomes(quote! { let mut p = 1; let (p, q) = (p, 3); f(p); }, "let (p, q) = (p.get(), 3,); f(p);");
    becomes(quote! { let mut a = a; f(a); }, "let mut a = lang::Var::declare(&flow, a); f(a.get());");
}

#[test]
fn assignments() {
    becomes(quote! { let mut p = 1; p = a; }, "p.set(&flow, a);");
    becomes(quote! { let mut p = 1; p <<= a; }, "p.set(&flow, p.get() << (a));");
    becomes(quote! { y[a] = 1.0; }, "lang::store(&y, a, 1.0);");
    becomes(quote! { t[1][a] = 1.0; }, "lang::store(&lang::place_at(&t, 1), a, 1.0);");
    becomes(
        quote! { y[a] *= 2.0; },
        "{ let (__gcn_base, __gcn_index) = (&y, a);
           lang::store(__gcn_base, __gcn_index, lang::load(__gcn_base, __gcn_index) * (2.0)) };",
    );
    becomes(quote! { *p = a; }, "lang::store_deref(p, a);");
    becomes(
        quote! { *p += a; },
        "{ let __gcn_pointer = p; lang::store_deref(__gcn_pointer, lang::load_deref(__gcn_pointer) + (a)) };",
    );
    becomes(
        quote! { let mut t = [0; 2]; t[1] -= a; },
        "t.set_part(&flow, |__gcn_whole| &mut __gcn_whole[1], t.get()[1] - (a));",
    );
    becomes(
        quote! { let mut t = p; t.q[f(a)].0 = a; },
        "{ let __gcn_index1 = f(a); let __gcn_new = a; t.change(&flow, |__gcn_whole, __gcn_here| \
           lang::at(&mut (*__gcn_whole).q, __gcn_index1, |__gcn_element0| \
           lang::put(&mut (*__gcn_element0).0, ::core::clone::Clone::clone(&__gcn_new), __gcn_here))) };",
    );
    becomes(
        quote! { let (mut p, q) = a; p += q; },
        "let (p, q) = a; let mut p = lang::Var::declare(&flow, p); p.set(&flow, p.get() + (q));",
    );
    becomes(
        quote! { let mut t = p; (t, y[a]) = (a, 1.0); },
        "{ let (__gcn_part1_0, __gcn_part1_1,) = (a, 1.0,); t.set(&flow, __gcn_part1_0);
           lang::store(&y, a, __gcn_part1_1); };",
    );
    becomes(quote! { let mut t = p; f(&mut t, t); }, "f(t.lend(&flow), t.get());");
    becomes(quote! { _ = f(a); }, "let _ = f(a);");
}

#[test]
fn reads() {
    becomes(quote! { f(x[a]); }, "f(lang::load(&x, a));");
    becomes(quote! { f(t[0][a + 1]); }, "f(lang::load(&lang::load(&t, 0), a + 1));");
    becomes(quote! { f(*p); }, "f(lang::load_deref(p));");
    becomes(
        quote! { f(unsafe { *p }); *p = a; },
        "f({ lang::unsafe_load_deref(p) }); lang::store_deref(p, a);",
    );
    becomes(
        quote! { unsafe { *p += a; } },
        "{ { let __gcn_pointer = p; \
           lang::unsafe_store_deref(__gcn_pointer, lang::unsafe_load_deref(__gcn_pointer) + (a)) }; }",
    );
    // A `comptime` block is host code and stays unchanged.
    becomes(quote! { comptime { unsafe { f(*p) } } }, "{ unsafe { f(*p) } }");
    becomes(quote! { let mut p = 1; f(&p, x[p]); }, "f(&p.get(), lang::load(&x, p.get()));");
}

#[test]
fn operators() {
    for (operator, name) in [("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"), ("==", "eq"), ("!=", "ne")]
    {
        let input: TokenStream = format!("f(a {operator} x[a]);").parse().unwrap();
        becomes(input, &format!("f(lang::{name}(a, lang::load(&x, a)));"));
    }
    becomes(
        quote! { f(a == 1 || a == 2 && !(a > 3)); },
        "f(lang::or(lang::eq(a, 1), lang::and(lang::eq(a, 2), !(lang::gt(a, 3)))));",
    );
    // If syntax does not show whether the right side has effects, only the lanes that need it evaluate it.
    for right in [quote!(g()), quote!(b.max(a) > 3)] {
        let left = "let __gcn_left = lang::or_begin(lang::eq(a, 1), &__gcn_flow);";
        becomes(quote! { f(a == 1 || #right); }, left);
    }
    becomes(
        quote! { f(a == 1 && x[a] > 2); },
        "::core::option::Option::Some(__gcn_flow) => ::core::option::Option::Some(lang::gt(lang::load(&x, a), 2)),",
    );
    becomes(quote! { f(a == 1 && 8 / a > 2); }, "__gcn_left.end(__gcn_right)");
    for operator in ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"] {
        let input: TokenStream = format!("f(a {operator} x[a]);").parse().unwrap();
        becomes(input, &format!("f(a {operator} lang::load(&x, a));"));
    }
    becomes(quote! { f(!a, -a); }, "f(!a, -a);");
    becomes(quote! { f(a as u64 as f32); }, "f(lang::cast::<f32,_>(lang::cast::<u64,_>(a)));");
}

#[test]
fn precedence_survives() {
    becomes(quote! { f((a + 1) * -(a - 1)); }, "f((a + 1) * (-(a - 1)));");
    becomes(
        quote! { f(if a < 1 { 2 } else { 3 } + 4); },
        "__gcn_else.end(__gcn_then_value, __gcn_else_value) }) + 4);",
    );
    becomes(quote! { f((a + 1).min(3)); }, "f((a + 1).min(3));");
    becomes(quote! { f(-a.min(3)); }, "f(-a.min(3));");
}

#[test]
fn branches() {
    becomes(
        quote! { if a < 1 { f(); } },
        "{ let __gcn_if = lang::if_begin(lang::lt(a, 1), &flow);
           { let~flow = __gcn_if.flow(); f(); } __gcn_if.end() }",
    );
    becomes(
        quote! { let p = if c { 1 } else if d { 2 } else { 3 }; },
        "let p = { let __gcn_if = lang::if_begin(c, &flow);
           let __gcn_then_value = { let~flow = __gcn_if.flow(); lang::literal(1) };
           let __gcn_else = __gcn_if.otherwise();
           let __gcn_else_value = { let~flow = __gcn_else.flow();
             { let __gcn_if2 = lang::if_begin(d, &flow);
               let __gcn_then_value = { let~flow = __gcn_if2.flow(); lang::literal(2) };
               let __gcn_else2 = __gcn_if2.otherwise();
               let __gcn_else_value = { let~flow = __gcn_else2.flow(); lang::literal(3) };
               __gcn_else2.end(__gcn_then_value, __gcn_else_value) } };
           __gcn_else.end(__gcn_then_value, __gcn_else_value) };",
    );
}

#[test]
fn loops() {
    becomes(
        quote! { while x[a] > 1.0 { f(); } },
        "{ let __gcn_loop = lang::while_begin(&flow, false);
           let __gcn_cond = { let~flow = __gcn_loop.flow(); lang::gt(lang::load(&x, a), 1.0) };
           let __gcn_loop = __gcn_loop.test(__gcn_cond, false);
           loop { { let~flow = __gcn_loop.flow(); f(); } if lang::traced() { break; } }
           let (__gcn_left, __gcn_returned) = (__gcn_loop.kind(), lang::Leave::together());
           __gcn_loop.end(&__gcn_left, &__gcn_returned) }",
    );
    for (range, call) in [
        ("0..a", "range(lang::literal(0), a)"),
        ("0..=a", "range_inclusive(lang::literal(0), a)"),
        ("(0..a).step_by(4)", "range(lang::literal(0), a).step_by(lang::literal(4))"),
        ("(0..=a).rev().step_by(4)", "range_inclusive(lang::literal(0), a).rev().step_by(lang::literal(4))"),
    ] {
        let input: TokenStream = format!("for i in {range} {{ f(i); }}").parse().unwrap();
        becomes(
            input,
            &format!(
                "{{ let __gcn_loop = lang::for_begin(lang::{call}, &flow, false, false);
                   loop {{ {{ let~flow = __gcn_loop.flow(); let i = __gcn_loop.index(); f(i); }}
                   if lang::traced() {{ break; }} }} let"
            ),
        );
    }
    becomes(quote! { for _ in 0..a {} }, "let _ = __gcn_loop.index();");
}

#[test]
fn unrolled_loops() {
    for (range, iterator) in [
        ("0..4", "lang::unroll(0, 4)"),
        ("0..=4", "lang::unroll_inclusive(0, 4)"),
        ("(0..N).step_by(4)", "lang::unroll(0, N).step_by(4)"),
        ("TABLE.iter().rev()", "TABLE.iter().rev()"),
        ("[1, 2]", "[1, 2]"),
    ] {
        let input: TokenStream = format!("#[unroll] for i in {range} {{ f(x[i]); }}").parse().unwrap();
        becomes(input, &format!("for i in {iterator} {{ f(lang::load(&x, i)); }}"));
    }
    becomes(
        quote! { #[unroll] for (i, w) in TABLE.iter().enumerate() {} },
        "for (i, w) in TABLE.iter().enumerate() {}",
    );
}

#[test]
fn host_time_blocks() {
    becomes(
        quote! { let n = comptime { let mut k = 1; loop { k += 1; if k == 5 { break k; } } }; },
        "let n = { let mut k = 1; loop { k += 1; if k == 5 { break k; } } };",
    );
    becomes(quote! { f(1 + comptime { N * 2 }); }, "f(lang::literal(1) + ({ N * 2 }));");
    becomes(quote! { comptime { assert!(N > 3); } f(); }, "{ assert!(N > 3); } f();");
    becomes(
        quote! { comptime if N == 1 { f(x[a]); } else if N < 3 { g(); } else { y[a] = 1.0; } },
        "if N == 1 { f(lang::load(&x, a)); } else if N < 3 { g(); } else { lang::store(&y, a, 1.0); }",
    );
    becomes(quote! { let comptime = 3; f(comptime); }, "let comptime = 3; f(comptime);");
}

#[test]
fn rustc_is_asked_what_a_call_needs() {
    let asked =
        |call: &str| format!("lang::Call({call}).in_a_kernel::<_, lang::AnyTarget, lang::AnyTarget>(&flow)");
    becomes(quote! { barrier(); }, &asked("barrier()"));
    becomes(quote! { sync(); }, &asked("sync()"));
    becomes(quote! { let d = gcn::mfma(p, q, x[0]); }, &asked("gcn::mfma(p, q, lang::load(&x, 0))"));
    becomes(quote! { f.barrier(); }, "f.barrier();");
    becomes(
        quote! { f(all_lanes(), a); },
        "f(lang::Call(all_lanes()).for_argument::<_, lang::AnyTarget, lang::AnyTarget>(&flow), a);",
    );
    // rustc decides whether this is a function that takes arguments or the barrier, which passes buffers to the next
    // phase.
    becomes(quote! { let p = barrier(p); }, "lang::CallWith(barrier).given(&flow, p)).in_a_kernel::<_");
    // A function that the body or the macro call declares is never the library's, even if the names are equal.
    becomes(quote! { let mfma = a; mfma(a); }, "let mfma = a; mfma(a);");
    becomes(quote! { f(); }, "f();");
    becomes(quote! { module::f(); }, &asked("module::f()"));
    let beside = super::expand(quote! {
        #[device] fn barrier() {}
        #[workgroup(64)] fn k() { barrier(); }
    });
    assert!(beside.contains("fnbarrier(){"), "{beside}");
    assert!(beside.contains("{barrier();}"), "{beside}");
    // A closure may be called anywhere, so the set of active lanes at a barrier in it is unknown.
    becomes(quote! { let c = |v: u32| barrier(); }, "(&lang::InClosure::new())");
}

#[test]
fn structure_stays_around_rewritten_parts() {
    becomes(
        quote! { let mut p = 1; f(T { p, q: x[a], ..d }); },
        "f(T { p: lang::field(p.get()), q: lang::field(lang::load(&x, a)), ..d });",
    );
    becomes(quote! { f([x[0]], [x[2]; 4]); }, "f([lang::load(&x, 0)], [lang::load(&x, 2); 4]);");
    becomes(
        quote! { F::<u32, 4>::g(x[0].0, a..b).h::<3>(x[1]); },
        "lang::Call(F::<u32, 4>::g(lang::load(&x, 0).0, a..b)).in_a_kernel::<_, lang::AnyTarget, lang::AnyTarget>(&flow).h::<3>(lang::load(&x, 1));",
    );
    becomes(quote! { let g = |j| x[j] + 1.0; }, "let g = |j| { lang::load(&x, j) + 1.0 };");
    becomes(
        quote! { assert_eq!(x[0], 1); },
        "if false { lang::Asserted(&lang::load(&x, 0)).is_of_host(); } \
         assert_eq!(x[0], 1)",
    );
    becomes(
        quote! { f([p, 1.0]); },
        "let __gcn_element1 = p; let __gcn_elements2 = lang::like(&__gcn_element1); \
         [(&lang::Element::of(__gcn_element1, &__gcn_elements2)).element(), lang::alike(&__gcn_elements2, 1.0)]",
    );
    becomes(
        quote! { const C: u32 = T[0]; fn host(x: u32) -> u32 { if x < 1 { 2 } else { x } } },
        "const C: u32 = T[0]; fn host(x: u32) -> u32 { if x < 1 { 2 } else { x } }",
    );
}

#[test]
fn exits_note_what_they_cross() {
    // The loop has to know that lanes leave under the condition `c`. The variable that records this is declared before
    // the loop.
    becomes(
        quote! { for i in 0..a { if c { break; } f(i); } },
        "{ let __gcn_exit4 = lang::Leave::new(); let __gcn_loop =",
    );
    becomes(
        quote! { for i in 0..a { if c { break; } f(i); } },
        "{ let~flow = __gcn_if2.flow(); { __gcn_exit4.note(&__gcn_if2.kind()); __gcn_loop.leave() }; } __gcn_if2.end() }
         f(i);",
    );
    // After a `continue`, only the remaining lanes execute the rest of the body.
    becomes(
        quote! { for i in 0..a { if c { continue; } f(i); } },
        "let~flow = lang::after(&flow, &__gcn_exit3, &lang::Leave::together()); f(i);",
    );
    becomes(
        quote! { if c { return; } f(a); },
        "let~flow = lang::after(&flow, &lang::Leave::together(), &__gcn_exit3); f(a);",
    );
}

#[test]
fn matches() {
    becomes(
        quote! { match a { 0 | 3..=5 => f(), k if k > 9 => g(k), _ => {} } },
        "{ let __gcn_match = a;
           if let ::core::option::Option::Some(__gcn_value) = lang::host_value(&__gcn_match) {
             match __gcn_value { 0 | 3..=5 => {} k if lang::otherwise() => {} _ => {} } }
           { let __gcn_if = lang::if_begin(lang::or(lang::is(__gcn_match, 0), lang::is_between(__gcn_match, 3, 5)), &flow);",
    );
    becomes(
        quote! { match a { 0 => f(), k => g(k) } },
        "let __gcn_else_value = { let~flow = __gcn_else.flow(); { let k = __gcn_match; g(k) } };",
    );
}
