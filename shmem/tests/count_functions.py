#!/usr/bin/env python3
"""Whether all functions of the table are declared and defined, by both names, and nothing else is, and how much is
written by hand.

    count_functions.py SHMEM_FOLDER MADE_FOLDER LIBRARY
"""

import pathlib
import re
import subprocess
import sys

# Lines that may be written by hand, those of the table and its generator among them, tests apart.
MOST_LINES = 9000
WRITTEN = {".c", ".cc", ".h", ".in", ".map", ".py", ".table"}

# From the table alone, without what makes the headers of it.
PER_GROUP = {"-": 1, "sizes": 5, "sizes_mem": 6}


def expected(path):
    """The number of functions that the table's rows stand for."""
    groups, count = {}, 0
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("|")]
        if line.startswith("type "):
            for group in columns[3].split():
                groups[group] = groups.get(group, 0) + 1
            continue
        of_row = PER_GROUP.get(columns[1]) or groups[columns[1]]
        count += of_row * (2 if "ctx" in columns[2].split() else 1)
    return count


def declared(path):
    text = open(path, encoding="utf-8").read()
    body = text[text.index('extern "C" {'):text.index("#ifdef __cplusplus\n}")]
    return set(re.findall(r"^[\w ]+?\*? ?\b(\w+)\([^;{]*\);$", body, re.M))


def defined(library):
    listing = subprocess.run(["nm", "-g", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1] for line in listing.stdout.splitlines() if len(line.split()) == 3}


def lines_by_hand(folder):
    files = [path for path in pathlib.Path(folder).rglob("*")
             if path.suffix in WRITTEN and "tests" not in path.relative_to(folder).parts and not path.stem.endswith("_test")]
    return sum(path.read_bytes().count(b"\n") for path in files)


def main():
    folder, made, library = sys.argv[1:]
    count = expected(folder + "/interface/openshmem.table")
    names = declared(made + "/shmem.h")
    profiling = declared(made + "/pshmem.h")
    symbols = defined(library)
    missing = sorted((names | profiling) - symbols)
    wrong = []
    if len(names) != count:
        wrong.append(f"shmem.h declares {len(names)} functions, the table has {count}")
    if {"p" + name for name in names} != profiling:
        wrong.append("shmem.h and pshmem.h differ by more than a letter: "
                     + ", ".join(sorted({"p" + name for name in names} ^ profiling)[:5]))
    if missing:
        wrong.append(f"{len(missing)} functions are declared and not defined: {', '.join(missing[:5])}")
    extra = {name for name in symbols if re.match(r"p?(shmem_|sh|start_pes|_my_pe|_num_pes)", name)} - names - profiling
    if extra:
        wrong.append(f"functions are defined and not declared: {', '.join(sorted(extra)[:5])}")
    lines = lines_by_hand(folder)
    if not 0 < lines <= MOST_LINES:
        wrong.append(f"{lines} lines are written by hand, and there should be {MOST_LINES} at most")
    print("\n".join(wrong) or f"{count} functions, each by two names; {lines} lines are written by hand")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
