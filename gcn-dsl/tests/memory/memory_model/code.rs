//! The instructions.

use gcn_dsl::__private::{self as lang, Arguments, MemoryOrdering, Ordering, S, Scope, V, fence, lane_id};
use gcn_dsl::mir::{Function, MInst, Op};
use gcn_dsl::prelude::*;
use gcn_dsl::{ir, lower, sched};
use gcn_isa::InstructionSet;
use gcn_isa::counters::WaitCnt;
use gcn_isa::inst::Mods;
use gcn_isa::memory_model::{Mode, Operation, Space, sequence};
use gcn_isa::table::Class;

fn lowered(target: Target, body: impl FnOnce()) -> Function {
    let mut kernel = lang::trace("k", target, [64, 1, 1], body).expect("traces");
    ir::dce::run(&mut kernel);
    lower::lower(&kernel, target, [64, 1, 1]).unwrap_or_else(|e| panic!("{e}\n{kernel}")).0
}

/// The waits, cache instructions and atomic accesses of a function, in the form in which sequences are printed. Loads
/// and stores are included if they access `space`, where the kernels of this file have no others.
fn memory_model(function: &Function, space: Space) -> String {
    let insts = function.blocks.iter().flat_map(|b| &b.insts);
    insts.filter_map(|inst| instruction(function.target, inst, space)).collect::<Vec<_>>().join("; ")
}

fn instruction(target: Target, inst: &MInst, space: Space) -> Option<String> {
    let Op::Machine(desc, mods) = &inst.op else { return None };
    let bits = |glc: bool| {
        let new = target.is_gfx940_family();
        let low = if new { " sc0" } else { " glc" };
        let high = if new { " sc1" } else { " scc" };
        [(glc, low), (mods.scc, high)].iter().filter(|b| b.0).map(|b| b.1).collect::<String>()
    };
    let name = desc.mnemonic;
    let local = desc.is_ds();
    let load = name.contains("_load_dword") || name.starts_with("ds_read");
    let store = name.contains("_store_dword") || name.starts_with("ds_write");
    match desc.class {
        Class::Waitcnt => {
            let gcn_dsl::mir::MOperand::Fixed(gcn_isa::Operand::Imm(imm)) = inst.operands[0] else {
                return None;
            };
            let set = InstructionSet::GFX900;
            Some(WaitCnt::of_immediate(set, imm as u16).on(set).to_string())
        }
        Class::CacheCtl => Some(format!("{name}{}", bits(mods.glc))),
        _ if !(local || desc.is_vmem()) || local != (space == Space::Local) => None,
        _ if load => Some(format!("load{}", bits(mods.glc))),
        _ if store => Some(format!("store{}", bits(mods.glc))),
        _ => Some(format!("atomic{}", bits(false))),
    }
}

/// Checks one access of each kind to each memory.
fn check<O: MemoryOrdering>(
    operation: Operation,
    slice: impl Fn(Target, Scope) -> Function,
    pointer: impl Fn(Target, Scope) -> Function,
    lds: impl Fn(Target, Scope) -> Function,
) {
    for target in Target::REPRESENTATIVES {
        for scope in Scope::ALL {
            let want = |space| {
                sequence(target, Mode::Normal, operation, O::ORDERING, scope, space)
                    .expect("there is one")
                    .to_string()
            };
            let at = format!("{target} {operation:?} {:?} {scope:?}", O::ORDERING);
            assert_eq!(memory_model(&slice(target, scope), Space::Global), want(Space::Global), "{at} slice");
            assert_eq!(
                memory_model(&pointer(target, scope), Space::Global),
                want(Space::Global),
                "{at} pointer"
            );
            assert_eq!(memory_model(&lds(target, scope), Space::Local), want(Space::Local), "{at} LDS");
        }
    }
}

/// Calls `check` for one form of an operation.
macro_rules! access {
    ($operation:ident, $order:ident, |$atomic:ident, $scope:ident| $body:expr) => {
        check::<lang::$order>(
            Operation::$operation,
            |target, $scope| {
                lowered(target, || {
                    let $atomic = Arguments::default().slice_mut::<u32>().atomic(lane_id());
                    $body;
                })
            },
            |target, $scope| {
                lowered(target, || {
                    let $atomic = Arguments::default().pointer_mut::<u32>().atomic(lane_id());
                    $body;
                })
            },
            |target, $scope| {
                lowered(target, || {
                    let $atomic = Lds::<u32, 64>::new().atomic(lane_id());
                    $body;
                })
            },
        )
    };
}

/// Uses a value so that it is not removed: as a lane number, which needs no memory access.
fn keep(v: V<u32>) {
    let _: S<u32> = lang::read_first_lane(v);
}

macro_rules! accesses {
    (loads: $($load:ident)*; stores: $($store:ident)*; others: $($rmw:ident)*;) => {
        $(access!(Load, $load, |x, scope| x.load(scope, Ordering::$load));)*
        $(access!(Store, $store, |x, scope| x.store(7, scope, Ordering::$store));)*
        $(
            access!(Rmw, $rmw, |x, scope| x.fetch_add(7, scope, Ordering::$rmw));
            access!(Rmw, $rmw, |x, scope| keep(x.fetch_add(7, scope, Ordering::$rmw)));
            access!(Rmw, $rmw, |x, scope| x.swap(7, scope, Ordering::$rmw));
            access!(Rmw, $rmw, |x, scope| x.compare_exchange(1, 2, scope, Ordering::$rmw));
        )*
    };
}

#[test]
fn accesses_are_lowered_to_the_tables_sequences() {
    accesses! {
        loads: Relaxed Acquire SeqCst;
        stores: Relaxed Release SeqCst;
        others: Relaxed Acquire Release AcqRel SeqCst;
    }
}

/// The bits of the accesses to vector memory in a function: `glc` (of an atomic, which has it for the old value, always false), `dlc` and the
/// scope.
fn access_bits(function: &Function) -> Vec<(bool, bool, u8)> {
    let insts = function.blocks.iter().flat_map(|b| &b.insts);
    let bits = |inst: &MInst| match &inst.op {
        Op::Machine(desc, mods) if desc.is_vmem() && desc.class != Class::CacheCtl => {
            Some((mods.glc && !desc.class.is_atomic(), mods.dlc, mods.scope))
        }
        _ => None,
    };
    insts.filter_map(bits).collect()
}

/// RDNA says by other bits than GFX9 how far an access reaches, RDNA 4 by a scope for atomics too.
#[test]
fn accesses_on_rdna_have_the_bits_of_the_tables_sequences() {
    fn check<O: MemoryOrdering>(operation: Operation, lower: impl Fn(Target, Scope) -> [Function; 2]) {
        let targets = [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201];
        for (target, scope) in targets.into_iter().flat_map(|target| Scope::ALL.map(|scope| (target, scope)))
        {
            let sequence = sequence(target, Mode::Normal, operation, O::ORDERING, scope, Space::Global);
            let mut want = Mods::default();
            sequence.expect("there is one").bits.apply(&mut want);
            for function in lower(target, scope) {
                let bits = access_bits(&function);
                assert_eq!(
                    bits,
                    [(want.glc, want.dlc, want.scope)],
                    "{target} {operation:?} {:?} {scope:?}",
                    O::ORDERING
                );
            }
        }
    }
    macro_rules! accesses {
        ($($operation:ident [$($order:ident)*] |$atomic:ident, $scope:ident, $ordering:ident| $body:expr;)*) => {$($(
            check::<lang::$order>(Operation::$operation, |target, $scope| {
                let $ordering = Ordering::$order;
                let slice = lowered(target, || {
                    let $atomic = Arguments::default().slice_mut::<u32>().atomic(lane_id());
                    $body;
                });
                let pointer = lowered(target, || {
                    let $atomic = Arguments::default().pointer_mut::<u32>().atomic(lane_id());
                    $body;
                });
                [slice, pointer]
            });
        )*)*};
    }
    accesses! {
        Load [Relaxed Acquire SeqCst] |x, scope, order| x.load(scope, order);
        Store [Relaxed Release SeqCst] |x, scope, order| x.store(7, scope, order);
        Rmw [Relaxed Acquire Release AcqRel SeqCst] |x, scope, order| x.fetch_add(7, scope, order);
        Rmw [Relaxed Acquire Release AcqRel SeqCst] |x, scope, order| keep(x.fetch_add(7, scope, order));
        Rmw [Relaxed Acquire Release AcqRel SeqCst] |x, scope, order| x.swap(7, scope, order);
        Rmw [Relaxed Acquire Release AcqRel SeqCst] |x, scope, order| x.compare_exchange(1, 2, scope, order);
    }
}

#[test]
fn fences_are_lowered_to_the_tables_sequences() {
    fn check<O: lang::FenceOrdering + Copy>(ordering: O) {
        for (target, scope) in Target::REPRESENTATIVES.iter().flat_map(|t| Scope::ALL.map(|s| (*t, s))) {
            let function = lowered(target, || fence(scope, ordering));
            let want = sequence(target, Mode::Normal, Operation::Fence, O::ORDERING, scope, Space::Generic);
            let want = want.expect("a fence has a sequence").to_string();
            assert_eq!(memory_model(&function, Space::Global), want, "{target} {:?} {scope:?}", O::ORDERING);
        }
    }
    check(Ordering::Acquire);
    check(Ordering::Release);
    check(Ordering::AcqRel);
    check(Ordering::SeqCst);
}

/// The mnemonics (with `glc` or `sc0` if it is set) to which a body is lowered.
fn mnemonics(target: Target, body: impl FnOnce()) -> Vec<String> {
    let function = lowered(target, body);
    let insts = function.blocks.iter().flat_map(|b| &b.insts);
    let named = insts.filter_map(|inst| match &inst.op {
        Op::Machine(desc, mods) if desc.mnemonic.contains("atomic") || desc.is_ds() => {
            Some(format!("{}{}", desc.mnemonic, if mods.glc { " returning" } else { "" }))
        }
        _ => None,
    });
    named.collect()
}

/// The instruction for each operation and type, with the old value unused and used. The names are those of the CDNA3
/// manual.
#[test]
fn operations_have_their_instructions() {
    macro_rules! named {
        ($($t:ty: $name:ident $global:literal $lds:literal;)*) => {$(
            for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
                let got = mnemonics(target, || {
                    let mut args = Arguments::default();
                    let (slice, pointer) = (args.slice_mut::<$t>(), args.pointer_mut::<$t>());
                    let lds = Lds::<$t, 64>::new();
                    let i = lane_id();
                    let one = <$t>::from(1u8);
                    for atomic in [slice.atomic(i), pointer.atomic(i), lds.atomic(i)] {
                        atomic.$name(one, Scope::Agent, Ordering::Relaxed);
                        let old = atomic.$name(one, Scope::Agent, Ordering::Relaxed);
                        let _ = lang::read_first_lane(old);
                        lang::store(&Lds::<$t, 64>::new(), i, old);
                    }
                });
                let got: Vec<&str> = got.iter().map(String::as_str).filter(|m| !m.starts_with("ds_write")).collect();
                let (lds, ty) = $lds.rsplit_once('_').expect("a mnemonic with a type");
                let global = [
                    concat!("buffer_atomic_", $global).to_owned(),
                    concat!("buffer_atomic_", $global, " returning").to_owned(),
                    concat!("global_atomic_", $global).to_owned(),
                    concat!("global_atomic_", $global, " returning").to_owned(),
                ];
                let returning = format!("{lds}_rtn_{ty}");
                let plain = if $lds.starts_with("ds_wrxchg") { returning.clone() } else { $lds.to_owned() };
                let want: Vec<String> = global.into_iter().chain([plain, returning]).collect();
                assert_eq!(got, want, "{target}");
            }
        )*};
    }
    named! {
        u32: swap "swap" "ds_wrxchg_b32";
        u64: swap "swap_x2" "ds_wrxchg_b64";
        f32: swap "swap" "ds_wrxchg_b32";
        f64: swap "swap_x2" "ds_wrxchg_b64";
        u32: fetch_add "add" "ds_add_u32";
        i32: fetch_add "add" "ds_add_u32";
        u64: fetch_add "add_x2" "ds_add_u64";
        i64: fetch_add "add_x2" "ds_add_u64";
        f32: fetch_add "add_f32" "ds_add_f32";
        f64: fetch_add "add_f64" "ds_add_f64";
        u32: fetch_sub "sub" "ds_sub_u32";
        i64: fetch_sub "sub_x2" "ds_sub_u64";
        u32: fetch_min "umin" "ds_min_u32";
        i32: fetch_min "smin" "ds_min_i32";
        u64: fetch_min "umin_x2" "ds_min_u64";
        i64: fetch_min "smin_x2" "ds_min_i64";
        u32: fetch_max "umax" "ds_max_u32";
        i32: fetch_max "smax" "ds_max_i32";
        u64: fetch_max "umax_x2" "ds_max_u64";
        i64: fetch_max "smax_x2" "ds_max_i64";
        u32: fetch_and "and" "ds_and_b32";
        u64: fetch_and "and_x2" "ds_and_b64";
        i32: fetch_or "or" "ds_or_b32";
        i64: fetch_or "or_x2" "ds_or_b64";
        u32: fetch_xor "xor" "ds_xor_b32";
        u64: fetch_xor "xor_x2" "ds_xor_b64";
        u32: fetch_inc_wrap "inc" "ds_inc_u32";
        u64: fetch_inc_wrap "inc_x2" "ds_inc_u64";
        u32: fetch_dec_wrap "dec" "ds_dec_u32";
        u64: fetch_dec_wrap "dec_x2" "ds_dec_u64";
    }
}

#[test]
fn what_a_target_lacks_is_an_error_at_the_call() {
    let error = |target, body: fn()| {
        let kernel = lang::trace("k", target, [64, 1, 1], body).expect("traces");
        lower::lower(&kernel, target, [64, 1, 1]).expect_err("the target lacks the instruction").to_string()
    };
    let f32_add = || {
        let x = Arguments::default().slice_mut::<f32>();
        x.atomic(0).fetch_add(1.0, Scope::Agent, Ordering::Relaxed);
    };
    let pair_add = || {
        let x = Arguments::default().slice_mut::<f16>();
        x.atomic_pair(0).fetch_add(Vector::from([f16::ONE; 2]), Scope::Agent, Ordering::Relaxed);
    };
    let message = error(Target::GFX906, pair_add);
    assert!(
        message.contains("code.rs:")
            && message.contains("`buffer_atomic_pk_add_f16` does not exist on gfx906"),
        "{message}"
    );
    let returned = || {
        let x = Arguments::default().slice_mut::<f32>();
        let old = x.atomic(0).fetch_add(1.0, Scope::Agent, Ordering::Relaxed);
        lang::store(&x, 1, old);
    };
    let message = error(Target::GFX908, returned);
    assert!(message.contains("the old value of `buffer_atomic_add_f32` on gfx908"), "{message}");
    assert!(!mnemonics(Target::GFX908, f32_add).is_empty());
}

/// Without a fence, the scheduler moves the second load up to the first. It moves no load across a fence of any kind,
/// even one that needs no instruction.
#[test]
fn nothing_is_scheduled_across_a_fence() {
    let order = |with_fence: bool| {
        let mut function = lowered(Target::GFX942, || {
            let mut args = Arguments::default();
            let (x, y) = (args.pointer::<u32>(), args.pointer::<u32>());
            let out = args.pointer_mut::<u32>();
            let i = lane_id();
            let mut a = lang::load(&x, i);
            for k in 0..20 {
                a = a * a + k;
            }
            if with_fence {
                fence(Scope::Wavefront, Ordering::AcqRel);
            }
            let b = lang::load(&y, i);
            lang::store(&out, i, a + b);
        });
        sched::list::schedule(&mut function).unwrap();
        let insts = function.blocks.iter().flat_map(|b| &b.insts);
        let names: Vec<&str> = insts
            .filter_map(|i| match &i.op {
                Op::Machine(desc, _) => Some(desc.mnemonic),
                _ => None,
            })
            .collect();
        let position = |name: &str, nth: usize| {
            names.iter().enumerate().filter(|n| *n.1 == name).nth(nth).expect("it is there").0
        };
        let second_load = position("global_load_dword", 1);
        let last_product = names.iter().rposition(|n| n.contains("mul")).expect("products");
        second_load < last_product
    };
    assert!(order(false), "the scheduler hoists loads");
    assert!(!order(true), "but not across a fence");
}

gcn_kernel! {
    /// A release and an acquire in a whole kernel.
    #[workgroup(64)]
    fn handshake(data: *mut u32, flag: *mut u32) {
        let i = lane_id();
        data[i] = i;
        flag.atomic(0).store(1, Scope::Agent, Ordering::Release);
        let seen = flag.atomic(1).load(Scope::Agent, Ordering::Acquire);
        data[i + 64] = data[i + 128] + seen;
    }
}

/// Register allocation and wait insertion keep the sequences; they only add instructions.
#[test]
fn finished_kernels_have_the_sequences() {
    let expected = [
        (
            Target::GFX90A,
            "store; s_waitcnt vmcnt(0) lgkmcnt(0); store; load glc; s_waitcnt vmcnt(0); buffer_wbinvl1_vol; load",
        ),
        (
            Target::GFX942,
            "store; buffer_wbl2 sc1; s_waitcnt vmcnt(0) lgkmcnt(0); store sc1; load sc1; s_waitcnt vmcnt(0); buffer_inv sc1; load",
        ),
    ];
    for (target, sequence) in expected {
        let kernel = handshake.build(target).expect("builds");
        let assembly = kernel.assembly(Comments::None);
        let mut lines = assembly.lines().map(str::trim);
        for step in sequence.split("; ") {
            let found = lines.any(|line| match step.split_once(' ') {
                _ if step.starts_with("s_waitcnt") || step.starts_with("buffer") => line == step,
                Some((access, bits)) => {
                    line.starts_with(&format!("global_{access}_dword")) && line.ends_with(bits)
                }
                None => line.starts_with(&format!("global_{step}_dword")) && !line.contains(" sc"),
            });
            assert!(found, "{target}: `{step}` is missing or out of order:\n{assembly}");
        }
    }
}
