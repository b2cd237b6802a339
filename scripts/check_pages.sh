#!/usr/bin/env bash
# Every page of the dashboard in Chromium, with a server of its own whose agents tune two networks, the second
# while the pages are looked at. Part of scripts/check.sh pages, which builds before.
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
cp "$repository"/dashboards/pages/{package.json,package-lock.json,check.mjs} "$modules"
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
campaign=$("$bin/stripline" campaign run --fabric emulated:opteron-vapi --effort full --time-budget 10min --detach --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["name"].split("/")[1])')
node "$modules/check.mjs" "$dashboard" "$dashboard_token" "$pictures" modern-rdma "$campaign" "$folder/report.html" switch@1
