#!/usr/bin/env -S python3 -S -E -B
"""Stands for Open MPI 4.1.4 in tests of stripline-tune: the programs ompi_info, mpicc.openmpi and
mpirun.openmpi, by the name that it is called by. Times are made up; what settings do to them is what
the classic rules file means.

FAKE_OPENMPI says what is wrong with it, in words with blanks between: "unread" (it ignores files of
settings), "hang" (k-nomial bcasts hang), "turns" (bcasts hang when several take turns), "abort"
(chains of bcast abort), "wrong" (binary trees of bcast give wrong data), "slow" (a file makes halos
and sorts slower), "unsteady" (with a file every other launch has halos of twice the time, and those
between of half), "new" (it is version 4.1.7), "locked" (neither the algorithm of allgatherv nor
btl_vader_fbox_size can be set), "late" (launches take two seconds to start), "worse" (binomial trees
are slower than the default), "between" (so they are among 71 ranks), "rebuilt" (it is another package),
"stays" (programs do not exit), "knobs" (with rings of 16 KiB everything takes 0.7 of the time), "deaf" (besides, transports
take nothing from files). An eager limit of 1 KiB makes everything three times as slow.
"""

import os
import random
import sys
import time

from driver_output import point_of, show, show_series

WRONGS = os.environ.get("FAKE_OPENMPI", "").split()
SITE_FILE = os.path.join(os.environ.get("FAKE_SITE", "/opt/fake/etc"), "openmpi-mca-params.conf")
OVERRIDE_FILE = os.path.join(os.path.dirname(SITE_FILE), "openmpi-mca-params-override.conf")
USUAL_FILES = os.path.join(os.environ.get("HOME", "/"), ".openmpi/mca-params.conf") + "," + SITE_FILE
LOCKED_VARIABLE = "coll_tuned_allgatherv_algorithm"
LOCKED_KNOB = "btl_vader_fbox_size"
IDS = {"allgather": 0, "allreduce": 2, "alltoall": 3, "barrier": 6, "bcast": 7, "gather": 9}


def tokens(text):
    return [int(word) for line in text.splitlines() for word in line.split("#")[0].split()]


def rule(path, collective, ranks, size):
    """The algorithm that a rules file gives, as Open MPI reads it."""
    numbers = iter(tokens(open(path).read()))
    chosen = 0
    for _ in range(next(numbers)):
        collective_id = next(numbers)
        first = True
        for _ in range(next(numbers)):
            communicator, messages = next(numbers), next(numbers)
            algorithm = 0
            for k in range(messages):
                least, number, _, _ = next(numbers), next(numbers), next(numbers), next(numbers)
                if k == 0 or least <= size:
                    algorithm = number
            if collective_id == IDS.get(collective) and (first or communicator <= ranks):
                chosen = algorithm
            first = False
    return chosen


def is_ours(file):
    return os.path.exists(file) and open(file).read().startswith("# Written by Stripline")


def settings():
    """Parameters, with where they come from: files, of which the first counts, the environment, and the file that
    overrides."""
    found = {}
    files = os.environ.get("OMPI_MCA_mca_base_param_files", USUAL_FILES)
    if not files:
        import signal  # seldom needed, and slow to load
        os.kill(os.getpid(), signal.SIGSEGV)
    if not files.endswith(SITE_FILE) and not is_ours(SITE_FILE):
        sys.exit("the site's file of parameters is left out: " + files)
    for file in files.split(",") if "unread" not in WRONGS else []:
        for number, line in enumerate(open(file) if os.path.exists(file) else [], 1):
            if "=" in line and not line.startswith("#"):
                name, value = line.split("=", 1)
                found.setdefault(name.strip(), (value.strip(), "file (%s:%d)" % (file, number)))
    for name, value in os.environ.items():
        if name.startswith("OMPI_MCA_"):
            found[name[len("OMPI_MCA_"):]] = (value, "environment")
    for number, line in enumerate(open(OVERRIDE_FILE) if os.path.exists(OVERRIDE_FILE) else [], 1):
        name, value = line.split("=", 1)
        found[name.strip()] = (value.strip(), "file (%s:%d)" % (OVERRIDE_FILE, number))
    return found


def seconds(operation, algorithm, size, ranks):
    """Binomial trees are twice as fast below 1 KiB, linear bcasts four times as slow."""
    base = 10e-6 + size * 1e-9
    if operation != "bcast":
        return base
    if algorithm == 6 and size < 1024:
        return base * 2 if "worse" in WRONGS or ("between" in WRONGS and ranks == 71) else base / 2
    return {0: 1, 1: 4}.get(algorithm, 1.3) * base


def factor_of_knobs(given):
    if "deaf" in WRONGS:
        given = {name: value for name, value in given.items() if "OMPI_MCA_" + name in os.environ}
    if given.get("btl_vader_eager_limit") == "1024":
        return 3.0
    faster = "knobs" in WRONGS and given.get("btl_vader_fbox_size") == "16384"
    return 0.7 if faster else 1.0


def is_locked(variant):
    return "locked" in WRONGS and variant.get(LOCKED_VARIABLE, "0") != "0"


def is_unsteady_launch():
    return "unsteady" in WRONGS and "OMPI_MCA_mca_base_param_files" in os.environ


def launch_factor():
    """2 and 0.5, in turns."""
    count = os.path.join(os.environ["HOME"], "launches")
    with open(count, "a") as file:
        file.write(".")
    return 2 if os.path.getsize(count) % 2 else 0.5


def run(path):
    if "late" in WRONGS:
        time.sleep(2)
    given = {name: value for name, (value, _) in settings().items()}
    variants, plan = [], {}
    for line in open(path):
        words = line.split()
        if words[0] == "variant":
            variants.append(dict(word.split("=") for word in words[1:]))
            if is_locked(variants[-1]):
                show({"unsettable": LOCKED_VARIABLE})
        elif words[0] != "cell":
            plan[words[0]] = float(words[1])
            noise = random.Random(plan.get("seed", 0))
        else:
            operation, ranks, size = words[1], int(words[2]), int(words[3])
            if "turns" in WRONGS and operation == "bcast" and len(words) > 7:
                show({"turns": point_of(words, words[6])})
                time.sleep(3600)
            for index in map(int, words[6:]):
                point = point_of(words, str(index))
                if is_locked(variants[index]):
                    sys.exit("this MPI does not let the variable %s be set" % LOCKED_VARIABLE)
                show({"at": point})
                algorithm = int(variants[index].get("coll_tuned_" + operation + "_algorithm", 0))
                if algorithm == 0 and given.get("coll_tuned_use_dynamic_rules") == "1":
                    rules = given.get("coll_tuned_dynamic_rules_filename")
                    if rules:
                        algorithm = rule(rules, operation, ranks, size)
                if operation == "bcast" and algorithm == 7 and "hang" in WRONGS:
                    time.sleep(3600)
                if operation == "bcast" and algorithm == 2 and "abort" in WRONGS:
                    print("MPI_ABORT was invoked", file=sys.stderr)
                    sys.exit(9)
                wrong = operation == "bcast" and algorithm == 5 and "wrong" in WRONGS
                once = seconds(operation, algorithm, size, ranks) * factor_of_knobs(given)
                slow = "slow" in WRONGS and "OMPI_MCA_mca_base_param_files" in os.environ
                if slow and operation in ("halo", "sort"):
                    once *= 1.5
                if operation == "halo" and is_unsteady_launch():
                    once *= launch_factor()
                show_series(point, plan["run"], once, noise, "rank 1: byte 3 is wrong" if wrong else "")
    show({"done": True})
    if "stays" in WRONGS:
        time.sleep(3600)


def main():
    name = os.path.basename(sys.argv[0])
    if name == "ompi_info":
        version = "4.1.7" if "new" in WRONGS else "4.1.4"
        print("package:" + ("rebuilt" if "rebuilt" in WRONGS else "fake"))
        print("ompi:version:full:" + version)
        print("mca:mca:base:param:mca_base_param_files:value:" + USUAL_FILES)
        print("mca:mca:base:param:mca_base_param_files:source:default")
        for variable, (value, source) in sorted(settings().items()):
            print("mca:x:y:param:%s:value:%s" % (variable, value))
            locked = "locked" in WRONGS and variable == LOCKED_KNOB
            print("mca:x:y:param:%s:source:%s" % (variable, "default" if locked else source))
    elif name == "mpicc.openmpi":
        open(sys.argv[sys.argv.index("-o") + 1], "w").close()
    else:
        run(sys.argv[-1])


main()
