"""AMD's hip-python on gcn-hip: `GCN_HIP_LIBRARY` names its library, `GCN_COMMAND` the `gcn` whose `run` starts the programs."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gcn_tools as gcn

START = """
import array, ctypes
from hip import hip, hiprtc

def call(result):
    code, *values = result
    assert code in (hip.hipError_t.hipSuccess, hiprtc.hiprtcResult.HIPRTC_SUCCESS), code
    return values[0] if len(values) == 1 else values

def launch(kernel, stream, *arguments):
    call(hip.hipModuleLaunchKernel(
        kernel, gridDimX=1, gridDimY=1, gridDimZ=1, blockDimX=64, blockDimY=1, blockDimZ=1, sharedMemBytes=0, stream=stream,
        kernelParams=None, extra=arguments,
    ))

host = array.array("I", range(64))
x = call(hip.hipMalloc(256))
call(hip.hipMemcpy(x, host, 256, hip.hipMemcpyKind.hipMemcpyHostToDevice))
"""

END = """
call(hip.hipMemcpy(host, x, 256, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
call(hip.hipFree(x))
print(sum(host))
"""

LOADED = """
module = call(hip.hipModuleLoadData(open("double.hsaco", "rb").read()))
launch(call(hip.hipModuleGetFunction(module, b"double")), None, x)
call(hip.hipModuleUnload(module))
"""

# Devices, streams and events; errors of HIP become exceptions.
EVENTS = """
properties = call(hip.hipGetDeviceProperties(0))
assert str(properties.gcnArchName).startswith("gfx942") and call(hip.hipGetDeviceCount()) == 1
stream, start, stop = call(hip.hipStreamCreate()), call(hip.hipEventCreate()), call(hip.hipEventCreate())
module = call(hip.hipModuleLoadData(open("double.hsaco", "rb").read()))
double = call(hip.hipModuleGetFunction(module, b"double"))
call(hip.hipEventRecord(start, stream))
for _ in range(3):
    launch(double, stream, x)
call(hip.hipEventRecord(stop, stream))
call(hip.hipEventSynchronize(stop))
assert call(hip.hipEventElapsedTime(start, stop)) >= 0
call(hip.hipStreamDestroy(stream))
assert hip.hipModuleGetFunction(module, b"none")[0] == hip.hipError_t.hipErrorNotFound
assert hip.hipSetDevice(7)[0] == hip.hipError_t.hipErrorInvalidDevice
"""

COMPILED = """
source = b"template <int N> __attribute__((global)) void add(int *p) { p[__builtin_amdgcn_workitem_id_x()] += N; }"
program = call(hiprtc.hiprtcCreateProgram(source, b"add.hip", 0, None, None))
call(hiprtc.hiprtcAddNameExpression(program, b"add<5>"))
options = [b"--gpu-architecture=gfx942", b"-nogpuinc", b"-nogpulib"]
call(hiprtc.hiprtcCompileProgram(program, len(options), options))
name = call(hiprtc.hiprtcGetLoweredName(program, b"add<5>"))
code = bytearray(call(hiprtc.hiprtcGetCodeSize(program)))
call(hiprtc.hiprtcGetCode(program, code))
module = call(hip.hipModuleLoadData(code))
launch(call(hip.hipModuleGetFunction(module, name)), None, x)
call(hiprtc.hiprtcDestroyProgram(program.createRef()))
"""


def clang():
    """A clang that compiles for these devices, for hiprtc."""
    named = os.environ.get("GCN_HIP_CLANG")
    return named or next(filter(None, map(shutil.which, ["clang++-22", "clang++-21", "clang++-20"])), None)


# 0 + 1 + ... + 63 is 2016.
@pytest.mark.skipif(not os.environ.get("GCN_HIP_LIBRARY"), reason="GCN_HIP_LIBRARY does not name libamdhip64.so")
@pytest.mark.skipif(importlib.util.find_spec("hip") is None, reason="hip-python is not installed")
@pytest.mark.parametrize(
    ("program", "expected"), [(LOADED, 2 * 2016), (EVENTS, 8 * 2016), (COMPILED, 2016 + 5 * 64)], ids=["module", "events", "hiprtc"]
)
def test_hip_python_runs(tmp_path, program, expected):
    if program == COMPILED and not clang():
        pytest.skip("no clang for hiprtc")
    library = Path(os.environ["GCN_HIP_LIBRARY"]).resolve()
    (tmp_path / "double.hsaco").write_bytes(gcn.asm(gcn.DOUBLE))
    environment = {**os.environ, "GCN_HIP_CLANG": clang() or ""}
    start = [sys.executable, "-c", START + program + END]
    command = os.environ.get("GCN_COMMAND")
    if command:
        start = [command, "run", "--library", str(library), "--target", "gfx942", "--", *start]
    else:
        for name in ("libamdhip64.so", "libhiprtc.so"):
            for suffix in ("", ".5", ".6", ".7"):
                (tmp_path / f"{name}{suffix}").symlink_to(library)
        environment |= {"LD_LIBRARY_PATH": str(tmp_path), "GCN_HIP_TARGET": "gfx942"}
    ran = subprocess.run(start, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ran.stdout.strip(), ran.returncode) == (str(expected), 0), ran.stderr
