//! The textual form of the IR.

use std::fmt::{self, Display, Formatter};

use super::{Atomic, Inst, Kernel, Label, Memory, Place, Region, Stmt, Type, Value};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Label {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "l{}", self.0)
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Uniform => "s",
            Place::Varying => "v",
            Place::Acc => "acc",
        };
        if self.count == 1 {
            write!(f, "{place}.{}", self.elem)
        } else {
            write!(f, "{place}.{}x{}", self.elem, self.count)
        }
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel {} {{", self.name)?;
        for (i, lds) in self.lds.iter().enumerate() {
            match lds.dynamic {
                true => writeln!(f, "  lds{i}: as many bytes as the launch says")?,
                false => writeln!(f, "  lds{i}: {} bytes at {}", lds.bytes, lds.offset)?,
            }
        }
        for (i, private) in self.private.iter().enumerate() {
            writeln!(f, "  private{i}: {} bytes at {}", private.bytes, private.offset)?;
        }
        for (i, ty) in self.variables.iter().enumerate() {
            match self.pins.iter().find(|pin| pin.var.0 as usize == i) {
                Some(pin) => writeln!(f, "  var{i}: {ty} in {}", pin.to)?,
                None => writeln!(f, "  var{i}: {ty}")?,
            }
        }
        region(f, self, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

fn region(f: &mut Formatter<'_>, kernel: &Kernel, body: &Region, depth: usize) -> fmt::Result {
    let pad = "  ".repeat(depth);
    for stmt in &body.stmts {
        match stmt {
            Stmt::Inst(v) => {
                let def = kernel.def(*v);
                match def.ty {
                    Some(ty) => writeln!(f, "{pad}{v}: {ty} = {}", Text(&def.inst))?,
                    None => writeln!(f, "{pad}{}", Text(&def.inst))?,
                }
            }
            Stmt::If { cond, then, els } => {
                writeln!(f, "{pad}if {cond} {{")?;
                region(f, kernel, then, depth + 1)?;
                if !els.stmts.is_empty() {
                    writeln!(f, "{pad}}} else {{")?;
                    region(f, kernel, els, depth + 1)?;
                }
                writeln!(f, "{pad}}}")?;
            }
            Stmt::While { head, cond, body } => {
                writeln!(f, "{pad}while {{")?;
                region(f, kernel, head, depth + 1)?;
                writeln!(f, "{pad}}} {cond} {{")?;
                region(f, kernel, body, depth + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Stmt::DoWhile { body, cond } => {
                writeln!(f, "{pad}do {{")?;
                region(f, kernel, body, depth + 1)?;
                writeln!(f, "{pad}}} while {cond}")?;
            }
            Stmt::Loop { body } => {
                writeln!(f, "{pad}loop {{")?;
                region(f, kernel, body, depth + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Stmt::Block { label, body } => {
                writeln!(f, "{pad}{label}: {{")?;
                region(f, kernel, body, depth + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Stmt::Exit(label) => writeln!(f, "{pad}exit {label}")?,
        }
    }
    Ok(())
}

struct Text<'a>(&'a Inst);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Inst::Const(bits) => write!(f, "const {bits:#x}"),
            Inst::KernArg { offset } => write!(f, "kernarg +{offset}"),
            Inst::Constants => f.write_str("constants"),
            Inst::WorkgroupId(d) => write!(f, "workgroup_id {d}"),
            Inst::GridSize(d) => write!(f, "grid_size {d}"),
            Inst::LocalId(d) => write!(f, "local_id {d}"),
            Inst::Bin(op, a, b) => write!(f, "{} {a}, {b}", lower(op)),
            Inst::Un(op, a) => write!(f, "{} {a}", lower(op)),
            Inst::Cmp(op, a, b) => write!(f, "cmp.{} {a}, {b}", lower(op)),
            Inst::Extract { from, dword } => write!(f, "extract {from}, {dword}"),
            Inst::Load { memory, offset } => write!(f, "load {}[{offset}]", Mem(*memory)),
            Inst::LoadUniform { resource, offset } => write!(f, "load_uniform {resource}[{offset}]"),
            Inst::Store { memory, offset, value } => write!(f, "store {}[{offset}], {value}", Mem(*memory)),
            Inst::Read(var) => write!(f, "read var{}", var.0),
            Inst::Write { var, value, keep } => {
                write!(f, "write{} var{}, {value}", if *keep { ".keep" } else { "" }, var.0)
            }
            Inst::Atomic(atomic) => atomic_text(f, atomic),
            Inst::Fence { scope, ordering } => write!(f, "fence.{}.{}", scope.name(), ordering.name()),
            Inst::Wave(w) => write!(f, "wave.{}.{}.{} {}", lower(&w.spread), lower(&w.op), w.width, w.value),
            Inst::Schedule(what) => write!(f, "{what}"),
            Inst::Machine(call) => write!(f, "{call}"),
            Inst::Result { of, index } => write!(f, "result {of}, {index}"),
            other => {
                let name = format!("{other:?}");
                let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
                write!(f, "{}", name[..end].to_lowercase())?;
                let mut sep = " ";
                let mut result = Ok(());
                other.operands(|v| {
                    result = result.and_then(|()| write!(f, "{sep}{v}"));
                    sep = ", ";
                });
                result
            }
        }
    }
}

fn atomic_text(f: &mut Formatter<'_>, atomic: &Atomic) -> fmt::Result {
    let Atomic { op, memory, offset, scope, ordering, .. } = atomic;
    write!(f, "atomic.{}.{}.{} {}[{offset}]", lower(op), scope.name(), ordering.name(), Mem(*memory))?;
    [atomic.expected, atomic.value].into_iter().flatten().try_for_each(|v| write!(f, ", {v}"))
}

struct Mem(Memory);

impl Display for Mem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Memory::Buffer(v) => write!(f, "buffer {v}"),
            Memory::Global(v) => write!(f, "global {v}"),
            Memory::Lanes(v) => write!(f, "lanes {v}"),
            Memory::Lds(id) => write!(f, "lds{}", id.0),
            Memory::Private(id) => write!(f, "private{}", id.0),
        }
    }
}

fn lower(op: &impl fmt::Debug) -> String {
    format!("{op:?}").to_lowercase()
}
