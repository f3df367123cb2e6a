"""The reference modules, loaded from their files."""

import doctest
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.fixture(scope="session")
def solution() -> Callable[[str], ModuleType]:
    """Load a reference module by the name of its exercise."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, SOLUTIONS / f"{name}.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def failed_examples() -> Callable[[ModuleType], int]:
    """Run the examples in a module's docstrings: how many print something else, or that there are none at all."""

    def run(module: ModuleType) -> int:
        results = doctest.testmod(module)
        return results.failed if results.attempted else 1

    return run
