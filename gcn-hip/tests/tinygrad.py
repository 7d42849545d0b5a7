#!/usr/bin/env python3
"""tinygrad's tests of single instructions of RDNA 3, which were checked on a Radeon, with gcn-hip as the GPU.

    tinygrad.py --checkout tinygrad --library target/release/libamdhip64.so [--both] [pytest's arguments]

Needs a checkout of tinygrad, pytest, and LLVM (`llvm-mc` and `ld.lld` in PATH, or those that LLVM_MC and LLD name). Nothing of the
checkout is changed. With `--both` each program runs on tinygrad's emulator as well, and all registers are compared.
"""

import argparse
import ctypes
import os
import re
import subprocess
import sys
import tempfile

# Checks of other targets, and why.
LEFT_OUT = ["test_cdna_sdwa.py", "test_cdna_vop3.py", "test_rdna4_permlane_var.py"]


def call(library, name, *arguments):
    code = getattr(library, name)(*arguments)
    if code != 0:
        library.hipDeviceReset()
        library.hipGetLastError()
        raise AssertionError(f"{name}: error {code}")


def assembled(text):
    """The code object of assembly text."""
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        with open(at("k.s"), "w") as file:
            file.write('.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n' + text)
        mc, lld = os.environ.get("LLVM_MC", "llvm-mc"), os.environ.get("LLD", "ld.lld")
        command = [mc, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-filetype=obj", at("k.s"), "-o", at("k.o")]
        subprocess.run(command, check=True)
        subprocess.run([lld, "-shared", at("k.o"), "-o", at("k.co")], check=True)
        with open(at("k.co"), "rb") as file:
            return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--both", action="store_true")
    options, further = parser.parse_known_args()
    checkout = os.path.abspath(options.checkout)
    sys.path.insert(0, checkout)
    os.environ["GCN_HIP_TARGET"] = "gfx1100"
    library = ctypes.CDLL(os.path.abspath(options.library))
    import pytest
    import test.amd.hw.helpers as helpers

    with open(helpers.__file__) as file:
        # The text that is compiled for a GPU; its metadata leaves out the argument.
        text = re.search(r'asm_src = f"""(.*?)"""', file.read(), re.S).group(1)
    argument = "{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}"
    text = text.replace(".symbol: test.kd", f".symbol: test.kd\n    .args:\n      - {argument}")
    emulated = helpers.run_program_emu

    def run(instructions, n_lanes=1):
        first, last = helpers.get_prologue_epilogue(n_lanes)
        code = helpers.assemble(first + instructions + last)
        data = assembled(text.replace("{byte_str}", ", ".join(map(str, code))))
        module, function, out = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        size = helpers._out_bytes(n_lanes)
        call(library, "hipModuleLoadData", ctypes.byref(module), data)
        call(library, "hipModuleGetFunction", ctypes.byref(function), module, b"test")
        call(library, "hipMalloc", ctypes.byref(out), ctypes.c_size_t(size))
        call(library, "hipMemset", out, 0, ctypes.c_size_t(size))
        arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(out), ctypes.c_void_p))
        call(library, "hipModuleLaunchKernel", function, 1, 1, 1, n_lanes, 1, 1, 0, None, arguments, None)
        found = (ctypes.c_uint8 * size)()
        call(library, "hipMemcpy", found, out, ctypes.c_size_t(size), 2)
        call(library, "hipFree", out)
        call(library, "hipModuleUnload", module)
        state = helpers.parse_output(bytes(found), n_lanes)
        if options.both:
            differ = helpers.compare_wave_states(emulated(instructions, n_lanes), state, n_lanes)
            assert not differ, "the emulator differs: " + "; ".join(differ[:4])
        return state

    helpers.run_program_emu = run
    folder = os.path.join(checkout, "test/amd/hw")
    ignored = [f"--ignore={folder}/{name}" for name in LEFT_OUT]
    return pytest.main(["-q", "-p", "no:cacheprovider", "--tb=line", folder, *ignored, *further])


if __name__ == "__main__":
    sys.exit(main())
