//! Promotes private arrays to variables (scalar replacement of aggregates): if all indices of an array are constants,
//! each element becomes a variable and is kept in registers.

use hashbrown::{HashMap, HashSet};

use super::{Inst, Kernel, Memory, PrivateId, Region, Stmt, Type, Value, Variable};

/// Promotes the private arrays of `kernel` that qualify.
pub fn run(kernel: &mut Kernel) {
    if kernel.private.is_empty() {
        return;
    }
    let in_memory = kernel.rewrite(|kernel, body| {
        let in_memory = in_memory(kernel, body);
        let mut promoted = Promoted { kernel, in_memory, variables: HashMap::new(), known: HashMap::new() };
        promoted.region(body, false);
        promoted.in_memory
    });
    place(kernel, &in_memory);
}

/// The arrays that must stay in memory: those with a non-constant index, or with accesses of different types.
fn in_memory(kernel: &Kernel, body: &Region) -> HashSet<PrivateId> {
    let mut found = HashSet::new();
    let mut types: HashMap<PrivateId, Type> = HashMap::new();
    body.each_inst(&mut |v| {
        let Some((id, offset, ty)) = access(kernel, v) else { return };
        let bytes = u64::from(ty.elem.bytes()) * u64::from(ty.count);
        let end = u64::from(kernel.private[id.0 as usize].bytes);
        // All accesses have the same type, so each covers exactly one element.
        let first = *types.entry(id).or_insert(ty);
        // If an access is beyond the end, the array stays in memory, where the hardware determines what the access
        // does.
        let inside = matches!(offset, Some(at) if at % bytes == 0 && at + bytes <= end);
        if !inside || first != ty {
            found.insert(id);
        }
    });
    found
}

/// The array, the byte offset (`None` if it is not constant) and the type of an access to a private array; `None` for
/// other instructions.
fn access(kernel: &Kernel, v: Value) -> Option<(PrivateId, Option<u64>, Type)> {
    let (memory, offset, ty) = match kernel.def(v).inst {
        Inst::Load { memory, offset, .. } => (memory, offset, kernel.ty(v)),
        Inst::Store { memory, offset, value, .. } => (memory, offset, kernel.ty(value)),
        _ => return None,
    };
    let Memory::Private(id) = memory else { return None };
    let at = match kernel.def(offset).inst {
        Inst::Const(bits) => Some(bits),
        _ => None,
    };
    // A stored value may be uniform, but a loaded one is varying.
    Some((id, at, Type { place: super::Place::Varying, ..ty }))
}

struct Promoted<'k> {
    kernel: &'k mut Kernel,
    in_memory: HashSet<PrivateId>,
    variables: HashMap<(PrivateId, u64), Variable>,
    /// Within a run of instructions, the current value of each variable, if it is known.
    known: HashMap<Variable, Value>,
}

impl Promoted<'_> {
    /// `nested` is true if fewer lanes may be active than outside; the other lanes must then keep their values.
    fn region(&mut self, region: &mut Region, nested: bool) {
        // A loop may reach this point again with other values, and a branch may be skipped, so nothing is known about
        // the variables.
        self.known.clear();
        for stmt in &mut region.stmts {
            if let Stmt::Inst(v) = stmt {
                self.inst(*v, nested);
                continue;
            }
            for inner in stmt.regions_mut() {
                self.region(inner, true);
            }
            self.known.clear();
        }
    }

    fn inst(&mut self, v: Value, nested: bool) {
        let Some((id, Some(at), ty)) = access(self.kernel, v) else { return };
        if self.in_memory.contains(&id) {
            return;
        }
        let variables = &mut self.kernel.variables;
        let var = *self.variables.entry((id, at)).or_insert_with(|| {
            variables.push(ty);
            Variable(variables.len() as u32 - 1)
        });
        let def = &mut self.kernel.values[v.0 as usize];
        if let Inst::Store { value, .. } = def.inst {
            def.inst = Inst::Write { var, value, keep: nested };
            self.known.insert(var, value);
            return;
        }
        match self.known.get(&var) {
            Some(value) => def.inst = Inst::Bitcast(*value),
            None => {
                def.inst = Inst::Read(var);
                self.known.insert(var, v);
            }
        }
    }
}

/// Assigns consecutive offsets to the arrays that stay in memory.
fn place(kernel: &mut Kernel, in_memory: &HashSet<PrivateId>) {
    let mut end = 0u32;
    for (i, array) in kernel.private.iter_mut().enumerate() {
        if !in_memory.contains(&PrivateId(i as u32)) {
            // The array stays in the list with size 0, since accesses refer to arrays by number.
            array.bytes = 0;
        }
        array.offset = end.next_multiple_of(16);
        end = array.offset + array.bytes;
    }
}
