#!/usr/bin/env bash
# Every page of the dashboard in Chromium, with a server of its own whose agents tune two networks, the second
# while the pages are looked at; then what pages take on a server with 5,000 campaigns, two of them of 250,000 points.
# Part of scripts/check.sh pages, which builds before.
#
#   scripts/check_pages.sh DIR     pictures go to DIR
set -euo pipefail
source "$(dirname "$0")/common.sh"
pictures=$(mkdir -p "$1" && cd "$1" && pwd)
bin=$repository/build/release/bin
folder=$(mktemp -d)
pids=()
trap 'stop_service; rm -rf "$folder"' EXIT

modules=$repository/build/pages_check
mkdir -p "$modules"
cp "$repository"/dashboards/pages/{package.json,package-lock.json,check.mjs,many.mjs} "$modules"
(cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)

# A network that changes under the agents later on.
switch=$folder/switch.json
cp "$repository/runtime/fabric/emulated/profiles/cloud-ethernet.json" "$switch"

export XDG_STATE_HOME=$folder/state
agent_options=(--profile "$switch" --models-dir "$folder/models")
start_service "$folder"
"$bin/stripline" campaign run --fabric emulated:modern-rdma --effort full --time-budget 5min --model modern-rdma
"$bin/stripline" campaign run --fabric emulated:modern-rdma --effort budgeted --model modern-rdma
"$bin/stripline" campaign run --fabric "emulated:$switch" --effort budgeted --model switch
"$bin/stripline" report modern-rdma@1 -o "$folder/report.html"

# A node whose folder of models cannot be written rejects what it is offered.
"$bin/stripline-agent" --server "$STRIPLINE_SERVER" --node node-c --models-dir /dev/null/models 2>"$folder/node-c.log" &
pids+=($!)
for _ in $(seq 100); do
  "$bin/stripline" nodes | grep -q node-c && break
  sleep 0.1
done
"$bin/stripline" model promote modern-rdma@1 --label stable
"$bin/stripline" model promote modern-rdma@2 --label canary --node node-c
"$bin/stripline" model promote switch@1 --label stable
"$bin/stripline" model check switch@1
python3 - "$switch" <<'END'
import json, sys
profile = json.load(open(sys.argv[1]))
for operation in ("put", "get", "am"):
    for segment in profile[operation]["segments"]:
        segment["L_s"]["value"] *= 2
        segment["G_s_per_byte"]["value"] *= 2
json.dump(profile, open(sys.argv[1], "w"))
END
"$bin/stripline" model check switch@1
"$bin/stripline" model check switch@1
# What runs of two programs would report of the stable version.
"$bin/stripline" model fetch modern-rdma@1 -o "$folder/model.json"
python3 - "$folder" <<'END'
import json, sys
folder = sys.argv[1]
sha256 = json.load(open(folder + "/model.json"))["sha256"]
for run, program in enumerate(["transpose", "transpose", "halo"]):
    places = []
    for i, (what, choice) in enumerate([("get 1 MiB", "strips of 128 KiB, tuned"), ("put of 64 regions of 8 KiB", "packed, 8 KiB, window 4, tuned"),
                                        ("get of 700 regions of 48 B", "bounding box, tuned"), ("put 4 MiB", "strips of 256 KiB, tuned")]):
        slower = i == 2
        places.append({"place": f"{program}.cc:{17 + 9 * i}", "what": what, "choice": choice, "ranks": 2, "executions": 4000 - 900 * i, "as_chosen": 3900 - 900 * i,
                       "predicted_s": 2e-4 / (i + 1), "measured_s": 2.1e-4 / (i + 1) * (1.6 if slower else 1 + run / 50), "simple": 0 if i == 3 else 40,
                       "simple_s": 0 if i == 3 else 2.9e-4 / (i + 1), "demoted_ranks": 2 if slower else 0})
    report = {"stripline_feedback": 1, "model_sha256": sha256, "run": f"{run:032x}", "program": program, "fabric": "emulated:modern-rdma", "ranks": 2,
              "elapsed_s": 2.5 + run, "places": places, "places_left_out": 0}
    json.dump(report, open(f"{folder}/run-{run}.json", "w"))
END
for run in 0 1 2; do "$bin/stripline" feedback send "$folder/run-$run.json"; done
# Settings of another runtime, as 'stripline export pack' would have written them after tuning.
python3 - "$folder" <<'END'
import hashlib, json, sys
rules = "# Written by Stripline\nbcast: 64 to 4096 bytes: binomial\n"
cells, checks = [], []
for collective in ("bcast", "allreduce", "alltoall"):
    for bytes, ratio in ((8, 1), (64, 0.6), (512, 0.7), (4096, 0.8), (32768, 1)):
        departs = collective == "bcast" and ratio < 1
        cells.append({"collective": collective, "ranks": 4, "ranks_per_node": 4, "bytes": bytes, "chosen": "binomial" if departs else "default",
                      "outcome": "faster" if departs else "no alternative is faster", "ratio": ratio, "ratio_low": 0.95 * ratio, "ratio_high": 1.05 * ratio})
        if departs:
            checks.append({"operation": collective, "ranks": 4, "bytes": bytes, "type": "double", "in_place": False, "stage": "fitted",
                           "verdict": "NON_INFERIOR", "ratio": ratio, "lower": 0.95 * ratio, "upper": 1.05 * ratio, "pairs": 20})
record = {"target": "openmpi", "version": "4.1.4", "path": "shm", "host": "node-a", "kernel": "6.1.0", "user": "tuner", "time": "2026-11-01T00:00:00Z",
          "ranks": [4], "processors": 4, "margin": 0.02, "validated": True, "cells": cells, "checks": checks, "proof": {"factor": 3.5, "collective": "bcast", "ranks": 4, "candidate": "chain"},
          "knobs": [{"name": "btl_vader_eager_limit", "value": "8192", "outcome": "not faster", "ratio": 1.01, "ratio_low": 0.99, "ratio_high": 1.03, "failure": ""}],
          "settings": {"coll_tuned_use_dynamic_rules": "1"}, "rejected": [{"collective": "alltoall", "ranks": 4, "bytes": 8, "candidate": "two_proc", "reason": "needs two ranks"}],
          "stages": [{"stage": "fitted", "passed": True, "verdict": "3 comparisons, none slower"}], "files": {"rules.conf": hashlib.sha256(rules.encode()).hexdigest()}}
json.dump({"format": "stripline export 1", "files": {"rules.conf": rules}, "record": record}, open(sys.argv[1] + "/settings.json", "w"))
END
"$bin/stripline" model import "$folder/settings.json"
campaign=$("$bin/stripline" campaign run --fabric emulated:opteron-vapi --effort full --runs 90 --time-budget 30min --detach --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["name"].split("/")[1])')
in_order=0
node "$modules/check.mjs" "$dashboard" "$dashboard_token" "$pictures" modern-rdma "$campaign" "$folder/report.html" switch@1 || in_order=1
stop_service

echo "== 5,000 campaigns, two of 250,000 points"
agent_options=()
mkdir -p -m 0700 "$folder/many/server"
"$bin/stripline-fill" "$folder/many/server/stripline.db"
start_service "$folder/many"
node "$modules/many.mjs" "$dashboard" "$dashboard_token" "$pictures" c4999 c5000 "${pids[0]}" || in_order=1
exit $in_order
