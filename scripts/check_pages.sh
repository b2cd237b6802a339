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

export XDG_STATE_HOME=$folder/state
start_service "$folder"
"$bin/stripline" campaign run --fabric emulated:modern-rdma --effort full --time-budget 5min --model modern-rdma
"$bin/stripline" campaign run --fabric emulated:modern-rdma --effort budgeted --model modern-rdma
"$bin/stripline" report modern-rdma@1 -o "$folder/report.html"
"$bin/stripline" campaign run --fabric emulated:opteron-vapi --effort full --time-budget 10min --detach
node "$modules/check.mjs" "$dashboard" "$dashboard_token" "$pictures" modern-rdma c3 "$folder/report.html"
