//! Tests of the shape of the expansion, and of rejected input.

use quote::quote;

use super::kernels;

mod faults;
mod forms;
mod rules;

/// The expansion as text without whitespace.
fn expand(input: proc_macro2::TokenStream) -> String {
    let out = kernels(input);
    syn::parse2::<syn::File>(out.clone()).unwrap_or_else(|e| panic!("{e}: {out}"));
    // With one name for the module, which has a short one in bodies.
    out.to_string().split_whitespace().collect::<String>().replace("__gcn::", "::gcn_dsl::__private::")
}

/// The error messages for a rejected input.
fn errors(input: proc_macro2::TokenStream) -> Vec<String> {
    messages(&kernels(input).to_string())
}

/// The error messages in an expansion.
fn messages(text: &str) -> Vec<String> {
    text.split("compile_error !").skip(1).map(|s| s.split('"').nth(1).unwrap_or("").to_owned()).collect()
}

/// A kernel with these statements as its body.
fn in_body(statements: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    quote! {
        #[workgroup(64)] fn k(a: u32, x: &[f32], y: &mut [f32]) { #statements }
        // A call of a function of the same macro call needs no check of its requirements.
        #[device] fn f() {}
        #[device] fn g() {}
        #[device] fn h() {}
    }
}

fn body(statements: proc_macro2::TokenStream) -> String {
    expand(in_body(statements))
}

#[test]
fn an_item_becomes_a_struct_with_an_implementation() {
    let text = expand(quote! {
        /// Doc.
        #[workgroup(N, 2)]
        #[targets(gfx90a)]
        pub fn k<const N: usize>(a: f32, x: &[f16], y: &mut [u8], p: *const u32, q: *mut u32) {}
    });
    for part in [
        "pubstructk<constN:usize>;",
        "impl<constN:usize>::gcn_dsl::Kernelfork<N>",
        "typeArgs<'a>=(f32,&'a[f16],&'amut[u8],::gcn_dsl::DevicePtr<u32>,::gcn_dsl::DevicePtr<u32>,);",
        "Signature::new(\"k\",&[(\"N\",Nasi128)],[(N)asu32,(2)asu32,(1)asu32]).targets(&[\"gfx90a\"])",
        ".value::<f32>(\"a\").slice::<f16>(\"x\").slice_mut::<u8>(\"y\").pointer::<u32>(\"p\").pointer_mut::<u32>(\"q\")",
        "letx=__gcn_args.slice::<f16>();",
        "typeDeviceArgs<'a>=(f32,&'a::gcn_dsl::DeviceSlice<f16>,&'amut::gcn_dsl::DeviceSlice<u8>,::gcn_dsl::DevicePtr<u32>,::gcn_dsl::DevicePtr<u32>,);",
        "__gcn_packer.slice_mut(__gcn_host.2);",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn operators_that_rust_fixes_become_calls() {
    let text = body(quote! { let c = a < 3 && !(b == 1.0); y[a] = x[a] as f32 + 1.0; });
    assert!(
        text.contains("__private::and(::gcn_dsl::__private::lt(a,3),!(::gcn_dsl::__private::eq(b,1.0)))"),
        "{text}"
    );
    assert!(
        text.contains(
            "::gcn_dsl::__private::store(&y,a,::gcn_dsl::__private::cast::<f32,_>(::gcn_dsl::__private::load(&x,a))+1.0)"
        ),
        "{text}"
    );
}

#[test]
fn variables_are_read_and_set() {
    let text = body(quote! { let mut s: f32 = 0.0; s += x[a]; let s2 = s; let s = 1; y[a] = s; });
    assert!(
        text.contains(
            "letmuts=::gcn_dsl::__private::Var::declare(&__gcn_flow,::gcn_dsl::__private::of_type::<f32,_>(0.0));"
        ),
        "{text}"
    );
    assert!(
        text.contains("s.set(&__gcn_flow,s.get()+(::gcn_dsl::__private::load(&x,a)));lets2=s.get();lets=1;"),
        "{text}"
    );
    assert!(text.contains("store(&y,a,s)"), "a shadowed variable is a plain name: {text}");
}

#[test]
fn array_variables_are_changed_by_element() {
    let text = body(quote! { let mut t = [[0.0; 2]; 2]; t[1][0] = 5.0; });
    assert!(text.contains("t.set_part(&__gcn_flow,|__gcn_whole|&mut__gcn_whole[1][0],5.0);"), "{text}");
}

#[test]
fn control_flow_carries_its_flow() {
    let text = body(quote! { if a < 1 { barrier(); } else { y[a] = 1.0; } });
    assert!(text.contains("let__gcn_if=::gcn_dsl::__private::if_begin(::gcn_dsl::__private::lt(a,1),&__gcn_flow);let__gcn_then_value={let__gcn_flow=__gcn_if.flow();::gcn_dsl::__private::Call(barrier()).in_a_kernel::<_,::gcn_dsl::__private::AnyTarget,::gcn_dsl::__private::AnyTarget>(&__gcn_flow);};"), "{text}");
    assert!(text.contains("let__gcn_else=__gcn_if.otherwise();"), "{text}");
    let text = body(quote! { for k in (0..a).step_by(4) { y[k] = 0.0; } while a > 1 {} });
    assert!(
        text.contains(
            "for_begin(::gcn_dsl::__private::range(::gcn_dsl::__private::literal(0),a).step_by(::gcn_dsl::__private::literal(4)),&__gcn_flow,false,false);loop{{let__gcn_flow=__gcn_loop.flow();letk=__gcn_loop.index();"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "let__gcn_cond={let__gcn_flow=__gcn_loop.flow();::gcn_dsl::__private::gt(a,1)};let__gcn_loop=__gcn_loop.test(__gcn_cond,false);"
        ),
        "{text}"
    );
}

#[test]
fn host_time_code_stays() {
    let text = body(quote! {
        #[unroll]
        for k in 0..4 { y[a] = k as f32; }
        let n = comptime { if 1 < 2 { 3 } else { 4 } };
        comptime if n > 2 { y[a] = 0.0; } else { y[a] = 1.0; }
    });
    assert!(text.contains("forkin::gcn_dsl::__private::unroll(0,4){"), "{text}");
    assert!(text.contains("letn={if1<2{3}else{4}};ifn>2{"), "{text}");
}

#[test]
fn rolled_loops_say_so() {
    let text = body(quote! {
        #[unroll(1)]
        for k in 0..a { y[k] = 0.0; }
    });
    assert!(text.contains("::gcn_dsl::__private::rolled(&__gcn_loop);loop{"), "{text}");
}

#[test]
fn faults_are_named_with_a_remedy() {
    let declared = |tokens| errors(tokens).join("|");
    assert!(declared(quote! { fn k(x: &[f32]) {} }).contains("#[workgroup(256)]"));
    assert!(declared(quote! { #[workgroup(64, 32)] fn k() {} }).contains("2048 work-items"));
    assert!(declared(quote! { #[workgroup(64)] fn k(x: Vec<f32>) -> u32 {} }).contains("returns nothing"));
    assert!(declared(quote! { #[workgroup(64)] fn k(x: &f32) {} }).contains("`&[T]`"));
    assert!(
        declared(quote! { #[workgroup(64)] #[targets(gfx1310)] fn k() {} })
            .contains("unknown target `gfx1310`")
    );
    assert!(declared(quote! {}).contains("empty"));
}

#[test]
fn faults_in_bodies_are_all_reported() {
    let found = errors(quote! {
        #[workgroup(64)]
        #[targets(gfx90a, gfx942)]
        fn k(x: &mut [f32]) {
            let n = 1;
            n = 2;
            while n > 1 { break 'outer; }
            match n { 1 | m => {} }
            let y = v_mfma_f32_32x32x8_f16(x, x, x);
        }
    });
    let expected = [
        "`n` is not declared mutable",
        "labelled `'outer`",
        "the alternatives of a pattern",
        "does not exist on gfx90a",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
    assert!(found[3].contains("called `v_mfma_f32_32x32x8f16`"), "{}", found[3]);
}

#[test]
fn device_functions_stay_functions() {
    let text = expand(quote! {
        /// Doc.
        #[device]
        pub fn f<T: Float, X>(x: V<T>, n: T, mut p: X, (a, b): (u32, V<T>), y: &[f32], out: &mut V<u32>) -> (V<T>, u32) {
            *out += a;
            (x, a)
        }
    });
    for part in [
        "#[doc=r\"Doc.\"]#[track_caller]",
        "pubfnf<T:Float,X>(x:impl::gcn_dsl::__private::IntoDevice<V<T>>,n:impl::gcn_dsl::__private::IntoDevice<::gcn_dsl::S<T>>,p:X,",
        "__gcn_arg3:impl::gcn_dsl::__private::IntoDevice<(::gcn_dsl::S<u32>,V<T>,)>,y:impl::gcn_dsl::__private::IntoDevice<::gcn_dsl::__private::Slice<f32,::gcn_dsl::__private::ReadOnly>>,",
        "out:::gcn_dsl::__private::Lent<'_,V<u32>>)->(V<T>,::gcn_dsl::S<u32>,){",
        "let__gcn_frame=::gcn_dsl::__private::enter(\"f\");(move||{#[allow(unused_imports)]use::gcn_dsl::__private::by_type::*;let__gcn_flow=::gcn_dsl::__private::Called::new();",
        "letx=::gcn_dsl::__private::annotate::<V<T>,_>(x);",
        "letmutp=::gcn_dsl::__private::Var::declare(&__gcn_flow,p);",
        "letmutout=out.enter(&__gcn_flow);",
        "::gcn_dsl::__private::annotate::<(V<T>,::gcn_dsl::S<u32>,),_>({out.set(&__gcn_flow,out.get()+(a));(x,a,)})",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn device_structs_get_their_implementations() {
    let text = expand(quote! {
        #[device]
        pub struct P<T: Number> { pub x: V<T>, n: u32 }
    });
    for part in [
        "pubstructP<T:Number>{pubx:V<T>,n:::gcn_dsl::S<u32>}",
        "__private::FlattenforP<T>where",
        "__private::Merge<How,Self>forP<T>",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_body_that_does_not_parse_keeps_its_whole_statements() {
    let text = kernels(quote! {
        #[workgroup(64)]
        fn k(x: &mut [f32]) {
            let i = global_id().x;
            if i > 3 { x[i] = 1.0; } else { x[i] = 2.0; }
            let broken = = 3;
            let mut sum = x[i];
            q = 4;
            sum += 1.0;
        }
    });
    let text: String = text.to_string().split_whitespace().collect();
    assert!(text.contains("#[cfg(rust_analyzer)]{"), "{text}");
    for part in ["each_lanes_own(global_id()).x;", "__gcn::if_begin(", "letmutsum=", "sum.set("] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("broken") && !text.contains("q="), "{text}");
    assert_eq!(text.matches("compile_error!").count(), 1, "{text}");
}

#[test]
fn host_parameters_are_fields() {
    let text = expand(quote! {
        #[workgroup(tile)]
        pub fn k(#[host] tile: u32, x: &mut [f32]) { let k = tile; x[k] = 1.0; }
    });
    for part in [
        "#[derive(Clone,Copy,Debug)]pubstructk{#[doc=\"Parameter`tile`ofthekernel.\"]pubtile:u32}",
        "lettile=self.tile;::gcn_dsl::__private::Signature::new(\"k\",&[],[(tile)asu32,(1)asu32,(1)asu32]).host(&tile)",
        "typeArgs<'a>=(&'amut[f32],);",
        // The body may declare a variable with a kernel's name.
        "#[allow(dead_code)]fnk(){}lettile=self.tile;",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
