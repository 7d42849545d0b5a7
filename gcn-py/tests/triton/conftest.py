"""Triton on the simulator: `GCN_HIP_LIBRARY` names gcn-hip's library, `GCN_HIP_TARGET` the GPU (gfx942 without it)."""

import os

import pytest

REQUIRED = os.environ.get("GCN_REQUIRE_TRITON") == "1"


def pytest_ignore_collect(collection_path, config):
    """Without Triton or the library there is nothing to collect; it is said loudly, or an error if they are required."""
    if not collection_path.name.startswith("test_"):
        return None
    problem = missing()
    if problem is None:
        return None
    if REQUIRED:
        raise pytest.UsageError(f"GCN_REQUIRE_TRITON=1, but {problem}")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"SKIPPED {collection_path.name}: {problem}", red=True)
    return True


def missing():
    if not os.environ.get("GCN_HIP_LIBRARY"):
        return "GCN_HIP_LIBRARY does not name libamdhip64.so"
    for module in ("triton", "numpy"):
        try:
            __import__(module)
        except ImportError:
            return f"{module} is not installed"
    import gcn_tools.triton

    gcn_tools.triton.use(os.environ["GCN_HIP_LIBRARY"], os.environ.get("GCN_HIP_TARGET") or "gfx942")
    return None
