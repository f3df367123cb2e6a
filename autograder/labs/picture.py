"""A picture as notebooks show it: SVG whose text the browser sets, so that Chinese needs no font of ours.

Where a front end shows no HTML, and where a screen reader reads, the words stand for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

# Latin first; each system then has one of these for Chinese.
FONTS = "'DejaVu Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'WenQuanYi Micro Hei', sans-serif"


@dataclass(frozen=True)
class Picture:
    """An SVG and the words that say what is in it."""

    svg: str
    words: str

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": f"<div style='overflow-x:auto'>{self.svg}</div>", "text/plain": self.words}


@dataclass(frozen=True)
class Notice:
    """Sentences in a frame; `kind` is "note", "right" or "missed", and is said by a sign, not by the colour alone."""

    sentences: tuple[str, ...]
    kind: str = "note"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": "\n".join(self.sentences)}

    def html(self) -> str:
        """Give the frame as HTML."""
        sign, colour = {"right": ("✓", "#0072b2"), "missed": ("→", "#d55e00")}.get(self.kind, ("", "#7f7f7f"))
        lines = "<br>".join(escape(sentence) for sentence in self.sentences)
        return (
            f'<div class="attend-{self.kind}" style="border-left:4px solid {colour};padding:4px 10px;margin:4px 0;'
            f'line-height:1.5"><span style="color:{colour};font-weight:bold">{sign}</span> {lines}</div>'
        )
