//! Recognises idioms of host Rust and of other GPU languages, and reports or expands the equivalent in a kernel.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprArray, ExprCall, ExprMethodCall, Macro, parse_quote_spanned};

use crate::expand::frame::{Frame, TargetKind};
use crate::expand::types::typed::is_number;
use crate::expand::{Cx, Kind, lang};

/// Identifiers of CUDA, HIP and OpenCL that are unlikely in Rust, with their equivalents.
const ELSEWHERE: &[(&str, &str)] = &[
    ("threadIdx", "local_id()"),
    ("blockIdx", "workgroup_id()"),
    ("blockDim", "workgroup_size()"),
    ("gridDim", "num_workgroups()"),
    ("warpSize", "wave_size()"),
    ("__lane_id", "lane_id()"),
    ("__lanemask_lt", "mask.below(lane_id()), the lanes of a mask below this one"),
    ("warpReduceSum", "wave_sum(v)"),
    ("__shared__", "let tile = Lds::<f32, 256>::new()"),
    ("__syncwarp", "nothing: the lanes of a wave execute each step together"),
    ("__ldg", "x[i] of a `&[T]`, which nothing writes"),
    ("__activemask", "active_lanes()"),
    ("__ffs", "x.trailing_zeros() + 1"),
    ("__fdividef", "a / b"),
    ("__expf", "x.approx_exp()"),
    ("__logf", "x.approx_ln()"),
    ("rsqrtf", "x.approx_rsqrt(), or x.sqrt().recip()"),
    ("sqrtf", "x.sqrt()"),
    ("expf", "x.exp()"),
    ("logf", "x.ln()"),
    ("powf", "x.powf(y)"),
    ("fabsf", "x.abs()"),
    ("fmaxf", "a.max(b)"),
    ("fminf", "a.min(b)"),
    ("fmaf", "a.mul_add(b, c)"),
    ("tanhf", "x.tanh()"),
    ("floorf", "x.floor()"),
    ("__float2half", "x as f16"),
    ("__half2float", "x as f32"),
    ("__float_as_uint", "x.to_bits()"),
    ("__uint_as_float", "f32::from_bits(x)"),
    ("make_float2", "Vector::<f32, 2>::from([a, b])"),
    ("make_float4", "Vector::<f32, 4>::from([a, b, c, d])"),
    ("hipThreadIdx_x", "local_id().x"),
    ("hipBlockIdx_x", "workgroup_id().x"),
    ("hipBlockDim_x", "workgroup_size().x"),
    ("get_global_id", "global_id()"),
    ("get_local_id", "local_id()"),
    ("get_group_id", "workgroup_id()"),
    ("get_local_size", "workgroup_size()"),
    ("get_num_groups", "num_workgroups()"),
    ("get_global_size", "global_size()"),
    ("hipGridDim_x", "num_workgroups().x"),
    ("__syncthreads", "barrier()"),
    ("__threadfence", "fence(…)"),
    ("__shfl", "shuffle(v, lane)"),
    ("__shfl_sync", "shuffle(v, lane)"),
    ("__shfl_xor", "shuffle_xor(v, mask)"),
    ("__shfl_xor_sync", "shuffle_xor(v, mask)"),
    ("__shfl_up", "shuffle_up(v, n)"),
    ("__shfl_up_sync", "shuffle_up(v, n)"),
    ("__shfl_down", "shuffle_down(v, n)"),
    ("__shfl_down_sync", "shuffle_down(v, n)"),
    ("__ballot", "ballot(condition)"),
    ("__ballot_sync", "ballot(condition)"),
    ("__any_sync", "any(condition)"),
    ("__syncthreads_or", "workgroup_any(condition)"),
    ("__syncthreads_and", "workgroup_all(condition)"),
    ("__syncthreads_count", "workgroup_count(condition)"),
    ("__all_sync", "all(condition)"),
    ("__match_any_sync", "match_any(v)"),
    ("__popc", "x.count_ones()"),
    ("__popcll", "mask.count_ones()"),
    ("__ffsll", "mask.first() + 1"),
    ("__clz", "x.leading_zeros()"),
    ("__brev", "x.reverse_bits()"),
    ("atomicAdd", "x.atomic(i).fetch_add(v, scope, ordering)"),
    ("atomicSub", "x.atomic(i).fetch_sub(v, scope, ordering)"),
    ("atomicMin", "x.atomic(i).fetch_min(v, scope, ordering)"),
    ("atomicMax", "x.atomic(i).fetch_max(v, scope, ordering)"),
    ("atomicExch", "x.atomic(i).swap(v, scope, ordering)"),
    ("atomicCAS", "x.atomic(i).compare_exchange(…)"),
];

/// Types whose methods may be called by path, as in `f32::max(a, b)`. They are syntax, not names: Rust's primitive types, which
/// nobody declares, and the two of `half`; a type of another name, an alias of one of these among them, is rustc's to resolve.
pub(in crate::expand) const NUMBERS: [&str; 12] =
    ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"];

const FLOATS: [&str; 4] = ["f16", "bf16", "f32", "f64"];

/// True for the name of an integer type of the device.
pub(in crate::expand) fn is_integer(name: &str) -> bool {
    NUMBERS.contains(&name) && !FLOATS.contains(&name)
}

impl Cx<'_> {
    /// Reports an error for an identifier of another GPU language.
    pub(in crate::expand) fn elsewhere(&mut self, name: &Ident) {
        if self.kind(name).is_some() {
            return;
        }
        let text = name.to_string();
        if let Some((_, here)) = ELSEWHERE.iter().find(|(there, _)| text == *there) {
            self.errors.at(name, format!("`{name}` is of another language; here it is `{here}`"));
        }
    }

    /// Reports an error for a macro that acts once on the host, whatever conditions enclose it, where the user probably
    /// meant the device. Such macros are allowed in `comptime { … }`.
    pub(in crate::expand) fn host_macro(&mut self, mac: &Macro, name: &str) {
        let conditional = self.frames.iter().any(|f| match f {
            Frame::Branch(_) => true,
            Frame::Target(t) => matches!(t.kind, TargetKind::Loop { .. }),
            _ => false,
        });
        match name {
            "println" | "print" | "eprintln" | "eprint" => self.errors.at(
                &mac.path,
                format!(
                    "`{name}!` would print once, when the kernel is built: show values of the device with `dbg!(x)`, and print those \
                     of the host in `comptime {{ … }}`"
                ),
            ),
            "vec" | "format" if self.comptime == 0 && self.is_of_device(mac) => self.errors.at(
                &mac.path,
                match name {
                    "vec" => {
                        "a kernel has no `Vec`, whose size changes as it runs: an array has a constant number of elements, `[x; 4]`, and \
                         `Private::<f32, N>::new()` elements at indices of the device"
                    }
                    _ => "a kernel has no strings: show values of the device with `dbg!(x)`",
                },
            ),
            "assert" | "assert_eq" | "assert_ne" if self.comptime == 0 && conditional => self.errors.at(
                &mac.path,
                format!(
                    "`{name}!` would check once, when the kernel is built, whatever the condition around it: `debug_{name}!(…)` checks \
                     in each lane that gets there; what the host knows is checked in `comptime {{ … }}`"
                ),
            ),
            "panic" | "unreachable" | "todo" | "unimplemented" if conditional && self.comptime == 0 => self.errors.at(
                &mac.path,
                format!(
                    "`{name}!` would stop the build of the kernel, whatever the condition: `trap()` stops the kernel where a lane gets \
                     there, `debug_assert!(condition)` where it is simulated; a condition of the host is a `comptime if`"
                ),
            ),
            _ => {}
        }
    }

    /// True if an argument of the macro certainly is a value of the device: a variable, or an element of memory.
    fn is_of_device(&self, mac: &Macro) -> bool {
        fn names(tokens: proc_macro2::TokenStream, is: &mut dyn FnMut(&Ident) -> bool) -> bool {
            tokens.into_iter().any(|token| match token {
                proc_macro2::TokenTree::Ident(name) => is(&name),
                proc_macro2::TokenTree::Group(group) => names(group.stream(), is),
                _ => false,
            })
        }
        names(mac.tokens.clone(), &mut |name| {
            self.memory.contains(&name.to_string())
                || matches!(self.kind(name), Some(Kind::Variable | Kind::Lent))
        })
    }

    /// Reports an error for an atomic operation that is called on the value of an element instead of on the element.
    pub(in crate::expand) fn atomic_of_value(&mut self, e: &ExprMethodCall) {
        let name = e.method.to_string();
        let atomic = name.starts_with("fetch_") || name.starts_with("compare_exchange");
        if let (true, Expr::Index(index)) = (atomic, &*e.receiver) {
            let at = &index.index;
            // For memory with rows, as in `rows.atomic(i)[k]`: the index of the row comes first.
            let base = match &*index.expr {
                Expr::MethodCall(of) if of.method == "atomic" && of.args.len() == 1 => {
                    let (rows, row) = (&of.receiver, &of.args);
                    quote!(#rows[#row])
                }
                base => quote!(#base),
            };
            let place = quote!(#base.atomic(#at)).to_string().replace(' ', "");
            self.errors
                .at(&e.method, format!("the index has read the element; its atomic is `{place}.{name}(…)`"));
        }
    }

    /// Reports an error for a width for which no element type has an instruction, such as `load_vector::<5>`.
    pub(in crate::expand) fn vector_width(&mut self, e: &ExprMethodCall) {
        let Some(given) = e.turbofish.as_ref().filter(|_| e.method.to_string().starts_with("load_vector"))
        else {
            return;
        };
        let Some(syn::GenericArgument::Const(Expr::Lit(number))) = given.args.first() else { return };
        let syn::Lit::Int(count) = &number.lit else { return };
        let moved =
            |bytes: u64| [4, 8, 12, 16].map(|all| all / bytes).contains(&count.base10_parse().unwrap_or(0));
        if ![1, 2, 4, 8].iter().any(|bytes| moved(*bytes)) {
            let what = "an instruction moves 4, 8, 12 or 16 bytes: 4, 8, 12 or 16 elements of a byte, 2, 4, 6 or 8 of two, 1 to 4 of four, \
                        1 or 2 of eight; use several, or single elements, which are merged where that is possible";
            self.errors.at(count, what);
        }
    }

    /// Handles functions of `std` that would act on the handles instead of the device values, or would not compile.
    pub(in crate::expand) fn function_of_std(&mut self, e: &ExprCall) -> Option<TokenStream> {
        let Expr::Path(p) = &*e.func else { return None };
        let segments: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let names: Vec<&str> = segments.iter().map(String::as_str).collect();
        match (names.as_slice(), e.args.len()) {
            ([.., "cmp", name @ ("max" | "min")], 2) => {
                let method = Ident::new(name, p.path.span());
                let mut args = self.arguments(&e.args).into_iter();
                let (a, b) = (args.next()?, args.next()?);
                Some(quote_spanned!(e.span()=> (#a).#method(#b)))
            }
            _ => None,
        }
    }

    /// Expands `x.into()`: the place that takes it determines what a number becomes; for other values it is Rust's own.
    pub(in crate::expand) fn converted_as_expected(&mut self, e: &ExprMethodCall) -> Option<TokenStream> {
        if e.method != "into" || !e.args.is_empty() || e.turbofish.is_some() {
            return None;
        }
        let (converts, receiver) = (lang("Converts", e.method.span()), self.expr(&e.receiver));
        Some(quote_spanned!(e.span()=> (&&#converts::new(#receiver)).converted_as_expected()))
    }

    /// Expands `f32::max(x, y)` as a method call, which accepts device values. If an operand is a literal, rustc infers
    /// its type.
    pub(in crate::expand) fn method_of_number(&mut self, e: &ExprCall) -> Option<TokenStream> {
        let Expr::Path(p) = &*e.func else { return None };
        let segments: Vec<&Ident> = p.path.segments.iter().map(|s| &s.ident).collect();
        let ([ty, method], Some(first)) = (segments.as_slice(), e.args.first()) else { return None };
        if *method == "from_bits" && !is_number(first) {
            if self.elements.is_parameter(ty) {
                let bits = self.expr(first);
                return Some(quote_spanned!(e.span()=> (#bits).to_bits_as::<#ty>()));
            }
            if FLOATS.iter().any(|float| *ty == float) {
                let (call, bits) = (lang("from_bits", first.span()), self.expr(first));
                return Some(quote_spanned!(e.span()=> #call::<#ty, _, _>(#bits)));
            }
        }
        let of_bytes = match method.to_string().as_str() {
            "from_le_bytes" | "from_ne_bytes" => Some("from_le_bytes"),
            "from_be_bytes" => Some("from_be_bytes"),
            _ => None,
        };
        if let (Some(call), true) = (of_bytes, NUMBERS.iter().any(|n| *ty == n) && self.comptime == 0) {
            let (bytes, call) = (self.expr(first), lang(call, e.span()));
            return Some(quote_spanned!(e.span()=> #call::<#ty, _>(#bytes)));
        }
        // A conversion has the same result as `as` on device numbers.
        let converts = *method == "from"
            || (*ty == "f16" || *ty == "bf16") && (*method == "from_f32" || *method == "from_f64");
        if converts
            && e.args.len() == 1
            && !is_number(first)
            && self.comptime == 0
            && NUMBERS.iter().any(|n| *ty == n)
        {
            let (value, cast) = (self.expr(first), lang("cast", e.span()));
            return Some(quote_spanned!(e.span()=> #cast::<#ty, _>(#value)));
        }
        // A constructor without a receiver cannot be written as a method call.
        let makes = |method: &str| {
            method == "default" || method.starts_with("from") || method.starts_with("try_from")
        };
        let known = NUMBERS.iter().any(|n| *ty == n) && !makes(&method.to_string());
        if let (true, true, Some(other)) = (known, is_number(first), e.args.get(1))
            && !is_number(other)
        {
            return self.extreme_of_literal(e, ty, method, other);
        }
        if !known || is_number(first) {
            return None;
        }
        let mut args = self.arguments(&e.args).into_iter();
        let (first, rest) = (args.next()?, args);
        Some(quote_spanned!(e.span()=> (#first).#method(#(#rest),*)))
    }

    /// Expands calls with a literal, such as `f32::max(0.0, x)`.
    fn extreme_of_literal(
        &mut self,
        e: &ExprCall,
        ty: &Ident,
        method: &Ident,
        other: &Expr,
    ) -> Option<TokenStream> {
        let function = match method.to_string().as_str() {
            "min" => "least",
            "max" => "greatest",
            _ => return None,
        };
        let (call, number, other) = (lang(function, method.span()), e.args.first()?, self.expr(other));
        Some(quote_spanned!(e.span()=> #call::<#ty, _, _>(#number, #other)))
    }

    /// Expands an array whose elements have different forms. Their type is the common type of those elements that are
    /// not bare numbers.
    pub(in crate::expand) fn mixed_array(&mut self, e: &ExprArray) -> Option<TokenStream> {
        let first = e.elems.iter().position(|x| !is_number(x))?;
        if e.elems.len() < 2 {
            return None;
        }
        if let Some(rows) = rows(e) {
            return self.array_of_tuples(&rows, e.span());
        }
        // All names are bound before any of them is used. Numbers have no effects, so they are evaluated where they are
        // used.
        let mut names = Vec::new();
        let mut bindings = TokenStream::new();
        for x in &e.elems {
            let name = (!is_number(x)).then(|| self.fresh("element", x.span()));
            if let Some(name) = &name {
                let value = self.expr(x);
                bindings.extend(quote_spanned!(x.span()=> let #name = #value;));
            }
            names.push(name);
        }
        let (start, all) = (names[first].as_ref()?, self.fresh("elements", e.span()));
        let like = lang("like", e.span());
        let others = names.iter().skip(first + 1).flatten();
        let like = others.fold(
            quote_spanned!(e.span()=> #like(&#start)),
            |like, other| quote_spanned!(other.span()=> (&&#like.beside(&#other)).both()),
        );
        let elements = e.elems.iter().zip(&names).map(|(x, name)| match name {
            Some(name) => {
                let element = lang("Element", x.span());
                quote_spanned!(x.span()=> (&#element::of(#name, &#all)).element())
            }
            None => {
                let call = lang("alike", x.span());
                quote_spanned!(x.span()=> #call(&#all, #x))
            }
        });
        let elements: Vec<TokenStream> = elements.collect();
        Some(quote_spanned!(e.span()=> {
            #bindings
            let #all = #like;
            [#(#elements),*]
        }))
    }

    /// Expands an array of tuples, whose members at one position have a common type like the elements of an array.
    fn array_of_tuples(&mut self, rows: &[Vec<&Expr>], span: Span) -> Option<TokenStream> {
        if rows.iter().flatten().all(|member| is_number(member)) {
            return None;
        }
        // All values are computed in the order in which they are written; numbers have no effects.
        let (mut bindings, mut columns) = (TokenStream::new(), vec![Vec::new(); rows[0].len()]);
        for (member, column) in rows.iter().flat_map(|row| row.iter().zip(0..)) {
            let value: Expr = match is_number(member) {
                true => (*member).clone(),
                false => {
                    let (name, value) = (self.fresh("member", member.span()), self.expr(member));
                    bindings.extend(quote_spanned!(member.span()=> let #name = #value;));
                    parse_quote_spanned!(member.span()=> #name)
                }
            };
            columns[column].push(value);
        }
        // The elements of each column, taken apart, are the members of the tuples.
        let mut members = vec![TokenStream::new(); rows.len()];
        for column in columns {
            let values = self.expr(&parse_quote_spanned!(span=> [#(#column),*]));
            let names: Vec<Ident> = rows.iter().map(|_| self.fresh("column", span)).collect();
            bindings.extend(quote_spanned!(span=> let [#(#names),*] = #values;));
            members.iter_mut().zip(&names).for_each(|(of, name)| of.extend(quote_spanned!(span=> #name,)));
        }
        Some(quote_spanned!(span=> { #bindings [#((#members)),*] }))
    }
}

/// The members of the tuples of which an array consists, if all have as many.
fn rows(e: &ExprArray) -> Option<Vec<Vec<&Expr>>> {
    let mut rows: Vec<Vec<&Expr>> = Vec::new();
    for element in &e.elems {
        let Expr::Tuple(tuple) = element else { return None };
        rows.push(tuple.elems.iter().collect());
    }
    let members = rows.first()?.len();
    (members > 0 && rows.iter().all(|row| row.len() == members)).then_some(rows)
}
