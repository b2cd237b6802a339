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
stop_all() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap stop_all EXIT

modules=$repository/build/pages_check
mkdir -p "$modules"
cp "$repository"/dashboards/pages/{package.json,package-lock.json,check.mjs} "$modules"
(cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)

export XDG_STATE_HOME=$folder/state
"$bin/stripline-server" --dev --data-dir "$folder/server" --listen 127.0.0.1:0 --http-listen 127.0.0.1:0 \
  --port-file "$folder/address" 2>"$folder/server.log" &
pids+=($!)
for _ in $(seq 100); do
  [ -s "$folder/address" ] && break
  sleep 0.1
done
STRIPLINE_SERVER=$(cat "$folder/address")
export STRIPLINE_SERVER
for node in node-a node-b; do
  "$bin/stripline-agent" --server "$STRIPLINE_SERVER" --node "$node" 2>"$folder/$node.log" &
  pids+=($!)
done
for _ in $(seq 100); do
  [ "$("$bin/stripline" nodes --json 2>/dev/null | grep -c IDLE)" = 2 ] && break
  sleep 0.1
done
"$bin/stripline" campaign run --fabric emulated:modern-rdma --effort full --time-budget 5min --model modern-rdma
"$bin/stripline" campaign run --fabric emulated:opteron-vapi --effort full --time-budget 10min --detach
url=$(sed -n 's/.*dashboard on //p' "$folder/server.log")
node "$modules/check.mjs" "$url" "$folder"/state/stripline/dev-*.token "$pictures" modern-rdma c2
