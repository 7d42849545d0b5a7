#!/usr/bin/env python3
"""Random single instructions of RDNA 3 and 4 in waves of 32 lanes, here and on tinygrad's emulator.

    random_instructions.py --checkout tinygrad --gcn target/release/gcn --library target/release/libamdhip64.so
        [--target gfx1201] [--seed N] [--count N] [--only REGEX] [--all]

The instructions are drawn from the forms that `gcn inst --json` lists: operands, modifiers, EXEC, VCC, SCC and all registers are
random, special values among them. Registers, VCC, SCC and EXEC after the instruction are compared. A difference is of a class
that docs/hip.md argues (`KNOWN`), or is printed and makes the exit code 1; `--all` prints the others, too. What the emulator does not
run is counted. Needs a checkout of tinygrad and what its emulator needs (clang); without the checkout it says so and does nothing.
"""

import argparse
import collections
import ctypes
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

LANES, REGISTERS = 32, 16
# Words of a program's data: vector registers, scalar registers, VCC, EXEC, SCC.
WORDS = REGISTERS * LANES + REGISTERS + 3
SPECIAL = [0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0x3C003C00,
           0x7C00FC00, 0x7E007E00, 0x00003C00, 0x7BFF0001, 0x40490FDB, 0x4F800000, 0x3FF00000, 0x40080000, 0x00010002, 0x80007FFF]

# Bits of exponent and mantissa of the types that mnemonics name.
TYPES = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def values(case, words, at):
    """What the registers that the instruction names hold in the lane of a word (all of them for a scalar), as numbers of its types."""
    text, lane = case["text"], at % LANES if at < REGISTERS * LANES else None
    registers = {int(n) for m in re.finditer(r"\bv\[?(\d+)(?::(\d+))?", text) for n in range(int(m[1]), int(m[2] or m[1]) + 1)}
    lanes = range(LANES) if lane is None else [lane]
    words = {(n, l): words[n * LANES + l] for n in registers for l in lanes}
    for name in set(re.findall(r"_(b?f(?:16|32|64))", text)):
        exponent, mantissa = TYPES[name]
        size = 1 + exponent + mantissa
        for (n, l), word in words.items():
            wide = word | words.get((n + 1, l), 0) << 32
            for shift in (0, 16) if size == 16 else (0,):
                bits = wide >> shift & (1 << size) - 1
                yield bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1, exponent


def is_tiny(case, words, at):
    return any(exponent == 0 and mantissa for exponent, mantissa, _ in values(case, words, at))


def is_nan(case, words, at):
    return any(exponent == (1 << bits) - 1 and mantissa for exponent, mantissa, bits in values(case, words, at))


def always(case, at):
    return True


def denormal(case, at):
    return any(is_tiny(case, case[which], at) for which in ("before", "ours", "theirs"))


def nan(case, at):
    return any(is_nan(case, case[which], at) for which in ("before", "ours", "theirs"))


# Classes of differences (docs/hip.md argues them): the instructions, the class, and of which words it can be.
KNOWN = [
    (r"v_mad_u64_u32|v_mad_i64_i32|v_mad_co_", "carry out of a 64-bit multiply-add is not written there", lambda _, at: at >= REGISTERS * LANES),
    (r"v_max3|v_min3|v_med3|v_maxmin|v_minmax|v_pk_(min|max)|_num_", "NaN as an operand of a minimum or maximum", nan),
    (r"v_minimum|v_maximum", "NaN as an operand of a minimum or maximum", nan),
    (r"v_cvt_pk_[iu]16_[iu]32|v_cvt_[iu]16_f16|v_cvt_norm_|v_cvt_pk_norm_|v_cvt_pk_[iu]16_f32|v_cvt_pk_u8_f32|v_cvt_pknorm",
     "conversion of what does not fit", always),
    (r"[vs]_cvt_pk_rtz|v_cvt_pkrtz", "large values rounded towards zero", always),
    (r"v_(mad|mul|mul_hi)_[iu]32_[iu]24|v_mul_hi_[iu]32_[iu]24", "bits above 24", always),
    (r"v_dot4_f32_|v_cvt_pk_(bf8|fp8)_f32|v_cvt_sr_", "8-bit floats near zero", always),
    (r"v_cvt_off_f32_i4|v_mqsad_", "0, or nothing, there", always),
    (r"v_dot2_bf16_bf16|v_dot2_f16_f16", "results of 16 bits there fill the register", always),
    (r"((row_|quad_perm)(?!.*fi:1))|v_permlanex?16_b32", "a lane that DPP or a permutation reads is disabled by EXEC, without bound_ctrl", lambda case, _: case["before"][-2] != 0xFFFFFFFF),
    (r"_[iu](8|16|24|32|64)\b.*clamp|_u8 .*clamp", "clamp of an integer is not read there", always),
    (r"f(16|32|64).*(mul:|div:)", "output modifiers are not read there", always),
    (r"f(16|32|64).*clamp", "-0 is not clamped to 0 there", lambda case, at: (case["ours"][at], case["theirs"][at]) == (0, 0x80000000)),
    (r"v_(add|sub|subrev)_co_ci", "carries of disabled lanes are set there",
     lambda case, at: at >= REGISTERS * LANES and not (case["ours"][at] ^ case["theirs"][at]) & case["before"][-2]),
    (r"v_dot2_f32|v_fma_mix", "op_sel of a source of 32 bits chooses a half there", always),
    (r"s_sext_i32_i16", "an inline float as a source of 16 bits", always),
    (r"s_wqm_b64|s_bitset[01]_b64|v_swap_b16|v_writelane_b32", "not written, or not all of it, there", always),
    (r"_[bif][fu]?16\S* v\d+\.h.* (row_|quad_perm)|16 v\d+\.h.* (row_|quad_perm)", "DPP of an upper half", always),
    (r"v_fract_f32", "the fraction just below a whole number is 1 there", always),
    (r"v_(s_)?(rsq|sqrt)_f", "which NaN comes out", lambda case, at: case["ours"][at] ^ case["theirs"][at] == 0x80000000),
    (r"v_(sin|cos|exp|log|rcp|rsq|sqrt)_f16", "the last place of a transcendental", lambda case, at: abs(case["ours"][at] - case["theirs"][at]) in (1, 1 << 16)),
    (r"f16|f32|f64", "denormal operands or results: zero there", denormal),
    (r"f16|f32|f64", "which NaN comes out", nan),
]


def special_or_random(rng):
    return rng.choice(SPECIAL) if rng.random() < 0.3 else rng.getrandbits(32)


class Text:
    """The text of one random instruction of a form."""

    def __init__(self, rng, form):
        self.rng = rng
        operands = [self.operand(operand) for operand in form["operands"]]
        modifiers = [self.modifier(m["syntax"]) for m in form["modifiers"] if m["required"] or rng.random() < 0.3]
        halves = any(".l" in text or ".h" in text for text in operands)
        modifiers = [m for m in modifiers if not (halves and m.startswith("op_sel:"))]
        self.text = " ".join([form["printed"], ", ".join(operands), *modifiers]).strip()

    def register(self, letter, dwords, alignment):
        first = self.rng.randrange(0, REGISTERS - dwords + 1, alignment)
        return f"{letter}{first}" if dwords == 1 else f"{letter}[{first}:{first + dwords - 1}]"

    def operand(self, operand):
        rng, dwords = self.rng, self.rng.choice(operand["dwords"] or [1])
        special = [name for name in operand["special_registers"] if name in ("vcc_lo", "vcc", "exec_lo", "src_scc", "null", "scc")]
        kinds = [kind for kind in operand["kinds"] if kind != "special register" or special]
        # Half of the sources that can be vectors are.
        vectors = [kind for kind in kinds if "VGPR" in kind]
        kind = rng.choice(vectors if vectors and rng.random() < 0.5 else kinds)
        text = {
            "VGPR": lambda: self.register("v", dwords, operand["vector_alignment"]),
            "half a VGPR": lambda: self.register("v", 1, 1) + rng.choice([".l", ".h"]),
            "SGPR": lambda: self.register("s", dwords, operand["scalar_alignment"]),
            "special register": lambda: rng.choice(special),
            "inline integer": lambda: str(rng.randint(-16, 64)),
            "inline float": lambda: rng.choice(["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"]),
            "literal": lambda: hex(rng.getrandbits(32)),
            "16-bit literal": lambda: hex(rng.getrandbits(16)),
        }.get(kind, lambda: hex(rng.getrandbits(15)))()
        if "abs" in operand["source_modifiers"] and text[0] in "vs" and rng.random() < 0.2:
            text = f"|{text}|"
        if "neg" in operand["source_modifiers"] and text[0] in "vs|" and rng.random() < 0.2:
            text = f"-{text}"
        return text

    def modifier(self, syntax):
        rng = self.rng
        chosen = rng.choice(re.split(r"\|(?![^\[]*\])", syntax))
        chosen = re.sub(r"<(\d+)\.\.(\d+)>", lambda m: str(rng.randint(int(m[1]), int(m[2]))), chosen)
        return re.sub(r"\d(\|\d)+", lambda m: rng.choice(m[0].split("|")), chosen)


def forms(options, rng):
    """Forms of arithmetic, `count` of them, each with its instruction's name."""
    listed = lambda *arguments: subprocess.run([options.gcn, "inst", *arguments, "--target", options.target],
                                               capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for pattern in ("v_*", "s_*") for line in listed(pattern).splitlines() if line]
    names = [name for name in names if re.search(options.only, name)]
    asked = {}
    for _ in range(20 * options.count):
        name = rng.choice(names)
        if name not in asked:
            entry = json.loads(listed(name, "--json"))
            # Matrix instructions ignore EXEC here, and take minutes to compile there.
            asked[name] = [form for form in entry["forms"] if calculates(form) and not entry["matrix"]]
        if asked[name]:
            yield name, rng.choice(asked[name])


def calculates(form):
    """Whether the form computes registers from registers, in waves of 32 lanes."""
    # tinygrad decodes no DPP of VOP3, and DPP8 not at all.
    lacks = "DPP8" in form["format"] or form["format"].startswith("VOP3") and "DPP" in form["format"]
    return (not lacks and form["waves"] in ([], [32]) and form["memory"] is None and not form["counters"]
            and form["pipe"] in ("vector_alu", "scalar_alu", "transcendental")
            and form["operands"] and not {"pc"} & {*form["implicit_reads"], *form["implicit_writes"]})


def kernel(target, number, instruction):
    """A kernel that sets all registers, executes the instruction, and stores all registers."""
    waits = ("s_wait_loadcnt 0x0", "s_wait_kmcnt 0x0") if target.startswith("gfx12") else ("s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)")
    scalars = REGISTERS * LANES * 4
    lines = ["s_load_b128 s[80:83], s[0:1], null", waits[1], "v_lshlrev_b32_e32 v100, 2, v0"]
    lines += [f"global_load_b32 v{i}, v100, s[80:81] offset:{i * LANES * 4}" for i in range(REGISTERS)]
    lines += [f"s_load_b32 s{i}, s[80:81], {scalars + 4 * i:#x}" for i in range(REGISTERS)]
    lines += [f"s_load_b32 s{84 + i}, s[80:81], {scalars + 4 * (REGISTERS + i):#x}" for i in range(3)]
    lines += [*waits, "s_mov_b32 vcc_lo, s84", "s_cmp_lg_u32 s86, 0", "s_mov_b32 exec_lo, s85"]
    lines += [instruction]
    lines += ["s_mov_b32 s85, exec_lo", "s_cselect_b32 s86, 1, 0", "s_mov_b32 s84, vcc_lo", "s_mov_b32 exec_lo, -1"]
    lines += [f"global_store_b32 v100, v{i}, s[82:83] offset:{i * LANES * 4}" for i in range(REGISTERS)]
    lines += [f"v_mov_b32_e32 v101, {scalars}"]
    for i, register in enumerate([*range(REGISTERS), 84, 85, 86]):
        lines += [f"v_mov_b32_e32 v102, s{register}", f"global_store_b32 v101, v102, s[82:83] offset:{4 * i}"]
    lines += ["s_endpgm"]
    body = "\n".join(lines)
    return f""".text
.globl k{number}
.p2align 8
.type k{number},@function
k{number}:
{body}
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel k{number}
  .amdhsa_next_free_vgpr 128
  .amdhsa_next_free_sgpr 96
  .amdhsa_wavefront_size32 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
  .amdhsa_float_denorm_mode_32 0
.end_amdhsa_kernel
"""


def metadata(numbers):
    kernels = "".join(f"""  - .name: k{n}
    .symbol: k{n}.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 32
    .sgpr_count: 96
    .vgpr_count: 128
    .max_flat_workgroup_size: 32
    .args:
      - {{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}
""" for n in numbers)
    return f".amdgpu_metadata\n---\namdhsa.version:\n  - 1\n  - 2\namdhsa.kernels:\n{kernels}...\n.end_amdgpu_metadata\n"


def assemble(options, instructions, folder):
    """The object with a kernel for each instruction that the assembler takes, and those instructions by their numbers."""
    source, out = os.path.join(folder, "k.s"), os.path.join(folder, "k.hsaco")
    left = dict(enumerate(instructions))
    while True:
        text = f'.amdgcn_target "amdgcn-amd-amdhsa--{options.target}"\n'
        line_of = {}
        for number, (_, instruction) in left.items():
            part = kernel(options.target, number, instruction)
            at = text.count("\n") + part[:part.index(f"\n{instruction}\n") + 1].count("\n") + 1
            line_of[at] = number
            text += part
        with open(source, "w") as file:
            file.write(text + metadata(left))
        done = subprocess.run([options.gcn, "asm", source, "-o", out], capture_output=True, text=True)
        if done.returncode == 0:
            with open(out, "rb") as file:
                return file.read(), left
        refused = {line_of[int(n)] for n in re.findall(r"k\.s:(\d+)", done.stderr) if int(n) in line_of}
        if not refused:
            sys.exit(done.stderr)
        for number in refused:
            del left[number]


def symbols(image):
    """Names and places in the file of an ELF file's symbols, and the place of what is behind each."""
    headers, = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, headers + size * i) for i in range(count)]
    found = {}
    for section in sections:
        if section[1] not in (2, 11):
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, _, _, of, value, _ = struct.unpack_from("<IBBHQQ", image, at)
            if 0 < of < count:
                text = image[names + name:image.index(b"\0", names + name)].decode()
                found[text] = value - sections[of][3] + sections[of][4]
    return found


def call(library, name, *arguments):
    code = getattr(library, name)(*arguments)
    if code != 0:
        library.hipDeviceReset()
        library.hipGetLastError()
        raise AssertionError(f"{name}: error {code}")


def here(library, image, numbers, inputs):
    """The outputs of each kernel on the library; `None` of those that it refuses, which it explains on standard error."""
    size, results, loaded = ctypes.c_size_t(4 * WORDS), {}, None
    for number in numbers:
        if loaded is None:
            loaded = module, block, out = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
            call(library, "hipModuleLoadData", ctypes.byref(module), image)
            call(library, "hipMalloc", ctypes.byref(block), size)
            call(library, "hipMalloc", ctypes.byref(out), size)
        function, words = ctypes.c_void_p(), (ctypes.c_uint32 * WORDS)(*inputs[number])
        call(library, "hipModuleGetFunction", ctypes.byref(function), module, f"k{number}".encode())
        call(library, "hipMemcpy", block, words, size, 1)
        arguments = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in (block, out)))
        found = (ctypes.c_uint32 * WORDS)()
        try:
            call(library, "hipModuleLaunchKernel", function, 1, 1, 1, LANES, 1, 1, 0, None, arguments, None)
            call(library, "hipMemcpy", found, out, size, 2)
            results[number] = list(found)
        except AssertionError:
            results[number], loaded = None, None
    return results


def there(run_asm, arch, image, place, words):
    """The output of a kernel on the emulator."""
    code = ctypes.create_string_buffer(image[place:] + bytes(64))
    block, found = (ctypes.c_uint32 * WORDS)(*words), (ctypes.c_uint32 * WORDS)()
    arguments = (ctypes.c_uint64 * 2)(ctypes.addressof(block), ctypes.addressof(found))
    run_asm(ctypes.addressof(code), len(image) - place, 1, 1, 1, LANES, 1, 1, ctypes.addressof(arguments), arch=arch)
    return list(found)


def name_of(word):
    if word < REGISTERS * LANES:
        return f"v{word // LANES}, lane {word % LANES}"
    return [*(f"s{i}" for i in range(REGISTERS)), "vcc_lo", "exec_lo", "scc"][word - REGISTERS * LANES]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--checkout", "--gcn", "--library"):
        parser.add_argument(option, required=True)
    parser.add_argument("--target", default="gfx1100", choices=["gfx1100", "gfx1201"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    emulator = os.path.join(options.checkout, "test/mockgpu/amd/emu.py")
    if not os.path.exists(emulator):
        print(f"SKIPPED: {emulator} does not exist; --checkout names a checkout of tinygrad", file=sys.stderr)
        return 0
    sys.path.insert(0, os.path.abspath(options.checkout))
    os.environ["GCN_HIP_TARGET"] = options.target
    library = ctypes.CDLL(os.path.abspath(options.library))
    from test.mockgpu.amd.emu import run_asm

    rng = random.Random(options.seed)
    drawn, picked = forms(options, rng), []
    for _ in range(options.count):
        name, form = next(drawn)
        picked.append((form, Text(rng, form).text))
    inputs = []
    for _ in picked:
        words = [special_or_random(rng) for _ in range(WORDS)]
        words[-2] = rng.choice([0xFFFFFFFF, rng.getrandbits(32), rng.getrandbits(32)])
        words[-1] = rng.getrandbits(1)
        inputs.append(words)
    with tempfile.TemporaryDirectory() as folder:
        image, taken = assemble(options, picked, folder)
    places, ours = symbols(image), here(library, image, taken, inputs)
    arch = "rdna4" if options.target.startswith("gfx12") else "rdna3"
    counts, new = collections.Counter(), 0
    for number, (form, text) in taken.items():
        if ours[number] is None:
            counts["the simulator refuses it"] += 1
            continue
        try:
            theirs = there(run_asm, arch, image, places[f"k{number}"], inputs[number])
        except Exception as error:
            counts["the emulator does not run it"] += 1
            if options.all:
                print(f"{text}: {str(error)[:200]}")
            continue
        words = [at for at in range(WORDS) if ours[number][at] != theirs[at]]
        if not words:
            counts["equal"] += 1
            continue
        case = {"form": form, "text": text, "words": words, "before": inputs[number], "ours": ours[number], "theirs": theirs}
        reason = next((reason for pattern, reason, holds in KNOWN if re.search(pattern, text) and all(holds(case, at) for at in words)), None)
        counts[reason or "NEW"] += 1
        new += reason is None
        if reason is None or options.all:
            at = words[0]
            print(f"{text}  [{reason or 'NEW'}] exec {inputs[number][-2]:08x}, {len(words)} words, {name_of(at)}: "
                  f"{inputs[number][at]:08x} becomes {ours[number][at]:08x} here, {theirs[at]:08x} there", end="")
            if at < REGISTERS * LANES:
                used = sorted({int(n) for m in re.findall(r"v\[?(\d+)", text) for n in [m]})
                values = (f"v{n}={inputs[number][n * LANES + at % LANES]:08x}" for n in used)
                print("; " + " ".join(values), end="")
            print()
    for reason, count in counts.most_common():
        print(f"{count:5} {reason}")
    print(f"{len(taken)} of {len(picked)} texts are instructions")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
