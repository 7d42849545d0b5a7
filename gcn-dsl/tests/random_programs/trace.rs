//! A program as a kernel: makes the calls that the macro's expansion would contain, statement by statement.

use std::rc::Rc;

use gcn_dsl::__private::{
    self as lang, AnyTarget, Arguments, Block, PackedArg, Packer, Signature, Uniform, WholeWorkgroup,
};
use gcn_dsl::Kernel;
use gcn_dsl::launch::{DevicePacker, Passed};
use gcn_dsl::scalar::Elem;

use super::ast::{
    Arm, Expr, Id, Made, NUMBERS, Op, POINTED, Place, Program, SHARED, SHARED_LEN, Shape, Stmt, Used, bit,
    has_breaks, has_continues, is_cold,
};
use super::bits::{table, with_type};
use super::counting::{self, Open, together};
use super::data::Data;
use super::held::{self, Held};
use super::memory::{self, Memory, Variable};
use super::pointers::Pointers;
use super::typing;
use super::value::{self, D, Val, of};

/// The program, in the role of a kernel that `gcn_kernel!` declares.
#[derive(Clone, Copy)]
pub struct Generated<'p>(pub &'p Program);

/// The arguments of a program.
pub struct Given<'a>(pub &'a mut Data, pub Used);

impl<'a> Passed<Given<'a>> for Given<'a> {
    fn passed(self) -> Given<'a> {
        self
    }
}

impl Kernel for Generated<'_> {
    type Args<'a> = Given<'a>;
    type DeviceArgs<'a> = ();

    fn signature(&self) -> Signature {
        let used = self.0.used();
        let mut s = Signature::new("generated", &[], [self.0.workgroup, 1, 1]);
        if used.args & bit(Elem::Bool) != 0 {
            s = s.value::<bool>("a_bool");
        }
        for elem in NUMBERS {
            with_type!(elem, T => {
                s = if used.args & bit(elem) != 0 { s.value::<T>("a") } else { s };
                s = if used.inputs & bit(elem) != 0 { s.slice::<T>("in") } else { s };
                s = if used.outputs & bit(elem) != 0 { s.slice_mut::<T>("out") } else { s };
                s = if used.shared & bit(elem) != 0 { s.slice_mut::<T>("shared") } else { s };
                s = if used.pointed & bit(elem) != 0 { s.pointer::<T>("at") } else { s };
            }, bool => {});
        }
        s
    }

    fn trace(&self, arguments: &mut Arguments) {
        let mut tracer = Tracer::new(self.0, arguments);
        tracer.block(&self.0.body);
        tracer.whole.into_iter().for_each(Block::end);
    }

    /// The contents of the slices are transferred separately; the addresses are arguments.
    fn pack<'b, 'a: 'b>(Given(data, used): &'b mut Self::Args<'a>, packer: &mut Packer<'b>) {
        if used.args & bit(Elem::Bool) != 0 {
            packer.value(data.args[Elem::Bool as usize] != 0);
        }
        for elem in NUMBERS {
            let slice = |len: usize| PackedArg::Slice { len, bytes: Vec::new(), write_back: None };
            if used.args & bit(elem) != 0 {
                packer.args.push(PackedArg::Value(bytes(elem, &data.args[elem as usize..][..1])));
            }
            if used.inputs & bit(elem) != 0 {
                packer.args.push(slice(data.inputs[elem as usize].len()));
            }
            if used.outputs & bit(elem) != 0 {
                packer.args.push(slice(data.results.outputs[elem as usize].len()));
            }
            if used.shared & bit(elem) != 0 {
                packer.args.push(slice(SHARED_LEN as usize));
            }
            if used.pointed & bit(elem) != 0 {
                let of = POINTED.iter().position(|t| *t == elem);
                packer.args.push(PackedArg::Pointer(of.map_or(0, |k| data.pointed_at[k])));
            }
        }
    }

    fn pack_device<'b, 'a: 'b>((): &'b mut Self::DeviceArgs<'a>, _packer: &mut DevicePacker<'b>) {}
}

/// The values as bytes in memory.
pub fn bytes(elem: Elem, values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()[..elem.bytes() as usize].to_vec()).collect()
}

struct Tracer<'p> {
    program: &'p Program,
    args: [Option<Val>; 15],
    inputs: [Option<Memory>; 15],
    outputs: [Option<Memory>; 15],
    shared: [Option<Memory>; 15],
    pointers: Pointers,
    lds: Vec<Memory>,
    private: Vec<Memory>,
    vars: Vec<Option<Variable>>,
    objects: Vec<Option<Rc<dyn Held>>>,
    ids: [Val; 5],
    open: Open,
    /// The block around the body, if the body has a `return`.
    whole: Option<Block>,
}

impl<'p> Tracer<'p> {
    fn new(program: &'p Program, arguments: &mut Arguments) -> Tracer<'p> {
        let used = program.used();
        let has = |mask: u16, elem: Elem| mask & bit(elem) != 0;
        let (mut args, mut inputs) = ([None; 15], [const { None }; 15]);
        let (mut outputs, mut shared) = ([const { None }; 15], [const { None }; 15]);
        let mut pointers = Pointers::default();
        if has(used.args, Elem::Bool) {
            args[Elem::Bool as usize] = Some(arguments.value::<bool>().into());
        }
        for elem in NUMBERS {
            let i = elem as usize;
            if has(used.args, elem) {
                args[i] = with_type!(elem, T => Some(arguments.value::<T>().into()), bool => None);
            }
            inputs[i] = has(used.inputs, elem).then(|| memory::input(arguments, elem));
            outputs[i] = has(used.outputs, elem).then(|| memory::output(arguments, elem));
            shared[i] = has(used.shared, elem).then(|| memory::shared(arguments, elem));
            if has(used.pointed, elem) {
                pointers.take(arguments, elem);
            }
        }
        let ids = [
            lang::local_id().x.into(),
            lang::global_id().x.into(),
            lang::lane_id().into(),
            lang::wave_id().into(),
            lang::workgroup_id().x.into(),
        ];
        let lds = program.lds.iter().map(|elem| memory::lds(*elem)).collect();
        let private = program.private.iter().map(|elem| memory::private(*elem)).collect();
        let vars = program.vars.iter().map(|_| None).collect();
        let objects = program.objects.iter().map(|_| None).collect();
        let mut returns = false;
        program.each(&mut |s| returns |= *s == Stmt::Return);
        let whole = returns.then(lang::block_begin);
        Tracer {
            program,
            args,
            inputs,
            outputs,
            shared,
            pointers,
            lds,
            private,
            vars,
            objects,
            ids,
            open: Open::new(),
            whole,
        }
    }

    fn block(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    fn own(&self, slot: u32) -> D<u32> {
        let global = of::<u32>(self.ids[Id::Global as usize]).lane();
        D::V(if slot == 0 { global } else { global + slot * self.program.lanes() })
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, init } => {
                let (init, decl) = (self.eval(init), self.program.vars[*var]);
                self.vars[*var] = Some(if decl.mutable {
                    memory::declare(decl, init.annotated(decl.ty.place))
                } else {
                    Variable::constant(init)
                });
            }
            Stmt::Set { var, op, value } => {
                let value = match op {
                    Some(op) => value::bin(*op, (self.var(*var).get)(), self.eval(value)),
                    None => self.eval(value),
                };
                (self.var(*var).set)(value);
            }
            Stmt::Store { elem, slot, value } => {
                let value = self.eval(value);
                let store = self.outputs[*elem as usize].as_ref().and_then(|m| m.store.as_ref());
                store.expect("a used output")(self.own(*slot), value);
            }
            Stmt::LdsStore { array, index, value } => {
                let (index, value) = (of(self.eval(index)), self.eval(value));
                self.lds[*array].store.as_ref().expect("LDS is writable")(index, value);
            }
            Stmt::Shared { elem, index, value } => {
                let (index, value) = (of(self.eval(index)), self.eval(value));
                let op = SHARED.iter().position(|e| e == elem).map(|k| self.program.shared[k]);
                let fetch = self.shared[*elem as usize].as_ref().and_then(|m| m.fetch.as_ref());
                fetch.expect("a used slice")(op.expect("an atomic type"), index, value);
            }
            Stmt::LdsAtomic { array, op, index, value } => {
                let (index, value) = (of(self.eval(index)), self.eval(value));
                self.lds[*array].fetch.as_ref().expect("an atomic type")(*op, index, value);
            }
            Stmt::PrivateStore { array, lent, index, value } => {
                let (index, value) = (of(self.eval(index)), self.eval(value));
                let array = &self.private[*array];
                let store = if *lent { &array.put } else { &array.store };
                store.as_ref().expect("a private array is writable")(index, value);
            }
            Stmt::Match { value, arms, bodies } => {
                let value = self.eval(value);
                self.arms(value, arms, bodies);
            }
            Stmt::If { cond, then, els } => {
                let cond = of::<bool>(self.eval(cond));
                value::branch(cond, !els.is_empty(), &mut |side| {
                    let body = if side { then } else { els };
                    if is_cold(body) {
                        lang::cold_path();
                    }
                    self.block(body);
                });
            }
            Stmt::While { cond, body } => {
                let guard =
                    lang::while_begin::<_, Uniform, Uniform>(&WholeWorkgroup::new(), has_breaks(body));
                match of::<bool>(self.eval(cond)) {
                    D::S(cond) => {
                        let guard = guard.test(cond, has_continues(body));
                        let guard = counting::looped(self, Self::open, guard, |t| t.block(body));
                        guard.end(&together(), &together());
                    }
                    D::V(cond) => {
                        let guard = guard.test(cond, has_continues(body));
                        let guard = counting::looped(self, Self::open, guard, |t| t.block(body));
                        guard.end(&together(), &together());
                    }
                    D::H(_) => unreachable!("a host condition"),
                }
            }
            Stmt::Loop { body } => {
                let (breaks, continues) = (has_breaks(body), has_continues(body));
                let guard =
                    lang::loop_begin::<_, Uniform, Uniform>(&WholeWorkgroup::new(), breaks, continues);
                let guard = counting::looped(self, Self::open, guard, |t| t.block(body));
                guard.end(&together(), &together());
            }
            Stmt::For { var, range, start, end, body } => {
                let ends = (self.eval(start), self.eval(end));
                counting::run(self, Self::open, (*range, ends), body, &mut |t, index| {
                    t.vars[*var] = Some(Variable::constant(index));
                    t.block(body);
                });
            }
            Stmt::Break(n) => self.open[self.open.len() - 1 - n].clone().leave(),
            Stmt::Continue(n) => self.open[self.open.len() - 1 - n].clone().next(),
            Stmt::Return => _ = self.whole.as_ref().expect("opened where there is a `return`").leave(),
            Stmt::Unroll { var, n, body } => {
                for k in lang::unroll(0u32, *n) {
                    self.vars[*var] = Some(Variable::constant(Val::U32(D::H(k))));
                    self.block(body);
                }
            }
            Stmt::Barrier => {
                lang::Call(lang::barrier()).in_a_kernel::<_, AnyTarget, AnyTarget>(&WholeWorkgroup::new());
            }
            Stmt::Object { object, new, cond, made } => {
                let cond = cond.as_ref().map(|c| of::<bool>(self.eval(c)));
                let (old, shape) = (self.objects[*object].clone(), self.program.objects[*object]);
                let pointers = self.pointers;
                let mut values = |then: bool| {
                    let (variant, fields): &Made = if then { &made[0] } else { &made[1] };
                    (*variant, fields.iter().map(|e| self.eval(e)).collect())
                };
                if *new {
                    let held = match shape {
                        Shape::Pointer(elem) => pointers.declare(elem, &mut values),
                        shape => held::declare(shape, cond, &mut values),
                    };
                    self.objects[*object] = Some(held);
                } else {
                    old.expect("`typing` knows what is in scope").set(cond, &mut values);
                }
            }
            Stmt::SetMember { object, field, value } => {
                let value = self.eval(value);
                self.object(*object).set_member(*field, value);
            }
            Stmt::Each { object, op, value } => {
                let object = self.object(*object);
                for k in 0..3 {
                    let old = object.member(k);
                    let value = self.eval(value);
                    object.set_member(k, value::bin(*op, old, value));
                }
            }
            Stmt::Take { object, vars, bodies } => {
                let object = self.object(*object);
                object.take(&mut |variant, values| {
                    for (var, value) in vars[variant].iter().zip(values) {
                        self.vars[*var] = Some(Variable::constant(value));
                    }
                    self.block(&bodies[variant]);
                });
            }
            Stmt::Step { object, twice, var, by } => {
                let by = self.eval(by);
                let result = self.object(*object).step(*twice, by);
                self.vars[*var] = Some(Variable::constant(result));
            }
            Stmt::Later { var, cond, bodies, values } => {
                let cond = of::<bool>(self.eval(cond));
                let later = memory::later(self.program.vars[*var]);
                value::branch(cond, true, &mut |side| {
                    let k = usize::from(!side);
                    self.block(&bodies[k]);
                    let value = self.eval(&values[k]);
                    (later.set)(value);
                });
                self.vars[*var] = Some(later);
            }
        }
    }

    fn object(&self, object: usize) -> Rc<dyn Held> {
        self.objects[object].clone().expect("`typing` knows what is in scope")
    }

    /// The arms of a `match`, as the chain of branches that the macro generates.
    fn arms(&mut self, value: Val, arms: &[Arm], bodies: &[Vec<Stmt>]) {
        let Some((arm, rest)) = arms.split_first() else { return self.block(&bodies[0]) };
        let cond = value::is(value, *arm);
        value::branch(cond, true, &mut |taken| match taken {
            true => self.block(&bodies[0]),
            false => self.arms(value, rest, &bodies[1..]),
        });
    }

    fn open(&mut self) -> &mut Open {
        &mut self.open
    }

    fn var(&self, var: usize) -> &Variable {
        self.vars[var].as_ref().expect("`typing` knows what is in scope")
    }

    fn eval(&mut self, e: &Expr) -> Val {
        if e.op == Op::If {
            return self.if_value(&e.args);
        }
        if let Op::And | Op::Or = e.op {
            let left = of::<bool>(self.eval(&e.args[0]));
            let lane = typing::ty(self.program, e).is_some_and(|ty| ty.place == Place::Lane);
            return value::logic(e.op == Op::And, left, lane, &mut || self.eval(&e.args[1]));
        }
        let x: Vec<Val> = e.args.iter().map(|a| self.eval(a)).collect();
        let loaded = |m: &Option<Memory>, i: Val| {
            m.as_ref().and_then(|m| m.load.as_ref()).expect("a used slice")(of(i))
        };
        match e.op {
            Op::Lit(elem, bits) => value::literal(elem, bits),
            Op::Var(v) => (self.var(v).get)(),
            Op::Arg(elem) => self.args[elem as usize].expect("a used argument"),
            Op::Id(id) => self.ids[id as usize],
            Op::In(elem) => loaded(&self.inputs[elem as usize], x[0]),
            Op::Own(elem, slot) => loaded(&self.outputs[elem as usize], Val::U32(self.own(slot))),
            Op::Uniform(elem) => {
                let uniform = self.inputs[elem as usize].as_ref().and_then(|m| m.uniform.as_ref());
                uniform.expect("a used slice")(of(x[0]))
            }
            Op::Table(elem, log) => with_type!(elem, T => {
                let (table, mask) = (table::<T>(log), (1u32 << log) - 1);
                match of::<u32>(x[0]) {
                    D::V(i) => lang::load(&table, i & mask).into(),
                    i => lang::load(&table, i.wave() & mask).into(),
                }
            }, bool => unreachable!("a table of numbers")),
            Op::Part(elem, n) => {
                let load = self.inputs[elem as usize].as_ref().and_then(|m| m.part.as_ref());
                load.expect("a used slice")(of(x[0]), n, of::<u32>(x[1]).lane())
            }
            Op::Wide(elem, n, k) => {
                let load = self.inputs[elem as usize].as_ref().and_then(|m| m.wide.as_ref());
                load.expect("a used slice")(of::<u32>(x[0]).lane(), n, k)
            }
            Op::IsSome(object) => self.object(object).is_some(),
            Op::UnwrapOr(object) => self.object(object).unwrap_or(x[0]),
            Op::MapOr(object, op) => self.object(object).map_or(x[0], &|v| value::bin(op, v, x[1])),
            Op::Pointed(object) => self.object(object).pointed(x[0]),
            Op::Member(object, field) => self.object(object).member(field),
            Op::Peek(object) => self.object(object).peek(),
            Op::Passed(object) => self.object(object).passed(x[0]),
            Op::Again(op) => value::again(op, x[0], x[1]),
            Op::Either(op) => value::either(op, [x[0], x[1], x[2]]),
            Op::Lds(array) => self.lds[array].load.as_ref().expect("LDS is readable")(of(x[0])),
            Op::Private(array) => {
                self.private[array].load.as_ref().expect("a private array is readable")(of(x[0]))
            }
            Op::Reduce(op) => value::reduce(op, x[0]),
            Op::Scan(op, exclusive) => value::scan(op, exclusive, x[0]),
            Op::Un(op) => value::un(op, x[0]),
            Op::Bin(op) => value::bin(op, x[0], x[1]),
            Op::Cmp(pred) => value::compare(pred, x[0], x[1]),
            Op::Select => value::select(x[0], x[1], x[2]),
            Op::MulAdd => value::mul_add(x[0], x[1], x[2]),
            Op::Cast(elem) => value::cast(x[0], elem),
            Op::Bits(elem) => value::to_bits(x[0], elem),
            Op::Splat => value::splat(x[0]),
            Op::Ballot => lang::ballot(of::<bool>(x[0]).lane()).bits().into(),
            Op::Any => lang::any(of::<bool>(x[0]).lane()).into(),
            Op::All => lang::all(of::<bool>(x[0]).lane()).into(),
            Op::ReadFirst => value::read_first(x[0]),
            Op::ReadLane => value::read_lane(x[0], of(x[1])),
            Op::Shuffle => value::shuffle(x[0], of(x[1])),
            Op::ShuffleXor(mask) => value::shuffle_xor(x[0], mask),
            Op::If | Op::And | Op::Or => unreachable!("above"),
        }
    }

    fn if_value(&mut self, e: &[Expr]) -> Val {
        let cond = of::<bool>(self.eval(&e[0]));
        value::if_value(cond, &mut |then| self.eval(if then { &e[1] } else { &e[2] }))
    }
}
