"""The pytest plugin, on a stand-in for Triton with real code objects, and with Triton itself where it is installed."""

import os
import textwrap

import pytest

import gcn_tools as gcn

pytest_plugins = ["pytester"]

GOOD = gcn.asm(gcn.DOUBLE)
BAD = gcn.asm(gcn.DOUBLE.replace("  s_waitcnt vmcnt(0)\n", ""))

#: A stand-in for the only part of Triton that the plugin uses: the listener that its compiler calls.
STAND_IN = """
import types
from pathlib import Path

knobs = types.SimpleNamespace(compilation=types.SimpleNamespace(listener=None))

def compile(path):
    group = {"kernel.json": "kernel.json", Path(path).name: str(path)}
    if knobs.compilation.listener is not None:
        knobs.compilation.listener(src=None, metadata={}, metadata_group=group, times=None, cache_hit=False)
"""


@pytest.fixture
def cache(pytester, monkeypatch):
    """A cache as Triton's, with two kernels of which one lacks a wait; they are older than the run."""
    folder = pytester.mkdir("cache")
    for name, data in (("good", GOOD), ("bad", BAD)):
        (folder / name).mkdir()
        path = folder / name / f"{name}.hsaco"
        path.write_bytes(data)
        os.utime(path, (1, 1))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(folder))
    pytester.makepyfile(triton=STAND_IN)
    pytester.makepyfile(
        test_kernels=f"""
        import triton

        def test_good():
            triton.compile({str(folder / "good/good.hsaco")!r})

        def test_bad():
            triton.compile({str(folder / "bad/bad.hsaco")!r})

        def test_other():
            pass
        """
    )
    return folder


def run(pytester, *options):
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)


def test_without_the_option_nothing_is_checked(pytester, cache):
    result = run(pytester)
    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("*kernels checked*")


def test_the_test_that_compiles_a_bad_kernel_fails(pytester, cache):
    result = run(pytester, "--gcn-check")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_bad*",
            "*kernel bad (gfx942): *certain: waitcnt.raw: *s_waitcnt vmcnt(0)*",
            "*hazards in Triton's kernels*",
            "bad (gfx942), test_kernels.py::test_bad",
            "2 kernels checked, 1 with findings",
        ]
    )


def test_a_finding_may_warn_instead(pytester, cache):
    result = run(pytester, "--gcn-warn")
    result.assert_outcomes(passed=3, warnings=2)  # Both instructions that read what is loaded.
    result.stdout.fnmatch_lines(["*GcnWarning: kernel bad (gfx942)*", "2 kernels checked, 1 with findings"])


def test_kernels_of_other_targets_are_left_out(pytester, cache):
    result = run(pytester, "--gcn-check", "--gcn-target=gfx90a")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["0 kernels checked, 0 with findings"])


def test_the_configuration_file_sets_it_too(pytester, cache):
    pytester.makeini("[pytest]\ngcn_check = certain\n")
    run(pytester).assert_outcomes(passed=2, failed=1)


@pytest.mark.parametrize("option", ["--gcn-check=high", "--gcn-target=gfx1310"])
def test_wrong_options_are_refused(pytester, cache, option):
    result = run(pytester, "--gcn-check", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_kernels_that_another_process_compiles_fail_the_run(pytester, cache):
    pytester.makepyfile(
        test_kernels=f"""
        import shutil, subprocess, sys

        def test_subprocess():
            code = "import shutil; shutil.copyfile({str(cache / 'bad/bad.hsaco')!r}, {str(cache / 'good/new.hsaco')!r})"
            subprocess.run([sys.executable, "-c", code], check=True)
        """
    )
    result = run(pytester, "--gcn-check")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["new (gfx942), compiled by another process", "1 kernel checked, 1 with findings"])


def test_a_file_that_is_no_code_object_is_a_finding(pytester, cache):
    (cache / "bad/bad.hsaco").write_bytes(b"\x7fELF and nothing more")
    result = run(pytester, "--gcn-check")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*cannot be checked: *"])


def test_with_triton_itself(pytester, monkeypatch):
    """Triton compiles for a GPU without having one."""
    if os.environ.get("GCN_REQUIRE_TRITON") != "1":
        pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(pytester.mkdir("cache")))
    pytester.makepyfile(
        textwrap.dedent(
            """
            import triton, triton.language as tl
            from triton.backends.compiler import GPUTarget
            from triton.compiler import ASTSource

            @triton.jit
            def double(x, n, BLOCK: tl.constexpr):
                i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                tl.store(x + i, 2 * tl.load(x + i, i < n), i < n)

            def test_double():
                for _ in range(2):  # compiled, then from the cache
                    source = ASTSource(double, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 256})
                    triton.compile(source, GPUTarget("hip", "gfx942", 64))
            """
        )
    )
    result = run(pytester, "--gcn-check=cautious")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 kernel checked, 0 with findings"])
