#!/usr/bin/env python3
"""Mutation of the hazard engine: which small changes of it does no test notice?

    run.py --list                        the mutants, one a line
    run.py --dir D                       build in D (made if it is not there) and run every mutant
    run.py --dir D --shard 2/8           the third part of eight
    run.py --dir D --every 10            one mutant in ten
    run.py --dir D --only wait/polish    those of a file; of hazards/rule.rs, the rows of the table
    run.py --dir D --tests remed,small   with the tests of these names alone

Mutants are made from the source by rule: a comparison changed, a condition made true or false, a filter that keeps all or
nothing, `min` and `max` exchanged, `+` and `-` exchanged, a statement left out; and each row of the rule table with one wait
state less. All of them are built into one program, in which the environment variable GCN_MUTANT chooses one, so that the tests are
built once. A mutant is killed if a test fails or does not end; results are appended to D/results.tsv, and a second run goes on
where the first stopped. Survivors that survivors.tsv argues for are not reported.
"""

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../.."))
FILES = """hazards/engine.rs hazards/since.rs hazards/clause.rs hazards/view.rs hazards/views.rs
    check.rs check/distance.rs check/operation.rs check/outstanding.rs
    check/facts.rs check/counters.rs check/access.rs check/vccz.rs
    wait.rs wait/distance.rs wait/solve.rs wait/polish.rs wait/loops.rs wait/waitcnt.rs wait/outstanding.rs
    hazards/sequences.rs hazards/sequences/acts.rs hazards/remedy/waits.rs hazards/remedy/fix.rs hazards/remedy/rule.rs
    check/remedies.rs wait/remedies.rs
    wait/events.rs wait/edit.rs cfg.rs cfg/flow.rs counters/events.rs""".split()

# A name, path, field, call or index without operators around it.
TERM = r"(?:[\w.:&*!]+(?:\([^()|]*\)|\[[^\[\]]*\])?)(?:\.[\w]+(?:\([^()|]*\))?)*"
COMPARE = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
CLOSURE = r"\.(filter|any|all|retain|take_while|position|find|is_none_or|is_some_and|skip_while)\(\|([^|]*)\| "


def closing(text, at):
    """Where the bracket at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    return None


def statement(code):
    """The statement of a line that can be left out."""
    call = re.match(r"^\s+((?:self|state|found|broken|joined|into|solver|kinds|mine|older|changed|uses|entries|track|new|units|act|acts|all|known)"
                    r"[\w.\[\]]*\.\w+\(.*\);)$", code)
    change = re.match(r"^\s+([\w.\[\]]+ (?:\+=|\|=|&=|=) .*;)$", code)
    m = call or change
    return m if m and code.count("(") == code.count(")") and "let " not in code else None


def sites(code, above):
    """The places of a line, each with what may stand there instead; `above` is the line above it."""
    found = []

    def add(start, end, instead):
        before = code[:start]
        whole = not before.endswith((" as ", ">> ", "<< ")) and "=>" not in code[start:end]
        if whole and all(end <= a or start >= b for a, b, _ in found):
            found.append((start, end, instead))

    m = statement(code)
    if m and above.endswith(("=", "(", ",", "+", "&&", "||")):
        return []
    if m:
        return [(m.start(1), m.end(1), [""])]
    for m in re.finditer(rf"(?<![\w.)\]|&])({TERM}) (<=|>=|<|>|==|!=) ({TERM})", code):
        a, b = m.span()
        around = code[b:b + 1] in ("(", "[", ".", "{") or code[a - 1:a] in ("&", "*", "!", ".")
        sums = re.search(r"[-+*/%&|] $", code[:a]) or re.match(r" [-+*/%] | & | \| | as| \{ \w+:", code[b:])
        if not around and not sums and m.group().count("(") == m.group().count(")"):
            add(a, b, [f"{m.group(1)} {op} {m.group(3)}" for op in COMPARE[m.group(2)]])
    for m in re.finditer(r"\b(if|while) (?!let)([^{}|]*) \{$", code):
        if "let " not in m.group(2):
            add(*m.span(2), ["true", "false"] if m.group(1) == "if" else ["false"])
    for m in re.finditer(CLOSURE, code):
        end = closing(code, m.start() + len(m.group(1)) + 1)
        if end is not None and code[m.end()] != "{":
            add(m.end(), end, ["true", "false"])
    for m in re.finditer(rf"({TERM})\.(min|max)\(", code):
        end = closing(code, m.end() - 1)
        if end is not None and code[m.start() - 1] not in ".)&*":
            other = {"min": "max", "max": "min"}[m.group(2)]
            add(m.start(), end + 1, [f"{m.group(1)}.{other}({code[m.end():end]})"])
    for m in re.finditer(rf"(?<![\w.)\]|&])({TERM}) ([+-]) ({TERM})", code):
        a, b = m.span()
        odd = "'" in m.group() or re.search(r"[A-Z][a-z]", m.group()) or m.group().count("(") != m.group().count(")")
        if not odd and code[b:b + 1] not in ("(", "[", ".", "{") and not re.match(r" [-+*/%] | as", code[b:]):
            if not re.search(r"[-+*/%] $", code[:a]):
                add(a, b, [f"{m.group(1)} {'-' if m.group(2) == '+' else '+'} {m.group(3)}"])
    return found


def mutants():
    """Every mutant: file, line, start, end, what stands there, what is to stand there."""
    for name in FILES:
        path = os.path.join(ROOT, "gcn-isa/src", name)
        constant = False
        above = ""
        for number, line in enumerate(open(path).read().split("\n")):
            text, above = line.strip(), text if number else ""
            if text.startswith("#[cfg(test)]"):
                break
            if re.match(r"(pub(\(super\))? )?(const )?fn ", text):
                constant = "const fn" in text
            skip = ("//", "#", "const", "use ", "pub struct", "impl", "pub enum", "type ", "fn ", "pub fn ", "pub(super) fn ")
            if constant or text.startswith(skip) or "static" in text or "debug_assert" in text:
                continue
            code = line.split(" //")[0]
            # Without the first the program would stay borrowed; the second is the value of a variable without one.
            if text.startswith(("solved = ", "at_calls = ")):
                continue
            for a, b, instead in sites(code, above):
                for new in instead:
                    yield name, number, a, b, code[a:b], new
    for rule in rules():
        yield "hazards/rule.rs", None, 0, 0, rule, "one wait state less"


def rules():
    folder = os.path.join(ROOT, "gcn-isa/src/hazards")
    for name in sorted(n for n in os.listdir(folder) if n.endswith(".rs")):
        yield from re.findall(r'^    rule!\("([^"]*)",', open(os.path.join(folder, name)).read(), re.M)


SWITCH = """
/// Mutants of this build.
pub(crate) mod mutants {
    use std::sync::LazyLock;
    static ON: LazyLock<Option<u32>> = LazyLock::new(|| std::env::var("GCN_MUTANT").ok()?.parse().ok());
    pub fn on(number: u32) -> bool {
        *ON == Some(number)
    }
    pub fn row(id: &str, states: crate::hazards::WaitStates) -> crate::hazards::WaitStates {
        use crate::hazards::WaitStates as W;
        let rule = RULES.iter().find(|r| r.1 == id).is_some_and(|r| on(r.0));
        match states {
            _ if !rule => states,
            W::Const(n) => W::Const(n.saturating_sub(1)),
            W::Passes(k) => W::Passes(k - 1),
            W::PassesBut2 { at2, plus } => W::PassesBut2 { at2: at2 - 1, plus: plus - 1 },
            W::OnlyAt2(n) => W::OnlyAt2(n - 1),
        }
    }
"""


def build(folder, all_mutants, only):
    """A copy of the project with every mutant of the files `only` in it; the test programs."""
    tree = os.path.join(folder, "tree")
    shutil.rmtree(tree, ignore_errors=True)
    skip = {os.path.join(ROOT, name) for name in ("target", ".git")}
    shutil.copytree(ROOT, tree, ignore=lambda path, names: [n for n in names if os.path.join(path, n) in skip or n == "corpus"])
    by_line = {}
    for number, (name, line, a, b, old, new) in enumerate(all_mutants):
        if line is not None and name.startswith(only):
            by_line.setdefault((name, line), {}).setdefault((a, b), []).append((number, old, new))
    for (name, line), places in by_line.items():
        path = os.path.join(tree, "gcn-isa/src", name)
        lines = open(path).read().split("\n")
        text = lines[line]
        for (a, b), choices in sorted(places.items(), reverse=True):
            arms = "".join(f"if crate::mutants::on({n}) {{ {new} }} else " for n, _, new in choices)
            old = choices[0][1]
            if choices[0][2] == "":
                instead = f"{{ if !crate::mutants::on({choices[0][0]}) {{ {old} }} }}"
            else:
                instead = f"({arms}{{ {old} }})"
            text = text[:a] + instead + text[b:]
        lines[line] = text
        open(path, "w").write("\n".join(lines))
    rows = [(n, m[4]) for n, m in enumerate(all_mutants) if m[1] is None]
    table = ", ".join(f'({n}, "{rule}")' for n, rule in rows)
    switch = SWITCH + f"    const RULES: &[(u32, &str)] = &[{table}];\n}}\n"
    lib = os.path.join(tree, "gcn-isa/src/lib.rs")
    open(lib, "a").write(switch)
    rule = os.path.join(tree, "gcn-isa/src/hazards/rule.rs")
    text = open(rule).read()
    states = "self.need.iter().find(|n| n.0.contains(target)).map(|n| n.1)"
    assert states in text, "Rule::states is written otherwise now"
    open(rule, "w").write(text.replace(states, states.replace("n.1", "crate::mutants::row(self.id, n.1)")))
    environment = dict(os.environ, CARGO_TARGET_DIR=os.environ.get("CARGO_TARGET_DIR", os.path.join(folder, "target")))
    command = ["cargo", "test", "-p", "gcn-isa", "-p", "gcn-isa-tests", "--no-run", "--lib", "--test", "proof", "--test", "it"]
    done = subprocess.run(command, cwd=tree, env=environment, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    programs = re.findall(r"Executable .*\((.*)\)", done.stderr)
    # The proof first: it ends at the first program that is wrong.
    programs.sort(key=lambda p: ["proof", "gcn_isa", "it"].index(re.sub(r"-[0-9a-f]+$", "", os.path.basename(p))))
    return tree, [os.path.join(tree, p) for p in programs]


def run(tree, program, mutant, limit, names):
    """Whether a test fails or takes more than `limit` seconds of processor time, and how many it took. The first failure ends it: -q
    writes a dot for what passes."""
    environment = dict(os.environ, GCN_MUTANT=str(mutant))
    bound = lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    child = subprocess.Popen([program, "-q", *names], cwd=os.path.join(tree, "gcn-isa"), env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=bound)
    failed = any(b"F" in part for part in iter(lambda: os.read(child.stdout.fileno(), 4096), b""))
    os.kill(child.pid, signal.SIGKILL)  # not child.kill(), which would take the status
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    # A killed one has closed its output: it was past its last test, or out of time.
    out_of_time = used.ru_utime + used.ru_stime >= int(limit) - 1
    return failed or out_of_time or not (killed or status == 0), used.ru_utime + used.ru_stime


def key(mutant):
    name, line, a, _, old, new = mutant
    return f"{name}:{'' if line is None else line + 1}:{a}\t{old}\t{new or '(left out)'}"


def argued():
    path = os.path.join(HERE, "survivors.tsv")
    if not os.path.exists(path):
        return set()
    return {tuple(line.split("\t")[:3]) for line in open(path).read().split("\n")[1:] if line}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--dir")
    arguments.add_argument("--shard", default="0/1")
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--tests", default="")
    given = arguments.parse_args()
    names = [name for name in given.tests.split(",") if name]
    every = list(mutants())
    if given.list or not given.dir:
        print("\n".join(key(m) for m in every if key(m).startswith(given.only)))
        return
    folder = os.path.abspath(given.dir)
    os.makedirs(folder, exist_ok=True)
    tree, programs = build(folder, every, given.only)
    times = [run(tree, p, -1, 3600, names) for p in programs]
    assert not any(failed for failed, _ in times), "the tests fail without any mutant"
    path = os.path.join(folder, "results.tsv")
    known = {line.rsplit("\t", 1)[0] for line in open(path).read().split("\n")} if os.path.exists(path) else set()
    part, of = map(int, given.shard.split("/"))
    excused = argued()
    for number, mutant in enumerate(every):
        elsewhere = number % (of * given.every) != part * given.every or not key(mutant).startswith(given.only)
        if elsewhere or key(mutant) in known:
            continue
        killer = "survives"
        for program, (_, seconds) in zip(programs, times):
            if run(tree, program, number, 10 + 3 * seconds, names)[0]:
                killer = os.path.basename(program).split("-")[0]
                break
        if killer == "survives" and (mutant[0], mutant[4], mutant[5] or "(left out)") in excused:
            killer = "argued"
        with open(path, "a") as results:
            results.write(f"{key(mutant)}\t{killer}\n")
        print(f"{key(mutant)}\t{killer}", flush=True)


main()
