#!/usr/bin/env python3
"""clang-tidy over every piece of a build that is not known to be clean.

    tidy_pieces.py DATABASE [--named] [CLANG_TIDY_OPTION...]

DATABASE is a folder with a compile_commands.json. A piece is what the compiler is given: one source, or
several that are compiled at once. A piece that was clean is remembered in DATABASE/clean by what the
preprocessor makes of it, comments included, and by the checks: so a run that was broken off goes on
where it ended, and the next one looks only at what has changed. Exits with 1 if there are findings.

--named: only sources that standard input names, one a line, each once; those of one piece stay together.
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
INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)
# A piece of several sources includes them.
OF_SEVERAL = "--checks=-bugprone-suspicious-include"


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


def narrowed(pieces, names, folder):
    """Pieces of the named sources alone, and the names that are in none."""
    # Where sources are included, findings in them are shown as those in headers are.
    shown = re.search(r"HeaderFilterRegex: '(.*)'", pathlib.Path(".clang-tidy").read_text())[1]
    wanted = {os.path.abspath(name): name for name in names}
    some = []
    for piece in pieces:
        of_several = "/Unity/" in piece["file"]
        here = INCLUDED.findall(pathlib.Path(piece["file"]).read_text()) if of_several else [piece["file"]]
        here = [source for source in here if wanted.pop(source, None)]
        if not here:
            continue
        file, options = here[0], []
        if len(here) > 1:
            file = str(folder.absolute() / f"named_{len(some)}.cc")
            pathlib.Path(file).write_text("".join(f'#include "{source}"\n' for source in here))
            options = [OF_SEVERAL, f"--header-filter={shown}|\\.cc$"]
        some.append({**piece, "file": file, "options": options,
                     "command": piece["command"].replace(piece["file"], file)})
    return some, sorted(wanted.values())


def main():
    database = pathlib.Path(sys.argv[1])
    options = sys.argv[2:]
    named = "--named" in options
    if named:
        options.remove("--named")
    clean = database / "clean"
    clean.mkdir(exist_ok=True)
    checks = pathlib.Path(".clang-tidy").read_bytes() + " ".join([OF_SEVERAL, *options]).encode()
    pieces = json.loads((database / "compile_commands.json").read_text())
    pieces = list({piece["file"]: piece for piece in pieces if not NOT_OURS.search(piece["file"])}.values())
    if named:
        pieces, left_out = narrowed(pieces, sys.stdin.read().split("\n"), database)
        # clang-tidy takes the database of a folder above where one has members that it does not know.
        known = [{key: piece[key] for key in ("directory", "command", "file")} for piece in pieces]
        (database / "compile_commands.json").write_text(json.dumps(known))
        left_out = [name for name in left_out if name and not name.endswith("_fuzz.cc")]
        if left_out:
            print("not compiled by this build, and not looked at: " + " ".join(left_out))

    def look_at(piece):
        key = None if named else key_of(piece, checks)
        if key and (clean / key).exists():
            return "known"
        run = subprocess.run(["clang-tidy-14", "--quiet", "-p", str(database), *piece.get("options", [OF_SEVERAL]),
                              *options, piece["file"]],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        sys.stdout.write(run.stdout)
        sys.stdout.flush()
        if run.returncode != 0:
            return "found"
        if key:
            (clean / key).touch()
        return "clean"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(look_at, pieces))
    print(f"{len(outcomes)} pieces: {outcomes.count('known')} known to be clean, {outcomes.count('clean')} looked at "
          f"and clean, {outcomes.count('found')} with findings")
    sys.exit(1 if "found" in outcomes else 0)


main()
