#!/usr/bin/env python3
"""Sets programs beside each other, in alternating jobs, and prints a table in Markdown:

    scripts/compare.py NAME [ARGUMENT...]        scripts/compare.py NAME --help: what NAME compares

Programs that are measured in rounds print JSON lines with a system and its median time (suites/compare). A ratio is the
geometric mean of those of the rounds, with its 95 % interval: below 1, the first named is faster. The commands of
docs/results are these. A job that fails, or whose results are wrong, is named, what it printed counts, and the
exit status is 1. It is 3 where a criterion is not met.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Student's t for a two-sided interval of 95 %, from one degree of freedom on. With more than the last: a little more
# than it is.
T95 = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13,
       2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04]
AS_ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
# What is asked: the most that a ratio of times may be, but for the names that say otherwise. The figures that theses and papers
# are compared with stand with their kernels.
ASKED = {
    "collectives: ours / Open MPI": 1.1,
    "collectives: with a model / without": 1,
    "spmv: ours / MPI, over tcp": 1,
    "spmv: ours / MPI, over shm": 0.83,
    "conveyors: ours / conveyors": 1,
    "loads: region / plain": 1.03,
    "choices: decided / best, on average": 1.03,
    "choices: decided / best, at worst": 1.15,
    "openshmem: ours / bare libfabric": 1.05,
    "openshmem: ours / another implementation": 1,
    "single accesses: times as fast, at least": 20,
    "single accesses: coalesced / UpdateEpoch and GatherPlan": 1.5,
    "reads and writes in turns: coalesced / as it is": 1.02,
    "unmodified: with an option / as it is": 1.02,
    "injection: two threads / one thread": 1,
    "shared updates: adaptive / best strategy": 1.05,
    "clocks: real / virtual, from 1 to either side": 0.03,
    "replays: share of the seconds": 0.15,
    "replays: loss on average": 0.03,
    "benches: after / before": 1.03}
failures = []
unmet = []


def run_job(command, limit_s, environment=None, may_fail=False):
    """The JSON lines that a command prints within a time; libraries may print others among them."""
    done = subprocess.run(["timeout", "-k", "10", str(limit_s), *map(str, command)], text=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, **(environment or {})), check=False)
    lines, damaged = [], 0
    for line in done.stdout.splitlines():
        if not line.startswith("{"):
            continue
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:  # the last line of a job that was ended is cut off
            damaged += 1
    if (done.returncode != 0 or damaged) and not may_fail:
        # 137: it did not heed the signal to end, either.
        why = f"did not end within {limit_s} s" if done.returncode in (124, 137) else \
            f"ended with status {done.returncode}" if done.returncode != 0 else "printed a line that is not JSON"
        failures.append(" ".join(map(str, command)))
        print(f"compare.py: '{failures[-1]}' {why}, after {len(lines)} lines", file=sys.stderr)
    return lines


def mpirun(ranks, transport, command, limit_s):
    launcher = ["mpirun", *AS_ROOT, "--oversubscribe", "--mca", "pml", "ob1", *transport]
    return run_job([*launcher, "-n", ranks, *command], limit_s)


def stripline_run(bin_folder, ranks, path, command, limit_s):
    return run_job([bin_folder / "stripline-run", "-n", ranks, *path, "--", *command], limit_s)


def need(*programs):
    """Exits with a message where a program is not built."""
    for program in programs:
        if not os.access(program, os.X_OK):
            sys.exit(f"compare.py: {program.parent} has no {program.name}; build it first")


class Rounds:
    """Times of systems by case and round. A case is named by the values of some fields of the lines."""

    def __init__(self, *fields):
        self.fields = fields
        self.cases = collections.defaultdict(dict)

    def add(self, nth, lines, **also):
        for line in lines:
            key = tuple({**line, **also}[field] for field in self.fields)
            self.cases[key].setdefault(nth, {})[line["system"]] = line["median_s"]

    def __iter__(self):
        return ((key, list(rounds.values())) for key, rounds in self.cases.items())


def median_us(rounds, system):
    """The median over the rounds that the system has taken part in, or "-"."""
    times = [one[system] for one in rounds if system in one]
    if not times:
        return "-"
    median = 1e6 * statistics.median(times)
    return f"{median:.1f}" if median >= 1 else f"{median:.3f}"


def ratio_of(rounds, first, second):
    """(mean, low, high): the geometric mean of first / second over the rounds with both, and its 95 % interval; None where
    there is no such round."""
    logs = [math.log(one[first] / one[second]) for one in rounds if first in one and second in one]
    if not logs:
        return None
    mean = statistics.mean(logs)
    half = T95[min(len(logs) - 1, len(T95)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def ratio(rounds, first, second):
    of = ratio_of(rounds, first, second)
    if of is None:
        return "-"
    return f"{of[0]:.2f}" if of[1] == of[2] else f"{of[0]:.2f} [{of[1]:.2f}, {of[2]:.2f}]"


def met(holds):
    if not holds:
        unmet.append(holds)
    return "met" if holds else "NOT MET"


def print_above(name, ratios, asked):
    """How many rows are above what is asked: with their whole interval."""
    most = ASKED[asked]
    above = sum(of is not None and of[1] > most for of in ratios)
    print(f"\n{name}: {above} of {len(ratios)} rows are above {most:g}, interval and all (criterion: none): {met(above == 0)}.")


def choices_meet(losses):
    """Whether decisions, over the best ones, are what is asked."""
    return met(statistics.geometric_mean(losses) <= ASKED["choices: decided / best, on average"]
               and max(losses) <= ASKED["choices: decided / best, at worst"])


def print_single_accesses(gains, over, end="\n"):
    least, most = ASKED["single accesses: times as fast, at least"], ASKED["single accesses: coalesced / UpdateEpoch and GatherPlan"]
    gain, longer = min(gains, default=0), max(over, default=math.inf)
    print(f"\nThe least gain (criterion: {least} times): {gain:.1f}: {met(gain >= least)}. The most over UpdateEpoch and GatherPlan (criterion: {most}): "
          f"{longer:.2f}: {met(longer <= most)}.", end=end)


def print_table(heads, rows):
    """Columns whose heading begins with '>' are aligned to the right."""
    print("| " + " | ".join(head.lstrip(">") for head in heads) + " |")
    print("|" + "".join("---:|" if head.startswith(">") else "---|" for head in heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def print_rounds(rounds, heads, cells_of, systems, ratios):
    """A row for each case: the medians of the systems, and the ratios."""
    print_table([*heads, *(f"{s} [us]" for s in systems), *(f"{a} / {b}" for a, b in ratios)],
                [[*cells_of(*key), *(median_us(r, s) for s in systems), *(ratio(r, a, b) for a, b in ratios)] for key, r in rounds])


OURS_TCP = ["--fabric", "tcp", "--same-node", "network"]
OURS_MAPPED = ["--fabric", "tcp", "--same-node", "mapped"]
MPI_TCP = ["--mca", "btl", "tcp,self"]
MPI_LOOPBACK = [*MPI_TCP, "--mca", "btl_tcp_if_include", "lo"]
MPI_MAPPED = ["--mca", "btl", "vader,self"]
# How ours and MPI's ranks reach each other, by the name of the path.
PATHS = {"tcp": (OURS_TCP, MPI_LOOPBACK), "shm": (OURS_MAPPED, MPI_MAPPED)}


def beside_mpi(args, rounds, name, arguments, paths, ranks, limit_s):
    """Fills `rounds` with stripline-NAME and stripline-NAME-mpi, in turns."""
    need(*(args.bin / f"stripline-{program}" for program in ("run", name, f"{name}-mpi")))
    for path, (ours, theirs) in paths.items():
        for nth in range(args.rounds):
            for n in ranks:
                program = args.bin / f"stripline-{name}"
                rounds.add(nth, stripline_run(args.bin, n, ours, [program, *arguments], limit_s), path=path)
                rounds.add(nth, mpirun(n, theirs, [f"{program}-mpi", *arguments], limit_s), path=path)


def collectives(args):
    """Collective operations of the runtime and of Open MPI over the same PATHs: tcp (through TCP, also between ranks of
    this node; Open MPI's btl tcp), mapped (through the memory of this node; btl vader) and shm (libfabric's shm provider;
    btl vader)."""
    known = {"tcp": (OURS_TCP, MPI_TCP), "mapped": PATHS["shm"], "shm": (["--fabric", "shm", "--same-node", "network"], MPI_MAPPED)}
    rounds = Rounds("path", "operation", "bytes", "ranks")
    beside_mpi(args, rounds, "collectives", [200], {path: known[path] for path in args.paths or ["tcp", "mapped"]}, (2, 4), 120)
    print_table(["path", "operation", "bytes", "ranks", "ours [us]", "Open MPI [us]", "ratio"],
                [[*key, median_us(r, "ours"), median_us(r, "mpi"), ratio(r, "ours", "mpi")] for key, r in rounds])
    print_above("ours / Open MPI", [ratio_of(r, "ours", "mpi") for _, r in rounds], "collectives: ours / Open MPI")


def collectives_by_model(args):
    """Collective operations of the runtime over a path: with the MODEL of that path, and without one, in turns."""
    need(args.bin / "stripline-run", args.bin / "stripline-collectives")
    rounds = Rounds("operation", "bytes", "ranks")
    for nth in range(args.rounds):
        for ranks in (2, 4):
            for system, options in (("with", ["--model", args.model]), ("without", [])):
                lines = stripline_run(args.bin, ranks, [*PATHS[args.path][0], *options], [args.bin / "stripline-collectives", 200], 120)
                rounds.add(nth, [{**line, "system": system} for line in lines])
    print_rounds(rounds, ["operation", "bytes", "ranks"], lambda *key: key, ["with", "without"], [("with", "without")])
    print_above("with / without", [ratio_of(r, "with", "without") for _, r in rounds], "collectives: with a model / without")


def halos(args):
    """A halo exchange (27-point stencil, 26 neighbours, doubles) over TCP: the runtime's halo_exchange, a put with a
    signal for each neighbour, messages of bare libfabric (one for each rank, or for each neighbour) and Open MPI's Isend
    and Irecv of subarray types. Takes a minute."""
    rounds = Rounds("ranks", "cells")
    beside_mpi(args, rounds, "halo", [args.batches], {"tcp": PATHS["tcp"]}, (2, 4), 120)
    print_rounds(rounds, ["ranks", "cells"], lambda ranks, cells: [ranks, f"{cells}^3"],
                 ["ours", "ours, 26 puts", "libfabric", "libfabric, 26 messages", "mpi"],
                 [("ours", "mpi"), ("ours", "libfabric"), ("ours, 26 puts", "mpi"), ("ours, 26 puts", "libfabric, 26 messages")])


def spmv(args):
    """A sparse matrix times a vector: the runtime's SparseMatrix (as the MODEL of the path says, "" for none, and by either
    method for all), and Open MPI's persistent messages and neighbourhood collectives. Matrices are generated with ROWS,
    and those of FILE.mtx."""
    ours, theirs = PATHS[args.path]
    path = {args.path: ([*ours, *(["--model", args.model] if args.model else [])], theirs)}
    rounds = Rounds("ranks", "matrix")
    beside_mpi(args, rounds, "spmv", [args.batches, args.rows, *args.files], path, (2, 4), 240)
    print_rounds(rounds, ["ranks", "matrix"], lambda *key: key,
                 ["ours", "ours, pack", "ours, bound", "mpi", "mpi, neighbourhood"],
                 [("ours", "mpi"), ("ours", "mpi, neighbourhood"), ("ours", "ours, pack"), ("ours", "ours, bound")])
    most = ASKED[f"spmv: ours / MPI, over {args.path}"]
    means = [of[0] for of in (ratio_of(r, "ours", "mpi") for _, r in rounds) if of]
    mean = statistics.geometric_mean(means)
    print(f"\nours / mpi: {mean:.3f} on average (criterion: at most {most:g}): {met(mean <= most)}.")


def build_conveyors(convey, work, runtime):
    """Conveyors on "mpi" or "shmem", and the program that times them, in WORK/RUNTIME."""
    compilers = {"mpi": ("mpicc", "mpicxx"), "shmem": ("oshcc", "oshc++")}[runtime]
    script = f"""cp -r "$1" "$2" && cd "$2" && autoreconf -fi && ./configure --with-{runtime} CC={compilers[0]} CFLAGS="-O3 -march=native" &&
        make -j2 libconvey.a && {compilers[1]} -std=c++20 -O3 -march=native -I"$3" -I. \\
          "$3/suites/compare/irregular_conveyors_{runtime}.cc" libconvey.a -o conveyors"""
    built = subprocess.run(["bash", "-c", script, "build", convey, work / runtime, HERE.parent], text=True, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode != 0:
        sys.exit("\n".join(built.stdout.splitlines()[-20:]) + f"\ncompare.py: conveyors could not be built on {runtime}")


def run_conveyors(args, work, runtime, buffer):
    command = [work / runtime / "conveyors", args.batches, args.items]
    settings = [*(["--mca", "pml", "ob1"] if runtime == "mpi" else []), *(PATHS[args.path][1] if runtime == "mpi" else [])]
    launcher = ["mpirun" if runtime == "mpi" else "oshrun", "--oversubscribe", "--quiet", *AS_ROOT, *settings, "-n", args.ranks]
    # oshrun fails, as its programs end without shmem_finalize(), which crashes.
    lines = run_job([*launcher, *command], 120, {"CONVEY_BUFFER_SIZE": str(buffer)}, may_fail=runtime == "shmem")
    if len(lines) != 4:
        sys.exit(f"compare.py: conveyors on {runtime} with buffers of {buffer} bytes did not end")
    return lines


def conveyors(args):
    """Irregular updates and reads: the runtime's UpdateEpoch and GatherPlan, and bale's conveyors at several sizes of
    their buffers, of which the best counts. BALE is a checkout of github.com/jdevinney/bale, or a folder that does not
    exist yet, where it is cloned to. Conveyors are built on Open MPI's MPI, and for shm on its OpenSHMEM, too, in a
    temporary folder: over tcp, those on OpenSHMEM do not come to an end. STRIPLINE_MODEL may name a model of the path. Prints items
    per second and rank."""
    need(args.bin / "stripline-run", args.bin / "stripline-irregular")
    packages = ["autoconf", "automake", "openmpi-bin", "libopenmpi-dev"]
    subprocess.run(["bash", "-c", 'source "$0" && require_packages "$@"', HERE / "common.sh", *packages], check=True)
    if not args.bale.exists():
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", "https://github.com/jdevinney/bale", args.bale], check=True)
    convey = args.bale.resolve() / "src/bale_classic/convey"
    if not (convey / "convey.h").exists():
        sys.exit(f"compare.py: {args.bale} is not a checkout of bale: src/bale_classic/convey is missing")
    built_on = ["mpi"] if args.path == "tcp" else ["mpi", "shmem"]
    rounds = Rounds("ranks", "operation", "cells", "items")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for runtime in built_on:
            build_conveyors(convey, work, runtime)
        for nth in range(args.rounds):
            rounds.add(nth, stripline_run(args.bin, args.ranks, PATHS[args.path][0],
                                          [args.bin / "stripline-irregular", args.batches, args.items], 120))
            for runtime in built_on:
                for buffer in (4096, 16384, 65536, 262144):
                    rounds.add(nth, run_conveyors(args, work, runtime, buffer))
    rows, ratios = [], []
    for (ranks, operation, cells, items), of in rounds:
        def million_per_s(system):
            return items / statistics.median(one[system] for one in of if system in one) / 1e6
        ours = f"{million_per_s('ours'):.1f}" if any("ours" in one for one in of) else "-"
        for runtime in ("MPI", "SHMEM"):
            sizes = [system for system in of[0] if system.startswith(f"conveyors on {runtime}, ")]
            if sizes:
                best = max(sizes, key=million_per_s)
                ratios.append(ratio_of(of, "ours", best))
                rows.append([ranks, operation, cells, runtime, ours, f"{million_per_s(best):.1f}", best.split(", ")[1],
                             ratio(of, "ours", best)])
    print_table(["ranks", "operation", "cells per rank", "conveyors on", "ours [10^6/s]", "conveyors [10^6/s]",
                 "their buffers [B]", "ours / conveyors"], rows)
    print_above("ours / conveyors", ratios, "conveyors: ours / conveyors")


class Kernels:
    """Runs of stripline-bench on an emulated network, whose times are exact."""

    def __init__(self, args, usual_network, options):
        self.bin = args.bin
        need(self.bin / "stripline-bench", self.bin / "stripline-worker")
        self.options = ["--fabric", f"emulated:{args.network or usual_network}", "--clock", "virtual", *options, "--json"]
        self.options += ["--model", args.model] if args.model else []

    def run(self, kernel, parameters, ranks, limit_s, segment, variants=(), tuning=None):
        """(command, {variant: line}) of a kernel with parameters "name=value ...", by rules of STRIPLINE_TUNING if there are any."""
        command = ["run", f"kernel.{kernel}", *(word for one in parameters.split() for word in ("--param", one)),
                   *(word for one in variants for word in ("--variant", one)), "-n", str(ranks)]
        environment = {"STRIPLINE_SEGMENT_BYTES": segment} if segment else {}
        if tuning:
            environment["STRIPLINE_TUNING"] = tuning
        lines = run_job([self.bin / "stripline-bench", *command, *self.options], limit_s, environment)
        if failures or not lines or not all(line["verified"] for line in lines):
            sys.exit(f"compare.py: {kernel} with {ranks} ranks failed, or has a wrong result")
        return " ".join(command), {line["variant"]: line for line in lines}


# The loop's name, Alvanos et al., the kernel and its parameters.
INDIRECT_LOOPS = [
    ("stream, 2 members", "3.1-6.7", "struct_reads", "order=stream members=2 iterations=512"),
    ("stream, 4 members", "3.1-6.7", "struct_reads", "order=stream members=4 iterations=512"),
    ("random, 2 members", "3.2-21.6", "struct_reads", "order=random members=2 iterations=512"),
    ("random, 4 members", "3.2-21.6", "struct_reads", "order=random members=4 iterations=512"),
    ("Sobel", "2.4-3.3", "sobel", "rows_per_rank=16 columns=128"),
    ("Fish", "9-26", "fish", "bodies_per_rank=4"),
    ("WaTor", "5.3-25.1", "wator", "rows_per_rank=4 columns=64"),
    ("Guppie", "1.1-7.5", "guppie", "iterations=512"),
    ("Mcop", "3.2-14.4", "mcop", "matrices=128")]


def indirect(args):
    """Loops that read through an index once, in blocks as the planner says, over the same loops one by one, beside what
    Alvanos et al. (Combining Static and Dynamic Data Coalescing in Unified Parallel C, 2015) report of their compiler on
    up to 32768 ranks; and the command of a row. The same command prints the same figures, unless NETWORK measures what
    ranks compute. Takes some minutes for all of 32, 64 and 128 ranks."""
    kernels = Kernels(args, "power5-lapi,compute=declared,jitter=off",
                      ["--variant", "naive", "--variant", "tuned", "--runs", "1", "--reps", "4"])
    rows = []
    for ranks in args.ranks or [32, 64, 128]:
        for name, paper, kernel, parameters in INDIRECT_LOOPS:
            # What the loops need, rather than what programs may: 128 ranks are in the memory of this host.
            command, of = kernels.run(kernel, parameters, ranks, 300, "4M")
            naive, tuned = of["naive"]["median"], of["tuned"]["median"]
            rows.append([name, ranks, f"{1e6 * naive:.4g}", f"{1e6 * tuned:.4g}", f"{naive / tuned:.2f}", paper, f"`{command}`"])
    print_table(["loop", ">ranks", ">one by one [us]", ">in blocks [us]", ">times faster", ">Alvanos et al.", "command"], rows)
    print(f"\nA command is that of `stripline-bench COMMAND {' '.join(kernels.options)}`.")


# What the thesis reports of reordering at 16 ranks, and of inspecting.
SOLVERS = {"earthquake": ("reordered 0.55 of inspector, waits 0.32 of its", ["matrix=space"]),
           "sparse_cg": ("inspector as whole, reordered 0.78 of whole",
                         ["matrix=space", "matrix=plane", "matrix=power_law", "matrix=random"]),
           "molecules": ("inspector 0.52 of whole, reordered 0.40 of whole", [""])}


def waited_us(plan):
    value, unit = re.search(r"waited ([0-9.]+) ?(\w+)", plan).groups()
    return 1e6 * float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


def solvers(args):
    """Solvers that read through the same index in every step: whole parts of other ranks, what an inspector finds to be
    needed, and the same in the order of arrival and in a ring of ranks; the times of a step and what ranks wait in it,
    beside what Basumallik (Compiling Shared-Memory Applications for Distributed-Memory Systems, 2007, chapter 5)
    reports. The same command prints the same figures. Takes some five minutes for 2, 4, 8 and 16 ranks."""
    kernels = Kernels(args, "itanium-gm,compute=declared,jitter=off,ranks_per_node=1", ["--runs", "1", "--reps", "2"])
    rows = []
    for kernel, (thesis, problems) in SOLVERS.items():
        for parameters in problems:
            for ranks in args.ranks or [2, 4, 8, 16]:
                _, of = kernels.run(kernel, parameters, ranks, 300, None)
                of = [of[variant] for variant in ("whole", "inspector", "reordered", "ring")]
                times = [1e6 * line["median"] for line in of]
                waits = [waited_us(line["plan"]) for line in of]
                rows.append([f"`{f'{kernel} {parameters}'.strip()}`", ranks, *(f"{t:.1f}" for t in times),
                             f"{times[1] / times[0]:.2f}", f"{times[2] / times[1]:.2f}", f"{times[3] / times[2]:.3f}",
                             *(f"{w:.1f}" for w in waits), f"{waits[2] / waits[1]:.2f}", thesis if ranks == 16 else ""])
    print_table(["kernel", *(">" + head for head in (
        "ranks", "whole [us]", "inspector [us]", "reordered [us]", "ring [us]", "inspector / whole", "reordered / inspector",
        "ring / reordered", "waits: whole [us]", "inspector [us]", "reordered [us]", "ring [us]", "reordered / inspector")),
        "the thesis, 16 ranks"], rows)
    command = f"stripline-bench run kernel.KERNEL -n RANKS {' '.join(kernels.options)}"
    print(f"\nCommand of a row, with `--param` before each NAME=VALUE: `{command}`.")


def updates(args):
    """Updates of memory that is spread over many ranks, over one rank that makes all of them on memory of its own. The
    problem is the same for each number of ranks, of which it must be a multiple. Beside what Su (Optimizing Irregular
    Data Accesses for Cluster and Multicore Architectures, section 5.4) reports with 128 cores, and how many parcels
    rank 0 sent to each other rank in an epoch, each of which is answered once. The same command prints the same figures.
    Takes some ten minutes and 6 GiB for 1, 16, 32, 64 and 128 ranks."""
    kernels = Kernels(args, "opteron-vapi,compute=declared,jitter=off",
                      [*(word for one in ("sequential", "by_hand", "tuned") for word in ("--variant", one)), "--runs", "1", "--reps", "2"])
    rows = []
    numbers_of_ranks = args.ranks or [1, 16, 32, 64, 128]
    for ranks in numbers_of_ranks:
        if any(whole % ranks for whole in (1 << 25, 1 << 14, 8192, 1280000)):
            sys.exit(f"compare.py: the problem cannot be divided among {ranks} ranks")
    for ranks in numbers_of_ranks:
        # The kernel, Su's speed-up, what is asked, the size of the segment, and the parameters of a rank.
        for kernel, paper, asked, segment, parameters in (
                ("histogram", 120, 90, "16M", f"updates={(1 << 25) // ranks} bins_per_rank={(1 << 14) // ranks} keys=uniform"),
                ("gravitation", 70, 100, "16M", f"bodies_per_rank={8192 // ranks}"),
                ("fiber_force", 90, 70, f"{160 // ranks + 16}M", f"n=256 points_per_rank={1280000 // ranks}")):
            _, of = kernels.run(kernel, parameters, ranks, 600, segment)
            alone, by_hand, tuned = (of[variant]["median"] for variant in ("sequential", "by_hand", "tuned"))
            parcels = int(re.search(r"(\d+) parcels an epoch", of["tuned"]["plan"]).group(1))
            rows.append([kernel, ranks, f"`{parameters}`", f"{1e9 * alone:.4g}", f"{1e9 * by_hand:.4g}", f"{1e9 * tuned:.4g}",
                         f"{alone / by_hand:.1f}", f"{alone / tuned:.1f}", paper if ranks == 128 else "",
                         f"at least {asked}: {met(alone / tuned >= asked)}" if ranks == 128 else "",
                         f"{parcels / (ranks - 1):.2f}" if ranks > 1 else ""])
    print_table(["kernel", ">ranks", "problem of a rank", *(">" + head for head in (
        "sequential [ns]", "by_hand [ns]", "tuned [ns]", "sequential / by_hand", "sequential / tuned", "Su, 128 cores",
        "criterion", "parcels per pair"))], rows)
    command = f"stripline-bench run kernel.KERNEL -n RANKS {' '.join(kernels.options)}"
    print(f"\nCommand of a row, with `--param` before each NAME=VALUE: `{command}`.")


# Kernels with single accesses, their parameters with 16 ranks and more, whether they can fetch again what was read, and
# the least share of time that Chen (chapter 6) saves.
FINE_KERNELS = {"sobel": ("rows_per_rank=8 columns=64", True, 0.48), "mcop": ("matrices=64", True, 0.38),
                "gups": ("updates=1024 log2_cells=16", False, 0.19), "wator": ("rows_per_rank=4 columns=32", True, 0),
                "barnes": ("bodies_per_rank=16", True, 0.22), "psearch": ("depth=10", True, 0), "cfd": ("", True, 0)}
THESIS_NETWORKS = ["opteron-vapi", "itanium-gm"]
FIVE_NETWORKS = ["cloud-ethernet", "itanium-gm", "modern-rdma", "opteron-vapi", "power5-lapi"]


class Network:
    """An emulated network as Kernels asks for it, with its model if FOLDER has NETWORK.stripline.json."""

    def __init__(self, args, name):
        self.bin = args.bin
        self.network = f"{name},compute=declared,jitter=off"
        file = pathlib.Path(args.models) / f"{name}.stripline.json" if args.models else None
        self.model = str(file) if file and file.exists() else ""


def kernels_on(args, name, reps):
    return Kernels(Network(args, name), "", ["--runs", "1", "--reps", str(reps)])


def fine(args):
    """Kernels that read and write one value at a time, in a fine-grained region over the same as they are written, on two
    networks of Chen (Optimizing PGAS Programs for Cluster Architectures, 2007, chapter 6), and what each part contributes:
    accesses that do not wait (split phase), those near each other together (coalescing), and no second get of what was
    read (redundancy), of which each column has one more. MODELS is a folder with NETWORK.stripline.json, "" for none: by
    them, or by time, the last column is decided. The same command prints the same figures. Takes some minutes for 16 ranks."""
    rows, shares = [], {}
    for network in THESIS_NETWORKS:
        # The first regions of a place are compared with waiting.
        kernels, deciding = kernels_on(args, network, 4), kernels_on(args, network, 12)
        for ranks in args.ranks or [16]:
            for kernel, (parameters, keeps, _) in FINE_KERNELS.items():
                def seconds(variant, rules=None, kept=True, by=kernels):
                    of = parameters + ("" if kept or not keeps else " keeps=0")
                    return by.run(kernel, of, ranks, 600, "8M", [variant], rules)[1][variant]["median"]
                naive = seconds("naive")
                split = seconds("fine_region", "fine:*:single", False)
                together = seconds("fine_region", "fine:*:boxes", False)
                once = seconds("fine_region", "fine:*:boxes")
                decided = seconds("fine_region", by=deciding)
                saved = 1 - decided / naive
                shares.setdefault(kernel, []).append(saved)
                rows.append([network, ranks, kernel, f"{1e9 * naive:.4g}", *(f"{100 * (1 - one / naive):.1f} %" for one in (split, together, once)),
                             f"{100 * saved:.1f} %", f"at least 0 %: {met(saved >= 0)}"])
    print_table(["network", ">ranks", "kernel", ">one by one [ns]", ">split phase saves", ">and coalescing", ">and redundancy",
                 ">as decided", "criterion"], rows)
    print()
    for kernel, saved in shares.items():
        asked = FINE_KERNELS[kernel][2]
        mean = statistics.mean(saved)
        if asked:
            print(f"{kernel}: {100 * mean:.1f} % on average (Chen: {100 * asked:.0f} %): {met(mean >= asked)}.")


def loads(args):
    """Memory of another rank of the node, element by element in a fine-grained region and by plain loads and stores in the same loop
    (kernel.serial_tax), in turns: reading each element, and reading and writing each. Asked is that a region takes at most 3 % longer. Takes a minute."""
    need(args.bin / "stripline-bench")
    loops = {"read": ("loads", "fine_region"), "read and written": ("stores", "fine_stores")}
    rounds = Rounds("loop", "elements")
    for nth in range(args.rounds):
        for elements in (4096, 65536, 1 << 20):
            for loop, (plain, region) in loops.items():
                lines = run_job([args.bin / "stripline-bench", "run", "kernel.serial_tax", "--param", f"elements={elements}", "--variant", plain,
                                 "--variant", region, "-n", "2", "--fabric", "tcp", "--same-node", "mapped", "--runs", "1", "--json"], 120)
                systems = {plain: "plain", region: "region"}
                rounds.add(nth, [{"system": systems[line["variant"]], "median_s": line["median"]} for line in lines], loop=loop, elements=elements)
    print_rounds(rounds, ["elements are", "elements"], lambda *key: key, ["plain", "region"], [("region", "plain")])
    print_above("region / plain", [ratio_of(r, "region", "plain") for _, r in rounds], "loads: region / plain")


def strides(args):
    """Two doubles of another rank at a distance from each other, as Chen's figure 6.5: one by one, both in flight (pipelined),
    all bytes from the first to the last one (bounding_box), by a transfer of many regions (packed), and as a fine-grained
    region decides, on two networks. It is to be at most 3 % slower than the fastest of the others. The same command prints the same
    figures. Takes a minute."""
    variants = ["naive", "pipelined", "bounding_box", "packed", "fine_region"]
    rows, losses = [], []
    for network in THESIS_NETWORKS:
        kernels = kernels_on(args, network, 4)
        for stride in (1, 2, 8, 32, 64, 96, 128, 192, 256, 512, 2048):
            _, of = kernels.run("strided_reads", f"reads=2 stride={stride}", 2, 120, None, variants)
            times = [of[variant]["median"] for variant in variants]
            loss = times[-1] / min(times[:-1])
            losses.append(loss)
            rows.append([network, 8 * stride, *(f"{1e6 * time:.2f}" for time in times), f"{loss:.3f}"])
    print_table(["network", ">stride [B]", *(f">{variant} [us]" for variant in variants), ">region / fastest"], rows)
    mean = statistics.geometric_mean(losses)
    print(f"\nregion / fastest: {mean:.3f} on average (criterion: at most {ASKED['choices: decided / best, on average']:g}), {max(losses):.3f} at worst "
          f"(at most {ASKED['choices: decided / best, at worst']:g}): {choices_meet(losses)}.")


# Kernels with blocking copies, the variant in a region, and their parameters.
BULK_KERNELS = [("nas_bt", "bulk", "class=S"), ("nas_cg", "bulk", "class=S"), ("nas_ft", "bulk", "class=S"), ("nas_ft", "pencils_bulk", "class=S"),
                ("nas_is", "bulk", "class=S"), ("nas_mg", "bulk", "class=S"), ("nas_sp", "bulk", "class=S"), ("prk_transpose", "bulk", ""),
                ("gups", "bulk", "updates=8192 log2_cells=16"), ("phases", "bulk", "copies=16 bytes=4096 direction=get compute_us=100"),
                ("phases", "bulk", "copies=16 bytes=4096 direction=put compute_us=100")]
METHODS = {"bulk": ["blocking", "puts", "gets", "both"], "fine": ["blocking", "single", "boxes", "lists"]}


def region_choices(args):
    """What regions decide, by MODELS (a folder with NETWORK.stripline.json, "" for none) or by time, over the best of all methods,
    each forced by a rule, on five networks, or those whose name contains NETWORK. The same command prints the same figures. Takes some twenty minutes for 4 ranks."""
    rows, losses = [], {"bulk": [], "fine": []}
    for network in FIVE_NETWORKS:
        if args.network not in network:
            continue
        kernels = kernels_on(args, network, 12)
        for ranks in args.ranks or [4]:
            cells = [("bulk", *of) for of in BULK_KERNELS]
            cells += [("fine", kernel, "fine_region", of[0]) for kernel, of in FINE_KERNELS.items()]
            cells += [("fine", "strided_reads", "fine_region", f"reads=8 stride={stride}") for stride in (8, 512)]
            for kind, kernel, variant, parameters in cells:
                def seconds(tuning):
                    return kernels.run(kernel, parameters, ranks, 600, "32M", [variant], tuning)[1][variant]["median"]
                swept = {method: seconds(f"{kind}:*:{method}") for method in METHODS[kind]}
                best = min(swept, key=swept.get)
                loss = seconds(None) / swept[best]
                losses[kind].append(loss)
                rows.append([network, ranks, f"{kernel} {variant} {parameters}".strip(), *(f"{1e9 * one:.4g}" for one in swept.values()), best, f"{loss:.3f}"])
    print_table(["network", ">ranks", "kernel", ">blocking [ns]", ">puts, or single [ns]", ">gets, or boxes [ns]", ">both, or lists [ns]",
                 "best", ">decided / best"], rows)
    print()
    for kind, of in losses.items():
        mean = statistics.geometric_mean(of)
        asked = [f"at most {100 * (ASKED[f'choices: decided / best, {name}'] - 1):.0f} %" for name in ("on average", "at worst")]
        print(f"{kind}: {100 * (mean - 1):.1f} % on average (criterion: {asked[0]}), {100 * (max(of) - 1):.1f} % at worst ({asked[1]}): {choices_meet(of)}.")


# Settings of UCX under Open MPI's OpenSHMEM: over TCP, or within a node.
UCX_OF_SHMEM = {"tcp": ["-x", "UCX_TLS=tcp,self", "-x", "UCX_NET_DEVICES=lo"], "shm": ["-x", "UCX_TLS=posix,sysv,cma,self"]}
# Rows of openshmem_times and those of stripline-compare that bare libfabric has: (operation, bytes) by its name of a row.
BARE_ROWS = {"put 8 B": ("put", 8), "get 8 B": ("get", 8), "fetch-add, provider": ("atomic_fetch_add", 8), "put 8 B, window 64": ("put_nbi, many", 8),
             "put 64 KiB, window 16": ("put_nbi, many", 65536), "get 64 KiB, window 16": ("get_nbi, many", 65536),
             "put 1 MiB, window 4": ("put_nbi, many", 1 << 20), "get 1 MiB, window 4": ("get_nbi, many", 1 << 20)}


def build_openshmem_times(compiler, output):
    source = HERE.parent / "suites/compare/openshmem_times.c"
    built = subprocess.run([compiler, "-O2", "-std=gnu11", source, "-o", output], text=True, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode != 0:
        sys.exit("\n".join(built.stdout.splitlines()[-20:]) + f"\ncompare.py: '{compiler}' could not build openshmem_times.c")


def bare_libfabric(args, folder):
    """Lines of bare libfabric's times over TCP, by the names of openshmem_times."""
    file = folder / "bare.jsonl"
    file.unlink(missing_ok=True)
    run_job([args.bin / "stripline-compare", "--fabric", "tcp", "--rounds", 10, "--json", file], 300)
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for line in lines:
        operation, size = BARE_ROWS.get(line["experiment"].removeprefix("compare."), (None, 0))
        if operation and line["variant"].startswith("bare libfabric"):
            # Seconds of one operation, where the line has how many there are in a second.
            time_s = {"s": line["median"], "1/s": 1 / line["median"], "B/s": size / line["median"]}[line["unit"]]
            yield {"system": "libfabric", "operation": operation, "bytes": size, "ranks": 2, "median_s": time_s}


def openshmem(args):
    """OpenSHMEM's operations by the same program in C, built by the compilers of this build, of Open MPI (over UCX; oshcc and oshrun are
    found by PATH), and of Sandia OpenSHMEM where SANDIA is the folder that scripts/build_sos.sh has installed it in ("" for none): latency, rate, bandwidth, and
    collective operations with 2 and 4 PEs, in alternating jobs. Over tcp, beside bare libfabric (stripline-compare) too. Asked are ratios of at most 1 within the node,
    where no row may be above with its whole interval, and over tcp of 1.05 to bare libfabric. MODEL is that of the path, "" for none. Takes some ten
    minutes."""
    need(args.bin / "stripline-run", args.bin / "oshcc", args.bin / "stripline-compare")
    subprocess.run(["bash", "-c", 'source "$0" && require_packages "$@"', HERE / "common.sh", "openmpi-bin", "libopenmpi-dev"], check=True)
    sandia = pathlib.Path(args.sandia).absolute() / "bin" if args.sandia else None
    if sandia:
        need(sandia / "oshcc", sandia / "oshrun")
    compilers = {"ours": args.bin / "oshcc", "Open MPI": "oshcc", **({"Sandia": sandia / "oshcc"} if sandia else {})}
    systems = [*compilers, *(["libfabric"] if args.path == "tcp" else [])]
    rounds = Rounds("operation", "bytes", "ranks")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = {system: folder / f"openshmem_times_{nth}" for nth, system in enumerate(compilers)}
        for system, compiler in compilers.items():
            build_openshmem_times(compiler, programs[system])
        path = [*PATHS[args.path][0], *(["--model", args.model] if args.model else [])]
        for nth in range(args.rounds):
            for ranks in (2, 4):
                command = {system: [program, system, args.batches] for system, program in programs.items()}
                rounds.add(nth, stripline_run(args.bin, ranks, path, command["ours"], 300))
                rounds.add(nth, run_job(["oshrun", "--oversubscribe", "--quiet", *AS_ROOT, "-n", ranks, *UCX_ANY, *UCX_OF_SHMEM[args.path],
                                         *command["Open MPI"]], 300, may_fail=True))
                if sandia:
                    rounds.add(nth, run_job([sandia / "oshrun", "-n", ranks, *command["Sandia"]], 300,
                                            {"SHMEM_OFI_PROVIDER": "tcp;ofi_rxm" if args.path == "tcp" else "shm"}, may_fail=True))
            if args.path == "tcp":
                rounds.add(nth, bare_libfabric(args, folder))
    others = systems[1:]
    print_rounds(rounds, ["operation", "bytes", "PEs"], lambda *key: key, systems, [("ours", other) for other in others])
    for other in others:
        ratios = [of for of in (ratio_of(r, "ours", other) for _, r in rounds) if of]
        if not ratios:
            print(f"\nours / {other}: not a row was measured: {met(False)}.")
            continue
        print_above(f"ours / {other}", ratios, f"openshmem: ours / {'bare libfabric' if other == 'libfabric' else 'another implementation'}")


RECORDS = "reads and writes in turns"


def accesses_ns(text):
    """{operation: nanoseconds of an access} of docs/examples/single_accesses.c; empty if it did not end well."""
    found = re.search(r"histogram ([0-9.]+) ns, index gather ([0-9.]+) ns .*as expected", text)
    if found:
        return {"histogram": float(found[1]), "indexgather": float(found[2])}
    found = re.search(r"read and write ([0-9.]+) ns .*as expected", text)
    return {RECORDS: float(found[1])} if found else {}


def run_program(command, limit_s):
    done = subprocess.run(["timeout", "-k", "10", str(limit_s), *map(str, command)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        failures.append(" ".join(map(str, command)))
        print(f"compare.py: '{failures[-1]}' ended with status {done.returncode}", file=sys.stderr)
    return done.stdout


def single_accesses(args):
    """An OpenSHMEM program that counts and reads one value at a time (docs/examples/single_accesses.c), as it is and by
    --coalesce, in turns, and the same work by UpdateEpoch and GatherPlan; and one that reads a field of a record and writes another one, in turns.
    MODEL is that of the path, "" for none. Over tcp asked are 20 times as fast as without, and at most 1.5 times as long as those; and that
    reading and writing in turns is not slower than 1.02."""
    need(args.bin / "stripline-run", args.bin / "osh_single_accesses", args.bin / "stripline-irregular")
    path = [*PATHS[args.path][0], *(["--model", args.model] if args.model else [])]
    rounds = Rounds("operation", "ranks")
    for nth in range(args.rounds):
        for ranks in (2, 4):
            for system, options in (("as it is", []), ("coalesced", ["--coalesce"])):
                for arguments in ([args.items, 1000], [args.items, 1000, "records"]):
                    text = run_program([args.bin / "stripline-run", "-n", ranks, *path, *options, "--", args.bin / "osh_single_accesses", *arguments], 600)
                    rounds.add(nth, [{"system": system, "operation": operation, "ranks": ranks, "median_s": 1e-9 * ns} for operation, ns in accesses_ns(text).items()])
            lines = stripline_run(args.bin, ranks, path, [args.bin / "stripline-irregular", 5, args.items], 300)
            rounds.add(nth, [{**line, "median_s": line["median_s"] / line["items"]} for line in lines if line["cells"] == 1000])
    print_rounds(rounds, ["operation", "PEs"], lambda *key: key, ["as it is", "coalesced", "ours"], [("as it is", "coalesced"), ("coalesced", "ours")])
    if args.path == "tcp":
        gains = [of[0] for of in (ratio_of(r, "as it is", "coalesced") for (operation, _), r in rounds if operation != RECORDS) if of]
        over = [of[0] for of in (ratio_of(r, "coalesced", "ours") for _, r in rounds) if of]
        print_single_accesses(gains, over)
        print_above(f"{RECORDS}, coalesced / as it is",
                    [ratio_of(r, "coalesced", "as it is") for (operation, _), r in rounds if operation == RECORDS],
                    "reads and writes in turns: coalesced / as it is")


# What programs of build/openshmem (scripts/check.sh openshmem) print of their seconds, and their arguments. Where that names no number, the
# seconds are those of a report: NAS IS counts whole ones. {} is the number of PEs.
UNMODIFIED = {"Kernels/stencil": (r"Avg time \(s\): *([0-9.eE+-]+)", ["50", "1000"]), "Kernels/transpose": (r"Avg time \(s\): *([0-9.eE+-]+)", ["30", "960"]),
              "Kernels/p2p": (r"Avg time \(s\): *([0-9.eE+-]+)", ["50", "480", "480"]), "ISx/strong": (r"total time \(per PE\): *([0-9.eE+-]+)", ["1048576", "/dev/null"]),
              "openshmem-npbs/is.A.{}": (r" SUCCESSFUL", [])}
# Those that run on emulated networks, which have the memory of all PEs at once, with what they print when their result is right.
UNMODIFIED_EMULATED = {"Kernels/stencil": ("Solution validates", ["10", "1000"]), "Kernels/transpose": ("Solution validates", ["5", "960"]),
                       "Kernels/p2p": ("Solution validates", ["5", "480", "480"]), "openshmem-npbs/is.W.{}": (" SUCCESSFUL", [])}
OPENSHMEM_SYSTEMS = {"as it is": [], "coalesced": ["--coalesce"], "in bulk": ["--bulk"], "both": ["--coalesce", "--bulk"]}


def openshmem_program(name, ranks):
    """A program that scripts/check.sh openshmem has built."""
    program = HERE.parent / "build/openshmem" / name.format(ranks)
    if not program.exists():
        sys.exit(f"compare.py: {program} is missing; 'scripts/check.sh openshmem DIR' builds it")
    return program


def run_with_report(launch, command, limit_s):
    """What a program prints, and the seconds of its job by the clock of its network, from its report: None if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        text = run_program([*launch, "--report", report, "--", *command], limit_s)
        return text, json.loads(report.read_text())["elapsed_s"] if report.exists() else None


def unmodified(args):
    """Public OpenSHMEM programs that scripts/check.sh openshmem has built, as they are, and the same binary by --coalesce, by --bulk, and by
    both, in turns. MODEL is that of the path, "" for none, and then without NAS IS. Asked is that none is slower than 1.02, interval and all."""
    need(args.bin / "stripline-run")
    path = [*PATHS[args.path][0], *(["--model", args.model] if args.model else [])]
    rounds = Rounds("program", "ranks")
    programs = {name: of for name, of in UNMODIFIED.items() if args.model or re.compile(of[0]).groups}
    for name in UNMODIFIED.keys() - programs:
        print(f"compare.py: {name.format('N')} is left out: without a MODEL there is no report", file=sys.stderr)
    for nth in range(args.rounds):
        for name, (pattern, arguments) in programs.items():
            for ranks in (2, 4):
                command = [openshmem_program(name, ranks), *arguments]
                for system, options in OPENSHMEM_SYSTEMS.items():
                    launch = ["env", "SHMEM_SYMMETRIC_SIZE=1200M", args.bin / "stripline-run", "-n", ranks, *path, *options, "--overcommit"]
                    if re.compile(pattern).groups:
                        found = re.search(pattern, run_program([*launch, "--", *command], 600))
                        time_s = float(found[1]) if found else None
                    else:
                        text, time_s = run_with_report(launch, command, 600)
                        time_s = time_s if pattern in text else None
                    if time_s:
                        rounds.add(nth, [{"system": system, "program": name, "ranks": ranks, "median_s": time_s}])
                    else:
                        failures.append(name)
                        print(f"compare.py: {name.format(ranks)} has no time, or another one than is known", file=sys.stderr)
    others = list(OPENSHMEM_SYSTEMS)[1:]
    print_rounds(rounds, ["program", "PEs"], lambda name, ranks: [name.format(ranks), ranks], list(OPENSHMEM_SYSTEMS), [(other, "as it is") for other in others])
    for other in others:
        print_above(f"{other} / as it is", [ratio_of(r, other, "as it is") for _, r in rounds], "unmodified: with an option / as it is")


class EmulatedJobs:
    """Jobs of OpenSHMEM programs on an emulated network, whose times are exact: seconds of the virtual clock of whole jobs, as
    programs read the clock of the host."""

    def __init__(self, args, network):
        self.run = args.bin / "stripline-run"
        self.path = ["--fabric", f"emulated:{network},compute=declared,jitter=off", "--clock", "virtual", "--overcommit",
                     "--model", pathlib.Path(args.models) / f"{network}.stripline.json"]

    def seconds(self, ranks, options, command, expected):
        text, time_s = run_with_report(["env", "SHMEM_SYMMETRIC_SIZE=16M", self.run, "-n", ranks, *self.path, *options], command, 3600)
        if failures or expected not in text or not time_s:
            sys.exit("\n".join(text.splitlines()[-5:]) + f"\ncompare.py: {command[0]} with {ranks} PEs failed, or has a wrong result")
        return time_s


def emulated(args):
    """OpenSHMEM programs that are not changed, on two emulated networks, as they are and by --coalesce, --bulk and both: docs/examples/single_accesses.c
    with ITEMS accesses of each PE, less what the same takes without an access, beside the same work by UpdateEpoch and GatherPlan; and those that
    scripts/check.sh openshmem has built. MODELS is a folder with NETWORK.stripline.json. Asked are 20 times as fast as without, at most 1.5 times as long as
    UpdateEpoch and GatherPlan, and no program slower than 1.02. What PEs compute takes no time. The same command prints the same figures. PEs take turns: with 16 and
    64 it takes long."""
    need(args.bin / "stripline-run", args.bin / "osh_single_accesses", args.bin / "stripline-irregular")
    numbers_of_ranks = args.ranks or [16, 64]
    programs = {(name, ranks): openshmem_program(name, ranks) for name in UNMODIFIED_EMULATED for ranks in numbers_of_ranks}
    singles, rows, gains, over = [], [], [], []
    slower = {other: [] for other in list(OPENSHMEM_SYSTEMS)[1:]}
    for network in THESIS_NETWORKS:
        jobs = EmulatedJobs(args, network)
        for ranks in numbers_of_ranks:
            def accesses_s(options):
                return [jobs.seconds(ranks, options, [args.bin / "osh_single_accesses", items, 1000], "as expected") for items in (args.items, 0)]
            (alone, without), (coalesced, without_coalesced) = accesses_s([]), accesses_s(["--coalesce"])
            alone, coalesced = alone - without, coalesced - without_coalesced
            lines = stripline_run(args.bin, ranks, [*jobs.path, "--segment", "64M"], [args.bin / "stripline-irregular", 1, args.items], 3600)
            ours = sum(line["median_s"] for line in lines if line["cells"] == 1000)
            if failures or not ours:
                sys.exit(f"compare.py: stripline-irregular with {ranks} ranks failed")
            gains.append(alone / coalesced)
            over.append(coalesced / ours)
            singles.append([network, ranks, *(f"{1e3 * one:.4g}" for one in (alone, coalesced, ours)), f"{gains[-1]:.1f}", f"{over[-1]:.2f}"])
            for name, (expected, arguments) in UNMODIFIED_EMULATED.items():
                times = {system: jobs.seconds(ranks, options, [programs[name, ranks], *arguments], expected) for system, options in OPENSHMEM_SYSTEMS.items()}
                ratios = {other: times[other] / times["as it is"] for other in slower}
                for other, of in ratios.items():
                    slower[other].append((of, of, of))
                rows.append([network, ranks, name.format(ranks), *(f"{1e3 * one:.4g}" for one in times.values()), *(f"{of:.3f}" for of in ratios.values())])
    print_table(["network", ">PEs", ">one by one [ms]", ">coalesced [ms]", ">UpdateEpoch and GatherPlan [ms]", ">times faster", ">coalesced / those"], singles)
    print_single_accesses(gains, over, end="\n\n")
    print_table(["network", ">PEs", "program", *(f">{system} [ms]" for system in OPENSHMEM_SYSTEMS), *(f">{other} / as it is" for other in slower)], rows)
    for other, ratios in slower.items():
        print_above(f"{other} / as it is", ratios, "unmodified: with an option / as it is")


# What the rows of Su's tables are about, the kernel and its parameters.
SHARED_UPDATES = [
    ("1,024 buckets", "shared_histogram", "distribution=uniform buckets=1024 updates=1048576"),
    ("65,536 buckets", "shared_histogram", "distribution=uniform buckets=65536 updates=1048576"),
    ("1,048,576 buckets", "shared_histogram", "distribution=uniform buckets=1048576 updates=1048576"),
    ("links of pages", "shared_histogram", "distribution=out_degree updates=1048576"),
    ("languages", "shared_histogram", "distribution=language updates=1048576"),
    ("forces, 64^3 cells", "spread_force", "n=64 sort_interval=100"),
    ("forces, 128^3 cells", "spread_force", "n=128 sort_interval=100")]
STRATEGIES = {"shared_histogram": ["locked", "atomic", "replicate", "hybrid"],
              "spread_force": ["locked", "atomic", "replicate", "mirror", "boxes"]}


def injection(args):
    """Two threads of a rank that put, get and add to words of another rank, each by an injection_context of its own, beside one thread:
    stripline-injection over a FABRIC; and an OpenSHMEM program that does so by contexts (osh_injection). Asked is that two take less time for an operation,
    in all rows. Needs three processors: one serves. Takes two minutes."""
    processors = len(os.sched_getaffinity(0))
    if processors < 3:
        sys.exit(f"compare.py: two threads and the rank that serves them take three processors, and there are {processors}: nothing to compare")
    need(args.bin / "stripline-run", args.bin / "stripline-injection", args.bin / "osh_injection")
    systems = {1: "one thread", 2: "two threads"}
    path = ["--fabric", args.fabric, "--same-node", "network"]
    rounds = Rounds("operation", "bytes")
    for nth in range(args.rounds):
        lines = stripline_run(args.bin, 2, path,
                              [args.bin / "stripline-injection", "--threads", "1,2", "--bytes", "8,1024", "--rounds", args.batches, "--json"], 240)
        rounds.add(nth, [{**line["params"], "system": systems[line["params"]["threads"]], "median_s": 1 / line["median"]}
                         for line in lines if line["variant"] == "own_queues"])
        lines = stripline_run(args.bin, 2, path, [args.bin / "osh_injection", args.batches], 240)
        rounds.add(nth, [{**line, "operation": f"{line['operation']} of OpenSHMEM", "system": systems[line["threads"]]} for line in lines])
    print_rounds(rounds, ["operation", "bytes"], lambda *key: key, list(systems.values()), [("two threads", "one thread")])
    ratios = [ratio_of(r, "two threads", "one thread") for _, r in rounds]
    most = ASKED["injection: two threads / one thread"]
    faster = sum(of is not None and of[2] < most for of in ratios)
    print(f"\ntwo threads / one thread: {faster} of {len(ratios)} rows are below {most}, interval and all (criterion: all): "
          f"{met(bool(ratios) and faster == len(ratios))}.")


def shared_updates(args):
    """Cells that two ranks of a node update together: each strategy of SharedUpdates for all updates, and what it finds to be
    the best while it runs (adaptive; as the MODEL says, "" for none). Su (Optimizing Irregular Data Accesses for Cluster and
    Multicore Architectures, section 6.6) has such tables. Takes some ten minutes with 6 RUNS."""
    need(args.bin / "stripline-bench", args.bin / "stripline-worker")
    columns = ["locked", "atomic", "replicate", "hybrid", "mirror", "boxes", "adaptive"]
    most = ASKED["shared updates: adaptive / best strategy"]
    rows = []
    for name, kernel, parameters in SHARED_UPDATES:
        variants = [*STRATEGIES[kernel], "adaptive"]
        lines = run_job([args.bin / "stripline-bench", "run", f"kernel.{kernel}", *(word for one in variants for word in ("--variant", one)),
                         *(word for one in parameters.split() for word in ("--param", one)), "-n", 2, "--fabric", "tcp",
                         "--same-node", "mapped", "--runs", args.runs, "--reps", 30, *(["--model", args.model] if args.model else []),
                         "--json"], 1800)
        times = {line["variant"]: line["median"] for line in lines if line["verified"]}
        if failures or set(times) != set(variants):
            sys.exit(f"compare.py: {kernel} failed, or has a wrong result")
        best = min(STRATEGIES[kernel], key=times.get)
        loss = times["adaptive"] / times[best]
        rows.append([name, *(f"{1e9 * times[one]:.3f}" if one in times else "" for one in columns), best, f"{loss:.3f}",
                     f"at most {most}: {met(loss <= most)}"])
    print_table(["updates", *(f">{one} [ns]" for one in columns), "best of the others", ">adaptive to it", "criterion"], rows)


def mca(**settings):
    return [word for name, value in settings.items() for word in ("--mca", name, str(value))]


UCX_ANY = mca(pml="ucx", osc="ucx", opal_common_ucx_tls="any", opal_common_ucx_devices="any")
# One-sided operations over TCP need osc pt2pt; loopback is not used unless asked.
NETWORK = mca(pml="ob1", btl="tcp,self", btl_tcp_if_include="lo", osc="pt2pt")
# Settings of Open MPI and UCX by path and kind of launch. Tuned: 64 KiB and a header go without a rendezvous, more small
# puts into one message, larger pieces; within a node segments of UCX of 64 KiB and more deliver wrong data.
LAUNCHES = {
    ("network", "default"): NETWORK,
    ("network", "tuned"): NETWORK + mca(osc_pt2pt_buffer_size=65536, btl_tcp_eager_limit=135168, btl_tcp_rndv_eager_limit=135168,
                                        btl_tcp_max_send_size=1048576, btl_tcp_endpoint_cache=131072)
    + ["-x", "UCX_TCP_TX_SEG_SIZE=128K", "-x", "UCX_TCP_RX_SEG_SIZE=256K"],
    ("network", "ucx"): UCX_ANY + ["-x", "UCX_TLS=tcp,self", "-x", "UCX_NET_DEVICES=lo"],
    ("node", "default"): mca(pml="ob1", btl="vader,self"),
    ("node", "tuned"): mca(pml="ob1", btl="vader,self", osc="sm", btl_vader_eager_limit=69632, btl_vader_max_send_size=135168)
    + ["-x", "UCX_POSIX_SEG_SIZE=32K", "-x", "UCX_SYSV_SEG_SIZE=32K"],
    ("node", "ucx"): UCX_ANY + ["-x", "UCX_TLS=posix,sysv,cma,self"]}
NAMED = {"default": [], "tuned": ["--mpi-settings", "tuned", "--ucx-settings", "tuned"], "ucx": ["--mpi-settings", "on UCX"]}


def neighbours(args):
    """The runtime beside bare libfabric, Open MPI and UCX. A launch runs all of them in the same two processes, in rounds
    (stripline-neighbours). There are LAUNCHES of each kind, in turn: over TCP (network) and within the node (node), with
    the settings that Open MPI and UCX have by themselves, tuned by hand, and with Open MPI on top of UCX. FOLDER keeps
    what each measured; launches that are there already are not repeated."""
    need(args.bin / "stripline-neighbours", args.bin / "stripline-neighbours-report")
    args.folder.mkdir(parents=True, exist_ok=True)
    paths = args.paths or ["network", "node"]
    for launch in range(1, args.launches + 1):
        for kind in ("default", "tuned", "ucx"):
            for path in paths:
                file = args.folder / f"{path}-{kind}-{launch}.jsonl"
                if file.exists():
                    continue
                print(f"compare.py: {path}, {kind}, launch {launch}", file=sys.stderr)
                options = ["--launch", f"{kind}-{launch}", "--rounds", args.rounds, *(["--same-node"] if path == "node" else []), *NAMED[kind]]
                lines = run_job(["mpirun", "-n", 2, "--bind-to", "none", *mca(mpi_yield_when_idle=0), *AS_ROOT, *LAUNCHES[path, kind],
                                 args.bin / "stripline-neighbours", *options], 120)
                if failures or not lines:
                    sys.exit("compare.py: this launch failed; the next run repeats it")
                part = file.with_suffix(".part")
                part.write_text("".join(json.dumps(line) + "\n" for line in lines))
                part.rename(file)
    kept = [file.read_text() for path in paths for file in sorted(args.folder.glob(f"{path}-*.jsonl"))]
    (args.folder / "all").write_text("".join(kept))
    sys.stdout.flush()
    sys.exit(subprocess.run([args.bin / "stripline-neighbours-report", "--markdown", args.folder / "all"], check=False).returncode)


CLOCK_EXPERIMENTS = [
    "micro.latency --param bytes=8,2048 --variant get --variant put --variant am",
    "micro.latency --param bytes=65536 --variant get --variant put",
    "micro.issue --param bytes=2048 --param burst=16 --variant get --variant put --variant am",
    "micro.flood --param bytes=8,65536 --param count=64 --variant get --variant put",
    "micro.overlap --param bytes=65536 --variant get --variant put",
    "micro.atomic --param in_flight=1,8 --variant provider --variant message",
    "micro.collective_allreduce --param bytes=8,65536 --variant recursive_doubling",
    "micro.strip_sweep --variant A --variant B",
    "kernel.matvec --variant blocking --variant hand --variant untuned",
    "kernel.transpose --variant blocking --variant hand --variant untuned"]


def clocks(args):
    """The same experiments on the virtual and on the real clock of emulated networks, two ranks, paired: a launch of
    each, in turns that begin with the one and with the other. Ratios, real over virtual: their median over launches, and
    the interval between the second least and the second greatest, which holds the true median with 97.9 % of 10
    launches; of fewer: the least and the greatest. Profiles that this host cannot reproduce in real time end it. Jitter
    is off: it is drawn, not real."""
    need(args.bin / "stripline-bench", args.bin / "stripline-worker")
    if not args.profiles:
        sys.exit("compare.py: clocks needs one PROFILE or more")
    times = collections.defaultdict(lambda: collections.defaultdict(dict))
    for launch in range(1, args.launches + 1):
        for profile in args.profiles:
            for experiment in CLOCK_EXPERIMENTS:
                for clock in ("virtual", "real") if launch % 2 == 0 else ("real", "virtual"):
                    for line in run_on_clock(args, profile, clock, launch, experiment.split()):
                        shown = re.match(r"micro\.[lifoac]", line["experiment"])
                        parameters = ", ".join(f"{name} {value}" for name, value in line["params"].items()) if shown else ""
                        times[profile, line["experiment"], line["variant"], parameters][clock][launch] = line["median"]
    rows, met, asked = [], 0, ASKED["clocks: real / virtual, from 1 to either side"]
    for key, of in times.items():
        ratios = sorted(of["real"][launch] / time for launch, time in of["virtual"].items())
        edge = 1 if args.launches >= 10 else 0
        median = statistics.median(ratios)
        within = abs(median - 1) <= asked
        met += within
        rows.append([*key, f"{1e6 * statistics.median(of['virtual'].values()):.2f} us", f"{median:.3f}",
                     f"[{ratios[edge]:.3f}, {ratios[-1 - edge]:.3f}]", "yes" if within else "no"])
    print_table(["network", "experiment", "variant", "parameters", ">virtual", ">real / virtual", ">interval", f"within {100 * asked:.0f} %"], rows)
    print(f"\n{args.launches} launches of each; {met} of {len(rows)} within {100 * asked:.0f} %.")


def run_on_clock(args, profile, clock, launch, experiment):
    command = [args.bin / "stripline-bench", "run", *experiment, "-n", "2", "--fabric", f"emulated:{profile},jitter=off",
               "--clock", clock, "--runs", "1", "--seed", str(launch), "--json"]
    # Each start measures whether the host keeps up; a neighbour's moment should not end it all.
    for attempt in range(1, 6):
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        if done.returncode == 0:
            return [json.loads(line) for line in done.stdout.splitlines()]
        print(f"compare.py: attempt {attempt}: {(done.stderr.splitlines() or ['no message'])[-1]}", file=sys.stderr)
        time.sleep(1)
    sys.exit("compare.py: an experiment failed five times in a row")


# Whose recording a race may begin with: another machine, as like it as there is.
PRIORS = {"tcp": "cloud-ethernet", "cloud-ethernet": "tcp", "shm": "modern-rdma", "modern-rdma": "power5-lapi",
          "power5-lapi": "modern-rdma", "opteron-vapi": "itanium-gm", "itanium-gm": "opteron-vapi"}
SHARE = ASKED["replays: share of the seconds"]
NEAR = ASKED["replays: loss on average"]


def replays(args):
    """What strategies choose in recorded campaigns, and in how many seconds. STRIPLINE is the command, RECORDINGS a folder
    with NAME.jsonl.zst of scripts/record_campaigns.sh. Random search: over all SEEDs (default: 1 to 10)."""
    def replay(recording, strategy, share=SHARE, seed=1, prior=None):
        command = [args.stripline, "--json", "campaign", "replay", recording, "--strategy", strategy, "--share", f"{share}",
                   "--seed", f"{seed}", *(["--prior", prior] if prior else [])]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"compare.py: '{' '.join(map(str, command))}' ended with status {done.returncode}")
        return json.loads(done.stdout)

    def cells(result):
        return [f"{100 * result['share']:.1f} %", f"{100 * result['mean_regret']:.2f} %", f"{result['near']} of {result['choices']}"]

    def rows():
        for name, prior in PRIORS.items():
            recording, other = (args.recordings / f"{one}.jsonl.zst" for one in (name, prior))
            if not recording.exists():
                continue
            grid, race, halving = (replay(recording, strategy) for strategy in ("grid", "race", "halving"))
            chance = statistics.mean(replay(recording, "random", seed=seed)["mean_regret"] for seed in args.seeds or range(1, 11))
            met = race["share"] <= SHARE and race["mean_regret"] <= NEAR
            ahead = race["mean_regret"] <= halving["mean_regret"] and race["mean_regret"] < chance
            begun = ["-"] * 5
            if other.exists():
                result = replay(recording, "race", share=SHARE / 2, prior=other)
                fits = result["share"] <= SHARE / 2 and result["mean_regret"] <= NEAR
                begun = [prior, *cells(result), "met" if fits else "missed"]
            yield [name, f"{grid['seconds']:.3g} s", *cells(race), *cells(halving), f"{100 * chance:.2f} %",
                   "met" if met and ahead else "missed" if not met else "met; not ahead", *begun]

    if not any((args.recordings / f"{name}.jsonl.zst").exists() for name in PRIORS):
        sys.exit(f"compare.py: {args.recordings} has no recording; scripts/record_campaigns.sh makes them")
    print_table(["network", ">grid", ">race: seconds", ">slower than the best", ">within 3 %", ">halving: seconds", ">slower",
                 ">within 3 %", ">random: slower", "criterion", "with a prior of", ">seconds", ">slower", ">within 3 %",
                 "criterion"], rows())


BENCHES = ["plan_strip_bench", "plan_nest_bench", "plan_vis_bench", "plan_update_bench", "loop_bench", "rma_bench"]


def bench_times(program):
    """{name: seconds of the processor} of a Google benchmark."""
    done = subprocess.run(["timeout", "300", program, "--benchmark_min_time=0.1", "--benchmark_format=json"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        sys.exit(f"compare.py: {program} ended with status {done.returncode}")
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    return {one["name"]: one["cpu_time"] * unit[one["time_unit"]] for one in json.loads(done.stdout)["benchmarks"]}


def benches(args):
    """Benchmarks of two builds of this tree, BEFORE a change and AFTER it, in turns: the time of the processor, and the ratio of
    both. PROGRAMs: those that plan, and those of loops and single operations, unless named."""
    programs = args.programs or BENCHES
    need(*(build / "bin" / one for build in (args.before, args.after) for one in programs))
    rounds = Rounds("bench")
    for nth in range(args.rounds):
        sides = [("before", args.before), ("after", args.after)]
        for side, build in sides if nth % 2 == 0 else reversed(sides):
            for one in programs:
                times = bench_times(build / "bin" / one)
                rounds.add(nth, [{"system": side, "bench": name, "median_s": time_s} for name, time_s in times.items()])
    both = [(name, of) for (name,), of in rounds if all(len(one) == 2 for one in of)]
    print_table(["benchmark", ">before [ns]", ">after [ns]", ">after / before"],
                [[f"`{name}`", *(f"{1e9 * statistics.median(one[side] for one in of):.1f}" for side in ("before", "after")),
                  ratio(of, "after", "before")] for name, of in both])
    print_above("after / before", [ratio_of(of, "after", "before") for _, of in both], "benches: after / before")


def count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value


BUILD = ("build", pathlib.Path("build/release"))
MODEL = ("model", str)
# By name: the function, and its arguments in order. (name, type) has to be given, (name, usual value) need not, and
# (name, [type]) or (name, [values]) takes the rest.
COMPARISONS = {
    collectives: [BUILD, ("rounds", 5), ("paths", ["tcp", "mapped", "shm"])],
    collectives_by_model: [("path", PATHS), MODEL, BUILD, ("rounds", 5)],
    halos: [BUILD, ("rounds", 6), ("batches", 40)],
    spmv: [("path", PATHS), MODEL, BUILD, ("rounds", 4), ("batches", 20), ("rows", 65536), ("files", [str])],
    conveyors: [("path", PATHS), ("bale", pathlib.Path), BUILD, ("rounds", 6), ("batches", 5), ("items", 1048576), ("ranks", 2)],
    indirect: [MODEL, BUILD, ("network", ""), ("ranks", [count])],
    solvers: [MODEL, BUILD, ("network", ""), ("ranks", [count])],
    updates: [MODEL, BUILD, ("network", ""), ("ranks", [count])],
    shared_updates: [MODEL, BUILD, ("runs", 6)],
    injection: [BUILD, ("fabric", "tcp"), ("rounds", 5), ("batches", 30)],
    fine: [("models", ""), BUILD, ("ranks", [count])],
    strides: [("models", ""), BUILD],
    loads: [BUILD, ("rounds", 6)],
    openshmem: [("path", PATHS), ("model", ""), BUILD, ("sandia", ""), ("rounds", 6), ("batches", 20)],
    single_accesses: [("path", PATHS), ("model", ""), BUILD, ("rounds", 5), ("items", 100000)],
    unmodified: [("path", PATHS), ("model", ""), BUILD, ("rounds", 5)],
    emulated: [("models", str), BUILD, ("items", 10000), ("ranks", [count])],
    region_choices: [("models", ""), BUILD, ("network", ""), ("ranks", [count])],
    neighbours: [BUILD, ("folder", pathlib.Path("build/results/neighbours")), ("launches", 6), ("rounds", 6), ("paths", ["network", "node"])],
    clocks: [("build", pathlib.Path), ("launches", count), ("profiles", [str])],
    benches: [("before", pathlib.Path), ("after", pathlib.Path), ("rounds", 5), ("programs", [str])],
    replays: [("stripline", str), ("recordings", pathlib.Path), ("seeds", [int])]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = parser.add_subparsers(required=True, metavar="NAME")
    for function, arguments in COMPARISONS.items():
        about = " ".join(function.__doc__.split())
        one = names.add_parser(function.__name__, help=about.split(": ")[0].split(". ")[0], description=about)
        one.set_defaults(function=function)
        for name, usual in arguments:
            if isinstance(usual, dict):
                one.add_argument(name, choices=usual)
            elif callable(usual):
                one.add_argument(name, type=usual)
            elif isinstance(usual, list) and callable(usual[0]):
                one.add_argument(name, type=usual[0], nargs="*")
            elif isinstance(usual, list):
                one.add_argument(name, nargs="*", help=f"of {', '.join(usual)}")
                one.set_defaults(known=set(usual))
            else:
                of = count if isinstance(usual, int) else type(usual)
                one.add_argument(name, type=of, nargs="?", default=usual, help=f"default: {usual}" if str(usual) else None)
    args = parser.parse_args()
    unknown = set(getattr(args, "paths", [])) - getattr(args, "known", set())
    if unknown:
        parser.error(f"unknown path '{unknown.pop()}'; use {', '.join(sorted(args.known))}")
    if "build" in args:
        args.bin = args.build / "bin"
    args.function(args)
    return 1 if failures else 3 if unmet else 0


if __name__ == "__main__":
    sys.exit(main())
