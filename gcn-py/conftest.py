"""Examples of docstrings say `gcn`, as callers do."""

import pytest

import gcn_tools as gcn


@pytest.fixture(autouse=True)
def _names(doctest_namespace):
    doctest_namespace["gcn"] = gcn
