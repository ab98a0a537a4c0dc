"""The measurements as pictures, on a scale of logarithms: how many times as fast as eager PyTorch."""

from html import escape
from math import ceil, floor, log10

from table import ratio

COLORS = ("#4878a8", "#e08030", "#50a060", "#a050a0", "#c04040", "#807040", "#30a0b0", "#606060")
LEFT, WIDTH, RIGHT, LINE, TOP = 210, 520, 30, 20, 58


def svg(found: dict[str, dict[str, dict]], peers: list[str]) -> str:
    """A line for each workload, on it a dot for each peer, further right the faster."""
    peers = [peer for peer in peers if peer != "eager"]
    ratios = [(name, peer, ratio(row, peer)) for name, row in found.items() for peer in peers]
    ratios = [(name, peer, value) for name, peer, value in ratios if value is not None]
    low = floor(2 * min([0.0, *(log10(value) for *_, value in ratios)])) / 2
    high = max(ceil(2 * max([0.0, *(log10(value) for *_, value in ratios)])) / 2, low + 0.5)
    across = lambda value: LEFT + WIDTH * (log10(value) - low) / (high - low)  # noqa: E731
    down = {name: TOP + LINE * (k + 0.5) for k, name in enumerate(found)}
    width, height = LEFT + WIDTH + RIGHT, TOP + LINE * len(found) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="16">times as fast as eager PyTorch:</text>',
    ]
    at = LEFT + 190
    for peer, color in zip(peers, COLORS * len(peers)):
        parts += [f'<circle cx="{at}" cy="12" r="5" fill="{color}"/>', f'<text x="{at + 9}" y="16">{peer}</text>']
        at += 24 + 7 * len(peer)
    for value in [10.0**power * step for power in range(floor(low), ceil(high) + 1) for step in (1, 2, 5)]:
        if low - 1e-9 <= log10(value) <= high + 1e-9:
            x, color = across(value), "#888" if value == 1 else "#ddd"
            parts += [
                f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 8}" stroke="{color}"/>',
                f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{value:g}</text>',
            ]
    parts += [f'<text x="{LEFT - 10}" y="{y + 4:.0f}" text-anchor="end">{name}</text>' for name, y in down.items()]
    for name, peer, value in ratios:
        color = COLORS[peers.index(peer) % len(COLORS)]
        parts.append(f'<circle cx="{across(value):.1f}" cy="{down[name]:.1f}" r="5" fill="{color}"><title>{name}, {peer}: {value:.2f}</title></circle>')
    return "\n".join([*parts, "</svg>", ""])


HEIGHT, MARGIN = 320, 48


def spread(found: dict[str, dict[str, dict]], peers: list[str]) -> str:
    """All programs from the slowest to the fastest: a dot for each, higher the faster, that says its name to who points at it."""
    peers = [peer for peer in peers if peer != "eager"]
    ordered = {peer: sorted((value, name) for name, row in found.items() if (value := ratio(row, peer)) is not None) for peer in peers}
    values = [value for each in ordered.values() for value, _ in each] or [1.0]
    low, high = floor(2 * log10(min(values))) / 2, ceil(2 * log10(max(values))) / 2 + 1e-9
    down = lambda value: TOP + HEIGHT * (high - log10(value)) / (high - low)  # noqa: E731
    width, height = MARGIN + WIDTH + RIGHT, TOP + HEIGHT + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="8" y="16">times as fast as eager PyTorch, the slowest program at the left:</text>',
    ]
    for value in [10.0**power * step for power in range(floor(low), ceil(high) + 1) for step in (1, 2, 5)]:
        if low <= log10(value) <= high:
            y, color = down(value), "#888" if value == 1 else "#ddd"
            parts += [
                f'<line x1="{MARGIN}" y1="{y:.1f}" x2="{MARGIN + WIDTH}" y2="{y:.1f}" stroke="{color}"/>',
                f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>',
            ]
    for percent in range(0, 101, 10):
        x = MARGIN + WIDTH * percent / 100
        parts.append(f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{percent}%</text>')
    for place, (peer, color) in enumerate(zip(peers, COLORS * len(peers))):
        x = 410 + 90 * place
        parts += [f'<circle cx="{x}" cy="12" r="4" fill="{color}"/>', f'<text x="{x + 8}" y="16">{peer}</text>']
        for at, (value, name) in enumerate(ordered[peer]):
            x = MARGIN + WIDTH * (at + 0.5) / len(ordered[peer])
            parts.append(f'<circle cx="{x:.1f}" cy="{down(value):.1f}" r="2.5" fill="{color}"><title>{escape(name)}: {value:.2f}</title></circle>')
    return "\n".join([*parts, "</svg>", ""])
