#!/usr/bin/env bash
# From a fresh clone to tuned kernels: installs what is missing, builds, starts a server and two
# agents on loopback, tunes three networks, fetches the models, and compares two kernels with and
# without them. Writes a report of the first model. Everything it starts it also stops.
#
#   scripts/quickstart.sh [--json FILE] [--keep DIR] [--keep-running]
#
#   --json FILE      also write every row as a JSON line
#   --keep DIR       keep models, database, report and logs in DIR (default: a temporary folder, removed)
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
  stop_service
  [ -n "$keep" ] || rm -rf "$folder"
}
trap stop_all EXIT
trap 'exit 130' INT TERM

echo "== starting a server and two agents on loopback"
start_service "$folder"
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
# One file with the pages of a model, which needs no server; without the dashboard there is none.
report=$repository/build/report.html
[ -z "$keep" ] || report=$folder/report.html
"$bin/stripline" report "${fabrics[0]}" -o "$report" && echo "open it in a browser: the model of ${fabrics[0]}"
echo
if [ -n "$keep_running" ]; then
  echo "== the dashboard is on $dashboard, until Ctrl-C"
  echo "log in with the token in $dashboard_token"
  wait "${pids[0]}"
else
  echo "the dashboard was on $dashboard; --keep-running leaves it, with the server and the agents"
fi
[ -z "$keep" ] || echo "models, database, report and logs are in $folder"
