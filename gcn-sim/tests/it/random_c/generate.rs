//! Generates random programs in C that have no undefined behaviour, provided that integers wrap around (`-fwrapv`) and nothing is
//! contracted.

use std::fmt::Write as _;

use gcn_test_support::Random;

use super::expression::bits_of;

/// The start of every program: types, and operations that are defined for all operands.
const PRELUDE: &str = include_str!("../../data/random_c.h");

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
}

const TYPES: [Ty; 11] = {
    use Ty::{F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    [U8, I8, U16, I16, U32, I32, U64, I64, F16, F32, F64]
};

impl Ty {
    pub(super) fn name(self) -> &'static str {
        ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"][self as usize]
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64)
    }

    pub(super) fn bits(self) -> u32 {
        [8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64][self as usize]
    }
}

/// A function that other functions may call.
struct Function {
    name: String,
    parameters: Vec<Ty>,
    result: Ty,
}

pub(super) struct Generator {
    pub(super) random: Random,
    functions: Vec<Function>,
    /// The variables that can be read, and the number of them, from the first on, that can also be written.
    pub(super) variables: Vec<(String, Ty)>,
    fixed: Vec<String>,
    /// The nesting depth of loops, which is limited to bound the run time.
    loops: u32,
    names: u32,
    text: String,
    indent: usize,
}

/// The program with this seed.
pub fn program(seed: u64) -> String {
    let mut g = Generator {
        random: Random::new(seed),
        functions: Vec::new(),
        variables: Vec::new(),
        fixed: Vec::new(),
        loops: 0,
        names: 0,
        text: PRELUDE.to_owned(),
        indent: 0,
    };
    for _ in 0..1 + g.random.below(4) {
        g.function();
    }
    g.item();
    g.text
}

impl Generator {
    fn line(&mut self, line: &str) {
        let indent = self.indent;
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(super) fn ty(&mut self) -> Ty {
        *self.random.pick(&TYPES)
    }

    fn function(&mut self) {
        let name = self.name("call");
        let parameters: Vec<Ty> = (0..1 + self.random.below(4)).map(|_| self.ty()).collect();
        let result = self.ty();
        let inline = *self.random.pick(&["NOINLINE", "NOINLINE", "static"]);
        self.variables = parameters.iter().enumerate().map(|(n, ty)| (format!("p{n}"), *ty)).collect();
        let list: Vec<_> = self.variables.iter().map(|(n, ty)| format!("{} {n}", ty.name())).collect();
        self.line(&format!(
            "{inline} {} {name}({}, u32 id, MEM u32 *mem) {{",
            result.name(),
            list.join(", ")
        ));
        self.indent += 2;
        self.line("u32 arr[8] = {id, 1, 2, 3, id ^ 5, 5, 6, 7};");
        let statements = 3 + self.random.below(6);
        self.block(statements, 2);
        let value = self.expr(result, 3);
        self.line(&format!("return {value};"));
        self.indent -= 2;
        self.line("}\n");
        self.functions.push(Function { name, parameters, result });
    }

    fn item(&mut self) {
        self.line("static void item(u32 id, MEM const u32 *in, MEM u32 *mem, MEM u64 *out) {");
        self.indent += 2;
        self.line("u32 arr[8] = {id, 1, 2, 3, id ^ 5, 5, 6, 7};");
        self.line("u32 a = in[2 * id], b = in[2 * id + 1];");
        self.line("u64 w = (u64)a << 32 | b;");
        self.line("f32 x = to_f32(a);");
        self.line("f64 y = to_f64(w);");
        self.variables = [("a", Ty::U32), ("b", Ty::U32), ("w", Ty::U64), ("x", Ty::F32), ("y", Ty::F64)]
            .map(|(n, ty)| (n.to_owned(), ty))
            .to_vec();
        let statements = 10 + self.random.below(20);
        self.block(statements, 3);
        self.line("u64 sum = 0;");
        for (n, (name, ty)) in self.variables.clone().into_iter().enumerate() {
            let bits = bits_of(&name, ty);
            self.line(&format!("sum = sum * 0x9e3779b97f4a7c15ul + {bits};"));
            if n < 6 {
                self.line(&format!("out[8 * id + {n}] = {bits};"));
            }
        }
        self.line("for (u32 i = 0; i < 8; i++) sum = sum * 31 + arr[i] + mem[8 * id + i];");
        self.line("out[8 * id + 7] = sum;");
        self.indent -= 2;
        self.line("}");
    }

    fn block(&mut self, statements: usize, depth: u32) {
        for _ in 0..statements {
            self.statement(depth);
        }
    }

    /// Adds a block; its variables are removed at its end.
    fn scope(&mut self, head: &str, statements: usize, depth: u32) {
        self.line(head);
        self.indent += 2;
        let outer = self.variables.len();
        self.block(statements, depth);
        self.variables.truncate(outer);
        self.indent -= 2;
    }

    fn statement(&mut self, depth: u32) {
        let inner = 1 + self.random.below(4);
        match self.random.below(if depth > 0 { 20 } else { 12 }) {
            0..3 => self.declare(),
            3..6 => self.assign(),
            6 => {
                let (at, value) = (self.expr(Ty::U32, 2), self.expr(Ty::U32, 3));
                self.line(&format!("arr[({at}) & 7] = kept({value});"));
            }
            7 => self.store(),
            8 => self.atomic(),
            9 => self.vectors(),
            10 => self.structs(),
            11 => self.call(),
            12..14 => {
                let condition = self.condition(2);
                self.scope(&format!("if ({condition}) {{"), inner, depth - 1);
                if self.random.below(2) == 0 {
                    self.scope("} else {", inner, depth - 1);
                }
                self.line("}");
            }
            14..17 if self.loops < 2 => self.repeat(inner, depth),
            17 => {
                let selector = self.expr(Ty::U32, 2);
                self.line(&format!("switch (({selector}) % 5) {{"));
                for case in 0..3 {
                    self.scope(&format!("case {case}: {{"), inner.min(2), depth - 1);
                    let end = if self.random.below(3) == 0 { "}" } else { "} break;" };
                    self.line(end);
                }
                self.scope("default: {", 1, depth - 1);
                self.line("}}");
            }
            _ => self.assign(),
        }
    }

    fn declare(&mut self) {
        let (ty, name) = (self.ty(), self.name("v"));
        let value = self.expr(ty, 3);
        let volatile = if self.random.below(12) == 0 { "volatile " } else { "" };
        self.line(&format!("{volatile}{} {name} = {value};", ty.name()));
        self.variables.push((name, ty));
    }

    fn assign(&mut self) {
        let open: Vec<_> = self.variables.iter().filter(|v| !self.fixed.contains(&v.0)).cloned().collect();
        let Some((name, ty)) = (!open.is_empty()).then(|| self.random.pick(&open).clone()) else { return };
        let value = self.expr(ty, 3);
        self.line(&format!("{name} = {value};"));
        if self.loops > 0 {
            self.line(&format!("KEEP_{}({name});", ty.name()));
        }
    }

    fn store(&mut self) {
        let at = self.expr(Ty::U32, 2);
        let ty = *self.random.pick(&[Ty::U8, Ty::U16, Ty::U32, Ty::U64]);
        let value = self.expr(ty, 2);
        let count = 256 / ty.bits();
        let name = ty.name();
        self.line(&format!("((MEM {name} *)(mem + 8 * id))[({at}) % {count}] = {value};"));
    }

    fn atomic(&mut self) {
        let at = self.expr(Ty::U32, 2);
        let ty = *self.random.pick(&[Ty::U32, Ty::I32, Ty::U64]);
        let value = self.expr(ty, 2);
        let operation = *self.random.pick(&["add", "sub", "and", "or", "xor", "min", "max"]);
        let (name, result, count) = (self.name("v"), ty.name(), 256 / ty.bits());
        self.line(&format!(
            "{result} {name} = __atomic_fetch_{operation}((MEM {result} *)(mem + 8 * id) + ({at}) % {count}, {value}, 0);"
        ));
        self.variables.push((name, ty));
    }

    /// Adds packed arithmetic.
    fn vectors(&mut self) {
        let (ty, vector, width) = *self.random.pick(&[
            (Ty::F32, "f32x2", 2),
            (Ty::F32, "f32x4", 4),
            (Ty::F16, "f16x2", 2),
            (Ty::U16, "u16x2", 2),
            (Ty::I16, "i16x2", 2),
            (Ty::U32, "u32x3", 3),
            (Ty::F64, "f64x2", 2),
            (Ty::U8, "u8x4", 4),
        ]);
        let name = self.name("q");
        let operators: &[&str] =
            if ty.is_float() { &["+", "-", "*"] } else { &["+", "-", "*", "&", "|", "^"] };
        let (one, other) = (*self.random.pick(operators), *self.random.pick(operators));
        let mut list = || (0..width).map(|_| self.expr(ty, 2)).collect::<Vec<_>>().join(", ");
        let (a, b, c) = (list(), list(), list());
        self.line(&format!("{vector} {name} = {{{a}}};"));
        // One operation per statement: within an expression, other machines may compute f16 with more precision.
        self.line(&format!("{name} = {name} {one} ({vector}){{{b}}};"));
        self.line(&format!("{name} = {name} {other} ({vector}){{{c}}};"));
        let at = self.random.below(width);
        let element = self.name("v");
        if self.random.below(2) == 0 {
            self.line(&format!("{} {element} = {name}[{at}];", ty.name()));
        } else {
            let index = self.expr(Ty::U32, 1);
            self.line(&format!("{} {element} = {name}[({index}) % {width}];", ty.name()));
        }
        self.variables.push((element, ty));
    }

    fn structs(&mut self) {
        let (name, value, field) = (self.name("s"), self.expr(Ty::U32, 2), self.random.below(4));
        let (wide, real) = (self.expr(Ty::I64, 2), self.expr(Ty::F32, 2));
        self.line(&format!("struct mixed {name} = mix({value}, {wide}, {real});"));
        let (field, ty) =
            [("narrow", Ty::U32), ("wide", Ty::I64), ("sign", Ty::I32), ("real", Ty::F32)][field];
        let element = self.name("v");
        self.line(&format!("{} {element} = {name}.{field};", ty.name()));
        self.variables.push((element, ty));
    }

    fn call(&mut self) {
        if self.functions.is_empty() || self.loops > 1 {
            return self.assign();
        }
        let f = self.random.below(self.functions.len());
        let Function { name, parameters, result } = &self.functions[f];
        let (name, parameters, result) = (name.clone(), parameters.clone(), *result);
        let arguments: Vec<_> = parameters.iter().map(|ty| self.expr(*ty, 2)).collect();
        let variable = self.name("v");
        self.line(&format!("{} {variable} = {name}({}, id, mem);", result.name(), arguments.join(", ")));
        self.variables.push((variable, result));
    }

    fn repeat(&mut self, statements: usize, depth: u32) {
        let (counter, bound) = (self.name("step"), self.expr(Ty::U32, 2));
        let most = *self.random.pick(&[2, 4, 8]);
        self.loops += 1;
        self.variables.push((counter.clone(), Ty::U32));
        self.fixed.push(counter.clone());
        let (head, tail) = match self.random.below(3) {
            0 => (
                format!("for (u32 {counter} = 0; {counter} < ({bound}) % {most}; {counter}++) {{"),
                "}".to_owned(),
            ),
            1 => {
                let up = self.name("n");
                self.line(&format!("u32 {counter} = ({bound}) % {most}, {up} = {counter};"));
                (format!("while ({counter} && {counter}-- <= {up}) {{"), "}".to_owned())
            }
            _ => {
                self.line(&format!("u32 {counter} = 0;"));
                let condition = self.condition(1);
                ("do {".to_owned(), format!("}} while (++{counter} < {most} && ({condition}));"))
            }
        };
        let leaves = *self.random.pick(&["", "", "break", "continue"]);
        // The counter of a `for` is not visible after the loop.
        self.scope(&head, statements, depth - 1);
        self.indent += 2;
        if !leaves.is_empty() {
            let condition = self.condition(2);
            self.scope(&format!("if ({condition}) {leaves};"), 1, 0);
        }
        self.indent -= 2;
        self.line(&tail);
        self.loops -= 1;
        self.fixed.pop();
        self.variables.retain(|v| v.0 != counter);
    }
}
