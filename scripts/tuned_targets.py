#!/usr/bin/env python3
"""Judges what stripline-tune has found for another runtime, and prints tables in Markdown:

    scripts/tuned_targets.py share RECORD SWEEP     the part of an exhaustive search's gain that RECORD has
    scripts/tuned_targets.py repeat N TARGET [OPTION...]   N runs of tuning: in which cells and knobs their choices differ
    scripts/tuned_targets.py program FILE ROUNDS COMMAND...  COMMAND with and without the settings of FILE, in turns

RECORD is stripline-export.json of a run, SWEEP what 'stripline-tune sweep' has printed for the same ranks and path: of
alternatives, or, with --knobs --record RECORD, of knobs. The
exit status is 1 where what is asked for is not met: 90 % of the gain, a factor of 1.3 over the cells where the default
is not the best, choices that differ in cells and knobs that tie alone, and files that differ where choices do; and where there
is nothing to compare.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

SHARE = 0.9
FACTOR = 1.3
# What the best alternative has to gain in runs that did not choose it, for the default not to be the best.
MARGIN = 0.03
# Outcomes of cells and knobs that say for certain that nothing is to be gained, or that something is lost.
SURE_OF_DEFAULT = {"default_best", "refuted", "no_effect", "slower", "loses"}
T95 = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13]


def print_table(heads, rows):
    """Columns whose heading begins with '>' are aligned to the right."""
    print("| " + " | ".join(head.lstrip(">") for head in heads) + " |")
    print("|" + "".join("---:|" if head.startswith(">") else "---|" for head in heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def cell_of(line):
    return line["collective"], line["ranks"], line["bytes"]


def record_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def log_ratio(times, default, runs):
    """The mean logarithm of times / default over these runs; None where no run has both."""
    logs = [math.log(times[run] / default[run]) for run in runs if times[run] and default[run]]
    return statistics.mean(logs) if logs else None


def read_sweep(path):
    """The lines of a sweep, without what failed."""
    with open(path, encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if not line["failure"]]


def cells_of(lines):
    """{cell: {alternative: times}} of a sweep of alternatives."""
    cells = collections.defaultdict(dict)
    for line in lines:
        cells[cell_of(line)][line["candidate"]] = line["times_s"]
    return cells


def judged(alternatives, chosen):
    """(best, log ratio of the best, of `chosen`): the best one by the even runs, ratios by the odd ones. None without
    enough runs, or where `chosen` was not measured."""
    default = alternatives.get("default", [])
    even, odd = range(0, len(default), 2), range(1, len(default), 2)
    by_even = {name: log_ratio(times, default, even) for name, times in alternatives.items()}
    by_even = {name: value for name, value in by_even.items() if value is not None}
    if not by_even or chosen not in alternatives:
        return None
    best = min(by_even, key=by_even.get)
    found = log_ratio(alternatives[best], default, odd), log_ratio(alternatives[chosen], default, odd)
    return None if None in found else (best, *found)


def found_enough(all_chosen, all_best, where_lost):
    """Says, of logarithms of times over the default's, what part of the best's gain the choices have, and how much faster
    they are in the cells where the default is not the best."""
    part = all_chosen / all_best if all_best < 0 else 1.0
    factor = math.exp(-statistics.mean(where_lost))
    print(f"\nOf the gain of the exhaustive search (of logarithms of times, over all cells) the choices have {100 * part:.1f} %.")
    print(f"Over the {len(where_lost)} cells where the default is not the best they are {factor:.2f} times as fast as it.")
    return part >= SHARE and factor >= FACTOR


def share_of_knobs(record, lines):
    """As share(), of settings, which act on all cells: beside the best value, or two, that loses in no cell."""
    swept = collections.defaultdict(dict)
    for line in lines:
        swept[tuple(sorted(line["settings"].items()))][line["operation"], line["ranks"], line["bytes"]] = line["times_s"]
    chosen = tuple(sorted(record["settings"].items())) if record["validated"] else ()
    if () not in swept or chosen not in swept:
        sys.exit("tuned_targets.py: the sweep lacks the default, or the settings of the record: sweep with --record")
    default = swept[()]
    runs = range(len(next(iter(default.values()))))

    def gains(settings, half):
        logs = {cell: log_ratio(times, default[cell], runs[half::2]) for cell, times in swept[settings].items()}
        return None if None in logs.values() else logs

    def loses(settings):
        pairs = [[(times[run], default[cell][run]) for run in runs[::2] if times[run] and default[cell][run]]
                 for cell, times in swept[settings].items()]
        return any(all(time_s > (1 + MARGIN) * usual_s for time_s, usual_s in one) for one in pairs)

    by_even = {settings: gains(settings, 0) for settings in swept if gains(settings, 0) and gains(settings, 1)}
    best = min((one for one in by_even if not loses(one)), key=lambda one: statistics.mean(by_even[one].values()), default=None)
    if best is None or chosen not in by_even:
        sys.exit("tuned_targets.py: the sweep has too few runs")
    odd = {settings: gains(settings, 1) for settings in by_even}
    rows = [[" ".join("=".join(one) for one in settings) or "the default", f"{math.exp(statistics.mean(logs.values())):.3f}",
             f"{math.exp(max(logs.values())):.2f}", " and ".join(["best"] * (settings == best) + ["choice"] * (settings == chosen))]
            for settings, logs in sorted(odd.items(), key=lambda one: statistics.mean(one[1].values()))]
    print("Settings, as times over the default's: in the mean of all cells, and in the worst:\n")
    print_table(["settings", ">all", ">worst", ""], rows)
    all_best = sum(odd[best].values())
    where_lost = [odd[chosen][cell] for cell, of_best in odd[best].items() if of_best < math.log(1 - MARGIN)]
    if statistics.mean(odd[best].values()) > math.log(1 - MARGIN):
        print("\nThe default is the best over all cells, within 3 %: keep it.")
        return not chosen
    return found_enough(sum(odd[chosen].values()), all_best, where_lost)


def share(args):
    """What RECORD's choices gain in the cells of SWEEP, beside the best of an exhaustive search, which one half of its runs
    chooses and the other half measures. What was not validated is not exported, and gains nothing."""
    record = record_of(args.record)
    lines = read_sweep(args.sweep)
    if any("settings" in line for line in lines):
        return share_of_knobs(record, lines)
    choices = {cell_of(one): one["chosen"] for one in record["cells"]} if record["validated"] else {}
    rows, all_best, all_chosen, where_lost = [], 0.0, 0.0, []
    by_collective = collections.defaultdict(list)
    for cell, alternatives in cells_of(lines).items():
        chosen = choices.get(cell, "default")
        found = judged(alternatives, chosen)
        if found is None:
            rows.append([*cell, chosen, "-", "not measured", "-"])
            continue
        best, of_best, of_chosen = found
        by_collective[cell[0]].append((of_best, of_chosen))
        all_best += of_best
        all_chosen += of_chosen
        if of_best < math.log(1 - MARGIN):
            where_lost.append(of_chosen)
            rows.append([*cell, chosen, best, f"{math.exp(of_chosen):.2f}", f"{math.exp(of_best):.2f}"])
    if not by_collective:
        sys.exit("tuned_targets.py: the sweep has no cell with enough runs")
    print("Cells where the default is not the best, as times over the default's:\n")
    print_table(["collective", ">ranks", ">bytes", "choice", "best", ">choice", ">best"], rows)
    print()
    print_table(["collective", ">cells", ">choices", ">best"],
                [[name, len(of), *(f"{math.exp(statistics.mean(one[i] for one in of)):.3f}" for i in (1, 0))]
                 for name, of in sorted(by_collective.items())])
    if not where_lost:
        print("\nThe default is the best everywhere, within 3 %: keep it.")
        return all(one == "default" for one in choices.values())
    return found_enough(all_chosen, all_best, where_lost)


def ties(found):
    """Choices of one cell or knob in several runs of tuning that nothing tells apart: ratios of alternatives whose
    intervals meet, and a default that was kept as no gain was certain."""
    departures = [one for one in found if one["chosen"] != "default"]
    kept = [one for one in found if one["chosen"] == "default"]
    if any(one["outcome"] in SURE_OF_DEFAULT for one in kept):
        return False
    return all(a["ratio_low"] <= b["ratio_high"] for a in departures for b in departures)


def choices_of(record):
    """{what is chosen: the choice}, of cells and of knobs."""
    choices = {cell_of(one): one for one in record["cells"]}
    tried = collections.defaultdict(list)
    for one in record["knobs"]:
        tried[one["name"]].append(one)
    for name, values in tried.items():
        chosen = [dict(one, chosen=one["value"]) for one in values if one["value"] == record["settings"].get(name)]
        outcomes = {one["outcome"] for one in values}
        kept = "default_best" if outcomes <= SURE_OF_DEFAULT else "few_runs" if outcomes == {"few_runs"} else "tie"
        choices["knob " + name, "", ""] = chosen[0] if chosen else {"chosen": "default", "outcome": kept}
    return choices


def settings_in(folder, record):
    """What the exported files say, without comments, and without the folder that they are in."""
    texts = []
    for name in sorted(record["files"]):
        lines = (folder / name).read_text(encoding="utf-8").replace(str(folder), "").splitlines()
        texts.append((name, tuple(line for line in (line.split("#")[0].strip() for line in lines) if line)))
    return tuple(texts)


def repeat(args):
    """Runs tuning N times, each with a seed of its own, and names the cells and knobs in which the choices differ: those
    that tie, and others. Files that differ although all choices are the same are an error."""
    program = args.build / "bin" / "stripline-tune"
    cells, few, texts = collections.defaultdict(list), 0, collections.defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        for nth in range(args.n):
            output = pathlib.Path(folder) / str(nth)
            done = subprocess.run([program, args.target, *args.options, "--seed", str(nth + 1), "--output", output],
                                  check=False, stdout=subprocess.DEVNULL)
            if not (output / "stripline-export.json").exists():
                sys.exit(f"tuned_targets.py: run {nth + 1} of tuning ended with status {done.returncode}")
            record = record_of(output / "stripline-export.json")
            choices = choices_of(record)
            for what, one in choices.items():
                cells[what].append(one)
            decided = tuple(sorted((what, one["chosen"]) for what, one in choices.items()))
            texts[decided].add(settings_in(output, record))
    if args.n < 2 or not cells:
        sys.exit("tuned_targets.py: there is nothing to compare: less than two runs, or no cell and no knob in their records")
    rows, wrong = [], 0
    for cell, found in sorted(cells.items()):
        measured = [one for one in found if one["outcome"] != "few_runs"]
        few += len(found) - len(measured)
        counts = collections.Counter(one["chosen"] for one in measured)
        if len(counts) < 2:
            continue
        tie = ties(measured)
        wrong += not tie
        rows.append([*cell, ", ".join(f"{name} ({count})" for name, count in counts.most_common()), "yes" if tie else "NO"])
    print_table(["collective", ">ranks", ">bytes", "choices (runs)", "tie"], rows)
    unequal = sum(len(one) > 1 for one in texts.values())
    compared = sum(len([one for one in found if one["outcome"] != "few_runs"]) > 1 for found in cells.values())
    print(f"\n{len(cells)} cells and knobs in {args.n} runs: choices differ in {len(rows)}, in {wrong} of them though they do not "
          f"tie; {few} decisions had too few runs.")
    if unequal:
        print(f"Files differ in {unequal} cases in which all choices are the same.")
    if not compared:
        print("Nothing was compared: in no cell and no knob did two runs come to a decision.")
    return wrong == 0 and unequal == 0 and compared > 0


def variables_after(command):
    """What a shell without any variables exports after a command."""
    said = subprocess.run(["env", "-i", "sh", "-c", command + "; /usr/bin/env -0"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return dict(one.split("=", 1) for one in said.split("\0") if one)


def environment_of(file):
    """What makes the target read an exported file; empty where it has no setting."""
    if file.suffix == ".env":
        usual = variables_after(":")
        return {name: value for name, value in variables_after(f". {shlex.quote(str(file))}").items() if name not in usual}
    if not any(line.strip() and not line.lstrip().startswith("#") for line in file.read_text(encoding="utf-8").splitlines()):
        return {}
    if file.name == "ucx.conf":
        return {"UCX_CONFIG_DIR": str(file.parent)}
    usual = subprocess.run(["ompi_info", "--all", "--parsable", "--level", "9"], check=True, text=True, stdout=subprocess.PIPE).stdout
    files = re.search(r":param:mca_base_param_files:value:(.*)", usual)
    return {"OMPI_MCA_mca_base_param_files": ",".join([str(file), *([files.group(1)] if files else [])])}


def program(args):
    """Times COMMAND with and without the settings of FILE, in turns: its wall clock, or what --time finds in its output."""
    loaded = environment_of(args.file.resolve())
    if all(os.environ.get(name) == value for name, value in loaded.items()):
        sys.exit(f"tuned_targets.py: there is nothing to compare: {args.file} has no setting that this environment has not")
    times = {"default": [], "tuned": []}
    for nth in range(args.rounds):
        for which in (("default", "tuned") if nth % 2 == 0 else ("tuned", "default")):
            begin = time.monotonic()
            done = subprocess.run(args.command, check=False, text=True, stdout=subprocess.PIPE,
                                  env=dict(os.environ, **(loaded if which == "tuned" else {})))
            taken = time.monotonic() - begin
            found = re.search(args.time, done.stdout) if args.time else None
            if done.returncode != 0 or (args.time and not found):
                sys.exit(f"tuned_targets.py: the program failed with status {done.returncode} ({which}), or printed no time")
            times[which].append(float(found.group(1)) if found else taken)
    logs = [math.log(b / a) for a, b in zip(times["default"], times["tuned"])]
    mean = statistics.mean(logs)
    half = T95[min(len(logs) - 1, len(T95)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    print_table(["program", ">pairs", ">default [s]", ">tuned [s]", ">tuned / default"],
                [[f"`{' '.join(args.command)}`", len(logs), *(f"{statistics.median(times[one]):.4g}" for one in times),
                  f"{math.exp(mean):.3f} [{math.exp(mean - half):.3f}, {math.exp(mean + half):.3f}]"]])
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = parser.add_subparsers(required=True, metavar="NAME")
    one = names.add_parser("share", description=share.__doc__)
    one.add_argument("record", type=pathlib.Path)
    one.add_argument("sweep", type=pathlib.Path)
    one.set_defaults(function=share)
    one = names.add_parser("repeat", description=repeat.__doc__)
    one.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    one.add_argument("n", type=int)
    one.add_argument("target")
    one.add_argument("options", nargs=argparse.REMAINDER, help="of stripline-tune TARGET")
    one.set_defaults(function=repeat)
    one = names.add_parser("program", description=program.__doc__)
    one.add_argument("--time", help="a regular expression whose first group is the time in seconds")
    one.add_argument("file", type=pathlib.Path)
    one.add_argument("rounds", type=int)
    one.add_argument("command", nargs=argparse.REMAINDER)
    one.set_defaults(function=program)
    args = parser.parse_args()
    return 0 if args.function(args) else 1


if __name__ == "__main__":
    sys.exit(main())
