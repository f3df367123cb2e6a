"""The heat map with its switches: mask on and off, a temperature slider, and every cell of Q, K, V and the mask."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.labs.heat_map import draw_heat_map
from autograder.labs.missed import shown_row
from autograder.labs.picture import Notice, Picture
from autograder.language import Phrase, say

Softmax = Callable[..., NDArray[np.float64]]
CausalMask = Callable[[int, int], NDArray[np.bool_]]


class AttentionState:
    """What the switches set: query, key, value, `allowed`, temperature; and what follows from it."""

    def __init__(self, query: Any, key: Any, value: Any, softmax: Softmax, causal_mask: CausalMask) -> None:
        self.query, self.key, self.value = (np.array(array, dtype=np.float64) for array in (query, key, value))
        self.temperature = 1.0
        self._softmax = softmax
        self._causal_mask = causal_mask
        self.mask(causal=True)

    def mask(self, *, causal: bool) -> None:
        """Lay the causal mask over all cells, or let every query read every key."""
        n_queries, n_keys = len(self.query), len(self.key)
        self.allowed = self._causal_mask(n_queries, n_keys) if causal else np.ones((n_queries, n_keys), dtype=bool)

    def weights(self) -> NDArray[np.float64]:
        """Weights `(n_queries, n_keys)`, by the softmax that was given; blocked scores are -inf before it."""
        scores = self.query @ self.key.T / math.sqrt(self.query.shape[-1])
        return np.asarray(self._softmax(np.where(self.allowed, scores, -np.inf), temperature=self.temperature))

    def picture(self, weights: NDArray[np.float64], language: str) -> Picture:
        """Draw the weights, with the last row as bars."""
        return draw_heat_map(weights, language, allowed=self.allowed, bars=True)


class Explorer:
    """The form around a state. A front end without widgets gets the picture as it is, and its words."""

    def __init__(self, state: AttentionState, language: str) -> None:
        self.state = state
        self.language = language
        self._form: Any = None

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        picture = self.state.picture(self.state.weights(), self.language)
        bundle = {"text/plain": picture.words, "text/html": picture.svg}
        if (form := self.form()) is None:
            return bundle
        widget = form._repr_mimebundle_()
        return {**bundle, **{kind: data for kind, data in widget.items() if kind != "text/plain"}}

    def form(self) -> Any:
        """Give the widgets, made once; None where ipywidgets is not installed."""
        if self._form is None:
            try:
                import ipywidgets
            except ImportError:
                return None
            self._form = _Form(ipywidgets, self.state, self.language)
        return self._form.whole


class _Form:
    def __init__(self, ipywidgets: Any, state: AttentionState, language: str) -> None:
        self._ipywidgets = ipywidgets
        self._state = state
        self._language = language
        self._mask_cells: list[list[Any]] = []
        self._quiet = False
        self._narrow = ipywidgets.Layout(width="58px")
        self._picture = ipywidgets.HTML()
        self._output = ipywidgets.HTML()
        self.causal = self._causal_switch()
        self.temperature = self._temperature_slider()
        self.editor = self._editor()
        switches = ipywidgets.HBox([self.causal, self.temperature])
        self.whole = ipywidgets.VBox([switches, self._picture, self._output, self.editor])
        self.redraw()

    def redraw(self, _: object = None) -> None:
        """Compute and draw again; what the learner's softmax raises is said in place of the picture."""
        if self._quiet:
            return
        try:
            weights = self._state.weights()
            self._picture.value = self._state.picture(weights, self._language).svg
            row = weights[-1] @ self._state.value
        except Exception as error:  # a learner's softmax may raise anything
            line = self._said(say("softmax raised {kind}: {error}", kind=type(error).__name__, error=error))
            self._picture.value = Notice((line,), "missed").html()
            self._output.value = ""
            return
        self._output.value = self._said(say("Output of the last query: {row}", row=shown_row(row)))

    def _causal_switch(self) -> Any:
        switch = self._ipywidgets.Checkbox(
            value=True,
            description=self._said(say("causal mask")),
            indent=False,
            layout=self._ipywidgets.Layout(width="180px"),
        )
        switch.observe(self._set_causal, "value")
        return switch

    def _temperature_slider(self) -> Any:
        slider = self._ipywidgets.FloatLogSlider(
            value=1.0, base=10, min=-1, max=2, step=0.05, readout_format=".2f",
            description=self._said(say("temperature")), layout=self._ipywidgets.Layout(width="420px"),
            style={"description_width": "initial"},
        )  # fmt: skip
        slider.observe(self._set_temperature, "value")
        return slider

    def _editor(self) -> Any:
        """Make the grids of cells; each is filled when it is first opened, since 16 by 16 cells take a moment."""
        grids: dict[str, Callable[[], Any]] = {
            "Q": lambda: self._numbers(self._state.query),
            "K": lambda: self._numbers(self._state.key),
            "V": lambda: self._numbers(self._state.value),
            self._said(say("mask")): self._mask,
        }
        accordion = self._ipywidgets.Accordion(
            children=[self._ipywidgets.VBox() for _ in grids], titles=tuple(grids), selected_index=None
        )

        def fill(change: Any) -> None:
            if change["new"] is not None and not accordion.children[change["new"]].children:
                accordion.children[change["new"]].children = [list(grids.values())[change["new"]]()]

        accordion.observe(fill, "selected_index")
        return accordion

    def _numbers(self, array: NDArray[np.float64]) -> Any:
        def cell(i: int, j: int) -> Any:
            field = self._ipywidgets.FloatText(value=float(array[i, j]), layout=self._narrow)

            def set_number(change: Any) -> None:
                array[i, j] = change["new"]
                self.redraw()

            field.observe(set_number, "value")
            return field

        return self._grid([[cell(i, j) for j in range(array.shape[1])] for i in range(array.shape[0])])

    def _mask(self) -> Any:
        def cell(i: int, j: int) -> Any:
            box = self._ipywidgets.ToggleButton(
                value=bool(self._state.allowed[i, j]),
                description=_sign(self._state.allowed[i, j]),
                layout=self._narrow,
                tooltip=self._said(say("query {query}, key {key}", query=i, key=j)),
            )

            def set_mask(change: Any) -> None:
                self._state.allowed[i, j] = change["new"]
                box.description = _sign(change["new"])
                self.redraw()

            box.observe(set_mask, "value")
            return box

        n_queries, n_keys = self._state.allowed.shape
        self._mask_cells = [[cell(i, j) for j in range(n_keys)] for i in range(n_queries)]
        return self._grid(self._mask_cells)

    def _grid(self, rows: list[list[Any]]) -> Any:
        return self._ipywidgets.VBox([self._ipywidgets.HBox(row) for row in rows])

    def _set_causal(self, change: Any) -> None:
        self._state.mask(causal=change["new"])
        # One redraw for all cells.
        self._quiet = True
        for cells, allowed in zip(self._mask_cells, self._state.allowed, strict=False):
            for box, may in zip(cells, allowed, strict=True):
                box.value = bool(may)
        self._quiet = False
        self.redraw()

    def _set_temperature(self, change: Any) -> None:
        self._state.temperature = float(change["new"])
        self.redraw()

    def _said(self, phrase: Phrase) -> str:
        return phrase.in_(self._language)


def _sign(may: bool) -> str:
    return "✓" if may else "×"
