#!/usr/bin/env python3
"""AMD's hip-tests on this library: builds each file of a checkout, runs it, and writes a table by folder.

    conformance.py --checkout hip-tests --sdk sdk --library target/release/libamdhip64.so --out out [FOLDER[/FILE] ...]

The SDK has HIP's headers in `include`, the device library in `bc` and a `libamdhip64.so` to link with in `lib`. What is in `--out` is
not built again. Nothing of the checkout is changed. Exit code 1 if less than `--least` of the applicable files pass.
"""

import argparse
import concurrent.futures
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

# Files that ask for what this library, or any device without images, does not have: pattern in the path, pattern in the source, rule.
NOT_APPLICABLE = [
    (r"^(texture|surface)/", "", "textures and surfaces"),
    (r"^(gl|vulkan)_interop/", "", "interoperation with graphics"),
    ("", r"hip\w*(Array|Tex|Texture|Surface|Mipmap)\w*\(|hipArray_t|ArrayAllocGuard|ArrayGuard|hip_array_common", "arrays and textures"),
    ("", r"hipIpc\w+\(|hipMemPool(Export|Import)\w+\(|hipMemImportFromShareableHandle", "memory of other processes"),
    ("", r"hip(Ext)?Launch(Cooperative)?Kernel\w*MultiDevice\(", "cooperative launches over several devices"),
    ("", r"hipMemCreate\(|hipMemAddressReserve\(|checkVMMSupported", "virtual memory management"),
    (r"^(c_compilation|gcc|g\+\+|compiler)/", "", "compilers"),
]
# Types of HIP 6 that HIP 7 calls otherwise.
RENAMED = {"HIP_MEMSET_NODE_PARAMS": "hipMemsetParams"}
# How much longer than its processor time a program may take.
WAIT = 10
INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")', re.M)
NAMES = re.compile(r'TEST_CASE\w*\(\s*"([^"]+)"')
TEST = re.compile(r"\b(TEMPLATE_)?TEST_CASE\w*\(")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("checkout", "sdk", "library", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--clang", default="clang++-22")
    parser.add_argument("--target", default="gfx942")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--together", type=int, default=10, help="files that are compiled as one, which takes less time; what fails is built alone and judged again")
    parser.add_argument("--host", default="0", help="level at which the tests' own code is optimised: 1 takes three times as long to compile, and helps those that check much")
    parser.add_argument("--every", type=int, default=4099, help="of the 2^32 floats over which tests of `math` go, every so many; of other random inputs as many as then are left")
    parser.add_argument("--seconds", type=int, default=300, help="most seconds of processor time of a file's tests")
    parser.add_argument("--least", type=float, default=0.95)
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--run-only", action="store_true", help="only what has been built")
    parser.add_argument("only", nargs="*")
    return parser.parse_args()


class Suite:
    def __init__(self, args):
        self.args = args
        for name in ("checkout", "sdk", "library", "out"):
            setattr(self, name, getattr(args, name).resolve())
        self.catch = self.checkout / "catch"
        # Of this run alone: another one with the same `--out` may be about another library.
        self.names = tempfile.TemporaryDirectory(prefix="conformance-")
        for name in ("libamdhip64.so", "libamdhip64.so.7", "libhiprtc.so", "libhiprtc.so.7"):
            (Path(self.names.name) / name).symlink_to(self.library)
        # The SDK as an installation has it, for hiprtc.
        for name, inside in (("include", "include"), ("share", "share"), ("amdgcn/bitcode", "bc")):
            link = self.out / "rocm" / name
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(self.sdk / inside)
        self.disabled = self.disabled_tests()
        self.overlay = self.shortened()
        self.endless = ("waits without end", f"not done after {args.seconds} s")

    def shortened(self):
        """A file that has the compiler see headers of `math` with a step in their loops over floats; AMD has an option for other inputs."""
        step = self.args.every
        # To the next float but so many, which are in the order of their bits but for the sign.
        far = """[](float v, float to) {
          const auto rank = [](float f) { int32_t i; memcpy(&i, &f, 4); return i < 0 ? int64_t{INT32_MIN} - i : int64_t{i}; };
          const int64_t from = rank(v), last = rank(to), next = from < last ? std::min(from + STEP, last) : std::max(from - STEP, last);
          const int32_t bits = static_cast<int32_t>(next < 0 ? int64_t{INT32_MIN} - next : next);
          memcpy(&v, &bits, 4);
          return v;
        }(v, b)""".replace("STEP", f"int64_t{{{step}}}")
        every = "std::numeric_limits<uint32_t>::max() + 1ul"
        changes = {every: f"({every}) / {step}", "static_cast<uint32_t>(t++)": f"static_cast<uint32_t>(t++ * {step})", "std::nextafter(v, b)": far}
        source, folder = self.catch / "unit" / "math", self.out / "shortened"
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for header in (source / "unary_common.hh", source / "special_common.hh"):
            text = header.read_text()
            for old, new in changes.items():
                text = text.replace(old, new)
            (folder / header.name).write_text(text)
            files.append({"name": header.name, "type": "file", "external-contents": str(folder / header.name)})
        made = folder / "overlay.yaml"
        made.write_text(json.dumps({"version": 0, "roots": [{"name": str(source), "type": "directory", "contents": files}]}))
        return made if step > 1 else None

    def disabled_tests(self):
        """The tests that AMD's own runs on the target leave out, without and with the type of a template."""
        config = self.catch / "hipTestMain" / "config" / "config_amd_linux"
        command = [self.args.clang, "-E", "-P", "-x", "c", f"-D{self.args.target}", '-DGITHASH=""', config]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return set(re.findall(r'"([^"]+)"', text.partition('"DisabledTests"')[2]))

    def chosen(self, path):
        """Catch's expression for the tests of a file that AMD runs."""
        names = NAMES.findall(path.read_text(errors="replace"))
        whole = [name for name in names if name in self.disabled]
        typed = [test for test in self.disabled for name in names if test.startswith(f"{name} - ")]
        left_out = [*whole, *(f"{name} - *" for name in whole), *typed]
        return "".join(f'~"{test}"' for test in left_out).replace(",", "\\,")

    def clang(self, *more):
        includes = ["include", "external/Catch2", "external/picojson", "kernels"]
        return [
            self.args.clang, "-w", "-x", "hip", "-std=c++17", f"-O{self.args.host}", "-Xarch_device", "-O2", "-D__HIP_PLATFORM_AMD__",
            "-D__AMDGCN_WAVEFRONT_SIZE=64", "-D__AMDGCN_WAVEFRONT_SIZE__=64", f"--offload-arch={self.args.target}",
            f'-DKERNELS_PATH="{self.catch}/kernels/"', *(f"-D{old}={new}" for old, new in RENAMED.items()), f"--rocm-path={self.sdk}", f"--rocm-device-lib-path={self.sdk}/bc", "-isystem", f"{self.sdk}/include",
            *(f"-I{self.catch / folder}" for folder in includes), *(["-ivfsoverlay", self.overlay] if self.overlay else []), *map(str, more),
        ]

    def compile(self, made, *more, options=()):
        """True if the file is there, or could be made."""
        log = made.with_suffix(".log")
        if made.exists():
            return True
        if log.exists() and not os.environ.get("AGAIN"):
            return False
        made.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(
                self.clang(*more, "-o", made) + list(options), capture_output=True, text=True, timeout=10 * self.args.seconds
            )
            log.write_text(done.stderr)
        except subprocess.TimeoutExpired:
            log.write_text("error: the compiler takes too long\n")
        return made.exists()

    def main_objects(self):
        objects = []
        mains = [self.catch / "hipTestMain" / f"{name}.cc" for name in ("main", "hip_test_context", "hip_test_features")]
        for path in [*mains, *(self.catch / "kernels").glob("*.cpp")]:
            made = self.out / "objects" / f"{path.stem}.o"
            if not self.compile(made, "-c", path):
                sys.exit(f"{path.name} does not compile: see {made.with_suffix('.log')}")
            objects.append(made)
        return objects

    def code_objects(self, folder):
        """What the folder's CMakeLists.txt has the compiler make of kernels, and of programs that tests start."""
        source, made = self.catch / "unit" / folder, self.out / folder
        text = self.lists(folder)
        # Data, headers and sources that programs read while they run.
        made.mkdir(parents=True, exist_ok=True)
        copied = re.findall(r"COMMAND cp \$\{CMAKE_CURRENT_SOURCE_DIR\}/(\S+) ", text)
        for path in source.iterdir():
            if path.is_dir():
                shutil.copytree(path, made / path.name, dirs_exist_ok=True)
            elif path.name in copied or path.suffix not in (".cc", ".cpp", ".txt"):
                shutil.copy(path, made)
        for command in re.findall(r"COMMAND \$\{CMAKE_CXX_COMPILER\}(.*?)(?:DEPENDS|\)\n)", text, re.S):
            words = shlex.split(re.sub(r"\$\{CMAKE_CURRENT_SOURCE_DIR\}", str(source), command))
            inputs = [word for word in words if word.endswith((".cc", ".cpp"))]
            names = [Path(words[n + 1]).name for n, word in enumerate(words) if word == "-o"]
            kept = [word for n, word in enumerate(words) if word.startswith("-mcode") or word == "-mllvm" or words[n - 1] == "-mllvm"]
            kinds = {"--genco": ["--cuda-device-only"], "-S": ["-S"], "-shared": ["-shared", "-fPIC", *self.linking()]}
            kind = next((options for word, options in kinds.items() if word in words), None)
            if kind and inputs and names:
                self.compile(made / names[0], *inputs, options=[*kind, *kept])
        for name, file in re.findall(r"add_executable\((\S+) EXCLUDE_FROM_ALL (\S+?)\)", text):
            self.compile(made / name, *self.options(source / file), source / file, options=self.linking())

    def linking(self):
        return ["--hip-link", "-L", str(self.sdk / "lib"), "-lamdhip64", "-ldl", "-lpthread", "-Wl,--allow-shlib-undefined"]

    @cache
    def lists(self, folder):
        """The part of a folder's CMakeLists.txt that is for AMD's compiler on Linux."""
        file = self.catch / "unit" / folder / "CMakeLists.txt"
        lines, nested = [], []
        for line in re.sub(r"#.*", "", file.read_text()).splitlines() if file.exists() else []:
            found = re.match(r"\s*(if|elseif|else|endif)\s*\((.*)\)", line)
            word, condition = found.groups() if found else ("", "")
            holds = not re.search("nvidia|WIN32", condition)
            if word == "if":
                nested.append((holds, holds))
            elif word in ("elseif", "else"):
                _, before = nested[-1]
                nested[-1] = (holds and not before, holds or before)
            elif word == "endif":
                nested.pop()
            elif all(now for now, _ in nested):
                lines.append(line)
        return "\n".join(lines)

    def options(self, path):
        """What a file has to be compiled with besides what all are."""
        properties = r'set_source_files_properties\(\s*(\S+)\s+PROPERTIES\s+COMPILE_(?:OPTIONS|FLAGS)\s+"?(.*?)"?\)'
        found = re.findall(properties, self.lists(path.parent.name), re.S)
        kinds = [option for name, options in found if name in (path.name, path.name.replace("_exe", "")) for option in options.split()]
        kinds = tuple(option for option in kinds if not option.startswith("-std="))
        return kinds if self.knows(kinds) else ()

    @cache
    def knows(self, options):
        """True if the compiler has these options; old ones go."""
        done = subprocess.run([self.args.clang, *options, "-fsyntax-only", "-x", "c++", "-"], input="", capture_output=True, text=True)
        return "unknown argument" not in done.stderr

    @cache
    def helpers(self, folder):
        """The folder's sources without tests that its tests are linked with."""
        listed = re.findall(r"set\((?:\w+_SRC)\b(.*?)\)", self.lists(folder), re.S)
        paths = [self.catch / "unit" / folder / name for names in listed for name in names.split() if name.endswith((".cc", ".cpp"))]
        return [path for path in dict.fromkeys(paths) if path.exists() and not TEST.search(path.read_text(errors="replace"))]

    def left_out(self, path):
        """The rule by which a file is not applicable."""
        name, text = str(path.relative_to(self.catch / "unit")), COMMENT.sub("", path.read_text(errors="replace"))
        return next((rule for where, what, rule in NOT_APPLICABLE if re.search(where, name) and re.search(what, text)), None)

    def build_together(self, paths):
        """Compiles files of a folder as one, each in a namespace of its own after the headers of all. Those that do not fit together
        are taken out, and are built alone later."""
        paths = [path for path in paths if not (self.out / path.parent.name / path.stem).exists()]
        while len(paths) > 1:
            folder = self.out / paths[0].parent.name
            folder.mkdir(parents=True, exist_ok=True)
            made = folder / f"{paths[0].stem}.together"
            headers = dict.fromkeys(h for path in paths for h in INCLUDE.findall(path.read_text(errors="replace")))
            lines = [f"#include {header}" for header in headers]
            lines += [f'namespace file_{n} {{\n#include "{path}"\n}}' for n, path in enumerate(paths)]
            source = made.with_suffix(".together.cc")
            source.write_text("\n".join(lines) + "\n")
            if self.compile(made, f"-I{paths[0].parent}", source, *self.helpers(paths[0].parent.name), options=["-ferror-limit=0", "-x", "none", *map(str, self.objects), *self.linking()]):
                for path in paths:
                    self.select(folder / path.stem, made, path)
                return
            log = made.with_suffix(".log")
            wrong = {line.split(":")[0] for line in log.read_text().splitlines() if " error: " in line}
            log.unlink()
            fits = [path for path in paths if str(path) not in wrong]
            paths = fits if len(fits) < len(paths) else paths[: len(paths) // 2]

    def file(self, path):
        """Builds a file and runs it: folder, name, verdict, reason."""
        name = str(path.relative_to(self.catch / "unit"))
        folder, rule = path.parent.name, self.left_out(path)
        if rule:
            return folder, name, "not applicable", rule
        made = self.out / folder / path.stem
        if self.args.run_only and not made.exists():
            return folder, name, "not built", ""
        if not self.build_alone(made, path):
            errors = [line for line in made.with_suffix(".log").read_text().splitlines() if "error:" in line]
            return folder, name, "does not compile", errors[0].split("error:")[1].strip() if errors else "?"
        if self.args.build_only:
            return folder, name, "built", ""
        verdict = self.run(made, self.chosen(path))
        if verdict[0] == "failed" and verdict[1] not in self.endless:
            verdict = self.one_by_one(made, self.chosen(path))
        if verdict[0] == "failed" and not self.args.run_only and made.read_bytes().startswith(b"#!") and not made.with_suffix(".log").exists():
            # Perhaps for its neighbours.
            made.unlink()
            return self.file(path)
        return (folder, name, *verdict)

    def build_alone(self, made, path):
        """A file as a program; with those of its folder's other files that define what it refers to, since AMD links all of a folder."""
        log, with_it = made.with_suffix(".log"), [path]
        others = {other: COMMENT.sub("", other.read_text(errors="replace")) for other in sorted(path.parent.glob("*.cc")) if other != path}
        while True:
            options = ["-x", "none", *map(str, self.objects), *self.linking()]
            if self.compile(made, *self.options(path), *with_it, *self.helpers(path.parent.name), options=options):
                break
            missing = set(re.findall(r"undefined reference to `(?:\w+::)*(\w+)", log.read_text()))
            defines = re.compile("|".join(rf"^(?!extern)(?!\s)[^\n;]*\b{name}(\[\])?\s*(=|\([^;]*\{{)" for name in missing), re.M)
            more = [other for other, text in others.items() if missing and defines.search(text) and other not in with_it]
            if not more:
                return False
            with_it += more
            log.unlink()
        if len(with_it) > 1:
            program = made.rename(made.with_suffix(".together"))
            self.select(made, program, path)
        return True

    @staticmethod
    def select(made, program, path):
        """A program for the tests of one file of several."""
        made.write_text(f'#!/bin/bash\nexec "$(dirname "$0")/{program.name}" -# "[#{path.stem}]$1" "${{@:2}}"\n')
        made.chmod(0o755)

    def one_by_one(self, program, chosen):
        """Runs each test in a process of its own, as AMD does: an error that one asked for stays for `hipGetLastError`."""
        command = self.command(program, chosen, "--list-test-names-only")
        listed = subprocess.run(command, capture_output=True, text=True, env=self.environment(), cwd=program.parent).stdout.splitlines()
        for name in listed:
            escaped = re.sub(r"([,\[\]])", r"\\\1", name)
            verdict = self.run(program, f'"{escaped}"')
            if verdict[0] == "failed":
                return verdict
        return ("passed", "") if listed else ("failed", "lists no tests")

    @staticmethod
    def command(program, chosen, *more):
        """A program with Catch's expression for its tests; one that selects those of a file takes it even if it is empty."""
        selects = program.read_bytes().startswith(b"#!")
        return [program, *([chosen] if chosen or selects else []), *more]

    def environment(self):
        rocm = str(self.out / "rocm")
        return {
            **os.environ, "LD_LIBRARY_PATH": self.names.name, "GCN_HIP_TARGET": self.args.target, "ROCM_PATH": rocm, "HIP_PATH": rocm,
            "HT_LOG_ENABLE": "", "GCN_HIP_CLANG": self.args.clang,
        }

    def run(self, program, chosen):
        seconds = self.args.seconds
        # A second more, for the program to say that it was stopped.
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        said = program.with_suffix(".out")
        # As many inputs as there are floats then, and a memory for a hundredth of them at a time.
        inputs = ["--accuracy-iterations", str(2**32 // self.args.every), "--accuracy-max-memory", "1"] if program.parent.name == "math" else []
        with said.open("w") as out:
            try:
                process = subprocess.Popen(
                    self.command(program, chosen, *inputs), cwd=program.parent, env=self.environment(), stdout=out, stderr=subprocess.STDOUT,
                    start_new_session=True, preexec_fn=limit,
                )
                code = process.wait(WAIT * seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return "failed", self.endless[0]
        text = said.read_text(errors="replace")
        if code == 0 and "No tests ran" not in text:
            return "passed", "skips itself" if "HIP_SKIP_THIS_TEST" in text and "assertion" not in text else ""
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "failed", self.endless[1]
        if code < 0:
            return "failed", f"signal {-code}"
        if "No tests ran" in text:
            return "not applicable", "left out by AMD's own list"
        unsupported = re.search(r"gcn-hip: (\w+) is not supported", text)
        return "failed", unsupported[0] if unsupported else first_failure(text)


def first_failure(text):
    found = re.search(r"FAILED:\n\s*(.*?)\n(?:with expansion:\n\s*(.*?)\n)?", text)
    return " ".join(part for part in found.groups() if part) if found else text.strip().splitlines()[-1] if text.strip() else "?"


def main():
    args = arguments()
    suite = Suite(args)
    wanted = lambda path: not args.only or any(str(path).startswith(f"{o}/") or str(path) in (o, f"{o}.cc") for o in args.only)
    units = suite.catch / "unit"
    paths = [p for p in sorted(units.glob("*/*.cc")) if wanted(p.relative_to(units)) and TEST.search(p.read_text(errors="replace"))]
    suite.objects = []
    if not args.run_only:
        suite.objects = suite.main_objects()
        for folder in sorted({p.parent.name for p in paths}):
            suite.code_objects(folder)
            files = [p for p in paths if p.parent.name == folder and not suite.left_out(p) and not suite.options(p)]
            for start in range(0, len(files), max(args.together, 1)):
                suite.build_together(files[start : start + args.together])
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(suite.file, paths):
            rows.append(row)
            print("\t".join(row), flush=True)
    table(rows)
    verdicts = Counter(row[2] for row in rows)
    applicable = len(rows) - verdicts["not applicable"]
    share = verdicts["passed"] / applicable if applicable else 1
    print(f"\n{verdicts['passed']} of {applicable} applicable files pass ({share:.1%}); {verdicts['not applicable']} are not applicable")
    return 0 if args.build_only or share >= args.least else 1


def table(rows):
    folders = defaultdict(Counter)
    for folder, _, verdict, _ in rows:
        folders[folder][verdict] += 1
    kinds = ["passed", "failed", "does not compile", "not applicable"]
    print("\n| folder | " + " | ".join(kinds) + " |\n|---|" + "---:|" * len(kinds))
    for folder, counts in sorted(folders.items()):
        print(f"| {folder} | " + " | ".join(str(counts[kind]) for kind in kinds) + " |")
    print("\nReasons:")
    for (verdict, reason), count in Counter((r[2], r[3]) for r in rows if r[2] != "passed").most_common():
        print(f"{count:5} {verdict}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
