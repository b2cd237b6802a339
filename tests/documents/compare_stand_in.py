#!/usr/bin/env python3
"""Stands in for the programs that scripts/compare.py starts, by the name it is called by: appends its command to
$STAND_IN_LOG and prints lines as the program would, with times that follow from what it was asked."""

import json
import os
import re
import sys

LAUNCHERS = ("stripline-run", "mpirun", "oshrun")
LAUNCHED = r"(/stripline-|/conveyors$|/openshmem_times_\d$|/osh_single_accesses$|/osh_injection$|/openshmem/)"
DEFAULT_VARIANTS = {"earthquake": ["whole", "inspector", "reordered", "ring"]}
SYSTEMS = {
    "stripline-halo": ["ours", "ours, 26 puts", "libfabric", "libfabric, 26 messages"], "stripline-halo-mpi": ["mpi"],
    "stripline-spmv": ["ours", "ours, pack", "ours, bound"], "stripline-spmv-mpi": ["mpi", "mpi, neighbourhood"],
    "stripline-collectives": ["ours"], "stripline-collectives-mpi": ["mpi"], "stripline-irregular": ["ours"]}


def seconds(*of):
    """Between 1 and 2 ms, the same for the same words."""
    return 1e-3 * (1 + sum(ord(c) * (i + 1) for i, c in enumerate(" ".join(map(str, of)))) % 997 / 997)


def option(arguments, name, usual=None):
    return arguments[arguments.index(name) + 1] if name in arguments else usual


def gain_of_threads(arguments):
    """Threads slow each other down on one of the fabrics."""
    return 1.5 if option(arguments, "--fabric") == "tcp" else 0.9


def timed(program, arguments, ranks, nth):
    built_on = {"mpi": "MPI", "shmem": "SHMEM"}.get(os.path.basename(os.path.dirname(program)), "")
    name = os.path.basename(program)
    cases = [{"operation": "halo", "cells": n} for n in (16, 64)] if "halo" in name else \
        [{"operation": "spmv", "matrix": m} for m in ("banded", *map(os.path.basename, arguments[2:]))] if "spmv" in name else \
        [{"operation": o, "bytes": b} for o, b in (("barrier", 0), ("scan", 8))] if "collectives" in name else \
        [{"operation": "put", "bytes": 8}, {"operation": "barrier_all", "bytes": 0}] if "openshmem_times" in name else \
        [{"operation": o, "cells": c, "items": int(arguments[1])} for c in (1000, 1 << 20) for o in ("histogram", "indexgather")]
    systems = [arguments[0]] if "openshmem_times" in name else SYSTEMS.get(name, [f"conveyors on {built_on}, {os.environ.get('CONVEY_BUFFER_SIZE')}"])
    for case in cases:
        for system in systems:
            print(json.dumps({"system": system, **case, "ranks": ranks, "median_s": seconds(nth, system, case, ranks)}))


def bench(arguments):
    variants = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--variant"]
    kernel, ranks = arguments[1], int(option(arguments, "-n"))
    for variant in variants or ["whole", "inspector", "reordered", "ring"]:
        time_s = seconds(arguments)
        rules = [os.environ["STRIPLINE_TUNING"]] if "STRIPLINE_TUNING" in os.environ else []
        print(json.dumps({"experiment": kernel, "variant": variant, "ranks": ranks, "params": {"bytes": 8, "burst": 1},
                          "median": seconds(arguments[:-1], variant, *rules), "verified": True,
                          "plan": f"waited {1e6 * time_s:.1f} us, {int(1e6 * time_s)} parcels an epoch"},
                         separators=(",", ":")))


def write_report(arguments, elapsed_s):
    with open(option(arguments, "--report"), "w") as file:
        json.dump({"elapsed_s": elapsed_s}, file)


def main():
    name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
    with open(os.environ["STAND_IN_LOG"], "a") as log:
        settings = [f"{k}={os.environ[k]} " for k in ("CONVEY_BUFFER_SIZE", "STRIPLINE_SEGMENT_BYTES", "STRIPLINE_TUNING") if k in os.environ]
        words = " ".join([name] + arguments)
        log.write("".join(settings) + re.sub(r"/\S*/(?=(mpi|shmem)/conveyors|openshmem_times_|bare.jsonl|report.json)", "WORK/", words) + "\n")
    with open(os.environ["STAND_IN_LOG"]) as log:
        nth = sum(1 for _ in log)
    if name in LAUNCHERS:
        at = next(i for i, word in enumerate(arguments) if re.search(LAUNCHED, word))
        program = arguments[at]
        if program.endswith("neighbours"):
            print("a warning of a library")
            print(json.dumps({"launch": option(arguments, "--launch"), "path": "node" if "--same-node" in arguments else "network"}))
        elif program.endswith("osh_injection"):
            for threads, gain in ((1, 1), (2, gain_of_threads(arguments))):
                print(json.dumps({"operation": "put_nbi", "bytes": 1024, "threads": threads, "median_s": seconds(nth, program[-9:]) / gain}))
        elif program.endswith("stripline-injection"):
            gain = gain_of_threads(arguments)
            for operation, size in (("put", 8), ("put", 1024), ("get", 8), ("get", 1024), ("atomic add", 8)):
                for threads in (1, 2):
                    for variant in ("in_turns", "own_queues"):
                        rate = (gain if threads == 2 and variant == "own_queues" else 1) / seconds(operation, size)
                        print(json.dumps({"variant": variant, "params": {"operation": operation, "bytes": size, "threads": threads}, "median": rate}))
        elif program.endswith("osh_single_accesses") and "--report" in arguments:
            write_report(arguments, 1e-3 + int(arguments[at + 1]) * seconds(nth) / (30 if "--coalesce" in arguments else 1))
            print("histogram inf ns, index gather nan ns for each access, as expected")
        elif "/openshmem/" in program and "--report" in arguments:
            write_report(arguments, seconds(nth))
            print("Solution validates\n Verification    =               SUCCESSFUL")
        elif program.endswith("osh_single_accesses"):
            ns = 1e6 * seconds(nth) / (30 if "--coalesce" in arguments and arguments[-1] != "records" else 1)
            print(f"read and write {ns:.1f} ns for each access, as expected" if arguments[-1] == "records" else
                  f"histogram {ns:.1f} ns, index gather {ns + 1:.1f} ns for each access, as expected")
        elif "/openshmem/" in program:
            print(f"Rate (MB/s): 7 Avg time (s): {seconds(nth):.6f}, average total time (per PE): {seconds(nth):.6f} seconds")
        else:
            timed(program, arguments[at + 1:], int(option(arguments, "-n")), nth)
        return 3 if name == "oshrun" else 0
    if name == "stripline-bench":
        bench(arguments)
    elif name == "plan_strip_bench":
        print(json.dumps({"benchmarks": [{"name": one, "cpu_time": 1e6 * seconds(nth, one), "time_unit": "ns"} for one in ("plan", "find")]}))
    elif name == "stripline-neighbours-report":
        sys.stdout.write(open(arguments[-1]).read())
    elif name == "stripline":
        strategy = option(arguments, "--strategy")
        regret = seconds(*arguments[4:]) * 20 - 0.015 if strategy != "grid" else 0
        print(json.dumps({"share": 0.05 if "--prior" in arguments else 0.14, "mean_regret": regret, "near": 7, "choices": 9, "seconds": 12.5}))
    elif name == "autoreconf":
        with open("configure", "w") as script:
            script.write("#!/bin/sh\n")
        os.chmod("configure", 0o755)
    elif name == "stripline-compare":
        with open(option(arguments, "--json"), "w") as file:
            for row, unit in (("put 8 B", "s"), ("put 64 KiB, window 16", "B/s")):
                for variant in ("stripline", "bare libfabric"):
                    file.write(json.dumps({"experiment": f"compare.{row}", "variant": variant, "unit": unit, "median": seconds(nth, variant)}) + "\n")
    elif name in ("mpicxx", "oshc++", "oshcc") and "-o" in arguments:
        os.symlink(os.path.realpath(__file__), option(arguments, "-o"))
    elif name == "make":
        open("libconvey.a", "w").close()
    return 0


sys.exit(main())
