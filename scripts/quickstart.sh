#!/usr/bin/env bash
# From a fresh clone to a verdict: installs what is missing, builds the programs that it needs, starts a
# server and two agents on loopback, tunes three networks, runs two kernels with and without the
# models, in turns, and says what the models were worth. One line a stage; what programs print goes to
# logs. Everything it starts it also stops.
#
#   scripts/quickstart.sh [--json FILE] [--keep DIR] [--keep-running]
#
#   --json FILE      also write every row of the tables as a JSON line
#   --keep DIR       keep models, database, tables, report and logs in DIR (default: logs and tables in
#                    build/quickstart, the rest in a temporary folder, removed)
#   --keep-running   at the end go on serving the dashboard, until Ctrl-C
#
# Exits with 1 if a program takes longer with its model than without, beyond the interval of what was
# measured, or if a stage fails.
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
      sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" | sed '$d'
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
bin=$repository/build/release/bin

if [ -n "$keep" ]; then
  mkdir -p "$keep"
  folder=$(cd "$keep" && pwd)
  logs=$folder
else
  folder=$(mktemp -d)
  logs=$repository/build/quickstart
  mkdir -p "$logs"
fi
pids=()
stage_pid=
stop_all() {
  [ -z "$stage_pid" ] || kill -- "-$stage_pid" 2>/dev/null || true
  stop_service
  [ -n "$keep" ] || rm -rf "$folder"
}
trap stop_all EXIT
trap 'exit 130' INT TERM

# One real network, two emulated ones of different character: slow links beside a slow CPU, and long
# latency beside a fast link. The emulated ones run on the virtual clock, and computation takes there
# what the kernels say of it: exact, whatever else this host does.
fabrics=(tcp emulated:opteron-vapi emulated:cloud-ethernet)
kernels=(kernel.matvec kernel.transpose)

# What stages take on a quiet host of two cores without a compiler cache, in seconds; the build takes
# less with more.
cores=$(nproc)
build_cpu_s=1800
build_s=$((build_cpu_s / cores))
campaign_s=65
table_s=20
stages=$((2 + ${#fabrics[@]} * (1 + ${#kernels[@]}) + 1))
left_s=$((build_s + 3 + ${#fabrics[@]} * (campaign_s + ${#kernels[@]} * table_s) + 2))
stage=0

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# What ninja says of its progress, "[120/400] ...", as seconds left; empty: nothing yet.
build_left() {
  local built all
  read -r built all < <(tail -c 4096 "$1" 2>/dev/null | sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/\1 \2/p' | tail -1) || true
  [ "${built:-0}" -eq 0 ] || echo $(($2 * (all - built) / built))
}

# run_stage WHAT LOG SECONDS COMMAND...: a line with how long it took and how long the rest will; the
# output goes to LOG. Where it fails, the end of LOG is shown; `stage_may_fail` leaves that to the caller.
stage_may_fail=
run_stage() {
  local what=$1 log=$2 expected_s=$3 began=$SECONDS status=0 tick_s=1 elapsed_s rest_s
  shift 3
  stage=$((stage + 1))
  left_s=$((left_s - expected_s))
  local head="[$stage/$stages] $what"
  [ -t 1 ] || printf '%s: ' "$head"
  # A process group of its own, to be ended as a whole.
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  stage_pid=$!
  set +m
  while kill -0 "$stage_pid" 2>/dev/null; do
    if [ -t 1 ]; then
      elapsed_s=$((SECONDS - began))
      rest_s=$(build_left "$log" "$elapsed_s")
      [ -n "$rest_s" ] || rest_s=$((expected_s > elapsed_s ? expected_s - elapsed_s : 0))
      printf '\r\033[K%s: %s, about %s left in all' "$head" "$(minutes $elapsed_s)" \
        "$(minutes $((rest_s + left_s)))"
    fi
    sleep "$tick_s"
  done
  wait "$stage_pid" || status=$?
  stage_pid=
  [ ! -t 1 ] || printf '\r\033[K%s: ' "$head"
  printf '%s' "$(minutes $((SECONDS - began)))"
  if [ "$status" -eq 0 ]; then
    printf ', about %s left in all\n' "$(minutes $left_s)"
  elif [ -n "$stage_may_fail" ]; then
    printf ', not done\n'
  else
    printf ', FAILED\n'
    tail -n 20 "$log" | sed 's/^/    /'
    echo "all of it is in $log"
    exit "$status"
  fi
  return "$status"
}

run_stage "building the programs of the demo on $cores cores" "$logs/build.log" "$build_s" \
  configure_and_build release stripline stripline-server stripline-agent stripline-worker stripline-bench

# In this shell: it keeps what has been started.
stage=$((stage + 1))
left_s=$((left_s - 3))
began=$SECONDS
start_service "$folder" >"$logs/service.log" 2>&1 || {
  echo "[$stage/$stages] starting a server and two agents on loopback: FAILED"
  sed 's/^/    /' "$logs/service.log"
  cp "$folder"/*.log "$logs" 2>/dev/null || true
  echo "their logs are in $logs"
  exit 1
}
echo "[$stage/$stages] starting a server and two agents on loopback: $(minutes $((SECONDS - began))), about $(minutes $left_s) left in all"

# A model of the fabric in the folder. On a busy host a campaign may not get through enough runs in the
# minute that is usual; a real network is not measured there.
tune() {
  local fabric=$1 name=$2
  # On emulated networks programs compute as fast as the profile says, and campaigns likewise.
  [ "$fabric" = tcp ] || fabric+=,compute=declared
  "$bin/stripline" campaign run --fabric "$fabric" --effort budgeted --model "$name" --when-busy refuse || {
    [ "$fabric" != tcp ] || return 1
    "$bin/stripline" campaign run --fabric "$fabric" --effort budgeted --model "$name" --time-budget 5m
  }
  "$bin/stripline" model fetch "$name" -o "$folder/$name.stripline.json"
}

tuned=()
untuned=()
for fabric in "${fabrics[@]}"; do
  name=$(echo "$fabric" | tr ':' '-')
  stage_may_fail=yes
  if run_stage "tuning $fabric" "$logs/campaign-$name.log" "$campaign_s" tune "$fabric" "$name"; then
    tuned+=("$fabric")
  else
    # The host is too busy, or what was measured makes no model that passes its validation.
    reason=$(grep -hE 'FAILED|failed|not now' "$logs/campaign-$name.log" | tail -n 1 || true)
    reason=$(echo "${reason:-see $logs/campaign-$name.log}" | sed 's/; not now.*/; not now/' | cut -c 1-400)
    echo "    $reason"
    untuned+=("$fabric has no model: $reason")
    stages=$((stages - ${#kernels[@]}))
    left_s=$((left_s - table_s * ${#kernels[@]}))
  fi
  stage_may_fail=
done
if [ ${#tuned[@]} -eq 0 ]; then
  echo
  echo "VERDICT: none: no network could be tuned"
  exit 1
fi

rows=$folder/rows.jsonl
: >"$rows"
: >"$logs/tables.txt"
table() {
  local fabric=$1 kernel=$2 name
  name=$(echo "$fabric" | tr ':' '-')
  local on=(--fabric "$fabric")
  [ "$fabric" = tcp ] || on=(--fabric "$fabric,compute=declared" --clock virtual)
  "$bin/stripline" bench table --kernel "$kernel" -n 2 "${on[@]}" --time-budget "$table_s" \
    --model "$folder/$name.stripline.json" --json "$rows.part"
}
for fabric in "${tuned[@]}"; do
  for kernel in "${kernels[@]}"; do
    run_stage "$kernel on $fabric, with and without the model" "$logs/table.log" "$table_s" table "$fabric" "$kernel"
    cat "$rows.part" >>"$rows"
    { cat "$logs/table.log"; echo; } >>"$logs/tables.txt"
    rm -f "$rows.part" "$logs/table.log"
  done
done
[ -z "$json" ] || cp "$rows" "$json"

# One file with the pages of a model, which needs no server; without the dashboard there is none.
report=$repository/build/report.html
[ -z "$keep" ] || report=$folder/report.html
stage_may_fail=yes
run_stage "writing a report of the model of ${tuned[0]}" "$logs/report.log" 2 \
  "$bin/stripline" report "$(echo "${tuned[0]}" | tr ':' '-')" -o "$report" || true

echo
verdict=0
"$bin/stripline" bench verdict "$rows" || verdict=$?
[ ${#untuned[@]} -eq 0 ] || printf '%s\n' "${untuned[@]}"
echo
echo "all tables, with what the models predicted: $logs/tables.txt"
[ ! -s "$report" ] || echo "the report, for a browser: $report"
if [ -n "$keep_running" ]; then
  echo "the dashboard is on $dashboard, until Ctrl-C; log in with the token in $dashboard_token"
  wait "${pids[0]}"
else
  echo "the dashboard was on $dashboard; --keep-running leaves it, with the server and the agents"
fi
[ -z "$keep" ] || echo "models, database and logs are in $folder"
exit "$verdict"
