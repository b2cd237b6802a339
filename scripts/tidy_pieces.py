#!/usr/bin/env python3
"""clang-tidy over every piece of a build that is not known to be clean.

    tidy_pieces.py DATABASE [CLANG_TIDY_OPTION...]

DATABASE is a folder with a compile_commands.json. A piece is what the compiler is given: one source, or
several that are compiled at once. A piece that was clean is remembered in DATABASE/clean by what the
preprocessor makes of it, comments included, and by the checks: so a run that was broken off goes on
where it ended, and the next one looks only at what has changed. Exits with 1 if there are findings.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

NOT_OURS = re.compile(r"/generated/|/builtin_profiles|/simgrid_")


def key_of(piece, checks):
    """What decides about the findings in a piece, as a hash; nothing if it cannot be preprocessed."""
    command = shlex.split(piece["command"])
    compiler = next(i for i, word in enumerate(command) if "ccache" not in word)
    words = ["clang++-14"] + command[compiler + 1 :]
    output = words.index("-o")
    del words[output : output + 2]
    text = subprocess.run(words + ["-E", "-C", "-P", "-Wno-everything"], cwd=piece["directory"],
                          capture_output=True, check=False)
    if text.returncode != 0:
        return None
    return hashlib.sha256(checks + text.stdout).hexdigest()


def main():
    database = pathlib.Path(sys.argv[1])
    options = sys.argv[2:]
    clean = database / "clean"
    clean.mkdir(exist_ok=True)
    checks = pathlib.Path(".clang-tidy").read_bytes() + " ".join(options).encode()
    pieces = json.loads((database / "compile_commands.json").read_text())
    pieces = {piece["file"]: piece for piece in pieces if not NOT_OURS.search(piece["file"])}

    def look_at(piece):
        key = key_of(piece, checks)
        if key and (clean / key).exists():
            return "known"
        run = subprocess.run(["clang-tidy-14", "--quiet", "-p", str(database), *options, piece["file"]],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        sys.stdout.write(run.stdout)
        sys.stdout.flush()
        if run.returncode != 0:
            return "found"
        if key:
            (clean / key).touch()
        return "clean"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(look_at, pieces.values()))
    print(f"{len(outcomes)} pieces: {outcomes.count('known')} known to be clean, {outcomes.count('clean')} looked at "
          f"and clean, {outcomes.count('found')} with findings")
    sys.exit(1 if "found" in outcomes else 0)


main()
