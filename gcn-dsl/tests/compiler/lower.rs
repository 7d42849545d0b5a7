//! Lowering of small kernels, followed by register allocation and encoding. The results of the kernels are tested on
//! the simulator (`language/operators.rs`); here, every operation must have its instructions on both targets.

use gcn_isa::Target;

use gcn_dsl::__private::{self as lang, Arguments, S, V, global_id};
use gcn_dsl::ir::dce;
use gcn_dsl::regalloc::{Limits, allocate};

mod exits;

const TARGETS: [Target; 2] = [Target::GFX90A, Target::GFX942];

fn program(target: Target, body: impl FnOnce()) -> gcn_isa::Program {
    let mut kernel = lang::trace("k", target, [256, 1, 1], body).expect("traces");
    dce::run(&mut kernel);
    let (function, _) =
        gcn_dsl::lower::lower(&kernel, target, [256, 1, 1]).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
    let program = allocate(&function, &Limits::default()).expect("fits").program;
    gcn_emit::encode::encode_program(&program).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
    program
}

#[test]
fn saxpy_has_no_needless_move() {
    for target in TARGETS {
        let p = program(target, || {
            let flow = lang::WholeWorkgroup::new();
            let mut args = Arguments::default();
            let a = args.value::<f32>();
            let x = args.slice::<f32>();
            let y = args.slice_mut::<f32>();
            let i = global_id().x;
            let cond = lang::if_begin(lang::lt(i, y.len()), &flow);
            lang::store(&y, i, a * lang::load(&x, i) + lang::load(&y, i));
            cond.end();
        });
        let moves: Vec<&str> =
            p.lines.iter().map(|l| l.inst.desc.printed).filter(|name| name.contains("mov")).collect();
        // One move of the constant word for each of the two resources.
        assert_eq!(moves, ["s_mov_b32", "s_mov_b32"], "{target}");
    }
}

/// Every operator on varying and uniform operands of a type.
macro_rules! operators {
    ($t:ty, $($op:tt)*) => {
        for target in TARGETS {
            program(target, || {
                let mut args = Arguments::default();
                let out = args.slice_mut::<$t>();
                let (sa, sb) = (args.value::<$t>(), args.value::<$t>());
                let i = global_id().x;
                let (va, vb): (V<$t>, V<$t>) = (lang::load(&out, i), lang::load(&out, i + 1));
                $(
                    lang::store(&out, i, va $op vb);
                    lang::store(&out, i, sa $op vb);
                    lang::store(&out, i, va $op sb);
                    lang::store(&out, i, sa $op sb);
                )*
                for pred in [lang::lt, lang::le, lang::gt, lang::ge, lang::eq, lang::ne] as [fn(V<$t>, V<$t>) -> V<bool>; 6] {
                    lang::store(&out, i, lang::select(pred(va, vb), va, sb));
                }
                for pred in [lang::lt, lang::le, lang::gt, lang::ge, lang::eq, lang::ne] as [fn(S<$t>, S<$t>) -> S<bool>; 6] {
                    lang::store(&out, i, lang::select(pred(sa, sb), va, sb));
                }
                lang::store(&out, i, -va);
                lang::store(&out, i, -sa);
                lang::store(&out, i, va.min(vb).max(sa));
                lang::store(&out, i, sa.min(sb).max(sa));
            });
        }
    };
}

#[test]
fn integers_of_32_bits_and_fewer() {
    operators!(u32, + - * / % & | ^);
    operators!(i32, + - * / % & | ^);
    operators!(u16, + - * / % & | ^);
    operators!(i16, + - * / % & | ^);
    operators!(u8, + - * / % & | ^);
    operators!(i8, + - * / % & | ^);
}

#[test]
fn floats() {
    operators!(f32, + - * /);
    operators!(f64, + - * /);
    operators!(half::f16, + - * /);
}

#[test]
fn integers_of_64_bits() {
    for target in TARGETS {
        program(target, || {
            let mut args = Arguments::default();
            let out = args.slice_mut::<u64>();
            let sa = args.value::<u64>();
            let i = global_id().x;
            let va: V<u64> = lang::load(&out, i);
            for v in [va + sa, va - sa, va * sa, va & sa, va | sa, va ^ sa, va << 3, va >> i, !va] {
                lang::store(&out, i, v);
            }
            for s in [sa + 1, sa - 5, sa * sa, sa & 7, sa | 1, sa << 3, sa >> 4] {
                lang::store(&out, i, s);
            }
            lang::store(&out, i, lang::select(lang::lt(va, sa), va, 1u64 << 40));
        });
    }
}

#[test]
fn conversions() {
    macro_rules! all {
        ($from:ident: $($to:ident)*) => {$(
            for target in TARGETS {
                program(target, || {
                    let mut args = Arguments::default();
                    let x = args.slice::<$from>();
                    let out = args.slice_mut::<$to>();
                    let s = args.value::<$from>();
                    let i = global_id().x;
                    lang::store(&out, i, lang::cast::<$to, _>(lang::load(&x, i)));
                    lang::store(&out, i, lang::cast::<$to, _>(s));
                });
            }
        )*};
    }
    use half::{bf16, f16};
    all!(u8: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64);
    all!(i8: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64);
    all!(u16: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64);
    all!(i16: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64);
    all!(u32: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64);
    all!(i32: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64);
    all!(u64: i8 u8 i16 u16 i32 u32 i64 u64 f64);
    all!(i64: i8 u8 i16 u16 i32 u32 i64 u64 f64);
    all!(f16: i8 u8 i16 u16 i32 u32 f16 bf16 f32 f64);
    all!(bf16: i8 u8 i16 u16 i32 u32 f16 bf16 f32 f64);
    all!(f32: i8 u8 i16 u16 i32 u32 f16 bf16 f32 f64);
    all!(f64: i8 u8 i16 u16 i32 u32 f32 f64);
}
