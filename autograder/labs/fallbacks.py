"""The pictures that stand in the text of a lab, for whoever reads it without a kernel.

Their numbers are written down here, so that a picture is the same wherever it is made; a test runs the notebooks and
compares. The times are those of one run on two virtual cores that had other work to do as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autograder.labs import drawings
from autograder.labs.cost import Cost
from autograder.labs.heat_map import draw_heat_map
from autograder.labs.picture import Picture
from autograder.language import say

NAN = float("nan")
LOWER = [[True, False, False, False], [True, True, False, False], [True, True, True, False], [True, True, True, True]]
UPPER = [[not may for may in row] for row in LOWER]

ONE_ROW = [[0.6698, 0.3302]]
CAUSAL = [
    [1.0, 0.0, 0.0, 0.0],
    [0.1956, 0.8044, 0.0, 0.0],
    [0.1636, 0.1636, 0.6728, 0.0],
    [0.609, 0.073, 0.3003, 0.0177],
]
CAUSAL_WARM = [
    [1.0, 0.0, 0.0, 0.0],
    [0.4647, 0.5353, 0.0, 0.0],
    [0.3173, 0.3173, 0.3655, 0.0],
    [0.2905, 0.2349, 0.2706, 0.204],
]
CAUSAL_OFF = [
    [0.4344, 0.1056, 0.4344, 0.0257],
    [0.075, 0.3083, 0.3083, 0.3083],
    [0.1573, 0.1573, 0.6471, 0.0382],
    [0.609, 0.073, 0.3003, 0.0177],
]
ZEROED = [
    [0.4344, 0.0, 0.0, 0.0],
    [0.075, 0.3083, 0.0, 0.0],
    [0.1573, 0.1573, 0.6471, 0.0],
    [0.609, 0.073, 0.3003, 0.0177],
]
TURNED_ROUND = [[0.0, 0.1867, 0.7679, 0.0454], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0], [NAN, NAN, NAN, NAN]]
HEAD_0 = [
    [0.0866, 0.19, 0.2525, 0.0266, 0.4115, 0.0329],
    [0.2394, 0.1098, 0.0856, 0.4884, 0.0558, 0.0211],
    [0.0926, 0.1466, 0.3652, 0.097, 0.1464, 0.1521],
    [0.4318, 0.0987, 0.0104, 0.3798, 0.0431, 0.0362],
    [0.0906, 0.079, 0.0782, 0.6375, 0.0278, 0.0869],
    [0.2212, 0.1547, 0.16, 0.3118, 0.1012, 0.0511],
]
HEAD_5 = [
    [0.0144, 0.511, 0.0148, 0.0832, 0.3561, 0.0205],
    [0.3171, 0.2057, 0.1333, 0.0584, 0.1054, 0.1801],
    [0.0792, 0.6984, 0.1172, 0.0531, 0.0349, 0.0172],
    [0.0975, 0.1454, 0.1262, 0.3212, 0.192, 0.1177],
    [0.1078, 0.0679, 0.1405, 0.31, 0.3392, 0.0346],
    [0.4109, 0.2575, 0.1167, 0.1507, 0.0197, 0.0445],
]
BIAS = ([0.609, 0.073, 0.3, 0.018], [0.541, 0.176, 0.267, 0.016])
WIDTHS = [1, 4, 16, 64, 256, 1024]
SATURATION = ([0.203, 0.393, 0.691, 0.84, 0.93, 0.964], [0.203, 0.214, 0.245, 0.239, 0.248, 0.246])
HEADS = (
    [0.899, 0.804, 0.806, 0.746, 0.773, 0.882, 0.73, 1.0],
    [0.979, 0.975, 1.0, 0.905, 0.894, 0.932, 0.888, 0.894],
)
MILLISECONDS = {256: 0.489, 512: 1.4, 1024: 26.6, 2048: 105.0, 4096: 521.0}
TILES = ([64, 128, 512, 2048], [0.5, 1.0, 4.0, 16.0], 16.0)
EFFECTS = ([0.6, 0.25, 0.1, 0.05], [0.0, 0.133, 0.222, 0.316])


def _row_of_the_tutorial(language: str) -> Picture:
    return draw_heat_map(ONE_ROW, language, title=say("One query, two keys").in_(language))


def _causal(language: str) -> Picture:
    title = say("Temperature {temperature}", temperature=1).in_(language)
    return draw_heat_map(CAUSAL, language, allowed=LOWER, title=title, bars=True)


def _causal_warm(language: str) -> Picture:
    title = say("Temperature {temperature}", temperature=10).in_(language)
    return draw_heat_map(CAUSAL_WARM, language, allowed=LOWER, title=title, bars=True)


def _causal_off(language: str) -> Picture:
    return draw_heat_map(CAUSAL_OFF, language, title=say("Without a mask").in_(language), bars=True)


def _zeroed(language: str) -> Picture:
    return draw_heat_map(ZEROED, language, allowed=LOWER, title=say("Zeroed after the softmax").in_(language))


def _turned_round(language: str) -> Picture:
    return draw_heat_map(TURNED_ROUND, language, allowed=UPPER, title="nn.MultiheadAttention(attn_mask=allowed)")


def _head(number: int, weights: list[list[float]]) -> Callable[[str], Picture]:
    return lambda language: draw_heat_map(weights, language, title=say("Head {number}", number=number).in_(language))


def _costs(language: str) -> Picture:
    costs = [
        Cost(length, length * length, 4 * length * length, milliseconds / 1000)
        for length, milliseconds in MILLISECONDS.items()
    ]
    return drawings.costs(costs, language=language)


def _effects(language: str) -> Picture:
    weights, deleted = EFFECTS
    return drawings.effects("0123", weights, {"delete": deleted}, language=language)


FALLBACKS: Mapping[str, Callable[[str], Picture]] = {
    "one_row": _row_of_the_tutorial,
    "causal": _causal,
    "causal_warm": _causal_warm,
    "causal_off": _causal_off,
    "bias": lambda language: drawings.bias(*BIAS, language=language),
    "saturation": lambda language: drawings.saturation(WIDTHS, *SATURATION, language=language),
    "zeroed": _zeroed,
    "turned_round": _turned_round,
    "head_0": _head(0, HEAD_0),
    "head_5": _head(5, HEAD_5),
    "heads": lambda language: drawings.heads(*HEADS, language=language),
    "costs": _costs,
    "tiles": lambda language: drawings.tiles(*TILES, language=language),
    "effects": _effects,
}
