#!/usr/bin/env python3
"""Emulated networks unlike those that are built in.

    make_profiles.py DIR RANDOM

Writes rdma-400g.json, ethernet-1g.json and RANDOM random ones to DIR, from profiles that are built in
with other figures. The same names stand for the same networks.
"""

import json
import math
import pathlib
import random
import sys

BUILT_IN = pathlib.Path(__file__).parent.parent / "runtime/fabric/emulated/profiles"
WHY = "a network to judge models on"


def profile(name, base, figures):
    """`figures`: L_s, G_s_per_byte, switch_bytes, switch_s, and factors of o and g."""
    made = json.loads((BUILT_IN / f"{base}.json").read_text())
    made["name"] = name
    made["title"] = WHY

    def put(place, member, value):
        place[member] = {"value": value, "assumed": WHY}

    for operation in ("put", "get", "am"):
        for i, segment in enumerate(made[operation]["segments"]):
            put(segment, "L_s", figures["L_s"] * (1.1 if operation == "get" else 1) + i * figures["switch_s"])
            put(segment, "G_s_per_byte", figures["G_s_per_byte"])
            for member in ("o_base_s", "g_s", "r_base_s"):
                put(segment, member, segment[member]["value"] * figures["overhead"])
            if i > 0:
                segment["from_bytes"] = figures["switch_bytes"]
    return made


def random_figures(seed):
    chance = random.Random(seed)

    def between(least, most):
        return math.exp(chance.uniform(math.log(least), math.log(most)))

    latency = between(0.6e-6, 60e-6)
    return {
        "L_s": latency,
        "G_s_per_byte": between(12e-12, 5e-9),
        "switch_bytes": 2 ** chance.randint(11, 16) * chance.choice((2, 3)) // 2,
        "switch_s": latency * between(0.1, 1),
        "overhead": between(0.5, 3),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    networks = {
        "rdma-400g": ("modern-rdma", {"L_s": 1.1e-6, "G_s_per_byte": 20e-12, "switch_bytes": 12 << 10,
                                      "switch_s": 0.4e-6, "overhead": 1}),
        "ethernet-1g": ("cloud-ethernet", {"L_s": 45e-6, "G_s_per_byte": 8.5e-9, "switch_bytes": 64 << 10,
                                           "switch_s": 20e-6, "overhead": 1}),
    }
    for seed in range(1, int(sys.argv[2]) + 1):
        networks[f"random-{seed}"] = ("modern-rdma" if seed % 2 else "cloud-ethernet", random_figures(seed))
    for name, (base, figures) in networks.items():
        text = json.dumps(profile(name, base, figures), indent=1) + "\n"
        file = folder / f"{name}.json"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


main()
