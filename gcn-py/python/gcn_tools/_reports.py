"""What the functions return: the JSON of the libraries with types."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Optional


class _Json:
    """Has the document from which it was made."""

    _json: Any

    def to_json(self, indent: Optional[int] = None) -> str:
        """The document, with the fields of `gcn ... --json`."""
        return json.dumps(self._json, indent=indent)


def _fields(of: type, value: "dict[str, Any]") -> "dict[str, Any]":
    """What a class takes over from the document."""
    return {key: value.get(key) for key in getattr(of, "__dataclass_fields__") if key != "_json"}


@dataclass(frozen=True)
class Instruction:
    """An instruction, and where it is."""

    #: The section, and the byte offset in it.
    section: str
    offset: int
    #: Function and offset in it, such as ``saxpy+0x1c``.
    place: str
    #: Line of the assembly file, from 1.
    line: Optional[int]
    #: The place in the macro or included file, if the line is that of a call or of ``.include``.
    origin: Optional[str]
    #: The source line from which a compiler made it, such as ``saxpy.py:7:12``.
    source: Optional[str]
    text: str

    @classmethod
    def from_json(cls, value: "dict[str, Any]") -> "Instruction":
        return cls(**_fields(cls, value))


def _instruction(value: "Optional[dict[str, Any]]") -> Optional[Instruction]:
    return None if value is None else Instruction.from_json(value)


@dataclass(frozen=True)
class Finding(_Json):
    """A rule that is not kept."""

    #: The rule, what it is about, and its source.
    rule: str
    title: str
    cite: str
    #: ``certain``, ``documented`` or ``cautious``.
    grade: str
    #: The instruction that makes the hazard, if there is one, and the one that is too early.
    first: Optional[Instruction]
    second: Instruction
    register: Optional[str]
    #: What is needed between them, and what is there.
    need: Any
    have: Any
    #: What it rests on, if not on the code alone.
    caveat: Optional[str]
    #: The blocks of a path from the first to the second.
    path: "tuple[str, ...]"
    #: What to write, and where.
    remedy: str
    _json: Any = field(repr=False, compare=False)

    @property
    def lines(self) -> "tuple[int, ...]":
        """Lines of the assembly file: of the first and the second instruction."""
        both = (self.first, self.second)
        return tuple(at.line for at in both if at is not None and at.line is not None)

    def __str__(self) -> str:
        """One line: place, grade, rule, and the remedy."""
        second = self.second
        place = second.source or (f"line {second.line}" if second.line else second.place)
        first = f"`{self.first.text}`, then " if self.first else ""
        register = f"{self.register} of " if self.register else ""
        return f"{place}: {self.grade}: {self.rule}: {register}{first}`{second.text}`: {self.remedy}"

    @classmethod
    def from_json(cls, value: "dict[str, Any]") -> "Finding":
        plain = _fields(cls, value)
        plain["first"] = _instruction(value["first"])
        plain["second"] = Instruction.from_json(value["second"])
        plain["path"] = tuple(value["path"])
        return cls(**plain, _json=value)


@dataclass(frozen=True)
class Lint(_Json):
    """A descriptor or metadata that does not fit the code."""

    rule: str
    title: str
    cite: str
    grade: str
    kernel: str
    #: The instruction that shows it, if one does.
    instruction: Optional[Instruction]
    message: str
    remedy: str
    _json: Any = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"kernel {self.kernel}: {self.grade}: {self.rule}: {self.message}; {self.remedy}"

    @classmethod
    def from_json(cls, value: "dict[str, Any]") -> "Lint":
        plain = _fields(cls, value)
        plain["instruction"] = _instruction(value["instruction"])
        return cls(**plain, _json=value)


@dataclass(frozen=True)
class Advice:
    """A wait that is stronger than any rule asks for."""

    instruction: Instruction
    have: Any
    enough: Any
    #: True if the wait may be there to order memory, which no rule says.
    may_order: bool


@dataclass(frozen=True)
class Report(_Json):
    """What was found in a code object."""

    #: The file, and of a container the entry.
    file: str
    target_id: str
    #: Whether the rules of XNACK replay applied.
    xnack: bool
    #: How many instructions were checked.
    instructions: int
    #: True without findings that make `gcn check` fail: those of grade ``documented`` and above.
    clean: bool
    findings: "tuple[Finding, ...]"
    #: Findings beyond the largest number that is listed.
    omitted: int
    lints: "tuple[Lint, ...]"
    advice: "tuple[Advice, ...]"
    #: Lines with errors, bytes that are not instructions, and places where control leaves to.
    not_checked: "dict[str, Any]"
    _json: Any = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, value: "dict[str, Any]") -> "Report":
        plain = _fields(cls, value)
        plain["findings"] = tuple(map(Finding.from_json, value["findings"]))
        plain["lints"] = tuple(map(Lint.from_json, value["lints"]))
        plain["advice"] = tuple(
            Advice(Instruction.from_json(one["instruction"]), one["have"], one["enough"], one["may_order"])
            for one in value["advice"]
        )
        return cls(**plain, _json=value)


@dataclass(frozen=True)
class Change:
    """A wait that was inserted, changed or removed."""

    #: Line of the original, from 1.
    line: int
    #: ``inserted``, ``changed`` or ``removed``.
    action: str
    before: Optional[str]
    after: Optional[str]
    #: The rules, with lines of the original.
    why: "tuple[str, ...]"


@dataclass(frozen=True)
class Fixed(_Json):
    """Assembly with its waits."""

    text: str
    target_id: str
    changes: "tuple[Change, ...]"
    #: Waits that no rule needs and that stay because they order memory.
    kept: "tuple[dict[str, Any], ...]"
    #: The functions with what they wait, before and after.
    functions: "tuple[dict[str, Any], ...]"
    _json: Any = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, value: "dict[str, Any]") -> "Fixed":
        changes = tuple(
            Change(one["line"], one["action"], one["from"], one["to"], tuple(one["why"])) for one in value["changes"]
        )
        kept, functions = tuple(value["kept"]), tuple(value["functions"])
        return cls(value["text"], value["target_id"], changes, kept, functions, value)


@dataclass(frozen=True)
class Explanation(_Json):
    """Why each wait is there."""

    file: str
    target_id: str
    #: Each wait with the rules that it serves.
    waits: "tuple[dict[str, Any], ...]"
    #: ``line``, ``rule`` and ``message`` of each missing wait.
    missing: "tuple[dict[str, Any], ...]"
    #: The last writers of what each instruction reads, if asked for.
    writers: "Optional[tuple[dict[str, Any], ...]]"
    _json: Any = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, value: "dict[str, Any]") -> "Explanation":
        writers = value["writers"]
        return cls(
            value["file"], value["target_id"], tuple(value["waits"]), tuple(value["missing"]),
            None if writers is None else tuple(writers), value,
        )


@dataclass(frozen=True)
class Object(_Json):
    """What a code object holds; ``to_json`` has everything."""

    name: str
    target_id: str
    #: Version of the code object format.
    version: int
    relocatable: bool
    #: Name, registers, LDS, occupancy, descriptor and metadata of each kernel.
    kernels: "tuple[dict[str, Any], ...]"
    _json: Any = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, value: "dict[str, Any]") -> "Object":
        plain = {key: value[key] for key in ("name", "target_id", "version", "relocatable")}
        return cls(**plain, kernels=tuple(value["kernels"]), _json=value)


@dataclass(frozen=True)
class Run(_Json):
    """What a kernel did in the simulator."""

    kernel: str
    target: str
    #: Workgroups, and work-items of a workgroup.
    grid: "tuple[int, ...]"
    workgroup: "tuple[int, ...]"
    #: Waves, and instructions that they executed; none in timed runs.
    waves: Optional[int]
    instructions: Optional[int]
    #: What ``faithful`` found too early.
    stale: "tuple[dict[str, Any], ...]"
    #: What sanitizers found; ``note`` marks what is not a fault.
    findings: "tuple[dict[str, Any], ...]"
    #: Cycles and why waves waited, of timed runs.
    timed: "Optional[dict[str, Any]]"
    #: The buffers' bytes after the run, by argument.
    buffers: "dict[str, bytes]" = field(repr=False)
    _json: Any = field(repr=False, compare=False)

    @property
    def clean(self) -> bool:
        """True if nothing was too early and no sanitizer found a fault."""
        return not self.stale and all(finding["note"] for finding in self.findings)

    @classmethod
    def from_json(cls, value: "dict[str, Any]", buffers: "dict[str, bytes]") -> "Run":
        return cls(
            value["kernel"], value["target"], tuple(value["grid"]), tuple(value["workgroup"]), value.get("waves"),
            value.get("instructions"), tuple(value.get("stale", ())), tuple(value.get("findings", ())),
            value.get("timed"), buffers, value,
        )
