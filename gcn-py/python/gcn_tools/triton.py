"""Triton's kernels on the simulator: no GPU, no ROCm, no torch.

:func:`use` makes gcn-hip's ``libamdhip64.so`` the HIP library of Triton's own AMD driver. Kernels are then compiled and launched as on
a GPU; :class:`Array` is memory that they reach.

::

    import gcn_tools.triton, numpy, triton, triton.language as tl

    gcn_tools.triton.use("target/release/libamdhip64.so", target="gfx942")

    @triton.jit
    def double(x, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, 2 * tl.load(x + i, i < n), i < n)

    x = gcn_tools.triton.Array(numpy.arange(1000, dtype=numpy.float32))
    double[(4,)](x, 1000, BLOCK=256)
    print(x.numpy())

The variables of docs/hip.md apply: ``GCN_HIP_MODE=strict`` stops at a missing wait, ``GCN_HIP_SANITIZE=races,accesses`` finds races and
accesses out of bounds. ``triton.autotune`` chooses by the time of one launch: with ``GCN_HIP_TIMED=1`` that of the model of the GPU,
else the simulator's own.
"""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

from gcn_tools._gcn import Error

if TYPE_CHECKING:
    import numpy

_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2

_library: Optional[ctypes.CDLL] = None


def use(library: Union[str, "os.PathLike[str]"], target: Optional[str] = None) -> None:
    """Makes the simulator Triton's device, before the first kernel is compiled.

    `library` is gcn-hip's ``libamdhip64.so``; `target` the GPU, by default that of ``GCN_HIP_TARGET``.
    """
    global _library
    path = os.path.abspath(os.fspath(library))
    if not os.path.isfile(path):
        raise Error(f"{path}: no such file; build it with `cargo build --release -p gcn-hip`")
    if target is not None:
        os.environ["GCN_HIP_TARGET"] = target
    if not os.environ.get("GCN_HIP_TARGET"):
        raise Error("no target: pass target=\"gfx942\", or set GCN_HIP_TARGET")
    # Triton loads the library from this path, too, so that both share one runtime.
    os.environ["TRITON_LIBHIP_PATH"] = path
    _library = ctypes.CDLL(path)

    import triton
    from triton.backends.amd.driver import HIPDriver, HIPLauncher, HIPUtils

    class Driver(HIPDriver):
        """Triton's AMD driver; what it asks torch for, it asks the HIP library for."""

        def __init__(self) -> None:
            # Does not call the inherited constructor, which imports torch.
            self.utils = HIPUtils()
            self.launcher_cls = HIPLauncher

        def get_current_device(self) -> int:
            device = ctypes.c_int()
            _call("hipGetDevice", ctypes.byref(device))
            return device.value

        def set_current_device(self, device: int) -> None:
            _call("hipSetDevice", ctypes.c_int(device))

        def get_current_stream(self, device: Optional[int] = None) -> int:
            return 0

        def get_device_capability(self, device: Optional[int] = None) -> "tuple[int, int]":
            major, minor = ctypes.c_int(), ctypes.c_int()
            _call("hipDeviceComputeCapability", ctypes.byref(major), ctypes.byref(minor), ctypes.c_int(device or 0))
            return major.value, minor.value

        def get_device_interface(self) -> Any:
            return SimpleNamespace(Event=_Event, synchronize=synchronize, current_device=self.get_current_device)

        def get_benchmarker(self) -> "Callable[..., Any]":
            return _time

        def get_empty_cache_for_benchmark(self) -> None:
            return None

        def clear_cache(self, cache: None) -> None:
            pass

    triton.runtime.driver.set_active(Driver())


def _call(name: str, *arguments: Any) -> None:
    if _library is None:
        raise Error("the simulator is not in use: call gcn_tools.triton.use(library, target) first")
    code = getattr(_library, name)(*arguments)
    if code != 0:
        text = _library.hipGetErrorString
        text.restype = ctypes.c_char_p
        raise Error(f"{name}: {text(code).decode()} ({code})")


class _Event:
    """A point in time on the device, as ``triton.testing.do_bench`` uses that of torch."""

    def __init__(self, enable_timing: bool = True) -> None:
        self._handle = ctypes.c_void_p()
        _call("hipEventCreate", ctypes.byref(self._handle))

    def record(self) -> None:
        _call("hipEventRecord", self._handle, None)

    def elapsed_time(self, end: "_Event") -> float:
        """Milliseconds."""
        result = ctypes.c_float()
        _call("hipEventElapsedTime", ctypes.byref(result), self._handle, end._handle)
        return result.value

    def __del__(self) -> None:
        if self._handle and _library is not None:
            _library.hipEventDestroy(self._handle)


def _time(launch: "Callable[[], Any]", quantiles: Optional[Sequence[float]] = None, **_: Any) -> "Union[float, list[float]]":
    """The time of one launch in milliseconds, by which ``triton.autotune`` chooses: the model's is the same each time."""
    launch()
    start, end = _Event(), _Event()
    start.record()
    launch()
    end.record()
    synchronize()
    time = start.elapsed_time(end)
    return time if quantiles is None else [time] * len(quantiles)


def synchronize() -> None:
    """Waits for the device; an error of a kernel is raised here."""
    _call("hipDeviceSynchronize")


class Array:
    """An array on the device, as Triton takes it for a pointer.

    `data` is copied; anything that NumPy makes an array of. `dtype` names an element that NumPy lacks, such as ``bfloat16``: the
    data then has its bits, in integers of its size.
    """

    def __init__(self, data: Any, dtype: Optional[str] = None) -> None:
        import numpy

        host = numpy.ascontiguousarray(data)
        #: The element type, which Triton reads.
        self.dtype: Any = dtype or host.dtype
        self.shape: "tuple[int, ...]" = host.shape
        self._host_dtype = host.dtype
        self._bytes = host.nbytes
        place = ctypes.c_void_p()
        self._address = 0
        _call("hipMalloc", ctypes.byref(place), ctypes.c_size_t(max(self._bytes, 1)))
        self._address = place.value or 0
        self.copy_from(host)

    @classmethod
    def zeros(cls, shape: Union[int, Sequence[int]], dtype: Any) -> "Array":
        """An array of zeros."""
        import numpy

        return cls(numpy.zeros(shape, dtype))

    def copy_from(self, data: Any) -> None:
        """Replaces the elements."""
        import numpy

        host = numpy.ascontiguousarray(data, self._host_dtype)
        if host.shape != self.shape:
            raise Error(f"the array has shape {self.shape}, the data {host.shape}")
        self._copy(self._address, host.ctypes.data, _HOST_TO_DEVICE)

    def numpy(self) -> "numpy.ndarray[Any, Any]":
        """A copy of the elements, once the device is done."""
        import numpy

        host = numpy.empty(self.shape, self._host_dtype)
        self._copy(host.ctypes.data, self._address, _DEVICE_TO_HOST)
        return host

    def _copy(self, to: int, source: int, kind: int) -> None:
        _call("hipMemcpy", ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(self._bytes), ctypes.c_int(kind))

    def data_ptr(self) -> int:
        """The address, for Triton's launcher."""
        return self._address

    def __del__(self) -> None:
        # At interpreter exit the library may already be gone.
        if getattr(self, "_address", 0) and _library is not None:
            _library.hipFree(ctypes.c_void_p(self._address))
