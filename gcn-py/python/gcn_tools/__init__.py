"""Check, fix, explain, simulate, assemble and disassemble code for AMD GPUs (gfx900 to gfx950).

Every function takes a *source*: the path of a file, its contents as bytes (or anything else with the buffer protocol), or assembly
text, which is a ``str`` with a line break. Code objects, relocatable objects, bundles, host libraries and programs of HIP are read
as well, gzipped or not. What a library refuses is an :class:`Error` with the place, the rule and the remedy.

>>> import gcn_tools as gcn
>>> text = '''.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
... global_load_dword v1, v0, s[4:5]
... v_add_u32 v2, v1, v1
... s_endpgm
... '''
>>> [report] = gcn.check(text)
>>> finding = report.findings[0]
>>> finding.rule, str(finding.grade), finding.lines
('waitcnt.raw', 'certain', (2, 3))
>>> print(gcn.fix(text).text.splitlines()[2].strip())
s_waitcnt vmcnt(0)
"""

from __future__ import annotations

import gzip
import json
import os
import warnings
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from gcn_tools import _gcn
from gcn_tools._gcn import TARGETS, Error
from gcn_tools._reports import (
    Advice,
    Change,
    Explanation,
    Finding,
    Fixed,
    Instruction,
    Lint,
    Object,
    Report,
    Run,
)
from gcn_tools._arguments import Buffer, bind, write_back

__all__ = [
    "TARGETS",
    "Advice",
    "Buffer",
    "Change",
    "Error",
    "Explanation",
    "Finding",
    "Fixed",
    "Instruction",
    "Lint",
    "Object",
    "Report",
    "Run",
    "asm",
    "check",
    "disasm",
    "explain",
    "fix",
    "inspect",
    "instructions",
    "sim",
    "template",
]

#: A path, the contents of a file, or assembly text. A `str` with a line break is text, any other one a path.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]


def _read(source: Source, name: Optional[str]) -> "tuple[str, bytes]":
    """The name for messages, and the bytes."""
    if isinstance(source, str) and "\n" in source:
        return name or "<text>", source.encode()
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            data = file.read()
        name = name or os.fspath(source)
    else:
        data = bytes(memoryview(source).cast("B"))
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return name or "<bytes>", data


def _text(source: Source, name: Optional[str]) -> "tuple[str, str]":
    name, data = _read(source, name)
    try:
        return name, data.decode()
    except UnicodeDecodeError as error:
        raise Error(f"{name}: byte {error.start} is not UTF-8: assembly is text in UTF-8") from None


def _options(**options: Any) -> str:
    """What differs from the default."""
    return json.dumps({key: value for key, value in options.items() if value is not None}, default=os.fspath)


def check(
    source: Source,
    *,
    name: Optional[str] = None,
    target: Optional[str] = None,
    wave: Optional[int] = None,
    entry: Optional[int] = None,
    level: str = "cautious",
    rules: str = "safe",
    with_rules: Sequence[str] = (),
    without: Sequence[str] = (),
    xnack: Optional[bool] = None,
    advice: bool = False,
    include: Iterable[Union[str, "os.PathLike[str]"]] = (),
) -> "list[Report]":
    """Checks code against every hazard rule, on every path, and kernels against their descriptors.

    Returns a report for each code object of the source. `level` is the lowest grade of findings that are reported: ``certain``,
    ``documented`` or ``cautious``; `rules` the rule set, to which `with_rules` and from which `without` add and take away rules.
    `xnack` says whether memory accesses may be replayed; without it the target decides.

    >>> [report] = gcn.check("v_mov_b32 v1, v0\\ns_endpgm\\n", target="gfx90a")
    >>> report.clean, report.target_id, report.findings
    (True, 'gfx90a', ())
    """
    name, data = _read(source, name)
    options = _options(
        target=target, wave=wave, entry=entry, level=level, rules=rules, **{"with": list(with_rules)}, without=list(without),
        xnack=xnack, advice=advice, include=list(include),
    )
    return [Report.from_json(report) for report in json.loads(_gcn.check(name, data, options))]


def fix(
    source: Source,
    *,
    name: Optional[str] = None,
    target: Optional[str] = None,
    wave: Optional[int] = None,
    strip: bool = False,
    only: Optional[str] = None,
    comment: bool = False,
    expand: bool = False,
    rules: str = "safe",
    with_rules: Sequence[str] = (),
    without: Sequence[str] = (),
    xnack: Optional[bool] = None,
    include: Iterable[Union[str, "os.PathLike[str]"]] = (),
) -> Fixed:
    """Inserts the waits that assembly lacks; everything else stays as it is, byte for byte.

    `strip` first removes the waits that are there; `only` changes one kind, ``counters`` or ``wait-states``; `comment` writes the
    reason after each inserted wait; `expand` first expands macros and included files.

    >>> fixed = gcn.fix("s_load_dword s2, s[0:1], 0x0\\ns_add_u32 s3, s2, 1\\ns_endpgm\\n", target="gfx942")
    >>> fixed.text.splitlines()[1].strip(), fixed.changes[0].action
    ('s_waitcnt lgkmcnt(0)', 'inserted')
    """
    if only not in (None, "counters", "wait-states"):
        raise Error(f"only=`{only}`: write `counters` or `wait-states`")
    name, text = _text(source, name)
    options = _options(
        target=target, wave=wave, strip=strip, only=only, comment=comment, expand=expand, rules=rules,
        **{"with": list(with_rules)}, without=list(without), xnack=xnack, include=list(include),
    )
    return Fixed.from_json(json.loads(_gcn.fix(name, text, options)))


def explain(
    source: Source,
    *,
    name: Optional[str] = None,
    target: Optional[str] = None,
    wave: Optional[int] = None,
    writers: bool = False,
    rules: str = "safe",
    with_rules: Sequence[str] = (),
    without: Sequence[str] = (),
    include: Iterable[Union[str, "os.PathLike[str]"]] = (),
) -> Explanation:
    """The reason for each wait of assembly, and the waits that are missing.

    >>> text = "global_load_dword v1, v0, s[4:5]\\ns_waitcnt vmcnt(0)\\nv_add_u32 v2, v1, v1\\ns_endpgm\\n"
    >>> [wait] = gcn.explain(text, target="gfx942").waits
    >>> wait["line"]
    2
    """
    name, data = _read(source, name)
    options = _options(
        target=target, wave=wave, writers=writers, rules=rules, **{"with": list(with_rules)}, without=list(without),
        include=list(include),
    )
    return Explanation.from_json(json.loads(_gcn.explain(name, data, options)))


def asm(
    source: Source,
    *,
    name: Optional[str] = None,
    target: Optional[str] = None,
    wave: Optional[int] = None,
    include: Iterable[Union[str, "os.PathLike[str]"]] = (),
) -> bytes:
    """Assembles and links: the code object for ``hipModuleLoadData``. Warnings are Python's warnings.

    `wave`, here and elsewhere, is the number of lanes of text that does not say it, 32 or 64; by default that which is usual on the
    target.

    >>> gcn.asm("s_endpgm\\n", target="gfx942")[:4]
    b'\\x7fELF'
    """
    name, text = _text(source, name)
    data, said = _gcn.assemble(name, text, _options(target=target, wave=wave, include=list(include)))
    for warning in said:
        warnings.warn(warning, stacklevel=2)
    return bytes(data)


def disasm(
    source: Source,
    *,
    name: Optional[str] = None,
    target: Optional[str] = None,
    wave: Optional[int] = None,
    entry: Optional[int] = None,
    kernel: Optional[str] = None,
    encodings: bool = False,
) -> str:
    """A code object as assembly text from which :func:`asm` makes the same code.

    Of a container `target` and `entry` choose the code object; `kernel` is the one to print; `encodings` adds address and
    machine code to each instruction.

    >>> "s_nop 3" in gcn.disasm(gcn.asm("s_nop 3\\ns_endpgm\\n", target="gfx942"))
    True
    """
    name, data = _read(source, name)
    return _gcn.disasm(name, data, _options(target=target, wave=wave, entry=entry, kernel=kernel, bytes=encodings))


def instructions(
    source: Source,
    *,
    name: Optional[str] = None,
    target: Optional[str] = None,
    wave: Optional[int] = None,
    entry: Optional[int] = None,
    kernel: Optional[str] = None,
) -> "list[dict[str, Any]]":
    """The instructions of a code object, each with ``address``, ``bytes``, ``text`` and ``note``.

    >>> first = gcn.instructions(gcn.asm("s_nop 3\\ns_endpgm\\n", target="gfx942"))[0]
    >>> first["text"], first["bytes"]
    ('s_nop 3', '030080bf')
    """
    name, data = _read(source, name)
    report = json.loads(_gcn.instructions(name, data, _options(target=target, wave=wave, entry=entry, kernel=kernel)))
    return [item for section in report["sections"] for item in section["items"]]


def inspect(
    source: Source,
    *,
    name: Optional[str] = None,
    target: Optional[str] = None,
    wave: Optional[int] = None,
    entry: Optional[int] = None,
) -> "list[Object]":
    """What each code object of the source holds: kernels, their registers, LDS, occupancy, arguments, descriptors.

    >>> [code] = gcn.inspect(gcn.asm("s_endpgm\\n", target="gfx90a"))
    >>> code.target_id, code.kernels
    ('gfx90a', ())
    """
    name, data = _read(source, name)
    reports = json.loads(_gcn.inspect(name, data, _options(target=target, wave=wave, entry=entry)))
    return [Object.from_json(report) for report in reports]


def template(
    source: Source, *, name: Optional[str] = None, kernel: Optional[str] = None, target: Optional[str] = None
) -> "dict[str, Any]":
    """The arguments of a kernel as a spec of :func:`sim`, to be filled in."""
    name, data = _read(source, name)
    spec: "dict[str, Any]" = json.loads(_gcn.template(name, data, _options(kernel=kernel, target=target)))
    return spec


def sim(
    source: Source,
    args: Union[Mapping[str, Any], Sequence[Any]],
    *,
    grid: Union[int, Sequence[int], None] = None,
    global_size: Union[int, Sequence[int], None] = None,
    workgroup: Union[int, Sequence[int], None] = None,
    kernel: Optional[str] = None,
    name: Optional[str] = None,
    target: Optional[str] = None,
    entry: Optional[int] = None,
    mode: str = "functional",
    level: str = "documented",
    sanitize: Sequence[str] = (),
    timed: bool = False,
    parameters: Optional[Mapping[str, Any]] = None,
    cus: Optional[int] = None,
    dynamic_lds: int = 0,
    limit: Optional[int] = None,
    jobs: Optional[int] = None,
    include: Iterable[Union[str, "os.PathLike[str]"]] = (),
) -> Run:
    """Runs a kernel on the CPU.

    `args` are the arguments by name, or a list of them in order. Anything with the buffer protocol (``bytearray``, ``array``,
    NumPy arrays) becomes memory of the device, and has the kernel's results afterwards if it is writable; :class:`Buffer` says
    the type of elements that Python does not know. Numbers have the type that the kernel's metadata says, ``{"i32": 5}`` says it.
    Everything else is as in the JSON spec of docs/sim.md.

    `mode` is ``functional``, ``strict`` (a missing wait is an error) or ``faithful`` (what is too early sees the stale value);
    `sanitize` names sanitizers, or ``all``; `timed` counts cycles, with `parameters` of the model; the grid is
    distributed over `cus` compute units, by default those of the device.

    >>> from array import array
    >>> text = gcn.asm(DOUBLE)
    >>> x = array("I", range(64))
    >>> run = gcn.sim(text, {"x": x}, grid=1, workgroup=64, mode="strict")
    >>> list(x[:4]), run.instructions
    ([0, 2, 4, 6], 8)
    """
    if mode not in ("functional", "strict", "faithful"):
        raise Error(f"mode `{mode}`: write functional, strict or faithful")
    name, data = _read(source, name)
    spec: "dict[str, Any]" = {"dynamic_lds": dynamic_lds}
    for key, value in (("grid", grid), ("global", global_size), ("workgroup", workgroup), ("kernel", kernel)):
        if value is not None:
            spec[key] = value if isinstance(value, (int, str)) else list(value)
    spec["args"], buffers = bind(args)
    options = _options(
        target=target, entry=entry, kernel=kernel, mode=mode, level=level, sanitize=list(sanitize), timed=timed,
        set=[f"{key}={value}" for key, value in (parameters or {}).items()], cus=cus, limit=limit, jobs=jobs,
        include=list(include),
    )
    given = [(key, buffer.type, bytes(buffer.view)) for key, buffer in buffers]
    report, outputs = _gcn.sim(name, data, json.dumps(spec), given, options)
    outputs = [bytes(output) for output in outputs]
    write_back(buffers, outputs)
    return Run.from_json(json.loads(report), {key: output for (key, _), output in zip(buffers, outputs)})


#: The kernel in the example of :func:`sim`, which doubles 64 words.
DOUBLE = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.globl double
.p2align 8
.type double,@function
double:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_lshlrev_b32 v2, 1, v2
  global_store_dword v1, v2, s[4:5]
  s_endpgm
.rodata
.amdhsa_kernel double
  .amdhsa_next_free_vgpr 3
  .amdhsa_next_free_sgpr 6
  .amdhsa_accum_offset 4
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - { .name: double, .symbol: double.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 6,
      .vgpr_count: 3, .max_flat_workgroup_size: 64,
      .args: [ { .name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global } ] }
.end_amdgpu_metadata
"""
