"""A code object launched with AMD's hip-python through gcn-hip: `GCN_HIP_LIBRARY` names its library."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gcn_tools as gcn

PROGRAM = """
import array, ctypes, sys
from hip import hip

def call(result):
    code, *values = result
    assert code == hip.hipError_t.hipSuccess, code
    return values[0] if values else None

host = array.array("I", range(64))
x = call(hip.hipMalloc(256))
call(hip.hipMemcpy(x, host, 256, hip.hipMemcpyKind.hipMemcpyHostToDevice))
module = call(hip.hipModuleLoadData(open("double.hsaco", "rb").read()))
double = call(hip.hipModuleGetFunction(module, b"double"))
call(hip.hipModuleLaunchKernel(
    double, gridDimX=1, gridDimY=1, gridDimZ=1, blockDimX=64, blockDimY=1, blockDimZ=1, sharedMemBytes=0, stream=None,
    kernelParams=None, extra=(x,),
))
call(hip.hipMemcpy(host, x, 256, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
print(sum(host))
"""


@pytest.mark.skipif(not os.environ.get("GCN_HIP_LIBRARY"), reason="GCN_HIP_LIBRARY does not name libamdhip64.so")
@pytest.mark.skipif(importlib.util.find_spec("hip") is None, reason="hip-python is not installed")
def test_a_kernel_runs_through_hip_python(tmp_path):
    library = Path(os.environ["GCN_HIP_LIBRARY"]).resolve()
    for name in ("libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"):
        (tmp_path / name).symlink_to(library)
    (tmp_path / "double.hsaco").write_bytes(gcn.asm(gcn.DOUBLE))
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "GCN_HIP_TARGET": "gfx942"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    # 0 + 2 + ... + 126.
    assert (ran.stdout.strip(), ran.returncode) == ("4032", 0), ran.stderr
