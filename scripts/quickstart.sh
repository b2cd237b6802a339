#!/usr/bin/env bash
# From a fresh clone to tuned kernels: installs what is missing, builds, starts a server and two
# agents on loopback, tunes three networks, fetches the models, and compares two kernels with and
# without them. Everything it starts it also stops.
#
#   scripts/quickstart.sh [--json FILE] [--keep DIR] [--keep-running]
#
#   --json FILE      also write every row as a JSON line
#   --keep DIR       keep models, database and logs in DIR (default: a temporary folder, removed)
#   --keep-running   at the end go on serving the dashboard, until Ctrl-C
set -euo pipefail
source "$(dirname "$0")/common.sh"

json=
keep=
keep_running=
while [ $# -gt 0 ]; do
  case $1 in
    --json)
      json=${2:?--json needs a file}
      shift 2
      ;;
    --keep)
      keep=${2:?--keep needs a folder}
      shift 2
      ;;
    --keep-running)
      keep_running=yes
      shift
      ;;
    -h | --help)
      sed -n '2,10s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "unknown argument '$1'; see --help" >&2
      exit 2
      ;;
  esac
done
[ -z "$json" ] || : >"$json"

require_packages "${build_packages[@]}"
require_node
echo "== building"
configure_and_build release installed
bin=$repository/build/release/bin

if [ -n "$keep" ]; then
  mkdir -p "$keep"
  folder=$(cd "$keep" && pwd)
else
  folder=$(mktemp -d)
fi
pids=()
stop_all() {
  local pid
  for pid in "${pids[@]:-}"; do
    [ -n "$pid" ] && kill "$pid" 2>/dev/null || true
  done
  for pid in "${pids[@]:-}"; do
    [ -n "$pid" ] && wait "$pid" 2>/dev/null || true
  done
  [ -n "$keep" ] || rm -rf "$folder"
}
trap stop_all EXIT
trap 'exit 130' INT TERM

echo "== starting a server and two agents on loopback"
"$bin/stripline-server" --dev --data-dir "$folder/server" --listen 127.0.0.1:0 \
  --http-listen 127.0.0.1:0 --port-file "$folder/address" 2>"$folder/server.log" &
pids+=($!)
for _ in $(seq 100); do
  [ -s "$folder/address" ] && break
  kill -0 "${pids[0]}" 2>/dev/null || {
    cat "$folder/server.log" >&2
    exit 1
  }
  sleep 0.1
done
address=$(cat "$folder/address")
case $address in *:*) ;; *) address=127.0.0.1:$address ;; esac
export STRIPLINE_SERVER=$address
for node in node-a node-b; do
  "$bin/stripline-agent" --server "$address" --node "$node" 2>"$folder/$node.log" &
  pids+=($!)
done
for _ in $(seq 100); do
  [ "$("$bin/stripline" nodes --json 2>/dev/null | grep -c IDLE)" = 2 ] && break
  sleep 0.1
done
"$bin/stripline" nodes

# One real network, two emulated ones of different character: slow links beside a slow CPU, and long
# latency beside a fast link. The emulated ones run on the virtual clock.
fabrics=(tcp emulated:opteron-vapi emulated:cloud-ethernet)
for fabric in "${fabrics[@]}"; do
  name=$(echo "$fabric" | tr ':' '-')
  echo
  echo "== tuning $fabric (budgeted campaign: pruned grids)"
  "$bin/stripline" campaign run --fabric "$fabric" --effort budgeted --model "$name" || {
    # A host that others keep busy may not get through enough runs in the minute that is usual.
    echo "== once more, with a budget for a busy host"
    "$bin/stripline" campaign run --fabric "$fabric" --effort budgeted --model "$name" \
      --time-budget 5m
  }
  "$bin/stripline" model fetch "$name" -o "$folder/$name.stripline.json"
done

for fabric in "${fabrics[@]}"; do
  name=$(echo "$fabric" | tr ':' '-')
  clock=real
  [ "$fabric" = tcp ] || clock=virtual
  for kernel in kernel.matvec kernel.transpose; do
    echo
    "$bin/stripline" bench table --kernel "$kernel" -n 2 --fabric "$fabric" --clock "$clock" \
      --model "$folder/$name.stripline.json" --time-budget 15 ${json:+--json "$json.part"}
    if [ -n "$json" ]; then
      cat "$json.part" >>"$json"
      rm -f "$json.part"
    fi
  done
done
echo
if [ -n "$keep_running" ]; then
  echo "== the dashboard, until Ctrl-C"
  sed -n 's/.*dashboard on //p' "$folder/server.log"
  echo "with the token in ${XDG_STATE_HOME:-$HOME/.local/state}/stripline/dev-$(uname -n)-${address##*:}.token"
  wait "${pids[0]}"
fi
echo "== stopping the server and the agents (--keep-running leaves them, and the dashboard)"
[ -z "$keep" ] || echo "models, database and logs are in $folder"
