"""A family's implementation asked in this process, through the words that a suite has for a learner's module."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autograder.faults.family import Family, Fault
from autograder.sandbox.observed import Memory, largest_tensor, leaves, span
from autograder.sandbox.wire import Facts

SEED = 0


class Rehearsal:
    """Answers like `sandbox.learner.Learner` does, for code of our own that needs no jail."""

    def __init__(self, family: Family, faults: Iterable[Fault]) -> None:
        self.last = Facts()
        self._made = family.switched(faults)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or name not in self._made:
            raise AttributeError(name)
        return lambda *arguments, **keywords: self._call(self._made[name], arguments, keywords)

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
        return RehearsedModule(self, self._made[class_name](*arguments, **keywords))

    def _call(
        self, target: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any], *, measure: bool = False
    ) -> Any:
        places: list[tuple[int | str, Any]] = [*enumerate(arguments), *keywords.items()]
        memories = [Memory(leaf, place) for place, value in places for leaf in leaves(value)]
        _seed()
        with warnings.catch_warnings(record=True) as caught, largest_tensor(measure) as largest:
            warnings.simplefilter("always")
            result = target(*arguments, **keywords)
        names = list(inspect.signature(target).parameters)
        spans = [span(leaf) for leaf in leaves(result)]
        self.last = Facts(
            warnings=tuple((one.category.__name__, str(one.message)) for one in caught),
            modified=_named([memory for memory in memories if memory.changed()], names),
            shared=_named([memory for memory in memories if memory.meets(spans)], names),
            writeable=all(leaf.flags.writeable for leaf in leaves(result) if hasattr(leaf, "flags")),
            largest_tensor=largest[0] if measure else None,
        )
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

        own = [value.clone() if isinstance(value, torch.Tensor) else value for value in arguments]
        inputs = [own[place].requires_grad_() for place in wrt]
        result = self._call(target, own, keywords)
        parameters = dict(target.named_parameters()) if isinstance(target, torch.nn.Module) else {}
        outputs = list(result) if isinstance(result, tuple) else [result]
        pairs = [(out, given) for out, given in zip(outputs, cotangents, strict=False) if given is not None]
        flowing = [(out, given.to(out.dtype)) for out, given in pairs if out.requires_grad]
        wanted = [*inputs, *parameters.values()]
        found: Sequence[Any] = [None] * len(wanted)
        if flowing:
            starts, given = [out for out, _ in flowing], [cotangent for _, cotangent in flowing]
            found = torch.autograd.grad(starts, wanted, given, allow_unused=True)
        detached = tuple(out.detach() if isinstance(out, torch.Tensor) else out for out in outputs)
        by_name = dict(zip(parameters, found[len(inputs) :], strict=True))
        return RehearsedGradients(detached, tuple(found[: len(inputs)]), by_name)


class Measured:
    """Calls like the rehearsal's own, with the largest tensor measured."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    def __getattr__(self, name: str) -> Callable[..., Any]:
        made = self._rehearsal._made
        if name not in made:
            raise AttributeError(name)
        return lambda *arguments, **keywords: self._rehearsal._call(made[name], arguments, keywords, measure=True)


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
        return _detached(self._rehearsal._call(self._instance, arguments, keywords))

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
        return dict(self._instance.state_dict())

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


def _detached(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_detached(item) for item in value)
    return value.detach() if hasattr(value, "detach") else value


def _named(memories: Sequence[Memory], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(place if isinstance(place := one.place, str) else names[place] for one in memories)


def _seed() -> None:
    import sys

    import numpy as np

    np.random.seed(SEED)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.manual_seed(SEED)
