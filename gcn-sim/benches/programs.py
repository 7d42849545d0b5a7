#!/usr/bin/env python3
"""Compares two builds of the simulator on whole programs, and says where the processor time goes.

The first argument is a list of programs: on each line a name, the folder to run in, and a command, separated by tabs. In the command,
{bin} stands for the folder of a build, which holds `gcn`, `libamdhip64.so` and the example `repeat`. The commands should use one thread.

    programs.py list.tsv --old before/ --new after/     processor time, in turn, the best of --rounds
    programs.py list.tsv --new after/ --parts           processor time by part of the simulator (needs `perf`)

A {mode} in a command is replaced by --mode, so that one list serves for all modes. The outputs of the two builds are compared, too.
"""
import argparse
import collections
import hashlib
import math
import os
import re
import shlex
import subprocess
import tempfile

# The parts, each with a pattern of the functions that belong to it; the first pattern that is found decides.
PARTS = [
    ("LDS", r"mem::(local|ds|ds_extra|ds_lane)\b|permuted_lanes"),
    ("addresses", r"mem::address|Offsets|core::memory::Memory|mem::buffer"),
    ("global, scratch", r"semantics::mem::|memory::allocation|ops::try_trait::Wrapped"),
    ("fetch, start", r"run::(workgroup|dispatch)|semantics::execute|core::kernel"),
    ("operands", r"machine::Exec>::run|valu::read|core::scalar|valu::write"),
    ("matrix", r"mfma|wmma|host::wide"),
    ("scalar", r"semantics::scalar"),
    ("ALU", r"semantics::|gcn_sim::fp::"),
    ("checks", r"gcn_sim::watch"),
    ("loading", r"gcn_isa|gcn_emit|gcn_sim::launch"),
    ("copies", r"mem(move|set|cpy)"),
]


def run(program, build, mode):
    """Runs a program; returns its processor time in seconds and a hash of its output."""
    _, folder, command = program
    command = command.format(bin=os.path.abspath(build), mode=mode)
    child = subprocess.Popen(shlex.split(command), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, hashlib.sha256(output).hexdigest()[:12], child.returncode


def compare(programs, builds, args):
    """Prints the processor time of each build, and the ratio of the first to the last."""
    print("| program | " + " | ".join(builds) + " | ratio | output |\n|---|" + "---|" * (len(builds) + 2))
    ratios = []
    for program in programs:
        best, outputs = dict.fromkeys(builds, math.inf), {}
        for _ in range(args.rounds):
            for name, build in builds.items():
                seconds, output, code = run(program, build, args.mode)
                best[name] = min(best[name], seconds)
                outputs[name] = (output, code)
        ratio = best[next(iter(builds))] / best[list(builds)[-1]]
        ratios.append(ratio)
        same = "same" if len(set(outputs.values())) == 1 else "differs"
        same += "" if not any(code for _, code in outputs.values()) else ", fails"
        times = " | ".join(f"{best[name]:.3f}" for name in builds)
        print(f"| {program[0]} | {times} | {ratio:.2f} | {same} |", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"| geometric mean | {' | ' * (len(builds) - 1)} | {mean:.2f} | |")


def parts(programs, build, args):
    """Prints the share of each part in the processor time of each program."""
    names = [name for name, _ in PARTS] + ["other"]
    print("| program | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for name, folder, command in programs:
        with tempfile.NamedTemporaryFile() as data:
            command = command.format(bin=os.path.abspath(build), mode=args.mode)
            record = ["perf", "record", "-q", "-F", "2000", "-e", "cpu-clock:u", "-o", data.name, *shlex.split(command)]
            subprocess.run(record, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            report = ["perf", "report", "-i", data.name, "--stdio", "-F", "overhead,symbol", "--no-inline"]
            text = subprocess.run(report, capture_output=True, text=True, check=False).stdout
        shares = collections.Counter()
        functions = []
        for line in text.splitlines():
            found = re.match(r"\s*([\d.]+)%\s+\[.\]\s+(.*)", line)
            if found:
                share, symbol = float(found[1]), found[2]
                part = next((part for part, pattern in PARTS if re.search(pattern, symbol)), "other")
                shares[part] += share
                functions.append((share, part, symbol))
        print(f"| {name} | " + " | ".join(f"{shares[part]:.0f}" for part in names) + " |", flush=True)
        for share, part, symbol in functions[: args.functions]:
            print(f"    {share:5.1f} {part:9} {symbol[:150]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list")
    parser.add_argument("--old", help="folder of the build to compare with")
    parser.add_argument("--new", required=True, help="folder of the build")
    parser.add_argument("--mode", default="", help="replaces {mode} in the commands")
    parser.add_argument("--only", default="", help="only programs whose name contains this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--functions", type=int, default=0, help="with --parts: also list so many functions")
    args = parser.parse_args()
    lines = open(args.list, encoding="utf-8").read().splitlines()
    programs = [line.split("\t") for line in lines if line and args.only in line.split("\t")[0]]
    if args.parts:
        parts(programs, args.new, args)
    else:
        builds = {"old": args.old, "new": args.new} if args.old else {"new": args.new}
        compare(programs, builds, args)


if __name__ == "__main__":
    main()
