#!/usr/bin/env python3
"""Draws what a campaign has measured: time by size, a curve for each kind of transfer, as SVG.

    draw_curve.py https://head:7413 campaigns/c1 micro.latency > latency.svg

The token and the server's authority are those of 'stripline login', unless --token-file and --ca-file
name others (docs/python.md). Bars are the 95 % intervals of the medians.
"""

import argparse
import math
import sys
from html import escape
from typing import Any, Dict, Iterable, List, Tuple

from stripline_client import AccessError, Client, ConnectionFailed, ServerError

WIDTH, HEIGHT = 760, 480
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 60
# Distinct for those who see few colours, too (Okabe and Ito, 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")

Curve = List[Tuple[float, float, float, float]]  # by, median, low, high


def curves_of(points: Iterable[Dict[str, Any]], experiment: str, by: str) -> Dict[str, Curve]:
    """The measured points of an experiment in the order of the parameter `by`, by what else they are."""
    curves: Dict[str, Curve] = {}
    for point in points:
        x = point["params"].get(by)
        median = point["median"]
        if point["experiment"] != experiment or median is None or median <= 0:
            continue
        if not isinstance(x, (int, float)) or x <= 0:
            continue
        others = [f"{name} {value}" for name, value in sorted(point["params"].items()) if name != by]
        name = ", ".join([point["variant"]] * bool(point["variant"]) + others) or experiment
        low = median if point["low"] is None else max(point["low"], median * 1e-3)
        high = median if point["high"] is None else point["high"]
        curves.setdefault(name, []).append((x, median, low, high))
    return {name: sorted(curve) for name, curve in sorted(curves.items())}


def size_text(value: float) -> str:
    for factor, unit in ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki")):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g}"


def time_text(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= factor * 0.9999:
            return f"{seconds / factor:g} {unit}"
    return f"{seconds * 1e9:g} ns"


class Axis:
    """Logarithmic: where values are between two places of the picture."""

    def __init__(self, values: Iterable[float], begin: float, end: float, base: int):
        values = list(values)
        self.base = base
        self.low = math.floor(math.log(min(values), base))
        self.high = max(math.ceil(math.log(max(values), base) - 1e-9), self.low + 1)
        self.begin, self.end = begin, end

    def at(self, value: float) -> float:
        share = (math.log(value, self.base) - self.low) / (self.high - self.low)
        return round(self.begin + share * (self.end - self.begin), 2)

    def ticks(self, most: int = 8) -> List[float]:
        step = max(1, math.ceil((self.high - self.low) / most))
        return [float(self.base) ** power for power in range(self.low, self.high + 1, step)]


def svg_of(curves: Dict[str, Curve], title: str, by: str) -> str:
    x = Axis((p[0] for c in curves.values() for p in c), LEFT, WIDTH - RIGHT, 2)
    y = Axis((v for c in curves.values() for p in c for v in p[1:]), HEIGHT - BOTTOM, TOP, 10)
    height = HEIGHT + 18 * len(curves)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 18}" text-anchor="middle">{escape(by)}</text>',
    ]
    for value in x.ticks():
        out.append(f'<path d="M{x.at(value)} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        out.append(f'<text x="{x.at(value)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size_text(value)}</text>')
    for value in y.ticks():
        out.append(f'<path d="M{LEFT} {y.at(value)}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y.at(value) + 4}" text-anchor="end">{time_text(value)}</text>')
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join(f"{x.at(at)},{y.at(median)}" for at, median, _, _ in curve)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for at, median, low, high in curve:
            out.append(f'<path d="M{x.at(at)} {y.at(low)}V{y.at(high)}" stroke="{colour}"/>')
            out.append(f'<circle cx="{x.at(at)}" cy="{y.at(median)}" r="2.5" fill="{colour}"/>')
        row = HEIGHT + 18 * number
        out.append(f'<rect x="{LEFT}" y="{row - 9}" width="18" height="4" fill="{colour}"/>')
        out.append(f'<text x="{LEFT + 26}" y="{row - 3}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("url", help="of the dashboard, such as https://head:7413")
    parser.add_argument("campaign", help="campaigns/cN")
    parser.add_argument("experiment", help="such as micro.latency")
    parser.add_argument("--by", default="bytes", help="the parameter along the horizontal axis (bytes)")
    parser.add_argument("--token-file")
    parser.add_argument("--ca-file")
    options = parser.parse_args()
    try:
        with Client(options.url, token_file=options.token_file, ca_file=options.ca_file) as client:
            points = client.get_points(options.campaign)["points"]
    except (AccessError, ConnectionFailed, ServerError, ValueError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    curves = curves_of(points, options.experiment, options.by)
    if not curves:
        known = sorted({point["experiment"] for point in points if point["median"] is not None})
        print(
            f"error: {options.campaign} has no measured points of {options.experiment} by {options.by}; "
            f"it has measured {', '.join(known) or 'nothing yet'}",
            file=sys.stderr,
        )
        return 1
    sys.stdout.write(svg_of(curves, f"{options.campaign}: {options.experiment}", options.by))
    return 0


if __name__ == "__main__":
    sys.exit(main())
