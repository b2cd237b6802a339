#!/usr/bin/env python3
"""monitoring_test.py ROOT: what the dashboard and the alert rules ask for, the server has.

Names of figures are compared with those of server/meters.cc, which are documented in docs/server.md.
Where promtool is there, it checks the rules' syntax, and when they fire (alerts_test.yml). The check
is tried itself, on files with mistakes.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

NAME = re.compile(r"\b(?:stripline|process)_[a-z0-9_]+\b")
# Prometheus makes these by itself.
OF_PROMETHEUS = {"up"}


def known_names(root):
    """Every name that /metrics can have, histograms with what belongs to them."""
    source = (root / "server/meters.cc").read_text()
    times = re.search(r"constexpr std::array kTimes = \{(.*?)\n\};", source, re.DOTALL).group(1)
    histograms = re.findall(r'Name\{"([^"]+)"', times)
    names = set(re.findall(r'(?:Name\{|\.Name\()"([^"]+)"', source)) - set(histograms)
    assert len(names) > 20 and len(histograms) >= 5, "server/meters.cc is not read rightly any more"
    return names, {name + end for name in histograms for end in ("_bucket", "_sum", "_count")}, histograms


def rules_of(text):
    """[(name, expression)] of the alerts: one line each, as the file is written."""
    alerts = re.findall(r"^      - alert: (\w+)$", text, re.MULTILINE)
    expressions = re.findall(r"^        expr: (.+)$", text, re.MULTILINE)
    if len(alerts) != len(expressions) or len(alerts) != text.count("- alert:"):
        raise ValueError("each alert needs one line with its expression")
    return list(zip(alerts, expressions))


def mistakes_in_rules(text, known):
    rules = rules_of(text)
    found = [f"{alert} asks for {name}, which the server does not have"
             for alert, expression in rules for name in NAME.findall(expression) if name not in known]
    for alert, expression in rules:
        if not NAME.search(expression) and not OF_PROMETHEUS & set(re.findall(r"\w+", expression)):
            found.append(f"{alert} asks for nothing")
    names = [alert for alert, _ in rules]
    found += [f"there are two rules {name}" for name in sorted(set(names)) if names.count(name) > 1]
    for part in ("summary", "description", "severity"):
        if text.count(f"          {part}: ") != len(rules):
            found.append(f"an alert has no {part}")
    return found


def mistakes_in_dashboard(text, known):
    board = json.loads(text)
    found = []
    asked = [(p["title"], t["expr"]) for p in board["panels"] for t in p.get("targets", [])]
    asked += [("a variable", v["query"]) for v in board["templating"]["list"]]
    asked += [("an annotation", a["expr"]) for a in board["annotations"]["list"]]
    for title, expression in asked:
        found += [f"'{title}' asks for {n}, which the server does not have"
                  for n in NAME.findall(expression) if n not in known]
    places = {}
    for panel in board["panels"]:
        if panel["type"] != "row" and not panel.get("targets"):
            found.append(f"'{panel['title']}' shows nothing")
        at = panel["gridPos"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                if x >= 24 or places.setdefault((x, y), panel["id"]) != panel["id"]:
                    found.append(f"'{panel['title']}' lies on another panel, or outside")
                    break
    ids = [panel["id"] for panel in board["panels"]]
    if len(ids) != len(set(ids)):
        found.append("two panels have one id")
    return found


def main(root):
    folder = root / "packaging/monitoring"
    rules = (folder / "stripline-alerts.yml").read_text()
    board = (folder / "stripline-dashboard.json").read_text()
    names, of_histograms, histograms = known_names(root)
    known = names | of_histograms
    found = mistakes_in_rules(rules, known) + mistakes_in_dashboard(board, known)

    page = (root / "docs/server.md").read_text()
    documented = set(NAME.findall(page))
    found += [f"docs/server.md does not have {n}" for n in sorted((names | set(histograms)) - documented)]
    found += [f"docs/server.md has {n}, which the server does not"
              for n in sorted(documented - known - set(histograms)) if n.startswith("stripline_")]
    shown = set(NAME.findall(board))
    for name in sorted(names):
        if name not in shown:
            found.append(f"the dashboard does not show {name}")

    # What it is to find.
    for text, mistake in (
        (rules.replace("stripline_models_stale", "stripline_poems"), "StriplineModelsStale asks for stripline_poems"),
        (rules.replace("stripline_ready", "stripline_commit_seconds"), "StriplineNotReady asks for stripline_commit_seconds"),
        (rules.replace("alert: StriplineNotReady", "alert: StriplineDown"), "two rules StriplineDown"),
    ):
        if not any(mistake in one for one in mistakes_in_rules(text, known)):
            found.append(f"this is not found: {mistake}")
    wrong = mistakes_in_dashboard(board.replace("stripline_sessions{", "stripline_seasons{"), known)
    if not any("stripline_seasons" in one for one in wrong):
        found.append("an unknown name in the dashboard is not found")

    if shutil.which("promtool"):
        for arguments in (["check", "rules", "stripline-alerts.yml"], ["test", "rules", "alerts_test.yml"]):
            done = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                found.append(done.stdout + done.stderr)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
