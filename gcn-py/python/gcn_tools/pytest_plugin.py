"""Checks every kernel that Triton compiles while tests run.

``pytest --gcn-check`` fails a test during which a kernel with a missing wait was compiled or taken from Triton's cache, and lists the
findings at the end. Kernels that other processes write to the cache meanwhile are checked at the end of the run.

The options are also settings of the configuration file: ``gcn_check``, ``gcn_warn``, ``gcn_target``, ``gcn_cache``.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any, Iterator, Optional, Union

import pytest

import gcn_tools as gcn

#: The grades of findings, from lowest to highest.
GRADES = ("cautious", "documented", "certain")
#: The name of the property by which test reports carry results to the process that prints them.
PROPERTY = "gcn"


class GcnWarning(UserWarning):
    """A finding that warns."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gcn", "hazards in kernels that Triton compiles")
    group.addoption(
        "--gcn-check", nargs="?", const="documented", choices=GRADES, metavar="GRADE",
        help="fail on findings of this grade and above: certain, documented (the default) or cautious",
    )
    group.addoption(
        "--gcn-warn", nargs="?", const="cautious", choices=GRADES, metavar="GRADE",
        help="warn of findings of this grade and above (by default cautious)",
    )
    group.addoption("--gcn-target", metavar="TARGET", help="check only kernels for this target, such as gfx942")
    group.addoption("--gcn-cache", metavar="DIR", help="Triton's cache; by default TRITON_CACHE_DIR or ~/.triton/cache")
    for name in ("check", "warn", "target", "cache"):
        parser.addini(f"gcn_{name}", f"as --gcn-{name}")


def _setting(config: pytest.Config, name: str) -> Optional[str]:
    return config.getoption(f"gcn_{name}") or config.getini(f"gcn_{name}") or None


def pytest_configure(config: pytest.Config) -> None:
    fail, warn = _setting(config, "check"), _setting(config, "warn")
    for name, grade in (("check", fail), ("warn", warn)):
        if grade is not None and grade not in GRADES:
            raise pytest.UsageError(f"gcn_{name} = {grade}: write {', '.join(GRADES)}")
    target = _setting(config, "target")
    if target is not None and target not in gcn.TARGETS:
        raise pytest.UsageError(f"gcn_target = {target}: the targets are {', '.join(gcn.TARGETS)}")
    if fail or warn:
        config.pluginmanager.register(Plugin(config, fail, warn, target), "gcn-kernels")


class Plugin:
    """A run of tests whose kernels are checked."""

    def __init__(self, config: pytest.Config, fail: Optional[str], warn: Optional[str], target: Optional[str]) -> None:
        self.fail, self.warn, self.target = fail, warn, target
        default = os.environ.get("TRITON_CACHE_DIR") or Path.home() / ".triton" / "cache"
        self.cache = Path(_setting(config, "cache") or default)
        #: Worker processes of pytest-xdist do not check the cache; the main process does.
        self.is_worker = hasattr(config, "workerinput")
        self.start = time.time()
        #: Code objects that Triton has compiled or loaded during the running test.
        self.met: "list[Path]" = []
        #: Results by the hash of the file's contents.
        self.results: "dict[str, dict[str, Any]]" = {}
        #: The first test that used each kernel.
        self.tests: "dict[str, str]" = {}
        self.listener: Any = None

    def _listen(self) -> None:
        """Hears of Triton's kernels, once a test has imported it."""
        import sys

        knobs = getattr(sys.modules.get("triton"), "knobs", None)
        compilation = getattr(knobs, "compilation", None)
        if compilation is None or (self.listener is not None and compilation.listener is self.listener):
            return
        other = compilation.listener

        def listener(*, metadata_group: "dict[str, str]", **more: Any) -> None:
            self.met += [Path(path) for path in metadata_group.values() if path.endswith(".hsaco")]
            if other is not None:
                other(metadata_group=metadata_group, **more)

        self.listener = compilation.listener = listener

    def _check(self, path: Path) -> Optional["dict[str, Any]"]:
        """Checks a file; `None` for one that was checked before, or is for another target."""
        try:
            data = path.read_bytes()
        except OSError:
            return None  # Triton replaces files of its cache; the new one is met later.
        digest = hashlib.sha256(data).hexdigest()
        if digest in self.results:
            return {"digest": digest}
        result: "dict[str, Any]" = {"digest": digest, "kernel": path.stem, "findings": []}
        grades = [grade for grade in (self.fail, self.warn) if grade]
        try:
            for report in gcn.check(data, name=str(path), level=min(grades, key=GRADES.index)):
                if self.target is None or report.target_id.split(":")[0] == self.target:
                    found: "list[Union[gcn.Finding, gcn.Lint]]" = [*report.findings, *report.lints]
                    result["findings"] += [[finding.grade, str(finding)] for finding in found]
                    result["target"] = report.target_id
        except gcn.Error as error:
            result["findings"].append(["certain", f"cannot be checked: {error}"])
            result["target"] = "?"
        if "target" not in result:
            return None
        self.results[digest] = result
        return result

    def _judged(self, result: "dict[str, Any]") -> "tuple[list[str], list[str]]":
        """What fails, and what warns."""

        def at_least(grade: Optional[str], other: str) -> bool:
            return grade is not None and GRADES.index(other) >= GRADES.index(grade)

        failing = [text for grade, text in result["findings"] if at_least(self.fail, grade)]
        return failing, [text for grade, text in result["findings"] if not at_least(self.fail, grade)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.met.clear()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self._listen()
        try:
            result = yield
        finally:
            self._listen()
            failing = self._of_test(item)
        if failing:
            pytest.fail("\n".join(failing), pytrace=False)
        return result

    def _of_test(self, item: pytest.Item) -> "list[str]":
        checked = [result for path in dict.fromkeys(self.met) if (result := self._check(path))]
        item.user_properties += [(PROPERTY, json.dumps(result)) for result in checked]
        lines = []
        for result in checked:
            result = self.results[result["digest"]]
            failing, warning = self._judged(result)
            lines += [f"kernel {result['kernel']} ({result['target']}): {text}" for text in failing]
            for text in warning:
                warnings.warn(GcnWarning(f"kernel {result['kernel']} ({result['target']}): {text}"), stacklevel=2)
        return lines

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects what tests met, those of worker processes too."""
        for name, value in report.user_properties:
            if name == PROPERTY and report.when == "call":
                result = json.loads(str(value))
                self.tests.setdefault(result["digest"], report.nodeid)
                if "kernel" in result:
                    self.results.setdefault(result["digest"], result)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.is_worker or not self.cache.is_dir():
            return
        for path in sorted(self.cache.rglob("*.hsaco")):
            # Some file systems round times to seconds.
            if path.stat().st_mtime >= self.start - 1:
                self._check(path)
        unmet = [result for digest, result in self.results.items() if digest not in self.tests]
        if session.exitstatus in (0, 5) and any(self._judged(result)[0] for result in unmet):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        found = [result for result in self.results.values() if result["findings"]]
        terminalreporter.section("hazards in Triton's kernels")
        for result in found:
            test = self.tests.get(result["digest"], "compiled by another process")
            terminalreporter.write_line(f"{result['kernel']} ({result['target']}), {test}")
            for text in (text for part in self._judged(result) for text in part):
                terminalreporter.write_line(f"  {text}")
        count, bad = len(self.results), len(found)
        terminalreporter.write_line(f"{count} kernel{'s' * (count != 1)} checked, {bad} with findings")
