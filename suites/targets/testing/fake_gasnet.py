#!/usr/bin/env -S python3 -S -E -B
"""Stands for GASNet-EX 2025.8 over UDP in tests of stripline-tune: the programs pkg-config, cc and amudprun, by the name
that it is called by. Times are made up.

A larger GASNET_NETWORKDEPTH makes everything faster; rows of strided transfers that travel one by one take three times as
long. FAKE_GASNET says what is wrong with it: "unread" (it ignores its variables), "absent" (pkg-config does not know it),
"smp" (it has no conduit for UDP).
"""

import os
import random
import sys

from driver_output import point_of, show, show_series

NAME = os.path.basename(sys.argv[0])
WRONGS = os.environ.get("FAKE_GASNET", "").split()


def factor(operation):
    if "unread" in WRONGS:
        return 1.0
    alone = os.environ.get("GASNET_VIS_MAXCHUNK") == "8" or os.environ.get("GASNET_VIS_AMPIPE") == "0"
    if alone and operation.startswith("strided"):
        return 3.0
    return 0.7 if os.environ.get("GASNET_NETWORKDEPTH") == "192" else 1.0


def run(path, ranks):
    if os.environ.get("GASNET_SPAWNFN") != "L" or os.environ.get("GASNET_SUPERNODE_MAXSIZE") != "1":
        sys.exit("ranks of this host do not use the network")
    plan = {}
    for line in open(path):
        words = line.split()
        if words[0] not in ("cell", "variant"):
            plan[words[0]] = float(words[1])
            noise = random.Random(plan.get("seed", 0))
        elif words[0] == "cell":
            point = point_of(words, words[6])
            show({"at": point})
            if words[2] != ranks:
                sys.exit("a cell needs another number of ranks")
            show_series(point, plan["run"], factor(words[1]) * (10e-6 + int(words[3]) * 1e-9), noise)
    show({"done": True})


def packages():
    package = sys.argv[-1]
    if "absent" in WRONGS or ("smp" in WRONGS and package == "gasnet-udp-par"):
        sys.exit("Package " + package + " was not found")
    if "--modversion" in sys.argv:
        print("2025.8.0")
    elif "--libs" in sys.argv:
        print("-I/opt/gasnet/include -DGASNET_PAR=1 -L/opt/gasnet/lib -l" + package)


def main():
    if NAME == "pkg-config":
        packages()
    elif NAME == "cc":
        if "-DGASNET_PAR=1" not in sys.argv:
            sys.exit("cc is not given what pkg-config has printed")
        open(sys.argv[sys.argv.index("-o") + 1], "w").close()
    else:
        run(sys.argv[-1], sys.argv[sys.argv.index("-np") + 1])


main()
