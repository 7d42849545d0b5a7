"""Work that outgrows a machine, as tasks of a Ray cluster: tuning and campaigns (docs/tuning.md).

``python -m gcn_tools.cluster tune DIRECTORY -o table.json`` measures candidates as ``gcn tune`` does, and writes the same table.
``python -m gcn_tools.cluster run 100 -o campaign.json -- COMMAND {i} {n}`` runs a command once for each of 100 parts. Both keep what is done
after each task, and started again do what is left. Ray connects to the cluster that ``RAY_ADDRESS`` names, or starts one here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

import gcn_tools as gcn

PathLike = Union[str, "os.PathLike[str]"]


def _key(variant: Mapping[str, Any]) -> "tuple[Any, ...]":
    """What identifies a variant; in this order they are in a table."""
    parameters = tuple(sorted(variant["parameters"].items()))
    return variant["kernel"], variant["target"], tuple(variant["problem"]), parameters


def _save(path: Path, value: Any) -> None:
    """The file has the old or the new contents at any time."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    draft.replace(path)


def _finished(waiting: "dict[Any, Any]") -> "Iterator[tuple[Any, Any]]":
    """The keys of tasks, each with its result, as they finish. What a worker's death leaves undone, Ray runs elsewhere."""
    import ray

    while waiting:
        [done], _ = ray.wait(list(waiting), num_returns=1)
        yield waiting.pop(done), ray.get(done)


def candidates(paths: Iterable[PathLike]) -> "list[Path]":
    """The candidates that files and directories stand for, in order: of a directory its ``*.tune.json`` and ``*.steady.json``."""
    found: "list[Path]" = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if p.name.endswith((".tune.json", ".steady.json")))
        if not inside:
            raise gcn.Error(f"{path}: there is no *.tune.json or *.steady.json")
        found += inside
    return found


def _read(path: Path) -> "tuple[dict[str, Any], dict[str, Any], bytes]":
    """A candidate: the variant, its file's contents, and the code object, which travels to the worker."""
    try:
        candidate = json.loads(path.read_text())
        code = (path.parent / candidate["object"]).read_bytes()
        candidate["long"]
    except (ValueError, KeyError, TypeError) as error:
        raise gcn.Error(f"{path}: {error!r}; a candidate has \"object\" and \"long\", see docs/tuning.md") from None
    stem = path.name
    for end in (".json", ".tune", ".steady"):
        stem = stem[: -len(end)] if stem.endswith(end) else stem
    [target] = {report.target_id for report in gcn.inspect(code)}
    variant = {
        "kernel": candidate.get("name") or "kernel",
        "target": target.split(":")[0],
        "problem": candidate.get("problem", []),
        "parameters": candidate.get("parameters") or {"file": stem},
    }
    return variant, candidate, code


def measure(candidate: Mapping[str, Any], code: bytes, parameters: Mapping[str, Any], cus: int) -> "dict[str, Any]":
    """The outcome of a candidate: the cycles of its run or, with "short", what the long run takes more; or why it does not run."""

    def cycles(spec: "dict[str, Any]") -> int:
        run = gcn.sim(
            code, spec.get("args", {}), grid=spec.get("grid"), global_size=spec.get("global"),
            workgroup=spec.get("workgroup"), kernel=candidate.get("kernel") or spec.get("kernel"),
            dynamic_lds=spec.get("dynamic_lds", 0), timed=True, parameters=parameters, cus=cus,
        )
        assert run.timed is not None
        return int(run.timed["cycles"])

    try:
        long = cycles(candidate["long"])
        return {"cycles": max(0, long - cycles(candidate["short"])) if "short" in candidate else long}
    except gcn.Error as error:
        return {"error": str(error)}


def tune(
    paths: Iterable[PathLike],
    output: PathLike,
    *,
    parameters: Optional[Mapping[str, Any]] = None,
    cus: int = 1,
    progress: Callable[[int, int], None] = lambda done, all: None,
) -> "list[dict[str, Any]]":
    """Measures those candidates that the table in `output` lacks, each as a task, and returns the table.

    The table is that of ``gcn tune``. `parameters` are those of the timed model, `progress` is told how many of how many are done.
    """
    import ray

    output = Path(output)
    table = {_key(e["variant"]): e for e in json.loads(output.read_text())} if output.exists() else {}
    read = [_read(path) for path in candidates(paths)]
    task: Any = ray.remote(num_cpus=1, max_retries=3)(measure)
    left = [(v, c, code) for v, c, code in read if _key(v) not in table]
    waiting = {task.remote(c, code, dict(parameters or {}), cus): v for v, c, code in left}
    done = len(read) - len(left)
    progress(done, len(read))
    for variant, outcome in _finished(waiting):
        table[_key(variant)] = {"variant": variant, "outcome": outcome}
        _save(output, [table[key] for key in sorted(table)])
        done += 1
        progress(done, len(read))
    return [table[key] for key in sorted(table)]


def part(command: Sequence[str], environment: Mapping[str, str], i: int, n: int) -> "dict[str, Any]":
    """Runs one part of a campaign; ``{i}`` and ``{n}`` in the command and the environment stand for its number and the count."""

    def of(text: str) -> str:
        return text.replace("{i}", str(i)).replace("{n}", str(n))

    env = {**os.environ, **{name: of(value) for name, value in environment.items()}}
    ran = subprocess.run([of(word) for word in command], env=env, capture_output=True, text=True, errors="replace")
    return {"part": i, "exit": ran.returncode, "output": (ran.stdout + ran.stderr)[-4000:]}


def campaign(
    command: Sequence[str],
    parts: int,
    output: PathLike,
    *,
    environment: Optional[Mapping[str, str]] = None,
    progress: Callable[[int, int], None] = lambda done, all: None,
) -> "list[dict[str, Any]]":
    """Runs a command for each of the parts that `output` lacks, and returns all results: part, exit status, end of the output.

    A part that failed is a result. Take it out of the file, or remove the file, to run it again.
    """
    import ray

    output = Path(output)
    results = {r["part"]: r for r in json.loads(output.read_text())} if output.exists() else {}
    task: Any = ray.remote(num_cpus=1, max_retries=3)(part)
    left = [i for i in range(parts) if i not in results]
    waiting = {task.remote(list(command), dict(environment or {}), i, parts): i for i in left}
    progress(parts - len(left), parts)
    for i, result in _finished(waiting):
        results[i] = result
        _save(output, [results[i] for i in sorted(results)])
        progress(len(results), parts)
    return [results[i] for i in sorted(results)]


def _show(done: int, all: int) -> None:
    print(f"\r{done} of {all}", end="" if done < all else "\n", file=sys.stderr, flush=True)


def _pairs(given: Sequence[str]) -> "dict[str, str]":
    pairs = [text.partition("=") for text in given]
    for name, equals, _ in pairs:
        if not equals:
            raise gcn.Error(f"`{name}`: write NAME=VALUE")
    return {name: value for name, _, value in pairs}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command line; returns 1 if a part of a campaign failed."""
    parser = argparse.ArgumentParser(prog="python -m gcn_tools.cluster", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    one = commands.add_parser("tune", help="measure candidates, as gcn tune does")
    one.add_argument("candidates", nargs="+", help="JSON files and directories of them")
    one.add_argument("-o", "--output", required=True, help="the table of results, read if it exists")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the timed model")
    one.add_argument("--cus", type=int, default=1, help="compute units over which a grid is distributed")
    two = commands.add_parser("run", help="run a command for each part: {i} is its number, {n} their count")
    two.add_argument("parts", type=int)
    two.add_argument("-o", "--output", required=True, help="the results, read if the file exists")
    two.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable of the command")
    two.epilog = "The command follows `--`; every node must have it."
    words = list(sys.argv[1:] if arguments is None else arguments)
    own = words.index("--") if "--" in words else len(words)
    command, given = words[own + 1 :], parser.parse_args(words[:own])
    if given.what == "run" and not command:
        parser.error("write the command after `--`")
    try:
        import ray
    except ImportError:
        parser.error("this needs Ray: pip install ray")
    try:
        ray.init(ignore_reinit_error=True, log_to_driver=False)
        if given.what == "tune":
            table = tune(given.candidates, given.output, parameters=_pairs(given.set), cus=given.cus, progress=_show)
            for entry in table:
                variant, outcome = entry["variant"], entry["outcome"]
                values = " ".join(f"{name}={value}" for name, value in sorted(variant["parameters"].items()))
                print(variant["kernel"], variant["target"], values, outcome.get("cycles", outcome.get("error")))
            return 0
        results = campaign(command, given.parts, given.output, environment=_pairs(given.env), progress=_show)
    except (gcn.Error, OSError) as error:
        parser.error(str(error))
    failed = [r for r in results if r["exit"]]
    for result in failed:
        print(f"part {result['part']}: exit status {result['exit']}\n{result['output']}")
    print(f"{len(results)} parts, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
