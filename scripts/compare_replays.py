#!/usr/bin/env python3
"""What strategies choose in recorded campaigns, and in how many seconds: the table of docs/results/replay.md.

    compare_replays.py STRIPLINE RECORDINGS [SEED...]

STRIPLINE is the command, RECORDINGS a folder with NAME.jsonl.zst of scripts/record_campaigns.sh. Random search is
told over all SEEDs (default: 1 to 10).
"""

import json
import pathlib
import statistics
import subprocess
import sys

# Whose recording a race may begin with: another machine, as like it as there is.
PRIORS = {"tcp": "cloud-ethernet", "cloud-ethernet": "tcp", "shm": "modern-rdma", "modern-rdma": "power5-lapi",
          "power5-lapi": "modern-rdma", "opteron-vapi": "itanium-gm", "itanium-gm": "opteron-vapi"}
SHARE = 0.15
NEAR = 0.03


def replay(stripline, recording, strategy, share=SHARE, seed=1, prior=None):
    command = [stripline, "--json", "campaign", "replay", recording, "--strategy", strategy, "--share", f"{share}", "--seed", f"{seed}"]
    if prior:
        command += ["--prior", prior]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def cell(result):
    return (f"{100 * result['share']:.1f} % | {100 * result['mean_regret']:.2f} % | "
            f"{result['near']} of {result['choices']}")


def main():
    stripline, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    seeds = [int(seed) for seed in sys.argv[3:]] or range(1, 11)
    print("| network | grid | race: seconds | slower than the best | within 3 % | halving: seconds | slower | within 3 % | "
          "random: slower | criterion | with a prior of | seconds | slower | within 3 % | criterion |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|---:|---:|---:|---|")
    for name, prior in PRIORS.items():
        recording = folder / f"{name}.jsonl.zst"
        other = folder / f"{prior}.jsonl.zst"
        if not recording.exists():
            continue
        grid = replay(stripline, recording, "grid")
        race = replay(stripline, recording, "race")
        halving = replay(stripline, recording, "halving")
        chance = statistics.mean(replay(stripline, recording, "random", seed=seed)["mean_regret"] for seed in seeds)
        met = race["share"] <= SHARE and race["mean_regret"] <= NEAR
        ahead = race["mean_regret"] <= halving["mean_regret"] and race["mean_regret"] < chance
        told = "met" if met and ahead else "missed" if not met else "met; not ahead"
        row = f"| {name} | {grid['seconds']:.3g} s | {cell(race)} | {cell(halving)} | {100 * chance:.2f} % | {told} | "
        if other.exists():
            begun = replay(stripline, recording, "race", share=SHARE / 2, prior=other)
            fits = begun["share"] <= SHARE / 2 and begun["mean_regret"] <= NEAR
            row += f"{prior} | {cell(begun)} | {'met' if fits else 'missed'} |"
        else:
            row += "- | - | - | - | - |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
