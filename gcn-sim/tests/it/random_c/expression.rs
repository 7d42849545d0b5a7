//! Random expressions of a type, and conditions.

use super::generate::{Generator, Ty};

impl Generator {
    pub(super) fn condition(&mut self, depth: u32) -> String {
        let ty = self.ty();
        let compare = *self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let one = format!("{} {compare} {}", self.expr(ty, depth), self.expr(ty, depth));
        if depth > 0 && self.random.below(4) == 0 {
            let both = *self.random.pick(&["&&", "||"]);
            return format!("({one}) {both} ({})", self.condition(depth - 1));
        }
        one
    }

    fn constant(&mut self, ty: Ty) -> String {
        let r = self.random.next_u64();
        if ty.is_float() {
            let value = *self.random.pick(&[0.0, 1.0, -1.0, 0.5, 2.0, 3.5, -7.25, 1024.0, 0.1, -0.0]);
            return format!("({}){value:?}", ty.name());
        }
        let value = match r % 4 {
            0 => r >> 60,
            1 => r >> 32 & 0xffff,
            2 => u64::MAX - (r >> 61),
            _ => r.rotate_left(17),
        };
        format!("({}){value}ul", ty.name())
    }

    fn leaf(&mut self, ty: Ty) -> String {
        let same: Vec<_> = self.variables.iter().filter(|v| v.1 == ty).map(|v| v.0.clone()).collect();
        match self.random.below(8) {
            0..5 if !same.is_empty() => self.random.pick(&same).clone(),
            0..6 if !self.variables.is_empty() => {
                let (name, from) = self.random.pick(&self.variables).clone();
                convert(&name, from, ty)
            }
            _ => self.constant(ty),
        }
    }

    /// A random expression of exactly this type.
    pub(super) fn expr(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 || self.random.below(5) == 0 {
            return self.leaf(ty);
        }
        if self.random.below(6) == 0 {
            let from = self.ty();
            let value = self.expr(from, depth - 1);
            return convert(&value, from, ty);
        }
        if self.random.below(8) == 0 {
            let condition = self.condition(depth - 1);
            return format!("({condition} ? {} : {})", self.expr(ty, depth - 1), self.expr(ty, depth - 1));
        }
        if ty.is_float() { self.float(ty, depth - 1) } else { self.whole(ty, depth - 1) }
    }

    fn float(&mut self, ty: Ty, depth: u32) -> String {
        let (a, b, name) = (self.expr(ty, depth), self.expr(ty, depth), ty.name());
        match self.random.below(12) {
            0..2 => format!("({name})({a} + {b})"),
            2..4 => format!("({name})({a} - {b})"),
            4..6 => format!("({name})({a} * {b})"),
            6 if ty != Ty::F16 => format!("({a} / {b})"),
            7 if ty != Ty::F16 => format!("sqrt_{name}({a})"),
            8 if ty != Ty::F16 => {
                let c = self.expr(ty, depth);
                format!("fma_{name}({a}, {b}, {c})")
            }
            9 => {
                let f = *self.random.pick(&["floor", "ceil", "trunc", "rint"]);
                format!("{f}_{name}({a})")
            }
            10 => {
                let f = *self.random.pick(&["min", "max"]);
                format!("f{f}_{name}({a}, {b})")
            }
            _ => format!("({name})-({a})"),
        }
    }

    fn whole(&mut self, ty: Ty, depth: u32) -> String {
        let (a, b, name) = (self.expr(ty, depth), self.expr(ty, depth), ty.name());
        match self.random.below(16) {
            0..4 => {
                let operator = *self.random.pick(&["+", "-", "*"]);
                format!("({name})({a} {operator} {b})")
            }
            4..6 => {
                let operator = *self.random.pick(&["&", "|", "^"]);
                format!("({name})({a} {operator} {b})")
            }
            6..8 => {
                let operator = *self.random.pick(&["<<", ">>"]);
                format!("({name})({a} {operator} ({b} & {}))", ty.bits() - 1)
            }
            8 => format!("div_{name}({a}, {b})"),
            9 => format!("rem_{name}({a}, {b})"),
            10 => {
                let f = *self.random.pick(&["popcount", "clz", "ctz", "swap", "reverse"]);
                format!("({name}){f}((u32){a})")
            }
            11 => {
                let f = *self.random.pick(&["popcount64", "clz64", "ctz64", "swap64", "reverse64", "high"]);
                format!("({name}){f}((u64){a}, (u64){b})")
            }
            12 => {
                let at = self.expr(Ty::U32, depth);
                format!("({name})arr[({at}) & 7]")
            }
            13 => {
                let at = self.expr(Ty::U32, depth);
                format!("({name})((MEM u16 *)(mem + 8 * id))[({at}) & 15]")
            }
            14 => {
                let f = *self.random.pick(&["add", "sub", "mul"]);
                format!("checked_{f}_{name}({a}, {b})")
            }
            _ => format!("({name})~({a})"),
        }
    }
}

fn convert(value: &str, from: Ty, to: Ty) -> String {
    match (from.is_float(), to.is_float()) {
        (true, false) => format!("({})whole((f64)({value}))", to.name()),
        // An integer beyond the range of f16 must not be converted to it, because the result is undefined.
        (true, true) if to == Ty::F16 && from == Ty::F32 => format!("half({value})"),
        (false, true) if to == Ty::F16 && from.bits() > 8 => format!("(f16)(i32)(({value}) & 2047)"),
        _ => format!("({})({value})", to.name()),
    }
}

pub(super) fn bits_of(name: &str, ty: Ty) -> String {
    match ty {
        Ty::F16 | Ty::F32 | Ty::F64 => format!("bits_{}({name})", ty.name()),
        _ => format!("(u64){name}"),
    }
}
