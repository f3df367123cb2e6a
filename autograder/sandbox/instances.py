"""What the kit itself does with an instance of a learner's class: load its state and give it back, convert, describe.

Torch walks through a module once to convert it and once more to load its state, each time with a call of Python's for
every layer and every parameter. Where no step of that is the learner's own, one walk does both.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# A class, or an instance, may have its own of these: then torch's way through them is the only one.
STEPS = (
    "to", "load_state_dict", "_apply", "_load_from_state_dict", "set_extra_state", "children", "named_children",
    "__getattribute__",
)  # fmt: skip
REAL = ("", "float16", "bfloat16", "float32", "float64")
# What torch keeps in each module, unless its class forgot to call `super().__init__()`.
INSIDE = ("_modules", "_parameters", "_buffers", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")
FOR_OTHERS = INSIDE[2:]


def remember_torch() -> None:
    """Remember how torch takes the steps: before a line of a learner's can put others in their place."""
    if "torch" in sys.modules:
        _steps_of_torch()


def convert_and_load(instance: Any, dtype: str, state: Any) -> None:
    """Convert a module where a dtype is named, load a state where there is one. Raises what torch does."""
    parameters = _plain_parameters(instance, state) if state is not None and dtype in REAL else None
    if parameters is not None:
        _fill(parameters, state, dtype)
        return
    if dtype:
        convert(instance, dtype)
    if state is not None:
        load_state(instance, state)


def load_state(instance: Any, state: Any) -> None:
    """Load a state dict that has all there is, and no more."""
    instance.load_state_dict(state, strict=True)


def state_of(instance: Any, _: Any) -> dict[str, Any]:
    """Give the state dict."""
    return dict(instance.state_dict())


def convert(instance: Any, dtype: Any) -> None:
    """Convert to the dtype of that name."""
    import torch

    instance.to(getattr(torch, dtype))


def describe(instance: Any, _: Any) -> dict[str, Any]:
    """Tell whether it is a module, and what parameters, buffers and children it has."""
    import torch

    if not isinstance(instance, torch.nn.Module):
        return {"is_module": False, "parameters": {}, "buffers": [], "children": {}}
    return {
        "is_module": True,
        "parameters": {name: tuple(value.shape) for name, value in instance.named_parameters()},
        "buffers": [name for name, _ in instance.named_buffers()],
        "children": {name: type(child).__name__ for name, child in instance.named_children()},
    }


def train(instance: Any, _: Any) -> None:
    """Switch to training."""
    instance.train()


def evaluate(instance: Any, _: Any) -> None:
    """Switch to evaluation."""
    instance.eval()


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "load": load_state,
    "state": state_of,
    "train": train,
    "eval": evaluate,
    "to": convert,
    "describe": describe,
}


def _fill(parameters: dict[str, torch.nn.Parameter], state: dict[str, torch.Tensor], dtype: str) -> None:
    import torch

    wanted = getattr(torch, dtype) if dtype else None
    with torch.no_grad():
        for name, parameter in parameters.items():
            if wanted is not None and parameter.dtype is not wanted:
                parameter.data = parameter.data.to(wanted)
            # In place, as torch does it: what was computed from the parameter before is known to be out of date.
            parameter.copy_(state[name])


def _plain_parameters(instance: Any, state: dict[str, Any]) -> dict[str, torch.nn.Parameter] | None:
    """Give a module's parameters by name where they are just what the state has and no step is the learner's own."""
    import torch

    if not isinstance(instance, torch.nn.Module) or not isinstance(state, dict) or _puts_others_in_their_place():
        return None
    found: dict[str, torch.nn.Parameter] = {}
    for prefix, module in _modules(instance, ""):
        if not _is_plain(module):
            return None
        for name, parameter in module._parameters.items():
            if parameter is None:
                # A layer without a bias.
                continue
            value = state.get(prefix + name)
            if value is None or not _fits(parameter, value):
                return None
            found[prefix + name] = parameter
    return found if len(found) == len(state) else None


def _modules(module: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    yield prefix, module
    # Whoever does not like a module has not asked for what is below it.
    for name, child in module._modules.items():
        if child is not None:
            yield from _modules(child, f"{prefix}{name}.")


def _is_plain(module: Any) -> bool:
    kind = type(module)
    for name, step in _steps_of_torch():
        if getattr(kind, name, None) is not step:
            return False
    own = module.__dict__
    if not own.keys().isdisjoint(STEPS):
        return False
    return all(name in own for name in INSIDE) and not any(own[name] for name in FOR_OTHERS)


def _fits(parameter: Any, value: Any) -> bool:
    import torch

    if type(parameter) is not torch.nn.Parameter or type(value) is not torch.Tensor:
        return False
    if not (parameter.is_floating_point() and value.is_floating_point() and parameter.shape == value.shape):
        return False
    if not (parameter.is_cpu and parameter.layout is torch.strided and parameter.is_contiguous()):
        return False
    return parameter.grad is None and not parameter.is_inference()


def _puts_others_in_their_place() -> bool:
    """Tell whether torch was told to make new parameters where it converts a module."""
    from torch import __future__ as switches

    return switches.get_overwrite_module_params_on_conversion() or switches.get_swap_module_params_on_conversion()


@functools.cache
def _steps_of_torch() -> tuple[tuple[str, Any], ...]:
    import torch

    return tuple((name, getattr(torch.nn.Module, name)) for name in STEPS)
