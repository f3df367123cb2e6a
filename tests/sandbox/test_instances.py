"""An instance is converted and its state loaded in one walk, with just what torch's two walks give, errors included."""

import copy

import pytest
import torch
from torch import nn

from autograder.sandbox import instances


class Layered(nn.Module):
    """Two layers, one of them below another module, and a child that is None."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 2)
        self.below = nn.Sequential(nn.Dropout(), nn.Linear(2, 3, bias=False))
        self.nothing = None
        self.add_module("absent", None)
        self.scale = nn.Parameter(torch.ones(2))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = self.first


class WithBuffer(Layered):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(2))


class WithItsOwnLoading(Layered):
    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict({name: value + 1 for name, value in state_dict.items()}, strict)


class WithALayerThatLoadsItself(Layered):
    class Layer(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            super()._load_from_state_dict({name: -value for name, value in state_dict.items()}, prefix, *rest)

    def __init__(self) -> None:
        super().__init__()
        self.first = self.Layer(3, 2)


class WithItsOwnConversion(Layered):
    def _apply(self, fn, recurse=True):
        return self


class WithAHook(Layered):
    def __init__(self) -> None:
        super().__init__()
        self.register_load_state_dict_pre_hook(_double)


class WithAnAttributeInTheWay(Layered):
    def __init__(self) -> None:
        super().__init__()
        self.to = lambda dtype: None


class WithAView(nn.Module):
    """Its parameter's memory is known by another name, too."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 3))
        self.rows = self.weight.data.flatten()


class Transposed(nn.Module):
    """Its parameter does not lie in memory as one would think."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 2).t())


class WithHiddenChildren(Layered):
    def children(self):
        return iter(())


class WithAnExpandedParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1).expand(3))


class ComputesBeforehand(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.squared = self.weight**2


class Unfinished(nn.Module):
    def __init__(self) -> None:
        pass


def _double(module, state_dict, prefix, *rest):
    for name in list(state_dict):
        state_dict[name] = 2 * state_dict[name]


def twice(module: nn.Module, dtype: str, state: dict[str, torch.Tensor]) -> None:
    if dtype:
        module.to(getattr(torch, dtype))
    module.load_state_dict(state, strict=True)


def random_state_of(module: nn.Module, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    return {name: torch.randn(value.shape).to(dtype) for name, value in module.state_dict().items()}


@pytest.fixture(autouse=True)
def torch_is_remembered():
    instances.remember_torch()


@pytest.mark.parametrize("dtype", ["", "float32", "float64", "float16"])
@pytest.mark.parametrize("sent", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "kind",
    [
        Layered, Tied, WithBuffer, WithItsOwnLoading, WithALayerThatLoadsItself, WithItsOwnConversion, WithAHook,
        WithAnAttributeInTheWay, WithAView, Transposed, WithHiddenChildren,
    ],
)  # fmt: skip
def test_a_module_is_as_torch_would_have_made_it(kind, sent, dtype):
    module, other = kind(), kind()
    state = random_state_of(module, sent)
    twice(other, dtype, copy.deepcopy(state))
    instances.convert_and_load(module, dtype, state)
    expected = other.state_dict()
    assert module.state_dict().keys() == expected.keys()
    for name, value in module.state_dict().items():
        assert value.dtype is expected[name].dtype
        assert value.stride() == expected[name].stride()
        assert torch.equal(value, expected[name])
    if kind is WithAView:
        assert torch.equal(module.rows, other.rows)


def test_parameters_stay_the_objects_that_the_constructor_made():
    module = Layered()
    before = dict(module.named_parameters())
    instances.convert_and_load(module, "float64", random_state_of(module, torch.float64))
    assert all(value is before[name] and value.requires_grad for name, value in module.named_parameters())


def test_parameters_do_not_lie_in_the_memory_of_what_was_sent():
    module = Layered()
    state = random_state_of(module, torch.float64)
    instances.convert_and_load(module, "float64", state)
    state["first.weight"].zero_()
    assert module.first.weight.abs().min() > 0


@pytest.mark.parametrize("sent", [torch.zeros(3, 2).t(), torch.zeros(2, 3)])
@pytest.mark.parametrize("dtype", ["", "float64"])
def test_how_a_state_lies_in_memory_says_nothing_of_how_a_parameter_does(sent, dtype):
    module = WithAView()
    instances.convert_and_load(module, dtype, {"weight": sent})
    assert module.weight.stride() == (3, 1)


@pytest.mark.parametrize("dtype", ["", "float64"])
def test_what_was_computed_from_a_parameter_before_it_was_loaded_is_known_to_be_out_of_date(dtype):
    module = ComputesBeforehand()
    instances.convert_and_load(module, dtype, {"weight": torch.zeros(3)})
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        module.squared.sum().backward()


@pytest.mark.parametrize(
    ("kind", "dtype"), [(WithAnExpandedParameter, ""), (WithAnExpandedParameter, "float32"), (Layered, "int64")]
)
def test_what_cannot_be_done_is_refused_in_torchs_words(kind, dtype):
    state = random_state_of(kind(), torch.float32)
    with pytest.raises((RuntimeError, TypeError)) as expected:
        twice(kind(), dtype, state)
    with pytest.raises(type(expected.value)) as told:
        instances.convert_and_load(kind(), dtype, state)
    assert str(told.value) == str(expected.value)


def test_where_torch_makes_new_parameters_so_it_is():
    module = WithAView()
    first = module.weight
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        instances.convert_and_load(module, "float64", random_state_of(module, torch.float64))
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    assert module.weight is not first
    assert module.weight.dtype is torch.float64


def spoilt(state: dict[str, torch.Tensor], how: str) -> dict[str, torch.Tensor]:
    if how == "one is missing":
        return {name: value for name, value in state.items() if name != "scale"}
    if how == "one too many":
        return state | {"more": torch.zeros(1)}
    return state | {"scale": torch.zeros(3)}


@pytest.mark.parametrize("how", ["one is missing", "one too many", "another shape"])
def test_a_state_that_does_not_fit_is_refused_in_torchs_words(how):
    module, other = Layered(), Layered()
    state = spoilt(random_state_of(module, torch.float32), how)
    with pytest.raises(RuntimeError) as expected:
        twice(other, "float64", state)
    with pytest.raises(RuntimeError) as told:
        instances.convert_and_load(module, "float64", state)
    assert str(told.value) == str(expected.value)
    assert "Layered" in str(told.value)


def test_a_module_whose_class_forgot_torchs_constructor_fails_as_with_torch():
    with pytest.raises(AttributeError) as expected:
        twice(Unfinished(), "float64", {})
    with pytest.raises(AttributeError) as told:
        instances.convert_and_load(Unfinished(), "float64", {})
    assert str(told.value) == str(expected.value)


def test_a_step_that_was_replaced_in_torch_itself_is_the_one_taken(monkeypatch):
    module = Layered()
    seen = []
    monkeypatch.setattr(nn.Module, "load_state_dict", lambda module, state, strict: seen.append(strict))
    instances.convert_and_load(module, "", random_state_of(module, torch.float32))
    assert seen == [True]


@pytest.mark.parametrize("kind", [Layered, Tied, WithAView])
def test_a_plain_module_is_filled_in_one_walk(kind, monkeypatch):
    module, other = kind(), kind()
    state = random_state_of(module, torch.float64)
    twice(other, "float64", state)
    monkeypatch.setattr(instances, "convert", None)
    monkeypatch.setattr(instances, "load_state", None)
    instances.convert_and_load(module, "float64", state)
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in module.state_dict().items())
