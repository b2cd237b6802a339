"""What scripts/compare_*.sh print of the times of systems that ran the same rounds in turn."""

import json
import math
import statistics

# Student's t for a two-sided interval of 95 %, by degrees of freedom.
T95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}


def read_rounds(path, key_fields):
    """Lines of JSON with "system", "round", "median_s" and these fields. By the values of the
    fields, in the order of the file: a list of rounds, each {system: seconds}."""
    cases = {}
    with open(path) as lines:
        for line in lines:
            one = json.loads(line)
            key = tuple(one[field] for field in key_fields)
            rounds = cases.setdefault(key, {})
            rounds.setdefault(one["round"], {})[one["system"]] = one["median_s"]
    return {key: list(rounds.values()) for key, rounds in cases.items()}


def median_us(rounds, system):
    """The median over the rounds that the system has taken part in, or "-"."""
    times = [r[system] for r in rounds if system in r]
    return f"{statistics.median(times) * 1e6:.1f}" if times else "-"


def ratio(rounds, first, second):
    """The geometric mean of first / second over the rounds with both, and its 95 % interval."""
    logs = [math.log(r[first] / r[second]) for r in rounds if first in r and second in r]
    if not logs:
        return "-"
    mean = statistics.mean(logs)
    if len(logs) == 1:
        return f"{math.exp(mean):.2f}"
    half = T95.get(len(logs) - 1, 2.0) * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.2f} [{math.exp(mean - half):.2f}, {math.exp(mean + half):.2f}]"


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
