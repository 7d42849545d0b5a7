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

    #: The section that contains it, and its byte offset there.
    section: str
    offset: int
    #: The function and the offset in it, such as ``saxpy+0x1c``.
    place: str
    #: The line of the assembly file, from 1.
    line: Optional[int]
    #: The location in the macro or included file, if `line` is that of a macro call or of ``.include``.
    origin: Optional[str]
    #: The source line from which it was compiled, such as ``saxpy.py:7:12``.
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

    #: The rule's name, its title, and a citation.
    rule: str
    title: str
    cite: str
    #: ``certain``, ``documented`` or ``cautious``.
    grade: str
    #: The instruction that causes the hazard, if there is one, and the instruction that comes too early.
    first: Optional[Instruction]
    second: Instruction
    register: Optional[str]
    #: The wait that is needed between them, and the existing one.
    need: Any
    have: Any
    #: The assumption on which the finding rests, if any.
    caveat: Optional[str]
    #: The basic blocks of a path from the first instruction to the second.
    path: "tuple[str, ...]"
    #: What to insert, and where.
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
    #: The instruction that shows the mismatch, if there is one.
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
    #: True if the wait may be there to order memory accesses, for which there are no rules.
    may_order: bool


@dataclass(frozen=True)
class Report(_Json):
    """What was found in a code object."""

    #: The file; for a container, also the entry.
    file: str
    target_id: str
    #: Whether the rules of XNACK replay were checked.
    xnack: bool
    #: The number of instructions that were checked.
    instructions: int
    #: True if there is no finding of grade ``documented`` or above, with which `gcn check` fails.
    clean: bool
    findings: "tuple[Finding, ...]"
    #: The number of findings that are not listed because of the limit.
    omitted: int
    lints: "tuple[Lint, ...]"
    advice: "tuple[Advice, ...]"
    #: Lines with errors, bytes that do not decode, and instructions after which control flow is unknown.
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

    #: The line of the original text, from 1.
    line: int
    #: ``inserted``, ``changed`` or ``removed``.
    action: str
    before: Optional[str]
    after: Optional[str]
    #: The rules that need it, with lines of the original text.
    why: "tuple[str, ...]"


@dataclass(frozen=True)
class Fixed(_Json):
    """Assembly with its waits."""

    text: str
    target_id: str
    changes: "tuple[Change, ...]"
    #: Waits that no rule needs, kept because they may order memory accesses.
    kept: "tuple[dict[str, Any], ...]"
    #: For each function its waits before and after the change.
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
    #: Each wait, with the rules that need it.
    waits: "tuple[dict[str, Any], ...]"
    #: ``line``, ``rule`` and ``message`` of each missing wait.
    missing: "tuple[dict[str, Any], ...]"
    #: If requested, the last writers of each register that an instruction reads.
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
    #: The number of workgroups, and of work-items in a workgroup, in each dimension.
    grid: "tuple[int, ...]"
    workgroup: "tuple[int, ...]"
    #: The number of waves, and of instructions that they executed; ``None`` in timed runs.
    waves: Optional[int]
    instructions: Optional[int]
    #: Instructions that ran too early, as found in the mode ``faithful``.
    stale: "tuple[dict[str, Any], ...]"
    #: Findings of the sanitizers; ``note`` marks those that are not faults.
    findings: "tuple[dict[str, Any], ...]"
    #: In timed runs, cycles and the reasons for which waves waited.
    timed: "Optional[dict[str, Any]]"
    #: The bytes of each buffer after the run, by argument.
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
