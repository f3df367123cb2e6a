"""A family's implementation asked in this process, through the words that a suite has for a learner's module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autograder.faults.family import Family, Fault
from autograder.sandbox.learner import UnfitResult
from autograder.sandbox.observed import (
    BoundedWarnings,
    EarlierResults,
    Memory,
    fingerprint,
    is_tensor,
    largest_tensor,
    leaves,
    meet,
    parameter_names,
    span,
)
from autograder.sandbox.values import Blobs, pack, unpack
from autograder.sandbox.wire import Facts, split_blobs

SEED = 0


class Rehearsal:
    """Answers like `sandbox.learner.Learner` does, for code of our own that needs no jail."""

    def __init__(self, family: Family, faults: Iterable[Fault]) -> None:
        self.last = Facts()
        # What the last call returned, not copied: to be looked at before the next one; or the type of what it raised.
        self.last_result: Any = None
        self.last_raised = ""
        self._made = family.switched(faults)
        self._earlier = EarlierResults()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or name not in self._made:
            raise AttributeError(name)
        return lambda *arguments, **keywords: _copied(self._call(self._made[name], arguments, keywords))

    @property
    def measured(self) -> Measured:
        """The same functions, with the largest tensor measured."""
        return Measured(self)

    def gradients(
        self, function: str, *arguments: Any, cotangents: tuple[Any, ...], wrt: tuple[int, ...], **keywords: Any
    ) -> RehearsedGradients:
        """Call a function and ask what flows back to the arguments at the positions `wrt`."""
        return self._gradients(self._made[function], arguments, keywords, cotangents, wrt)

    def new(self, class_name: str, *arguments: Any, **keywords: Any) -> RehearsedModule:
        """Make an instance of a class."""
        _seed()
        self.last = Facts()
        return RehearsedModule(self, self._made[class_name](*arguments, **keywords))

    def new_loaded(
        self, class_name: str, state: dict[str, Any], dtype: str, *arguments: Any, **keywords: Any
    ) -> RehearsedModule:
        """Make an instance, convert it to a dtype and load a state dict strictly."""
        module = self.new(class_name, *arguments, **keywords)
        module.to(dtype)
        module.load(state)
        return module

    def _call(
        self, target: Callable[..., Any], given: Sequence[Any], keywords: dict[str, Any], *, measure: bool = False
    ) -> Any:
        return self._observed(target, as_received(list(given)), as_received(keywords), measure=measure)

    def _observed(
        self, target: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any], *, measure: bool = False
    ) -> Any:
        places: list[tuple[int | str, Any]] = [*enumerate(arguments), *keywords.items()]
        memories = [Memory(leaf, place) for place, value in places for leaf in leaves(value)]
        before = [fingerprint(memory.value) for memory in memories]
        lying = [span(memory.value) for memory in memories]
        caught = BoundedWarnings()
        _seed()
        self.last_result, self.last_raised = None, ""
        try:
            with caught.collecting(), largest_tensor(measure) as largest:
                result = target(*arguments, **keywords)
        except Exception as error:
            self.last_raised = type(error).__name__
            raise
        finally:
            # All that is told of a call that raised.
            self.last = Facts(warnings=tuple(caught.found))
        arrays = list(leaves(result))
        spans = [span(leaf) for leaf in arrays]
        changed = [memory for memory, was in zip(memories, before, strict=True) if fingerprint(memory.value) != was]
        shared = _named([memory for memory, own in zip(memories, lying, strict=True) if meet(own, spans)], target)
        self.last = Facts(
            warnings=tuple(caught.found),
            modified=_named(changed, target),
            shared=(*shared, "an earlier result") if self._earlier.meet(spans) else shared,
            writeable=all(leaf.flags.writeable for leaf in arrays if hasattr(leaf, "flags")),
            largest_tensor=largest[0] if measure else None,
        )
        self._earlier.keep(arrays, spans)
        self.last_result = result
        return result

    def _gradients(
        self,
        target: Callable[..., Any],
        arguments: Sequence[Any],
        keywords: dict[str, Any],
        cotangents: tuple[Any, ...],
        wrt: tuple[int, ...],
    ) -> RehearsedGradients:
        import torch

        own = as_received(list(arguments))
        inputs = [own[place].requires_grad_() for place in wrt]
        result = self._observed(target, own, as_received(keywords))
        parameters = dict(target.named_parameters()) if isinstance(target, torch.nn.Module) else {}
        outputs = list(result) if isinstance(result, list | tuple) else [result]
        pairs = [(out, given) for out, given in zip(outputs, cotangents, strict=False) if given is not None]
        if not (pairs and all(is_tensor(out) and out.shape == given.shape for out, given in pairs)):
            raise UnfitResult("no gradient can be asked for")
        flowing = [(out, given.to(out.dtype)) for out, given in pairs if out.requires_grad]
        wanted = [*inputs, *parameters.values()]
        found: list[Any] = [None] * len(wanted)
        if flowing:
            learning = [value for value in wanted if value.requires_grad]
            total = sum((out * cotangent).sum() for out, cotangent in flowing)
            flowed = iter(torch.autograd.grad([total], learning, allow_unused=True))
            found = [next(flowed) if value.requires_grad else None for value in wanted]
        by_name = dict(zip(parameters, found[len(inputs) :], strict=True))
        return RehearsedGradients(_copied(result), tuple(found[: len(inputs)]), by_name)


class Measured:
    """Calls like the rehearsal's own, with the largest tensor measured."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    def __getattr__(self, name: str) -> Callable[..., Any]:
        made = self._rehearsal._made
        if name not in made:
            raise AttributeError(name)
        return lambda *arguments, **keywords: _copied(
            self._rehearsal._call(made[name], arguments, keywords, measure=True)
        )


class RehearsedGradients:
    """What a call returned and what flowed back, like `sandbox.learner.Gradients`."""

    def __init__(self, result: Any, arguments: tuple[Any, ...], parameters: dict[str, Any]) -> None:
        self.result = result
        self.arguments = arguments
        self.parameters = parameters


class RehearsedModule:
    """An instance, like `sandbox.learner.RemoteModule`."""

    def __init__(self, rehearsal: Rehearsal, instance: Any) -> None:
        self._rehearsal = rehearsal
        self._instance = instance

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return _copied(self._rehearsal._call(self._instance, arguments, keywords))

    def gradients(
        self, *arguments: Any, cotangents: tuple[Any, ...], wrt: tuple[int, ...], **keywords: Any
    ) -> RehearsedGradients:
        """Call the instance and ask what flows back to arguments and parameters."""
        return self._rehearsal._gradients(self._instance, arguments, keywords, cotangents, wrt)

    def load(self, state: dict[str, Any]) -> None:
        """Load a state dict strictly."""
        self._instance.load_state_dict(state, strict=True)

    def state(self) -> dict[str, Any]:
        """Give the state dict."""
        return {name: _copied(value) for name, value in self._instance.state_dict().items()}

    def train(self) -> None:
        """Switch to training mode."""
        self._instance.train()

    def eval(self) -> None:
        """Switch to evaluation mode."""
        self._instance.eval()

    def to(self, dtype: str) -> None:
        """Convert parameters to a dtype, named as in torch ("float64")."""
        import torch

        self._instance.to(getattr(torch, dtype))


def as_received(value: Any) -> Any:
    """Give a value as it arrives on the other side of the wire, with its memory laid out as it was."""
    blobs = Blobs()
    packed = pack(value, blobs, layout=True)
    payload = memoryview(bytearray(blobs.joined()))
    return unpack(packed, split_blobs(payload, blobs.lengths()), layout=True)


def _copied(value: Any) -> Any:
    """Give a result as it would arrive from another process: nothing that happens later can change it."""
    if isinstance(value, list | tuple):
        return type(value)(_copied(item) for item in value)
    if is_tensor(value):
        return value.detach().clone()
    # A NumPy number arrives as an array without axes.
    return np.array(value) if isinstance(value, np.ndarray | np.generic) else value


def _named(memories: Sequence[Memory], target: Callable[..., Any]) -> tuple[str, ...]:
    if not memories:
        return ()
    names = parameter_names(target)
    return tuple(_name(one.place, names) for one in memories)


def _name(place: int | str, names: Sequence[str]) -> str:
    if isinstance(place, str):
        return place
    return names[place] if place < len(names) else f"argument {place + 1}"


def _seed() -> None:
    np.random.seed(SEED)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.manual_seed(SEED)
