"""The charts of the labs, each with its words in the language of the notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.labs.charts import draw_bars, draw_lines
from autograder.labs.cost import Cost
from autograder.labs.picture import Picture
from autograder.language import Phrase, say


def bias(before: Sequence[float], after: Sequence[float], *, language: str) -> Picture:
    """Draw a row of weights before and after one key's score got a bias."""
    keys = [say("key {key}", key=key).in_(language) for key in range(len(before))]
    groups = {say("before").in_(language): before, say("with the bias").in_(language): after}
    return draw_bars(keys, groups, y_label=say("weight").in_(language), language=language)


def saturation(widths: Sequence[int], raw: Sequence[float], scaled: Sequence[float], *, language: str) -> Picture:
    """Draw the average largest weight of a row against d_k, with and without scaling."""
    lines = {say("without scaling").in_(language): raw, say("divided by √d_k").in_(language): scaled}
    return draw_lines(
        widths,
        lines,
        x_label="d_k",
        y_label=say("largest weight of a row, on average").in_(language),
        log_x=True,
        language=language,
    )


def heads(sharpness: Sequence[float], moved: Sequence[float], *, language: str) -> Picture:
    """Draw, for each head, how sharp its rows are and how far the output moves without it, as parts of the largest."""
    names = [str(head) for head in range(len(sharpness))]
    groups = {
        say("sharpness of its rows").in_(language): _parts(sharpness),
        say("how far the output moves without it").in_(language): _parts(moved),
    }
    return draw_bars(names, groups, y_label=say("part of the largest").in_(language), language=language)


def costs(measured: Sequence[Cost], *, language: str) -> Picture:
    """Draw entries, bytes and milliseconds against T, on two logarithmic axes."""
    lines = {
        say("entries of the scores").in_(language): [float(cost.entries) for cost in measured],
        say("bytes of the largest tensor").in_(language): [float(cost.largest_bytes) for cost in measured],
        say("time in microseconds").in_(language): [1e6 * cost.seconds for cost in measured],
    }
    return draw_lines(
        [cost.length for cost in measured],
        lines,
        x_label="T",
        y_label="",
        log_x=True,
        log_y=True,
        language=language,
        title=say("The time need not follow the entries").in_(language),
    )


def tiles(sizes: Sequence[int], mebibytes: Sequence[float], full: float, *, language: str) -> Picture:
    """Draw the largest tensor of tiled attention by block size, beside that of the full matrix."""
    names = [*(str(size) for size in sizes), say("full matrix").in_(language)]
    groups = {say("largest tensor by block size").in_(language): [*mebibytes, full]}
    return draw_bars(names, groups, y_label="MiB", language=language)


def effects(
    tokens: Sequence[str],
    weights: Sequence[float],
    interventions: Mapping[str, Sequence[float]],
    *,
    language: str,
) -> Picture:
    """Draw each token's weight beside how far the output moves under interventions, named as in `INTERVENTIONS`."""
    groups = {say("weight").in_(language): weights}
    groups |= {INTERVENTIONS[name].in_(language): moved for name, moved in interventions.items()}
    names = [say("token {token}", token=token).in_(language) for token in tokens]
    return draw_bars(names, groups, y_label=say("weight, or how far the output moves").in_(language), language=language)


INTERVENTIONS: Mapping[str, Phrase] = {
    "delete": say("moved when deleted"),
    "disturb": say("moved when disturbed"),
    "replace": say("moved when replaced by 0"),
}


def _parts(numbers: Sequence[float]) -> list[float]:
    largest = max(numbers)
    return [number / largest for number in numbers]
