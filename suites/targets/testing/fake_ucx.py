#!/usr/bin/env -S python3 -S -E -B
"""Stands for UCX 1.13.1 below MPICH 4.0.2 and below the OpenSHMEM of Open MPI 4.1.4 in tests of stripline-tune: the
programs ucx_info, mpichversion, mpicc.mpich, mpiexec.mpich, oshmem_info, oshcc and oshrun, by the name that it is called
by. Times are made up; settings come from where UCX takes them.

Large zero-copy thresholds make everything faster, and so does the rendezvous scheme "am", but not both together; a
rendezvous for every message, or no copy of any, makes everything slower. FAKE_UCX says what is wrong with it: "unread" (it ignores ucx.conf),
"slow" (a file of settings makes latencies of 1 KiB slower), "together" (of what makes everything faster, each makes it slower, and both make it faster).
"""

import os
import random
import sys

from driver_output import point_of, show, show_series

NAME = os.path.basename(sys.argv[0])
WRONGS = os.environ.get("FAKE_UCX", "").split()
DEFAULTS = {"UCX_RNDV_THRESH": "auto", "UCX_ZCOPY_THRESH": "auto", "UCX_BCOPY_THRESH": "auto", "UCX_RNDV_SCHEME": "auto",
            "UCX_POSIX_FIFO_SIZE": "64", "UCX_POSIX_SEG_SIZE": "8256"}


def settings():
    """The environment beats the working folder's file, which beats that of UCX_CONFIG_DIR, which beats that of HOME."""
    found = dict(DEFAULTS)
    folders = [os.environ.get("HOME"), os.environ.get("UCX_CONFIG_DIR"), os.getcwd()]
    for folder in folders if "unread" not in WRONGS else []:
        path = os.path.join(folder or "/nowhere", "ucx.conf")
        for line in open(path) if os.path.exists(path) else []:
            if "=" in line and not line.startswith("#"):
                name, value = line.strip().split("=", 1)
                found[name] = value
    found.update({name: value for name, value in os.environ.items() if name in DEFAULTS})
    for name, value in os.environ.items() if NAME == "oshrun" and "unread" not in WRONGS else []:
        if name.startswith("UCX_OSHMEM_"):
            found["UCX_" + name[len("UCX_OSHMEM_"):]] = value
    return found


def factor(given):
    if "0" in (given["UCX_RNDV_THRESH"], given["UCX_ZCOPY_THRESH"]):
        return 3.0
    if "together" in WRONGS:
        return (1.0, 1.1, 0.6)[(given["UCX_ZCOPY_THRESH"] == "65536") + (given["UCX_RNDV_SCHEME"] == "am")]
    if given["UCX_ZCOPY_THRESH"] == "65536":
        return 0.6
    return 0.8 if given["UCX_RNDV_SCHEME"] == "am" else 1.0


def run(path):
    if os.environ.get("OMPI_MCA_spml" if NAME == "oshrun" else "MPIR_CVAR_NOLOCAL") not in ("1", "ucx"):
        sys.exit("ranks of a node do not use UCX")
    slowed = "slow" in WRONGS and "UCX_CONFIG_DIR" in os.environ
    plan, scale = {}, factor(settings())
    for line in open(path):
        words = line.split()
        if words[0] not in ("cell", "variant"):
            plan[words[0]] = float(words[1])
            noise = random.Random(plan.get("seed", 0))
        elif words[0] == "cell":
            point = point_of(words, words[6])
            show({"at": point})
            if NAME == "oshrun" and words[2] != sys.argv[sys.argv.index("-n") + 1]:
                sys.exit("a cell needs another number of PEs")
            once = scale * (10e-6 + int(words[3]) * 1e-9)
            if slowed and words[1] == "latency" and words[3] == "1024":
                once *= 2.5
            show_series(point, plan["run"], once, noise)
    show({"done": True})


def main():
    if NAME == "ucx_info":
        print("# Version 1.13.1" if "-v" in sys.argv else "\n".join("%s=%s" % one for one in settings().items()))
    elif NAME == "mpichversion":
        print("MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx")
    elif NAME == "oshmem_info":
        print("oshmem:version:full:4.1.4")
    elif NAME in ("mpicc.mpich", "oshcc"):
        open(sys.argv[sys.argv.index("-o") + 1], "w").close()
    else:
        run(sys.argv[-1])


main()
