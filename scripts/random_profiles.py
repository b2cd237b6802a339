#!/usr/bin/env python3
"""Emulated networks that were drawn at random.

    random_profiles.py DIR COUNT SEED

Writes random-SEED-1.json to random-SEED-COUNT.json to DIR. The same seed gives the same networks. Their
parameters are drawn evenly on logarithmic scales, wider than real networks are: latencies from 0.3 to
200 us, 10 ps to 20 ns a byte, up to three switches of protocol for each operation, at sizes of its own,
with jumps of up to 3 latencies and other overheads and bandwidths behind them, 2 to 512 operations in
flight, targets that must be inside the library or not, times that scatter by up to 30 %.
"""

import json
import math
import pathlib
import random
import sys

WHY = "drawn"


class Chance(random.Random):
    def between(self, least, most):
        return math.exp(self.uniform(math.log(least), math.log(most)))


def value(number):
    return {"value": number, "assumed": WHY}


def operation(chance, network, kind):
    latency = network["latency"] * (chance.uniform(1, 1.3) if kind != "put" else 1)
    byte = network["byte"] * chance.uniform(0.9, 1.2)
    overhead = network["overhead"] * chance.uniform(0.7, 1.5)
    copy = network["copy"]
    served = chance.random() < network["served"] and kind != "am"
    switches = 0 if kind == "am" else chance.choice((0, 1, 1, 1, 2, 3))
    sizes = [0] + sorted({int(chance.between(256, 512 << 10)) for _ in range(switches)})
    segments = []
    for size in sizes:
        if size > 0:
            latency += network["latency"] * chance.uniform(0, 3)
            byte *= chance.uniform(0.5, 1)
            overhead *= chance.uniform(0.8, 1.5)
            copy *= chance.choice((0, 1, 1))
        segment = {
            "from_bytes": size,
            "o_base_s": value(overhead),
            "o_per_byte_s": value(copy),
            "L_s": value(latency),
            "g_s": value(overhead * chance.uniform(0.2, 1.5)),
            "G_s_per_byte": value(byte),
            "r_base_s": value(overhead * chance.uniform(0.3, 1)),
            "r_per_byte_s": value(copy * chance.uniform(0, 1)),
        }
        if served:
            segment["s_base_s"] = value(overhead * chance.uniform(0, 1))
            segment["s_per_byte_s"] = value(copy)
        segments.append(segment)
    made = {"segments": segments}
    if served:
        made["needs_target"] = True
    return made


def profile(name, chance):
    latency = chance.between(0.3e-6, 200e-6)
    network = {
        "latency": latency,
        "byte": chance.between(10e-12, 20e-9),
        "overhead": min(chance.between(0.05e-6, 5e-6), latency),
        "copy": chance.choice((0, 0, 1)) * chance.between(20e-12, 300e-12),
        "served": chance.choice((0, 0, 0, 0.5, 1)),
    }
    return {
        "schema_version": 1,
        "name": name,
        "title": "A network that was drawn",
        **{kind: operation(chance, network, kind) for kind in ("put", "get", "am")},
        "queue_depth": value(int(chance.between(2, 512.99))),
        "injection_limit": value(min(64, int(chance.between(2, 128.99)))),
        "max_message_bytes": value(2 ** chance.randint(12, 16)),
        "ranks_per_node": value(1),
        "poll_s": value(chance.between(20e-9, 300e-9)),
        "jitter_within_run": value(chance.uniform(0, 0.3)),
        "jitter_between_runs": value(chance.uniform(0, 0.05)),
        "compute_scale": value(1),
        "processor": {
            "flops_per_s": value(chance.between(1e9, 20e9)),
            "memory_bytes_per_s": value(chance.between(2e9, 30e9)),
            "row_s": value(chance.between(2e-9, 20e-9)),
        },
    }


def main():
    folder, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(1, count + 1):
        name = f"random-{seed}-{number}"
        text = json.dumps(profile(name, Chance(f"{seed} {number}")), indent=1) + "\n"
        file = folder / f"{name}.json"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


main()
