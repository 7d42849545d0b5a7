//! A program as the source of a kernel.

use std::fmt::Write;

use gcn_dsl::ir::{Bin, Pred, Un};
use gcn_dsl::prelude::{bf16, f16};
use gcn_dsl::scalar::Elem;

use super::ast::{
    Expr, Fetch, Id, LDS_LEN, Made, NUMBERS, Op, PRIVATE_LEN, Place, Program, SHARED, Shape, Stmt, Ty, bit,
    is_cold,
};
use super::bits::Bits;
use super::typing;

/// The program as an item of `gcn_kernel!` with this name.
pub fn kernel(program: &Program, name: &str) -> String {
    spelled(program, name, None)
}

/// Other texts for parts of a program.
pub trait Words {
    /// Another text for the expression, in parentheses, or none; `arg` prints an argument.
    fn expr(&self, program: &Program, e: &Expr, arg: &dyn Fn(usize) -> String) -> Option<String>;
    /// Another text for the statement `var op= value`, or none; `text` is that of its value.
    fn set(&self, program: &Program, var: usize, op: Option<Bin>, value: &Expr, text: &str)
    -> Option<String>;
}

/// The same, with other words for what it does.
pub fn spelled<'p>(program: &'p Program, name: &str, spelling: Option<&'p dyn Words>) -> String {
    let used = program.used();
    let mut args = Vec::new();
    if used.args & bit(Elem::Bool) != 0 {
        args.push("a_bool: bool".to_owned());
    }
    for t in NUMBERS {
        let mut arg = |mask: u16, text: String| args.extend((mask & bit(t) != 0).then_some(text));
        arg(used.args, format!("a_{t}: {t}"));
        arg(used.inputs, format!("in_{t}: &[{t}]"));
        arg(used.outputs, format!("out_{t}: &mut [{t}]"));
        arg(used.shared, format!("shared_{t}: &mut [{t}]"));
        arg(used.pointed, format!("at_{t}: *const {t}"));
    }
    let mut out = format!("#[workgroup({})]\nfn {name}(\n", program.workgroup);
    args.iter().for_each(|a| _ = writeln!(out, "    {a},"));
    out.push_str(") {\n");
    out.push_str("    let (local, global, lane) = (local_id().x, global_id().x, lane_id());\n");
    out.push_str("    let (wave, group) = (wave_id(), workgroup_id().x);\n");
    for (k, t) in program.lds.iter().enumerate() {
        _ = writeln!(out, "    let lds{k} = Lds::<{t}, {LDS_LEN}>::new();");
    }
    for (k, t) in program.private.iter().enumerate() {
        let zero = literal(*t, 0);
        _ = writeln!(out, "    let own{k} = Private::<{t}, {PRIVATE_LEN}>::filled({zero});");
    }
    let mut printer = Printer { program, out, indent: 1, loops: 0, spelling };
    printer.block(&program.body);
    printer.out + "}\n"
}

/// True for a variable whose written type does not say whether it is varying. This is every second variable for which
/// the expansion finds that out by what is assigned.
pub fn is_plain(program: &Program, var: usize) -> bool {
    let mut varies = program.vars[var].ty.place == Place::Wave;
    program.each(&mut |stmt| {
        let given = match stmt {
            Stmt::Let { var: to, init: e } | Stmt::Set { var: to, value: e, .. } if *to == var => vec![e],
            Stmt::Later { var: to, values, .. } if *to == var => values.iter().collect(),
            _ => Vec::new(),
        };
        varies |= given.iter().any(|e| typing::ty(program, e).is_some_and(|t| t.place == Place::Lane));
    });
    varies && var % 2 == 1
}

struct Printer<'p> {
    program: &'p Program,
    out: String,
    indent: usize,
    loops: usize,
    spelling: Option<&'p dyn Words>,
}

fn shape_name(shape: Shape) -> String {
    match shape {
        Shape::Pair => "Pair".to_owned(),
        Shape::Thing => "Thing".to_owned(),
        Shape::Option(t) => format!("Option<V<{t}>>"),
        Shape::Result(a, b) => format!("Result<V<{a}>, V<{b}>>"),
        Shape::Either(Elem::U32, _) => "Word".to_owned(),
        Shape::Either(..) => "Long".to_owned(),
        Shape::Tuple(a, b) => format!("(V<{a}>, V<{b}>)"),
        Shape::Array(t) => format!("[V<{t}>; 3]"),
        Shape::Cell => "V<Cell>".to_owned(),
        Shape::Pointer(t) => format!("*const {t}"),
    }
}

/// A variant with values or names for its fields.
fn pattern(shape: Shape, variant: usize, fields: &[String]) -> String {
    match (shape, variant, fields) {
        (Shape::Pair, _, [a, b]) => format!("Pair {{ count: {a}, level: {b} }}"),
        (Shape::Thing, 0, _) => "Thing::Nothing".to_owned(),
        (Shape::Thing, 1, [a]) => format!("Thing::Number({a})"),
        (Shape::Thing, 2, [a, b]) => format!("Thing::Both {{ near: {a}, far: {b} }}"),
        (Shape::Thing, _, [a]) => format!("Thing::Wide({a})"),
        (Shape::Option(_), 0, _) => "None".to_owned(),
        (Shape::Option(_), _, [a]) => format!("Some({a})"),
        (Shape::Result(..), 0, [a]) => format!("Ok({a})"),
        (Shape::Result(..), _, [a]) => format!("Err({a})"),
        (Shape::Either(..), 0, [a]) => format!("{}::Left({a})", shape_name(shape)),
        (Shape::Either(..), _, [a]) => format!("{}::Right({a})", shape_name(shape)),
        (Shape::Tuple(..), _, [a, b]) => format!("({a}, {b})"),
        (Shape::Array(_), _, fields) => format!("[{}]", fields.join(", ")),
        (Shape::Cell, _, [a, b]) => format!("cell({a}, {b})"),
        (Shape::Pointer(t), _, [a]) => format!("at_{t}.add({a} & 63)"),
        _ => unreachable!("{shape:?} has no variant {variant} of {} fields", fields.len()),
    }
}

/// Shifts are printed as methods, too, because the operators reject constant counts that are too large.
fn is_method(op: Bin) -> bool {
    matches!(op, Bin::Shl | Bin::Shr | Bin::Min | Bin::Max)
}

fn symbol(op: Bin) -> &'static str {
    match op {
        Bin::Add => "+",
        Bin::Sub => "-",
        Bin::Mul => "*",
        Bin::Div => "/",
        Bin::Rem => "%",
        Bin::And => "&",
        Bin::Or => "|",
        Bin::Xor => "^",
        Bin::Shl => "wrapping_shl",
        Bin::Shr => "wrapping_shr",
        Bin::Min => "min",
        Bin::Max => "max",
        Bin::MulHi => "mul_hi",
    }
}

/// The operator of an operation that has one.
pub fn operator(op: Bin) -> Option<&'static str> {
    (!is_method(op) && op != Bin::MulHi).then(|| symbol(op))
}

fn fetch(op: Fetch) -> &'static str {
    match op {
        Fetch::Add => "fetch_add",
        Fetch::Min => "fetch_min",
        Fetch::Max => "fetch_max",
        Fetch::And => "fetch_and",
        Fetch::Or => "fetch_or",
        Fetch::Xor => "fetch_xor",
    }
}

/// The name of a reduction with the operator `op`.
fn joined(op: Bin) -> &'static str {
    match op {
        Bin::Add => "sum",
        Bin::Mul => "product",
        Bin::And => "and",
        Bin::Or => "or",
        Bin::Xor => "xor",
        min_or_max => symbol(min_or_max),
    }
}

fn float(x: f64, t: Elem, from_bits: String) -> String {
    let text = format!("{x:?}");
    if x.is_finite() && text.len() < 14 && !text.contains("e") { format!("{text}{t}") } else { from_bits }
}

pub fn literal(t: Elem, bits: u64) -> String {
    let from_bits = format!("{t}::from_bits({bits:#x})");
    match t {
        Elem::Bool => (bits != 0).to_string(),
        Elem::I8 => format!("{}i8", i8::of(bits)),
        Elem::I16 => format!("{}i16", i16::of(bits)),
        Elem::I32 => format!("{}i32", i32::of(bits)),
        Elem::I64 => format!("{}i64", i64::of(bits)),
        Elem::F16 => format!("f16::from_bits({bits:#x} /* {} */)", f16::of(bits)),
        Elem::Bf16 => format!("bf16::from_bits({bits:#x} /* {} */)", bf16::of(bits)),
        Elem::F32 if f32::of(bits).abs() < 1e6 && f32::of(bits).to_string().len() < 10 => {
            float(f32::of(bits).to_string().parse().unwrap_or(f64::NAN), t, from_bits)
        }
        Elem::F32 => from_bits,
        Elem::F64 => float(f64::of(bits), t, from_bits),
        _ => format!("{bits}{t}"),
    }
}

fn ty(ty: Ty) -> String {
    match ty.place {
        Place::Lane => format!("V<{}>", ty.elem),
        Place::Wave | Place::Host => format!("S<{}>", ty.elem),
    }
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let indent = 4 * self.indent;
        _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn block(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    /// A branch of an `if`.
    fn arm(&mut self, body: &[Stmt]) {
        if is_cold(body) {
            self.indent += 1;
            self.line("cold_path();");
            self.indent -= 1;
        }
        self.inside(body);
    }

    fn inside(&mut self, stmts: &[Stmt]) {
        self.indent += 1;
        self.block(stmts);
        self.indent -= 1;
    }

    /// The label of a loop with this body, if an inner loop needs it.
    fn label(&self, body: &[Stmt]) -> String {
        fn named(stmts: &[Stmt], level: usize) -> bool {
            stmts.iter().any(|s| match s {
                Stmt::Break(n) | Stmt::Continue(n) => level > 0 && *n == level,
                _ => s.bodies().iter().any(|b| named(b, level + usize::from(s.is_loop()))),
            })
        }
        if named(body, 0) { format!("'loop{}: ", self.loops) } else { String::new() }
    }

    fn looped(&mut self, body: &[Stmt]) {
        self.loops += 1;
        self.inside(body);
        self.loops -= 1;
        self.line("}");
    }

    fn own(&self, slot: u32) -> String {
        if slot == 0 { "global".to_owned() } else { format!("global + {}", slot * self.program.lanes()) }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, init } => {
                let decl = self.program.vars[*var];
                let text = match decl.mutable {
                    true => format!("let mut x{var}: {} = {};", self.ty(*var), self.expected(init)),
                    false => format!("let x{var} = {};", self.top(init)),
                };
                self.line(&text);
            }
            Stmt::Set { var, op, value } => {
                let other = self.spelling.and_then(|spelling| {
                    let text = self.top(value);
                    spelling.set(self.program, *var, *op, value, &text)
                });
                if let Some(text) = other {
                    return self.line(&text);
                }
                let value = self.expected(value);
                let text = match op {
                    Some(op) if is_method(*op) => format!("x{var} = x{var}.{}({value});", symbol(*op)),
                    op => format!("x{var} {}= {value};", op.map_or("", symbol)),
                };
                self.line(&text);
            }
            Stmt::Store { elem, slot, value } => {
                let (own, value) = (self.own(*slot), self.expected(value));
                self.line(&format!("out_{elem}[{own}] = {value};"));
            }
            Stmt::LdsStore { array, index, value } => {
                let (index, value) = (self.top(index), self.top(value));
                self.line(&format!("lds{array}[{index}] = {value};"));
            }
            Stmt::Shared { elem, index, value } => {
                let (index, value) = (self.top(index), self.top(value));
                let k = SHARED.iter().position(|e| e == elem).unwrap_or(0);
                let op = fetch(self.program.shared[k]);
                self.line(&format!(
                    "shared_{elem}.atomic({index}).{op}({value}, Scope::Agent, Ordering::Relaxed);"
                ));
            }
            Stmt::LdsAtomic { array, op, index, value } => {
                let (op, index, value) = (fetch(*op), self.top(index), self.top(value));
                self.line(&format!(
                    "lds{array}.atomic({index}).{op}({value}, Scope::Workgroup, Ordering::Relaxed);"
                ));
            }
            Stmt::PrivateStore { array, lent, index, value } => {
                let (index, value) = (self.top(index), self.top(value));
                self.line(&match lent {
                    true => format!("put(&mut own{array}, {index}, {value});"),
                    false => format!("own{array}[{index}] = {value};"),
                });
            }
            Stmt::Match { value, arms, bodies } => {
                let elem = typing::ty(self.program, value).map_or(Elem::U32, |t| t.elem);
                let value = self.top(value);
                self.line(&format!("match {value} {{"));
                self.indent += 1;
                let patterns = arms.iter().map(|(low, high)| match low == high {
                    true => literal(elem, *low),
                    false => format!("{}..={}", literal(elem, *low), literal(elem, *high)),
                });
                for (pattern, body) in patterns.chain(["_".to_owned()]).zip(bodies) {
                    self.line(&format!("{pattern} => {{"));
                    self.inside(body);
                    self.line("}");
                }
                self.indent -= 1;
                self.line("}");
            }
            Stmt::If { cond, then, els } => {
                let cond = self.top(cond);
                self.line(&format!("if {cond} {{"));
                self.arm(then);
                if !els.is_empty() {
                    self.line("} else {");
                    self.arm(els);
                }
                self.line("}");
            }
            Stmt::While { cond, body } => {
                let cond = self.top(cond);
                let label = self.label(body);
                self.line(&format!("{label}while {cond} {{"));
                self.looped(body);
            }
            Stmt::For { var, range, start, end, body } => {
                let (a, b) = (self.expr(start), self.expr(end));
                let stages = range.stages;
                let plain = format!("{a}..{}{b}", if range.inclusive { "=" } else { "" });
                let range = match (range.reversed, range.step) {
                    (false, None) => plain,
                    (true, None) => format!("({plain}).rev()"),
                    (false, Some(k)) => format!("({plain}).step_by({k})"),
                    (true, Some(k)) => format!("({plain}).rev().step_by({k})"),
                };
                let label = self.label(body);
                if let Some(stages) = stages {
                    self.line(&format!("#[pipeline(stages = {stages})]"));
                }
                self.line(&format!("{label}for x{var} in {range} {{"));
                self.looped(body);
            }
            Stmt::Unroll { var, n, body } => {
                self.line("#[unroll]");
                self.line(&format!("for x{var} in 0u32..{n} {{"));
                self.inside(body);
                self.line("}");
            }
            Stmt::Loop { body } => {
                let label = self.label(body);
                self.line(&format!("{label}loop {{"));
                self.looped(body);
            }
            Stmt::Break(0) => self.line("break;"),
            Stmt::Continue(0) => self.line("continue;"),
            Stmt::Break(n) => self.line(&format!("break 'loop{};", self.loops - 1 - n)),
            Stmt::Continue(n) => self.line(&format!("continue 'loop{};", self.loops - 1 - n)),
            Stmt::Return => self.line("return;"),
            Stmt::Barrier => self.line("barrier();"),
            Stmt::Object { object, new, cond, made } => {
                let shape = self.program.objects[*object];
                let values: Vec<String> = made.iter().map(|m| self.made(shape, m)).collect();
                let value = match cond {
                    None => values[0].clone(),
                    Some(c) => format!("if {} {{ {} }} else {{ {} }}", self.top(c), values[0], values[1]),
                };
                // The elements are varying, so the plain element type is sufficient.
                let mut fields = made.iter().flat_map(|m| &m.1);
                let lanes = |e: &Expr| typing::ty(self.program, e).is_some_and(|t| t.place == Place::Lane);
                let shape_name = match shape {
                    Shape::Array(t) if object % 2 == 1 && fields.all(lanes) => format!("[{t}; 3]"),
                    shape => shape_name(shape),
                };
                let text = match new {
                    // Without a type annotation, whether the pointer is uniform or varying follows from its initial
                    // value.
                    true if matches!(shape, Shape::Pointer(_)) && object % 2 == 0 => {
                        format!("let mut object{object} = {value};")
                    }
                    true => format!("let mut object{object}: {shape_name} = {value};"),
                    false => format!("object{object} = {value};"),
                };
                self.line(&text);
            }
            Stmt::SetMember { object, field, value } => {
                let value = self.expected(value);
                let text = format!("object{object}{} = {value};", self.field(*object, *field));
                self.line(&text);
            }
            Stmt::Each { object, op, value } => {
                let head = match object % 2 {
                    0 => format!("for e in object{object}.iter_mut() {{"),
                    _ => format!("for e in &mut object{object} {{"),
                };
                self.line(&head);
                let text = format!("    *e {}= {};", symbol(*op), self.expected(value));
                self.line(&text);
                self.line("}");
            }
            Stmt::Take { object, vars, bodies } => self.take(*object, vars, bodies),
            Stmt::Step { object, twice, var, by } => {
                let (name, by) = (if *twice { "twice" } else { "step" }, self.expected(by));
                // Another `gcn_kernel!` declares the method. The call states explicitly that it changes the variable,
                // or leaves that to rustc.
                self.line(&match var % 2 {
                    0 => format!("let x{var} = (&mut object{object}).{name}({by});"),
                    _ => format!("let x{var} = object{object}.{name}({by});"),
                });
            }
            Stmt::Later { var, cond, bodies, values } => {
                self.line(&format!("let x{var}: {};", self.ty(*var)));
                let cond = self.top(cond);
                for (body, (value, head)) in
                    bodies.iter().zip(values.iter().zip([format!("if {cond} {{"), "} else {".to_owned()]))
                {
                    self.line(&head);
                    self.inside(body);
                    self.indent += 1;
                    let value = self.expected(value);
                    self.line(&format!("x{var} = {value};"));
                    self.indent -= 1;
                }
                self.line("}");
            }
        }
    }

    /// The written type of a variable.
    fn ty(&self, var: usize) -> String {
        let of = self.program.vars[var].ty;
        if is_plain(self.program, var) { of.elem.to_string() } else { ty(of) }
    }

    /// A literal that takes the expected type, or another expression.
    fn expected(&self, e: &Expr) -> String {
        let text = self.top(e);
        let Op::Lit(t, _) = e.op else { return text };
        match text.strip_suffix(&t.to_string()) {
            Some(bare) if t != Elem::Bool => bare.to_owned(),
            _ => text,
        }
    }

    fn field(&self, object: usize, field: usize) -> String {
        match self.program.objects[object] {
            Shape::Pair => [".count", ".level"][field].to_owned(),
            Shape::Cell => [".low", ".wide"][field].to_owned(),
            Shape::Array(_) => format!("[{field}]"),
            _ => format!(".{field}"),
        }
    }

    fn made(&self, shape: Shape, (variant, fields): &Made) -> String {
        let field = |e: &Expr| match shape {
            // The types of the fields determine the enum's parameters.
            Shape::Either(..) => format!("splat({})", self.top(e)),
            Shape::Pointer(_) => self.expr(e),
            _ => self.expected(e),
        };
        pattern(shape, *variant, &fields.iter().map(field).collect::<Vec<_>>())
    }

    fn take(&mut self, object: usize, vars: &[Vec<usize>], bodies: &[Vec<Stmt>]) {
        let shape = self.program.objects[object];
        let names = |k: usize| vars[k].iter().map(|v| format!("x{v}")).collect::<Vec<_>>();
        match shape {
            Shape::Cell => {
                self.line("{");
                self.indent += 1;
                let names = names(0).join(", ");
                self.line(&format!("let ({names}) = (object{object}.low, object{object}.wide);"));
                self.indent -= 1;
                self.inside(&bodies[0]);
            }
            Shape::Pointer(_) => unreachable!("`typing` knows what is taken apart"),
            Shape::Pair | Shape::Tuple(..) | Shape::Array(_) => {
                self.line("{");
                self.indent += 1;
                self.line(&format!("let {} = object{object};", pattern(shape, 0, &names(0))));
                self.indent -= 1;
                self.inside(&bodies[0]);
            }
            Shape::Option(_) => {
                self.line(&format!("if let {} = object{object} {{", pattern(shape, 1, &names(1))));
                self.inside(&bodies[1]);
                self.line("} else {");
                self.inside(&bodies[0]);
            }
            Shape::Thing | Shape::Result(..) | Shape::Either(..) => {
                self.line(&format!("match object{object} {{"));
                self.indent += 1;
                for (k, body) in bodies.iter().enumerate() {
                    self.line(&format!("{} => {{", pattern(shape, k, &names(k))));
                    self.inside(body);
                    self.line("}");
                }
                self.indent -= 1;
            }
        }
        self.line("}");
    }

    /// `v op y`
    fn applied(&self, op: Bin, y: &Expr) -> String {
        match is_method(op) {
            true => format!("v.{}({})", symbol(op), self.top(y)),
            false => format!("v {} {}", symbol(op), self.expr(y)),
        }
    }

    /// The expression without its outermost parentheses.
    fn top(&self, e: &Expr) -> String {
        let text = self.expr(e);
        let binary = matches!(e.op, Op::Bin(op) if !is_method(op));
        if binary || matches!(e.op, Op::Cmp(_) | Op::And | Op::Or | Op::Cast(_)) {
            return text[1..text.len() - 1].to_owned();
        }
        text
    }

    fn expr(&self, e: &Expr) -> String {
        let arg = |i: usize| self.expr(&e.args[i]);
        let top = |i: usize| self.top(&e.args[i]);
        let other = self.spelling.and_then(|spelling| spelling.expr(self.program, e, &arg));
        if let Some(text) = other {
            return text;
        }
        match e.op {
            Op::Lit(t, bits) => literal(t, bits),
            Op::Var(v) => format!("x{v}"),
            Op::Arg(t) => format!("a_{t}"),
            Op::Id(id) => match id {
                Id::Local => "local",
                Id::Global => "global",
                Id::Lane => "lane",
                Id::Wave => "wave",
                Id::Group => "group",
            }
            .to_owned(),
            Op::In(t) => format!("in_{t}[{}]", top(0)),
            Op::Uniform(t) => format!("in_{t}.uniform({})", top(0)),
            Op::Table(t, log) => {
                format!("super::bits::table::<{t}>({log})[{} & {}]", arg(0), (1u32 << log) - 1)
            }
            Op::Part(t, n) => {
                let start = self.expr(&e.args[0]);
                format!("(&in_{t}[{start}..{start} + {n}])[{}]", top(1))
            }
            Op::Wide(t, n, k) => format!("in_{t}.load_vector::<{n}>({}).get({k})", top(0)),
            Op::IsSome(object) => match self.program.objects[object] {
                Shape::Option(_) => format!("object{object}.is_some()"),
                _ => format!("object{object}.is_ok()"),
            },
            Op::UnwrapOr(object) => format!("object{object}.unwrap_or({})", self.expected(&e.args[0])),
            Op::MapOr(object, op) => format!(
                "object{object}.map_or({}, |v| {})",
                self.expected(&e.args[0]),
                self.applied(op, &e.args[1])
            ),
            Op::Member(object, field) => format!("object{object}{}", self.field(object, field)),
            Op::Pointed(object) => format!("object{object}[{} & 63]", arg(0)),
            Op::Peek(object) => format!("object{object}.peek()"),
            Op::Passed(object) => format!("passed(object{object}, {})", self.expected(&e.args[0])),
            Op::Again(op) => format!("again({}, |v| {})", top(0), self.applied(op, &e.args[1])),
            Op::Either(op) => format!(
                "either({}, |v| v > {}, |v| {}).unwrap_or({})",
                top(0),
                arg(1),
                self.applied(op, &e.args[1]),
                self.expected(&e.args[2])
            ),
            Op::Own(t, slot) => format!("out_{t}[{}]", self.own(slot)),
            Op::Lds(array) => format!("lds{array}[{}]", top(0)),
            Op::Un(op) => match op {
                Un::Neg => format!("(-{})", arg(0)),
                Un::Not => format!("(!{})", arg(0)),
                Un::Abs => format!("{}.abs()", arg(0)),
                Un::Floor => format!("{}.floor()", arg(0)),
                Un::Ceil => format!("{}.ceil()", arg(0)),
                Un::Trunc => format!("{}.trunc()", arg(0)),
                Un::Rndne => format!("{}.round_ties_even()", arg(0)),
                other => format!("{}.{other:?}()", arg(0)),
            },
            Op::Bin(op) if is_method(op) => {
                format!("{}.{}({})", arg(0), symbol(op), top(1))
            }
            Op::Bin(op) => format!("({} {} {})", arg(0), symbol(op), arg(1)),
            Op::Cmp(pred) => {
                let symbol = match pred {
                    Pred::Lt => "<",
                    Pred::Le => "<=",
                    Pred::Gt => ">",
                    Pred::Ge => ">=",
                    Pred::Eq => "==",
                    Pred::Ne => "!=",
                };
                format!("({} {symbol} {})", arg(0), arg(1))
            }
            Op::And => format!("({} && {})", arg(0), arg(1)),
            Op::Or => format!("({} || {})", arg(0), arg(1)),
            Op::Select => format!("select({}, {}, {})", top(0), top(1), top(2)),
            Op::If => format!("(if {} {{ {} }} else {{ {} }})", top(0), top(1), top(2)),
            Op::MulAdd => format!("{}.mul_add({}, {})", arg(0), top(1), top(2)),
            Op::Cast(t) => format!("({} as {t})", arg(0)),
            Op::Bits(t) => format!("{}.to_bits_as::<{t}>()", arg(0)),
            Op::Splat => format!("splat({})", top(0)),
            Op::Ballot => format!("ballot({}).bits()", top(0)),
            Op::Any => format!("any({})", top(0)),
            Op::All => format!("all({})", top(0)),
            Op::ReadFirst => format!("read_first_lane({})", top(0)),
            Op::ReadLane => format!("read_lane({}, {})", top(0), top(1)),
            Op::Shuffle => format!("shuffle({}, {})", top(0), top(1)),
            Op::ShuffleXor(mask) => format!("shuffle_xor({}, {mask})", top(0)),
            Op::Private(array) => format!("own{array}[{}]", top(0)),
            Op::Reduce(op) => format!("wave_{}({})", joined(op), top(0)),
            Op::Scan(op, false) => format!("wave_inclusive_{}({})", joined(op), top(0)),
            Op::Scan(op, true) => format!("wave_exclusive_{}({})", joined(op), top(0)),
        }
    }
}
