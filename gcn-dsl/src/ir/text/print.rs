//! The printer of the textual form.

use std::fmt::{self, Display, Formatter};

use gcn_isa::mods::Modifier;

use super::super::call::{BUFFER_FORMAT, Effect};
use super::super::mark::{Classes, Mark, NAMES};
use super::super::{
    Arg, Atomic, Call, Inst, Kernel, Label, Memory, Place, Region, Schedule, Stmt, Type, Value, Variable,
};
use super::{Words, counter_name, manner_word};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "var{}", self.0)
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
        write!(f, "{place}.{}", self.elem)?;
        if self.count == 1 { Ok(()) } else { write!(f, "x{}", self.count) }
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel {} {{", self.name)?;
        for (i, lds) in self.lds.iter().enumerate() {
            match lds.dynamic {
                true => writeln!(f, "  lds{i}: dynamic after {}", lds.offset)?,
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
        list(f, "joined", &self.joined)?;
        list(f, "read_only", &self.read_only)?;
        list(f, "whole_dwords", &self.whole_dwords)?;
        list(f, "overlapping", &self.overlapping)?;
        if self.lds_reserved > 0 {
            writeln!(f, "  lds_reserved {}", self.lds_reserved)?;
        }
        if !self.constants.is_empty() {
            let bytes: String = self.constants.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(f, "  constants {bytes}")?;
        }
        for request in &self.pipelines {
            write!(f, "  pipeline {}", request.counter)?;
            for (name, n) in [("stages", request.stages), ("buffers", request.buffers)] {
                n.map_or(Ok(()), |n| write!(f, " {name}={n}"))?;
            }
            writeln!(f)?;
        }
        region(f, self, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

fn list(f: &mut Formatter<'_>, name: &str, items: &[impl Display]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        let before = if i == 0 { format!("  {name} ") } else { ", ".to_owned() };
        write!(f, "{before}{item}")?;
    }
    if items.is_empty() { Ok(()) } else { writeln!(f) }
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

/// Prints an instruction without its result.
pub(in crate::ir) struct Text<'a>(pub &'a Inst);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Inst::Const(bits) => write!(f, "const {bits:#x}"),
            Inst::KernArg { offset } => write!(f, "kernarg +{offset}"),
            Inst::Constants => f.write_str("constants"),
            Inst::WorkgroupId(d) => write!(f, "workgroup_id {d}"),
            Inst::GridSize(d) => write!(f, "grid_size {d}"),
            Inst::LocalId(d) => write!(f, "local_id {d}"),
            Inst::Splat(a) => write!(f, "splat {a}"),
            Inst::Bin(op, a, b) => write!(f, "{} {a}, {b}", op.word()),
            Inst::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
            Inst::Un(op, a) => write!(f, "{} {a}", op.word()),
            Inst::Cmp(op, a, b) => write!(f, "cmp.{} {a}, {b}", op.word()),
            Inst::Select(c, a, b) => write!(f, "select {c}, {a}, {b}"),
            Inst::Cast(a) => write!(f, "cast {a}"),
            Inst::Bitcast(a) => write!(f, "bitcast {a}"),
            Inst::Extract { from, dword } => write!(f, "extract {from}, {dword}"),
            Inst::Concat(parts) => {
                f.write_str("concat")?;
                parts
                    .iter()
                    .enumerate()
                    .try_for_each(|(i, v)| write!(f, "{} {v}", if i == 0 { "" } else { "," }))
            }
            Inst::Load { memory, offset, manner } => {
                write!(f, "load{} {}[{offset}]", manner_word(*manner), Mem(*memory))
            }
            Inst::LoadUniform { resource, offset } => write!(f, "load_uniform {resource}[{offset}]"),
            Inst::Store { memory, offset, value, manner } => {
                write!(f, "store{} {}[{offset}], {value}", manner_word(*manner), Mem(*memory))
            }
            Inst::Read(var) => write!(f, "read {var}"),
            Inst::Write { var, value, keep } => {
                write!(f, "write{} {var}, {value}", if *keep { ".keep" } else { "" })
            }
            Inst::Barrier => f.write_str("barrier"),
            Inst::ReadFirstLane(a) => write!(f, "read_first_lane {a}"),
            Inst::ReadLane(a, lane) => write!(f, "read_lane {a}, {lane}"),
            Inst::Permute { address, value } => write!(f, "permute {address}, {value}"),
            Inst::Ballot(a) => write!(f, "ballot {a}"),
            Inst::LaneId => f.write_str("lane_id"),
            Inst::Atomic(atomic) => atomic_text(f, atomic),
            Inst::Fence { scope, ordering } => write!(f, "fence.{}.{}", scope.name(), ordering.name()),
            Inst::Wave(w) => {
                let all = if w.all_active { ".all_active" } else { "" };
                write!(f, "wave.{}.{}.{}{all} {}", w.spread.word(), w.op.word(), w.width, w.value)
            }
            Inst::Schedule(what) => write!(f, "{what}"),
            Inst::Machine(call) => write!(f, "{call}"),
            Inst::Result { of, index } => write!(f, "result {of}, {index}"),
        }
    }
}

fn atomic_text(f: &mut Formatter<'_>, atomic: &Atomic) -> fmt::Result {
    let Atomic { op, memory, offset, scope, ordering, .. } = atomic;
    write!(f, "atomic.{}.{}.{} {}[{offset}]", op.word(), scope.name(), ordering.name(), Mem(*memory))?;
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

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.mnemonic, self.variant.suffix())?;
        f.write_str(match self.effect {
            Effect::Pure => "",
            Effect::Unshared => ".unshared",
            Effect::Kept => ".kept",
        })?;
        let mut separator = " ";
        for (i, arg) in self.args.iter().enumerate() {
            let bit = |mask: u8| mask >> i & 1 == 1;
            let minus = if bit(self.arg_mods.neg) { "-" } else { "" };
            let bar = if bit(self.arg_mods.abs) { "|" } else { "" };
            let sext = if bit(self.arg_mods.sext) { "sext " } else { "" };
            match arg {
                Arg::Value(v) => write!(f, "{separator}{minus}{bar}{sext}{v}{bar}")?,
                Arg::Imm(i) => write!(f, "{separator}{i}")?,
                Arg::Literal(bits) => write!(f, "{separator}{bits:#x}")?,
                Arg::Literal64(bits) => write!(f, "{separator}wide {bits:#x}")?,
                Arg::Off => write!(f, "{separator}off")?,
            }
            separator = ", ";
        }
        let implicit = [("old", self.old), ("scc", self.scc), ("vcc", self.vcc), ("m0", self.m0)];
        for (name, value) in implicit {
            if let Some(value) = value {
                write!(f, "{separator}{name}={value}")?;
                separator = ", ";
            }
        }
        for modifier in Modifier::ALL.iter().filter(|m| self.given.set.intersects(m.flag())) {
            write!(f, " {}={}", modifier.name(), modifier.get(&self.given.mods))?;
        }
        if self.given.set.contains(BUFFER_FORMAT) {
            write!(f, " {}={}", Modifier::Format.name(), self.given.mods.format)?;
        }
        for (i, ty) in self.results.iter().enumerate() {
            write!(f, "{}{ty}", if i == 0 { " -> " } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Mark(mark) => write!(f, "mark.{mark}"),
            Schedule::Wait { op, counter } => write!(f, "wait.{} {op}", counter_name(*counter)),
            Schedule::WaitAll(counter) => write!(f, "wait_all.{}", counter_name(*counter)),
            Schedule::Priority(n) => write!(f, "priority {n}"),
        }
    }
}

impl Display for Mark {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Mark::ManualBegin => f.write_str("manual_begin"),
            Mark::ManualEnd => f.write_str("manual_end"),
            Mark::Issue(op) => write!(f, "issue {op}"),
            Mark::Issued(op) => write!(f, "issued {op}"),
            Mark::Wait { op, counter } => write!(f, "wait.{} {op}", counter_name(*counter)),
            Mark::Because(why) => write!(f, "because {why}"),
            Mark::ReadsPass => f.write_str("reads_pass"),
            Mark::PingPong => f.write_str("ping_pong_begin"),
            Mark::PingPongEnd => f.write_str("ping_pong_end"),
            Mark::Stagger => f.write_str("stagger"),
            Mark::Phase => f.write_str("phase"),
            Mark::Cold => f.write_str("cold"),
            Mark::Fence(classes) => write!(f, "fence {}", Names(*classes)),
            Mark::Gate { but, urgent } => {
                write!(f, "gate{} {}", if *urgent { ".urgent" } else { "" }, Names(*but))
            }
            Mark::Interleave(groups) => {
                f.write_str("interleave")?;
                groups.iter().try_for_each(|group| write!(f, " {} {}", group.count, Names(group.class)))
            }
        }
    }
}

/// Prints classes by name, with `+` between them.
struct Names(Classes);

impl Display for Names {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let single = NAMES.iter().filter(|(_, class)| class.bits().is_power_of_two());
        let names: Vec<&str> =
            single.filter(|(_, class)| self.0.contains(*class)).map(|(name, _)| *name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join("+"))
    }
}
