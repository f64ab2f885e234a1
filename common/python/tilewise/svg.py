"""Draws one request of a warp: which sectors, or which banks, its lanes ask for."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple, Union

_LANES, _BOX, _TOP, _BOTTOM = 32, 22, 40, 130


@dataclass(frozen=True)
class Picture:
    """An SVG picture; notebooks show it. `svg` is its text, save() writes it to a file."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def save(self, path: Union[str, Path]) -> None:
        Path(path).write_text(self.svg, encoding="utf-8")


def draw(title: str, columns: List[str], edges: List[Tuple[int, int]], caption: str) -> Picture:
    """Lanes 0 to 31 above, `columns` below, and a line for each of `edges`, (lane, column)."""
    width = 20 + _BOX * max(_LANES, len(columns))
    used = {column for _, column in edges}
    lanes = {lane for lane, _ in edges}
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 190" width="{width}" height="190" role="img" font-family="sans-serif" font-size="10">',
             f"<title>{title}: {caption}</title>", f'<text x="10" y="20" font-size="13" fill="#6b7280">{title}</text>']

    def box(x: int, y: int, text: str, fill: str) -> None:
        parts.append(f'<rect x="{x}" y="{y}" width="{_BOX - 2}" height="20" rx="3" fill="{fill}" fill-opacity="0.35" stroke="#6b7280"/>'
                     f'<text x="{x + _BOX / 2 - 1:g}" y="{y + 14}" text-anchor="middle" fill="#6b7280">{text}</text>')

    for lane, column in edges:
        parts.append(f'<line x1="{10 + _BOX * lane + _BOX / 2 - 1:g}" y1="{_TOP + 20}" x2="{10 + _BOX * column + _BOX / 2 - 1:g}" y2="{_BOTTOM}" stroke="#2563eb" stroke-opacity="0.6"/>')
    for lane in range(_LANES):
        box(10 + _BOX * lane, _TOP, str(lane), "#2563eb" if lane in lanes else "none")
    for i, name in enumerate(columns):
        box(10 + _BOX * i, _BOTTOM, name, "#ea580c" if i in used else "none")
    parts.append(f'<text x="10" y="175" font-size="12" fill="#6b7280">{caption}</text></svg>')
    return Picture("\n".join(parts))
