"""The package's functions on files of the repository."""

import gzip
import json
import os
import threading
from array import array
from pathlib import Path

import pytest

import gcn_tools as gcn

ROOT = Path(__file__).resolve().parents[2]
LINK = ROOT / "gcn-emit/tests/data/link"
TWO_KERNELS = ROOT / "gcn-cli/tests/data/two_kernels.s"

MISSING = """.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text
kernel:
  v_mov_b32 v0, 0
  global_load_dword v1, v0, s[4:5]
  v_add_u32 v2, v1, v1
  s_endpgm
"""


def test_findings_are_typed_and_name_lines_and_remedy():
    [report] = gcn.check(MISSING, name="kernel.s")
    [finding] = report.findings
    assert (report.file, report.target_id, report.clean) == ("kernel.s", "gfx90a", False)
    assert (finding.rule, finding.grade, finding.register, finding.lines) == ("waitcnt.raw", "certain", "v1", (5, 6))
    assert finding.first.text == "global_load_dword v1, v0, s[4:5]" and finding.second.line == 6
    assert "s_waitcnt vmcnt(0)" in finding.remedy and "line 6" in finding.remedy
    assert finding.need == {"s_waitcnt": "vmcnt(0)"}
    assert json.loads(finding.to_json())["second"]["line"] == 6
    assert str(finding).startswith("line 6: certain: waitcnt.raw: v1 of `global_load_dword")
    with pytest.raises(AttributeError):
        finding.rule = "another"


def test_what_fix_writes_is_clean_and_explained():
    fixed = gcn.fix(MISSING, comment=True)
    assert [(change.action, change.line, change.after) for change in fixed.changes] == [
        ("inserted", 6, "s_waitcnt vmcnt(0)")
    ]
    assert gcn.check(fixed.text)[0].clean
    # All other lines are unchanged.
    kept = [line for line in fixed.text.splitlines() if "s_waitcnt" not in line]
    assert kept == MISSING.splitlines()
    explained = gcn.explain(fixed.text)
    assert [wait["line"] for wait in explained.waits] == [6] and not explained.missing
    assert gcn.explain(MISSING).missing[0]["rule"] == "waitcnt.raw"


def test_assembly_and_back():
    data = gcn.asm(TWO_KERNELS)
    text = gcn.disasm(data)
    assert gcn.asm(text) == data or gcn.disasm(gcn.asm(text)) == text
    one = gcn.disasm(data, kernel="fill")
    assert "fill:" in one and len(one) < len(text)
    items = gcn.instructions(data, kernel="fill")
    assert len(items) < len(gcn.instructions(data)) and any(item["text"] == "s_endpgm" for item in items)
    assert all(len(item["bytes"]) % 8 == 0 for item in items if item["text"])


def test_paths_bytes_views_and_gzip_are_the_same(tmp_path):
    data = gcn.asm(MISSING)
    path = tmp_path / "kernel.hsaco"
    path.write_bytes(data)
    packed = tmp_path / "kernel.hsaco.gz"
    packed.write_bytes(gzip.compress(data))
    sources = [path, str(path), packed, data, bytearray(data), memoryview(data), array("B", data)]
    rules = [[finding.rule for finding in gcn.check(source)[0].findings] for source in sources]
    assert rules == [["waitcnt.raw"]] * len(sources)


def test_options_select_rules_and_grades():
    assert gcn.check(MISSING, without=["waitcnt.raw"])[0].clean
    # The finding has the highest grade, so that it is listed at every level.
    assert not gcn.check(MISSING, level="certain")[0].clean
    assert gcn.check("v_mov_b32 v0, 0\ns_waitcnt vmcnt(0)\ns_endpgm\n", target="gfx942", advice=True)[0].advice


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: gcn.check(MISSING, without=["cnt.vmem"]), "cnt.vmem"),
        (lambda: gcn.check("s_endpgm\n"), "target"),
        (lambda: gcn.check("s_endpgm\n", target="gfx1310"), "gfx1310"),
        (lambda: gcn.check(b"\xff\xfe\n"), "byte 0 is not UTF-8"),
        (lambda: gcn.check(MISSING, level="high"), "high"),
        (lambda: gcn.check(b"\x7fELF"), "<bytes>"),
        (lambda: gcn.asm("v_ad_f32 v0, v1, v2\n", target="gfx942"), "v_ad_f32"),
        (lambda: gcn.disasm(gcn.asm(TWO_KERNELS), kernel="fil"), "fill"),
        (lambda: gcn.fix(MISSING, only="nops"), "wait-states"),
        (lambda: gcn.sim(gcn.asm(TWO_KERNELS), {}, grid=1), "kernel"),
        (lambda: gcn.sim(gcn.DOUBLE, {"x": object()}, grid=1, workgroup=64), "neither a number nor a buffer"),
        (lambda: gcn.sim(gcn.DOUBLE, {"x": memoryview(bytes(256))[::2]}, grid=1, workgroup=64), "contiguous"),
        (lambda: gcn.sim(gcn.DOUBLE, {"y": bytes(256)}, grid=1, workgroup=64), "y"),
        (lambda: gcn.sim(gcn.DOUBLE, {"x": bytes(8)}, grid=1, workgroup=64), "out of bounds"),
        (lambda: gcn.sim(gcn.DOUBLE, {"x": None}, grid=1, workgroup=64), "null"),
    ],
)
def test_errors_say_what_is_wrong(call, said):
    with pytest.raises(gcn.Error) as error:
        call()
    assert said in str(error.value)
    assert isinstance(error.value, ValueError)


def test_files_that_do_not_exist_are_errors_of_the_system():
    with pytest.raises(FileNotFoundError):
        gcn.check("no such file")


def test_a_kernel_doubles_whatever_has_a_buffer():
    numpy = pytest.importorskip("numpy")
    for x in (array("I", range(64)), bytearray(array("I", range(64)).tobytes()), numpy.arange(64, dtype=numpy.uint32)):
        run = gcn.sim(gcn.DOUBLE, {"x": x}, grid=1, workgroup=64, mode="strict", sanitize=["all"])
        assert array("I", bytes(x)).tolist() == list(range(0, 128, 2))
        assert (run.kernel, run.target, run.waves, run.clean, run.grid) == ("double", "gfx942", 1, True, (1, 1, 1))
        assert run.buffers["x"] == bytes(x)
    # A read-only buffer is not changed; the report has the result.
    read_only = array("I", range(64)).tobytes()
    run = gcn.sim(gcn.DOUBLE, [read_only], grid=1, workgroup=64)
    assert read_only == array("I", range(64)).tobytes() and run.buffers["0"] != read_only
    matrix = numpy.arange(64, dtype=numpy.int32).reshape(8, 8)
    gcn.sim(gcn.DOUBLE, [matrix], grid=1, workgroup=64)
    numpy.testing.assert_array_equal(matrix, 2 * numpy.arange(64).reshape(8, 8))


def test_simulation_finds_what_is_too_early():
    early = gcn.DOUBLE.replace("  s_waitcnt vmcnt(0)\n", "")
    with pytest.raises(gcn.Error, match="vmcnt"):
        gcn.sim(early, {"x": bytearray(256)}, grid=1, workgroup=64, mode="strict")
    x = array("I", range(64))
    run = gcn.sim(early, {"x": x}, grid=1, workgroup=64, mode="faithful")
    assert not run.clean and list(x) != list(range(0, 128, 2))


def test_scalars_specs_and_time():
    data = gcn.asm(TWO_KERNELS)
    assert gcn.template(data, kernel="fill")["args"]["value"] == {"i32": 0}
    x = array("i", [0] * 64)
    run = gcn.sim(data, {"x": x, "value": {"i32": 42}}, kernel="fill", grid=1, workgroup=64, timed=True)
    assert list(x) == [42] * 64 and run.timed["cycles"] > 0


def test_code_objects_of_other_compilers_are_inspected_and_checked():
    for name in ("aster-gfx942-gemm_loop.so.gz", "flydsl-gfx950-ew_poly_128b.so.gz"):
        [code] = gcn.inspect(LINK / name)
        assert code.target_id.startswith(name.split("-")[1])
        assert all(kernel["occupancy"]["waves_per_simd"] > 0 for kernel in code.kernels) and code.kernels
        [report] = gcn.check(LINK / name, level="certain")
        assert report.instructions > 10 and report.target_id == code.target_id


def test_containers_have_a_report_for_each_code_object():
    reports = gcn.check(LINK / "host-plain.so.gz")
    assert len(reports) > 1 and len({report.file for report in reports}) == len(reports)
    target = reports[0].target_id
    assert {report.target_id for report in gcn.check(LINK / "host-plain.so.gz", target=target)} == {target}
    with pytest.raises(gcn.Error, match="choose one by its target or its number"):
        gcn.disasm(LINK / "host-plain.so.gz")
    assert gcn.disasm(LINK / "host-plain.so.gz", entry=2).count("s_endpgm") > 0
    with pytest.raises(gcn.Error, match="no code object for gfx906"):
        gcn.inspect(LINK / "host-plain.so.gz", target="gfx906")


def test_other_threads_run_meanwhile():
    """The GIL is released: while a kernel of some tenths of a second runs, Python counts in another thread."""
    spin = gcn.DOUBLE.replace("  s_endpgm\n", "  s_mov_b32 s6, 0\nloop:\n  s_add_u32 s6, s6, 1\n"
                              "  s_cmp_lt_u32 s6, 0x200000\n  s_cbranch_scc1 loop\n  s_endpgm\n")
    data = gcn.asm(spin.replace("next_free_sgpr 6", "next_free_sgpr 8").replace("sgpr_count: 6", "sgpr_count: 8"))
    done = threading.Event()
    thread = threading.Thread(
        target=lambda: (gcn.sim(data, {"x": bytearray(256)}, grid=1, workgroup=64), done.set())
    )
    thread.start()
    count = 0
    while not done.wait(0.001):
        count += 1
    thread.join()
    assert count > 10


def test_the_package_is_typed():
    assert (Path(os.fspath(gcn.__file__)).parent / "py.typed").exists()
