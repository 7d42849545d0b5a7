//! Shares equal address arithmetic that passes over the IR left behind. What the user wrote is shared while it is built
//! ([`super::build`]).

use hashbrown::HashMap;

use super::{Bin, Inst, Kernel, Region, Stmt, Type, Value};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Const(u64),
    Splat(Value),
    Bin(Bin, Value, Value),
}

/// Makes each value that an earlier one equals another name of that.
pub fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut shared = Shared { kernel, same: HashMap::new(), known: HashMap::new(), scopes: Vec::new() };
    shared.region(&body);
    kernel.body = body;
}

struct Shared<'k> {
    kernel: &'k mut Kernel,
    same: HashMap<Value, Value>,
    /// What is in sight. An instruction that is in sight gets another name, so that no two regions have the same.
    known: HashMap<(Key, Type), Value>,
    /// What each enclosing region has added to it.
    scopes: Vec<Vec<(Key, Type)>>,
}

impl Shared<'_> {
    fn region(&mut self, region: &Region) {
        self.scopes.push(Vec::new());
        for stmt in &region.stmts {
            if let Stmt::Inst(v) = stmt {
                self.inst(*v);
            }
            for inner in stmt.regions() {
                self.region(inner);
            }
        }
        for key in self.scopes.pop().into_iter().flatten() {
            self.known.remove(&key);
        }
    }

    fn inst(&mut self, v: Value) {
        let first = |v: Value| self.same.get(&v).copied().unwrap_or(v);
        let key = match self.kernel.def(v).inst {
            Inst::Const(bits) => Key::Const(bits),
            Inst::Splat(a) => Key::Splat(first(a)),
            Inst::Bin(op, a, b) => Key::Bin(op, first(a), first(b)),
            Inst::Bitcast(a) if self.kernel.ty(a) == self.kernel.ty(v) => {
                let a = first(a);
                self.same.insert(v, a);
                return;
            }
            _ => return,
        };
        let constant = matches!(key, Key::Const(_));
        let key = (key, self.kernel.ty(v));
        if let Some(&earlier) = self.known.get(&key) {
            self.same.insert(v, earlier);
            // A constant costs nothing, and is looked for under this name.
            if !constant {
                self.kernel.values[v.0 as usize].inst = Inst::Bitcast(earlier);
            }
        } else if let Some(scope) = self.scopes.last_mut() {
            scope.push(key);
            self.known.insert(key, v);
        }
    }
}
