//! The parser of the textual form.

use std::fmt;

use gcn_isa::counters::Counter;
use gcn_isa::mods::Modifier;
use gcn_isa::reg::{Reg, RegFile};
use gcn_isa::table;
use smallvec::SmallVec;

use super::super::call::{ArgMods, BUFFER_FORMAT, Effect, Given, Variant};
use super::super::mark::{Classes, Group, Mark};
use super::super::pipelined::Request;
use super::super::{
    Arg, Atomic, AtomicOp, Bin, Cache, Call, Inst, Kernel, Label, LdsDef, LdsId, Manner, Memory, Pin, Place,
    Pred, PrivateDef, PrivateId, Region, Schedule, Stmt, Type, Un, Value, ValueDef, Variable, Wave, atomic,
};
use super::{Words, counter_name};
use crate::scalar::Elem;

/// The error for text that is not a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The error: what was expected, and what was found.
    pub what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ParseError {}

/// Parses a kernel in the form that its `Display` prints. A line that starts with `;` is a comment.
///
/// # Errors
/// If the text does not have that form. [`verify`](super::super::verify::verify) checks separately whether the kernel
/// is well formed.
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    let kernel = Kernel::default();
    let mut reader = Reader { lines: text.lines().enumerate(), at: 0, kernel, unnamed: after_names(text) };
    let header = reader.next()?.ok_or_else(|| reader.error("the text has no kernel"))?;
    let mut line = Line::new(header);
    let name = line.word("kernel").and_then(|()| line.until(" {")).map_err(|e| reader.error(&e))?;
    reader.kernel.name = name.to_owned();
    let (body, end) = reader.region()?;
    if end != "}" {
        return Err(reader.error("expected `}`"));
    }
    reader.kernel.body = body;
    Ok(reader.kernel)
}

/// The largest number allowed in a text: far more than any kernel needs, but small enough that a typing error does not
/// exhaust memory.
const MOST: u32 = 1 << 22;

/// The smallest number that is larger than the number of every value in the text.
fn after_names(text: &str) -> u32 {
    let number =
        |rest: &str| rest.chars().map_while(|c| c.to_digit(10)).fold(0, |n: u32, d| (n * 10 + d).min(MOST));
    text.split('%').skip(1).map(|rest| number(rest) + 1).max().unwrap_or(0)
}

struct Reader<'t> {
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
    /// The number of the current line, from 1.
    at: usize,
    kernel: Kernel,
    /// The number of the next instruction that has no result, since the text does not number such instructions.
    unnamed: u32,
}

type Read<T> = Result<T, String>;

impl<'t> Reader<'t> {
    fn error(&self, what: &str) -> ParseError {
        ParseError { line: self.at, what: what.to_owned() }
    }

    /// The next line that is neither empty nor a comment; `None` at the end of the text.
    fn next(&mut self) -> Result<Option<&'t str>, ParseError> {
        for (i, line) in self.lines.by_ref() {
            self.at = i + 1;
            let line = line.trim();
            if !line.is_empty() && !line.starts_with(';') {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Parses statements up to the line that closes the region. Returns the region and that line.
    fn region(&mut self) -> Result<(Region, &'t str), ParseError> {
        let mut region = Region::default();
        loop {
            let line = self.next()?.ok_or_else(|| self.error("the text ends inside of a region"))?;
            if line.starts_with('}') {
                return Ok((region, line));
            }
            if let Some(stmt) = self.statement(line)? {
                region.stmts.push(stmt);
            }
        }
    }

    /// Parses a region that must be closed by `}` alone.
    fn closed(&mut self) -> Result<Region, ParseError> {
        match self.region()? {
            (region, "}") => Ok(region),
            (_, other) => Err(self.error(&format!("expected `}}`, found `{other}`"))),
        }
    }

    /// Parses a statement; `None` if the line is a declaration.
    fn statement(&mut self, text: &'t str) -> Result<Option<Stmt>, ParseError> {
        if let Some(cond) = text.strip_prefix("if ").and_then(|rest| rest.strip_suffix(" {")) {
            let cond = self.value(cond)?;
            let (then, end) = self.region()?;
            let els = match end {
                "}" => Region::default(),
                "} else {" => self.closed()?,
                other => return Err(self.error(&format!("expected `}}` or `}} else {{`, found `{other}`"))),
            };
            return Ok(Some(Stmt::If { cond, then, els }));
        }
        match text {
            "while {" => {
                let (head, end) = self.region()?;
                let cond = end.strip_prefix("} ").and_then(|rest| rest.strip_suffix(" {"));
                let cond = cond.ok_or_else(|| self.error("expected `} CONDITION {`"))?;
                let cond = self.value(cond)?;
                return Ok(Some(Stmt::While { head, cond, body: self.closed()? }));
            }
            "do {" => {
                let (body, end) = self.region()?;
                let cond =
                    end.strip_prefix("} while ").ok_or_else(|| self.error("expected `} while CONDITION`"))?;
                let cond = self.value(cond)?;
                return Ok(Some(Stmt::DoWhile { body, cond }));
            }
            "loop {" => return Ok(Some(Stmt::Loop { body: self.closed()? })),
            _ => {}
        }
        if let Some(label) = text.strip_suffix(": {") {
            let label = Line::new(label).all(Line::label).map_err(|e| self.error(&e))?;
            return Ok(Some(Stmt::Block { label, body: self.closed()? }));
        }
        if let Some(label) = text.strip_prefix("exit ") {
            let label = Line::new(label).all(Line::label).map_err(|e| self.error(&e))?;
            return Ok(Some(Stmt::Exit(label)));
        }
        self.line(text).map_err(|e| self.error(&e))
    }

    fn value(&self, text: &str) -> Result<Value, ParseError> {
        Line::new(text).all(Line::value).map_err(|e| self.error(&e))
    }

    /// Parses an instruction or a declaration.
    fn line(&mut self, text: &str) -> Read<Option<Stmt>> {
        if self.declaration(text)? {
            return Ok(None);
        }
        let mut line = Line::new(text);
        let result = match text.starts_with('%') {
            true => {
                let v = line.value()?;
                line.symbol(":")?;
                let ty = line.ty()?;
                line.symbol("=")?;
                Some((v, ty))
            }
            false => None,
        };
        let inst = self.inst(&mut line, result.map(|r| r.1))?;
        line.end()?;
        let v = result.map_or(Value(self.unnamed), |(v, _)| v);
        self.unnamed += u32::from(result.is_none());
        let known = self.define(v);
        if *known != undefined() {
            return Err(format!("{v} is defined twice"));
        }
        *known = ValueDef { inst, ty: result.map(|r| r.1), loc: None };
        Ok(Some(Stmt::Inst(v)))
    }

    /// The definition with this number; it is [`undefined`] until the text defines it.
    fn define(&mut self, v: Value) -> &mut ValueDef {
        let (values, at) = (&mut self.kernel.values, v.0 as usize);
        if values.len() <= at {
            values.resize(at + 1, undefined());
        }
        &mut values[at]
    }

    /// Parses a declaration, which is a line about the kernel as a whole. Returns false if the line is not a
    /// declaration.
    fn declaration(&mut self, text: &str) -> Read<bool> {
        let name = text.split([' ', ':']).next().unwrap_or_default();
        let mut line = Line::new(&text[name.len()..]);
        let kernel = &mut self.kernel;
        let array = |line: &mut Line<'_>| -> Read<(u32, u32)> {
            line.symbol(":")?;
            let bytes = line.number()?;
            line.word("bytes")?;
            line.word("at")?;
            Ok((bytes, line.number()?))
        };
        match name {
            "joined" => kernel.joined = line.list(Line::variable)?,
            "read_only" => kernel.read_only = line.list(Line::value)?,
            "whole_dwords" => kernel.whole_dwords = line.list(Line::value)?,
            "overlapping" => kernel.overlapping = line.list(Line::value)?,
            "lds_reserved" => kernel.lds_reserved = line.number()?,
            "constants" if !text[name.len()..].is_empty() => {
                let digits = line.take(|c| c.is_ascii_hexdigit());
                let byte = |i: usize| digits.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
                let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>();
                kernel.constants = bytes.ok_or("expected two digits for each byte")?;
            }
            "pipeline" => {
                let counter = line.variable()?;
                let stages = line.named("stages")?.map(|n| n as u8);
                let buffers = line.named("buffers")?.map(|n| n as u8);
                kernel.pipelines.push(Request { counter, stages, buffers, at: None });
            }
            _ if numbered(name, "lds") == Some(kernel.lds.len()) && line.rest.starts_with(": dynamic") => {
                line.symbol(":")?;
                line.word("dynamic")?;
                line.word("after")?;
                kernel.lds.push(LdsDef { bytes: 0, offset: line.number()?, dynamic: true });
            }
            _ if numbered(name, "lds") == Some(kernel.lds.len()) => {
                let (bytes, offset) = array(&mut line)?;
                kernel.lds.push(LdsDef { bytes, offset, dynamic: false });
            }
            _ if numbered(name, "private") == Some(kernel.private.len()) => {
                let (bytes, offset) = array(&mut line)?;
                kernel.private.push(PrivateDef { bytes, offset });
            }
            _ if numbered(name, "var") == Some(kernel.variables.len()) => {
                line.symbol(":")?;
                let ty = line.ty()?;
                if line.word("in").is_ok() {
                    let var = Variable(kernel.variables.len() as u32);
                    kernel.pins.push(Pin { var, to: line.register()?, loc: None });
                }
                kernel.variables.push(ty);
            }
            _ => return Ok(false),
        }
        line.end()?;
        // The kernel's lists may contain values whose instructions have been removed.
        let named = [&self.kernel.read_only, &self.kernel.whole_dwords, &self.kernel.overlapping];
        if let Some(last) = named.into_iter().flatten().max().copied() {
            self.define(last);
        }
        Ok(true)
    }

    /// Parses an instruction whose result has type `ty`.
    fn inst(&self, line: &mut Line<'_>, ty: Option<Type>) -> Read<Inst> {
        let name = line.take(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        let mut parts = name.split('.');
        let head = parts.next().unwrap_or_default();
        let attributes: SmallVec<[&str; 4]> = parts.collect();
        let inst = match (head, &attributes[..]) {
            ("const", []) => Inst::Const(line.wide()?),
            ("kernarg", []) => {
                line.symbol("+")?;
                Inst::KernArg { offset: line.number()? }
            }
            ("constants", []) => Inst::Constants,
            ("workgroup_id", []) => Inst::WorkgroupId(line.byte()?),
            ("grid_size", []) => Inst::GridSize(line.byte()?),
            ("local_id", []) => Inst::LocalId(line.byte()?),
            ("lane_id", []) => Inst::LaneId,
            ("barrier", []) => Inst::Barrier,
            ("splat", []) => Inst::Splat(line.value()?),
            ("cast", []) => Inst::Cast(line.value()?),
            ("bitcast", []) => Inst::Bitcast(line.value()?),
            ("ballot", []) => Inst::Ballot(line.value()?),
            ("read_first_lane", []) => Inst::ReadFirstLane(line.value()?),
            ("read_lane", []) => Inst::ReadLane(line.value()?, line.next_value()?),
            ("permute", []) => Inst::Permute { address: line.value()?, value: line.next_value()? },
            ("fma", []) => Inst::Fma(line.value()?, line.next_value()?, line.next_value()?),
            ("select", []) => Inst::Select(line.value()?, line.next_value()?, line.next_value()?),
            ("concat", []) => Inst::Concat(line.list(Line::value)?.into()),
            ("cmp", [op]) => Inst::Cmp(named::<Pred>(op)?, line.value()?, line.next_value()?),
            ("extract", []) => {
                let from = line.value()?;
                line.symbol(",")?;
                Inst::Extract { from, dword: line.byte()? }
            }
            ("result", []) => {
                let of = line.value()?;
                line.symbol(",")?;
                Inst::Result { of, index: line.byte()? }
            }
            ("load_uniform", []) => {
                let resource = line.value()?;
                Inst::LoadUniform { resource, offset: line.index()? }
            }
            ("load", [] | [_]) => {
                let manner = read_manner(&attributes)?;
                let (memory, offset) = line.place()?;
                Inst::Load { memory, offset, manner }
            }
            ("store", [] | [_]) => {
                let manner = read_manner(&attributes)?;
                let (memory, offset) = line.place()?;
                Inst::Store { memory, offset, value: line.next_value()?, manner }
            }
            ("read", []) => Inst::Read(line.variable()?),
            ("write", [] | ["keep"]) => {
                let var = line.variable()?;
                Inst::Write { var, value: line.next_value()?, keep: !attributes.is_empty() }
            }
            ("atomic", [op, scope, ordering]) => self.atomic(line, ty, named(op)?, (scope, ordering))?,
            ("fence", [scope, ordering]) => {
                Inst::Fence { scope: read_scope(scope)?, ordering: read_ordering(ordering)? }
            }
            ("wave", [spread, op, width, rest @ ..]) => {
                let width = width.parse().map_err(|_| format!("`{width}` is not a number of lanes"))?;
                let all_active = match rest {
                    [] => false,
                    ["all_active"] => true,
                    _ => return Err(format!("`{name}` is not an instruction")),
                };
                Inst::Wave(Wave {
                    op: named(op)?,
                    spread: named(spread)?,
                    width,
                    value: line.value()?,
                    all_active,
                })
            }
            ("mark" | "wait" | "wait_all" | "priority", _) => {
                Inst::Schedule(Box::new(line.schedule(head, &attributes)?))
            }
            (_, []) if Bin::named(head).is_some() => {
                Inst::Bin(named(head)?, line.value()?, line.next_value()?)
            }
            (_, []) if Un::named(head).is_some() => Inst::Un(named(head)?, line.value()?),
            _ => Inst::Machine(Box::new(line.call(head, &attributes)?)),
        };
        Ok(inst)
    }

    fn atomic(&self, line: &mut Line<'_>, ty: Option<Type>, op: AtomicOp, order: (&str, &str)) -> Read<Inst> {
        let (memory, offset) = line.place()?;
        let expected = if op == AtomicOp::CompareExchange { Some(line.next_value()?) } else { None };
        let value = if op == AtomicOp::Load { None } else { Some(line.next_value()?) };
        // A store has no result; the type is that of the stored value.
        let stored = value.and_then(|v| self.kernel.values.get(v.0 as usize)).and_then(|def| def.ty);
        let ty = ty.or(stored).ok_or("the atomic has no type")?;
        let (scope, ordering) = (read_scope(order.0)?, read_ordering(order.1)?);
        Ok(Inst::Atomic(Box::new(Atomic { op, ty, memory, offset, value, expected, scope, ordering })))
    }
}

/// A placeholder for a value that the text does not define.
fn undefined() -> ValueDef {
    ValueDef { inst: Inst::Barrier, ty: None, loc: None }
}

/// The number after `prefix`, if the rest of the name is a number; `None` otherwise.
fn numbered(name: &str, prefix: &str) -> Option<usize> {
    name.strip_prefix(prefix)?.parse().ok()
}

fn named<T: Words>(word: &str) -> Read<T> {
    T::named(word).ok_or_else(|| format!("`{word}` is not a word of the IR"))
}

fn read_manner(attributes: &[&str]) -> Read<Manner> {
    let Some(word) = attributes.first() else { return Ok(Manner::Plain) };
    match word.strip_prefix("transposed") {
        Some(bits) => {
            bits.parse().map(Manner::Transposed).map_err(|_| format!("`{bits}` is not a number of bits"))
        }
        None => named::<Cache>(word).map(Manner::Cached),
    }
}

fn read_scope(word: &str) -> Read<atomic::Scope> {
    let found = atomic::Scope::ALL.into_iter().find(|scope| scope.name() == word);
    found.ok_or_else(|| format!("`{word}` is not a scope"))
}

fn read_ordering(word: &str) -> Read<atomic::Ordering> {
    let found = atomic::Ordering::ALL.into_iter().find(|ordering| ordering.name() == word);
    found.ok_or_else(|| format!("`{word}` is not an ordering"))
}

fn read_counter(word: &str) -> Read<Counter> {
    let found = Counter::ALL.into_iter().find(|counter| counter_name(*counter) == word);
    found.ok_or_else(|| format!("`{word}` is not a counter"))
}

/// The rest of a line.
struct Line<'t> {
    rest: &'t str,
}

impl<'t> Line<'t> {
    fn new(rest: &'t str) -> Line<'t> {
        Line { rest: rest.trim() }
    }

    fn expected(&self, what: &str) -> String {
        match self.rest {
            "" => format!("expected {what} at the end of the line"),
            rest => format!("expected {what}, found `{rest}`"),
        }
    }

    fn end(&self) -> Read<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// Parses the whole rest of the line with `read`.
    fn all<T>(mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let value = read(&mut self)?;
        self.end()?;
        Ok(value)
    }

    fn symbol(&mut self, symbol: &str) -> Read<()> {
        let rest = self.rest.strip_prefix(symbol).ok_or_else(|| self.expected(&format!("`{symbol}`")))?;
        self.rest = rest.trim_start();
        Ok(())
    }

    /// Takes the longest prefix of characters for which `belongs` is true.
    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        taken
    }

    fn word(&mut self, word: &str) -> Read<()> {
        let rest = self.rest.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with(' '));
        self.rest = rest.ok_or_else(|| self.expected(&format!("`{word}`")))?.trim_start();
        Ok(())
    }

    /// Takes the text up to `end`, which must be the last part of the line.
    fn until(&mut self, end: &str) -> Read<&'t str> {
        let taken =
            self.rest.strip_suffix(end).ok_or_else(|| self.expected(&format!("`{end}` at the end")))?;
        self.rest = "";
        Ok(taken)
    }

    fn number(&mut self) -> Read<u32> {
        let expected = self.expected("a number");
        self.take(|c| c.is_ascii_digit()).parse().map_err(|_| expected)
    }

    fn byte(&mut self) -> Read<u8> {
        let expected = self.expected("a number of at most 255");
        self.number()?.try_into().map_err(|_| expected)
    }

    /// Parses a hexadecimal number.
    fn wide(&mut self) -> Read<u64> {
        let expected = self.expected("a hexadecimal number");
        let digits = self.take(|c| c.is_ascii_alphanumeric());
        let digits = digits.strip_prefix("0x").ok_or(expected.clone())?;
        u64::from_str_radix(digits, 16).map_err(|_| expected)
    }

    /// Parses `NAME=NUMBER` if the line continues with `NAME=`; `None` otherwise.
    fn named(&mut self, name: &str) -> Read<Option<u32>> {
        if !self.rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')) {
            return Ok(None);
        }
        self.rest = &self.rest[name.len()..];
        self.symbol("=")?;
        self.number().map(Some)
    }

    /// Parses a name that consists of a prefix and a number; returns the number.
    fn index_of(&mut self, prefix: &str, what: &str) -> Read<u32> {
        let expected = self.expected(what);
        let digits =
            self.rest.strip_prefix(prefix).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        self.rest = digits.ok_or(expected)?;
        match self.number()? {
            n if n < MOST => Ok(n),
            n => Err(format!("the number {n} is too large")),
        }
    }

    fn value(&mut self) -> Read<Value> {
        self.index_of("%", "a value").map(Value)
    }

    fn next_value(&mut self) -> Read<Value> {
        self.symbol(",")?;
        self.value()
    }

    fn variable(&mut self) -> Read<Variable> {
        self.index_of("var", "a variable").map(Variable)
    }

    fn label(&mut self) -> Read<Label> {
        self.index_of("l", "a label").map(Label)
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.symbol(",").is_ok() {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn ty(&mut self) -> Read<Type> {
        let expected = self.expected("a type");
        let text = self.take(|c| c.is_ascii_alphanumeric() || c == '.');
        let read = || {
            let (place, elem) = text.split_once('.')?;
            let place = match place {
                "s" => Place::Uniform,
                "v" => Place::Varying,
                "acc" => Place::Acc,
                _ => return None,
            };
            let (elem, count) = match elem.split_once('x') {
                Some((elem, count)) => (elem, count.parse().ok()?),
                None => (elem, 1),
            };
            let elem = Elem::ALL.into_iter().find(|known| known.name() == elem)?;
            Some(Type { place, elem, count })
        };
        read().ok_or(expected)
    }

    /// Parses `[%offset]`.
    fn index(&mut self) -> Read<Value> {
        self.symbol("[")?;
        let offset = self.value()?;
        self.symbol("]")?;
        Ok(offset)
    }

    /// Parses a memory with an offset.
    fn place(&mut self) -> Read<(Memory, Value)> {
        let memory = if self.word("buffer").is_ok() {
            Memory::Buffer(self.value()?)
        } else if self.word("global").is_ok() {
            Memory::Global(self.value()?)
        } else if self.word("lanes").is_ok() {
            Memory::Lanes(self.value()?)
        } else if self.rest.starts_with("lds") {
            Memory::Lds(LdsId(self.index_of("lds", "an LDS array")?))
        } else {
            Memory::Private(PrivateId(self.index_of("private", "memory")?))
        };
        Ok((memory, self.index()?))
    }

    /// Parses a register or a range of registers.
    fn register(&mut self) -> Read<Reg> {
        let expected = self.expected("a register");
        let file = match self.take(|c| c.is_ascii_lowercase()) {
            "v" => RegFile::Vgpr,
            "s" => RegFile::Sgpr,
            "a" => RegFile::Agpr,
            _ => return Err(expected),
        };
        let (first, last) = if self.symbol("[").is_ok() {
            let first = self.number()?;
            self.symbol(":")?;
            let last = self.number()?;
            self.symbol("]")?;
            (first, last)
        } else {
            let only = self.number()?;
            (only, only)
        };
        let len = last.checked_sub(first).and_then(|more| u8::try_from(more + 1).ok()).ok_or(expected)?;
        Ok(Reg { file, index: first as u16, len })
    }

    fn schedule(&mut self, head: &str, attributes: &[&str]) -> Read<Schedule> {
        let what = match (head, attributes) {
            ("priority", []) => Schedule::Priority(self.byte()?),
            ("wait", [counter]) => Schedule::Wait { counter: read_counter(counter)?, op: self.number()? },
            ("wait_all", [counter]) => Schedule::WaitAll(read_counter(counter)?),
            ("mark", [mark, rest @ ..]) => Schedule::Mark(self.mark(mark, rest)?),
            _ => return Err(format!("`{head}` has other words after it")),
        };
        Ok(what)
    }

    fn mark(&mut self, mark: &str, attributes: &[&str]) -> Read<Mark> {
        Ok(match (mark, attributes) {
            ("manual_begin", []) => Mark::ManualBegin,
            ("manual_end", []) => Mark::ManualEnd,
            ("issue", []) => Mark::Issue(self.number()?),
            ("issued", []) => Mark::Issued(self.number()?),
            ("wait", [counter]) => Mark::Wait { counter: read_counter(counter)?, op: self.number()? },
            ("reads_pass", []) => Mark::ReadsPass,
            ("ping_pong_begin", []) => Mark::PingPong,
            ("ping_pong_end", []) => Mark::PingPongEnd,
            ("stagger", []) => Mark::Stagger,
            ("phase", []) => Mark::Phase,
            ("cold", []) => Mark::Cold,
            ("fence", []) => Mark::Fence(self.classes()?),
            ("gate", [] | ["urgent"]) => Mark::Gate { but: self.classes()?, urgent: !attributes.is_empty() },
            ("interleave", []) => {
                let mut groups = Vec::new();
                while !self.rest.is_empty() {
                    groups.push(Group { count: self.byte()?, class: self.classes()? });
                }
                Mark::Interleave(groups.into())
            }
            _ => return Err(format!("`{mark}` is not a mark that a kernel has")),
        })
    }

    fn classes(&mut self) -> Read<Classes> {
        let text = self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '+'));
        if text == "none" {
            return Ok(Classes::empty());
        }
        let named = |name: &str| {
            Classes::named(name).ok_or_else(|| format!("`{name}` is not a class of instructions"))
        };
        text.split('+').try_fold(Classes::empty(), |all, name| Ok(all | named(name)?))
    }

    /// Parses the operands of a machine instruction; its name has been read.
    fn call(&mut self, name: &str, attributes: &[&str]) -> Read<Call> {
        let found = Variant::ALL.into_iter().find_map(|variant| {
            let mnemonic = table::mnemonic(name.strip_suffix(variant.suffix())?)?;
            Some((mnemonic, variant))
        });
        let (mnemonic, variant) = found.ok_or_else(|| format!("`{name}` is not an instruction"))?;
        let effect = match attributes {
            [] => Effect::Pure,
            ["unshared"] => Effect::Unshared,
            ["kept"] => Effect::Kept,
            _ => return Err(format!("`{name}` has other words after it")),
        };
        let (mut args, mut arg_mods) = (SmallVec::new(), ArgMods::default());
        let mut implicit = [None; 4];
        let mut first = true;
        while !self.rest.is_empty() && !self.rest.starts_with("->") && !self.at_modifier() {
            if !first {
                self.symbol(",")?;
            }
            first = false;
            let name = ["old", "scc", "vcc", "m0"]
                .into_iter()
                .position(|name| self.symbol(&format!("{name}=")).is_ok());
            match name {
                Some(which) => implicit[which] = Some(self.value()?),
                None => args.push(self.arg(args.len(), &mut arg_mods)?),
            }
        }
        let given = self.modifiers()?;
        let results = if self.symbol("->").is_ok() { self.list(Line::ty)?.into() } else { SmallVec::new() };
        let [old, scc, vcc, m0] = implicit;
        Ok(Call { mnemonic, variant, args, arg_mods, old, scc, vcc, m0, given, results, effect })
    }

    fn arg(&mut self, number: usize, mods: &mut ArgMods) -> Read<Arg> {
        let bit = 1 << number;
        if self.word("off").is_ok() || self.rest.starts_with("off,") && self.symbol("off").is_ok() {
            return Ok(Arg::Off);
        }
        if self.word("wide").is_ok() {
            return self.wide().map(Arg::Literal64);
        }
        if self.rest.starts_with("0x") {
            return self.wide().map(|bits| Arg::Literal(bits as u32));
        }
        let minus = self.symbol("-").is_ok();
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = self.take(|c| c.is_ascii_digit());
            let sign = if minus { "-" } else { "" };
            let imm = format!("{sign}{digits}").parse();
            return imm.map(Arg::Imm).map_err(|_| format!("`{digits}` is too large"));
        }
        let bars = self.symbol("|").is_ok();
        let sext = self.word("sext").is_ok();
        let value = self.value()?;
        if bars {
            self.symbol("|")?;
        }
        for (set, field) in [(minus, &mut mods.neg), (bars, &mut mods.abs), (sext, &mut mods.sext)] {
            *field |= if set { bit } else { 0 };
        }
        Ok(Arg::Value(value))
    }

    fn at_modifier(&self) -> bool {
        Modifier::ALL
            .iter()
            .any(|m| self.rest.strip_prefix(m.name()).is_some_and(|rest| rest.starts_with('=')))
    }

    fn modifiers(&mut self) -> Read<Given> {
        let mut given = Given::default();
        while self.at_modifier() {
            for modifier in Modifier::ALL {
                let Some(value) = self.named(modifier.name())? else { continue };
                let flag = match modifier {
                    Modifier::Format => BUFFER_FORMAT,
                    other => other.flag(),
                };
                if flag.intersects(gcn_isa::mods::Modifiers::DPP) {
                    given.dpp();
                }
                if flag.intersects(gcn_isa::mods::Modifiers::SDWA) {
                    given.sdwa();
                }
                modifier.set(&mut given.mods, value);
                given.set |= flag;
            }
        }
        Ok(given)
    }
}
