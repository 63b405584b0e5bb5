"""Every test has random numbers of its own; another seed of the run gives all of them others."""

import zlib

import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=1)


@pytest.fixture
def rng(request):
    return np.random.default_rng(
        [request.config.getoption("--seed"), zlib.crc32(request.node.nodeid.encode())]
    )
