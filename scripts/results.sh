#!/usr/bin/env bash
# Measures and prints the tables of docs/results, and writes them there.
#
#   scripts/results.sh NAME [--print] [--out DIR] [--quick] [--only TEXT] [--model FABRIC=FILE]...
#
#   coverage     how often intervals contain the truth, over 1000 synthetic campaigns
#   recovery     whether fits find the true parameters of the emulated networks
#   prediction   errors of predicted times at sizes that were not fitted
#   overlap      the share of a transfer's time that computation can hide
#   quality      tuned plans against blocking, hand-written and exhaustively searched ones
#   scale        the same with 2 to 64 ranks on emulated networks, under declared computation
#   strips       strip-mining by the model against exhaustive search, over bulk transfers
#   untuned      the runtime without a model beside blocking transfers
#   analysis     the share of kernels' time that deciding how to communicate takes
#   load         loops of up to 64 ranks that share links, with and without load estimation
#   robust       kernels with models that are wrong beside the same kernels without a model
#   ablation     rows of other tables with a model, without one, and with a wrong one
#   bulk         blocking programs in bulk regions beside themselves and the same by hand
#   vis          chosen methods of transfers of many regions against the best ones
#   update-choices  chosen methods of updates against the best ones of a sweep
#   gather-choices  chosen methods of gathers against the best ones of a sweep
#   strided      chosen transfers of many regions beside loops and packing by hand
#   cost         nanoseconds of a decision
#   serial       what the access form costs on local data: instructions and time
#   compare      the runtime beside bare libfabric and a TCP socket
#   arrays       forall over shared arrays beside private pointers; pointers to shared
#   collectives  collective operations of the runtime and of Open MPI
#   neighbours   the runtime beside Open MPI and UCX, over TCP (network) and within the node (node)
#   clocks       experiments on emulated networks: the virtual clock beside the real one
#   campaign     wall time of campaigns and fits on two agents; wake-ups of an idle agent
#   all          all of them, in this order
#
#   --out DIR    keep measurements in DIR (default: build/results). An interrupted command continues
#                from there; remove the folder to measure again
#   --print      leave docs/results alone
#   --quick      few seeds, sizes and cells: shows that all works; with --print
#   --only TEXT  only networks whose name contains TEXT
#   --cells TEXT only cells whose name contains TEXT, such as "8 ranks" (update-choices, gather-choices, bulk, ablation)
#   --model FABRIC=FILE   a model to use on a network instead of measuring one (quality, update-choices, gather-choices)
#
# The exit status is 3 where a table says that a criterion is not met.
#
# A table goes to where docs/results/NAME.md has marks for its command, which names the options that
# change it, and is only printed where there are none. It says which sources it is from, so that none
# is written from a working tree with uncommitted changes, or from measurements that other sources left
# in DIR.
#
# Do not run anything beside it: tcp and everything timed shares the host's cores.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

names=(coverage recovery prediction overlap quality scale strips untuned analysis load robust ablation bulk vis update-choices gather-choices strided cost serial compare collectives
  neighbours clocks arrays campaign)
usage() { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0"; }
what=${1:-}
case $what in
  '')
    usage >&2
    exit 2
    ;;
  -h | --help)
    usage
    exit 0
    ;;
esac
case " ${names[*]} all " in
  *" $what "*) ;;
  *)
    echo "results.sh: there is no table '$what'; see --help" >&2
    exit 2
    ;;
esac
shift
cd "$repository"
bin=build/release/bin
out=build/results
quick=
print_only=
only=
passed=()     # to stripline-results, besides --only
described=()  # what changes a table, besides --only
while [ $# -gt 0 ]; do
  case $1 in
    --out)
      out=${2:?--out needs a folder}
      shift 2
      ;;
    --print)
      print_only=1
      shift
      ;;
    --quick)
      quick=1
      print_only=1
      passed+=(--quick)
      described+=(--quick)
      shift
      ;;
    --only)
      only=${2:?--only needs a text}
      shift 2
      ;;
    --cells)
      passed+=(--cells "${2:?--cells needs a text}")
      described+=(--cells "'$2'")
      shift 2
      ;;
    --model)
      passed+=(--model "${2:?--model needs FABRIC=FILE}")
      described+=(--model "${2%%=*}=FILE")
      shift 2
      ;;
    *)
      echo "unknown argument '$1'; see --help" >&2
      exit 2
      ;;
  esac
done
kept=$out/full
[ -z "$quick" ] || kept=$out/quick

# changed_sources: tracked files with uncommitted changes; last_sources: the last commit of any. The
# tables themselves are no sources.
changed_sources() { git status --porcelain --untracked-files=no -- . ':!docs/results'; }
last_sources() { git log -1 --format=%h -- . ':!docs/results'; }

sources=$(last_sources)
if [ -n "$(changed_sources)" ]; then
  [ -n "$print_only" ] || {
    changed_sources >&2
    echo "results.sh: these changes are not committed, so that no one could make the table again." \
      "Commit them, or measure with --print, which leaves docs/results alone." >&2
    exit 1
  }
  sources+=-dirty
fi

# keeps NAME: whether its measurements are kept, or it uses those of another name.
keeps() {
  case $1 in
    coverage | cost | serial | compare | collectives | clocks | arrays) return 1 ;;
    *) return 0 ;;
  esac
}
if keeps "$what"; then
  mkdir -p "$kept"
  if [ -z "$(ls -A "$kept")" ]; then echo "$sources" >"$kept/sources"; fi
  begun=$(cat "$kept/sources" 2>/dev/null || echo "sources that it does not name")
  if [ "$begun" != "$sources" ]; then
    echo "results.sh: $kept holds measurements from $begun, and these are $sources." \
      "Remove it to measure again, or take another --out." >&2
    [ -n "$print_only" ] || exit 1
  fi
fi
mkdir -p "$kept"

require_packages "${build_packages[@]}"
pids=()
unmet=()  # tables that say so of a criterion
scratch=$(mktemp -d)
clean_up() {
  local pid
  for pid in "${pids[@]:-}"; do [ -z "$pid" ] || kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]:-}"; do [ -z "$pid" ] || wait "$pid" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

host_text() {
  local model family cores memory guest=
  model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
  family=$(sed -n 's/^cpu family[^:]*: //p' /proc/cpuinfo | head -1)
  cores=$(nproc)
  memory=$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
  grep -qw hypervisor /proc/cpuinfo && guest=", a virtual machine that shares its host"
  echo "$cores cores of $model (family $family), $memory GiB, Linux $(uname -r | cut -d. -f1,2)$guest"
}

# selected FABRIC: whether --only lets it through.
selected() { case $1 in *"$only"*) return 0 ;; *) return 1 ;; esac; }

# on_networks COMMAND: one of stripline-results. Status 2: it knows no network of that name.
on_networks() {
  configure_and_build release stripline-results stripline-worker >&2 || return 1
  "$bin/stripline-results" --out "$out" ${only:+--only "$only"} "${passed[@]}" "$1"
}

print_coverage() {
  local seeds=1000
  [ -z "$quick" ] || seeds=20
  configure_and_build release fit_coverage >&2
  "$bin/fit_coverage" --seeds "$seeds" >"$scratch/raw"
  # Two sections of "parameter coverage absent half-width" with a heading each.
  awk -v seeds="$seeds" '
    /^between-run effect/ { ++section; effect = $0; sub(/^between-run effect /, "", effect)
      sub(/:.*/, "", effect); effects[section] = effect
      sub(/.*breakpoints right in /, ""); right[section] = $0; next }
    /^parameter/ || !NF { next }
    /^fit_model on a full campaign/ { time = $0; next }
    section == 0 { first = $0; next }
    { if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 }
      cover[section, $1] = $2; width[section, $1] = $4 == "(truth" ? "(truth 0)" : $4 }
    END {
      printf "%s.\n\n| parameter | coverage, run effect %s | half-width | coverage, run effect %s | half-width |\n", first, effects[1], effects[2]
      print "|---|---:|---:|---:|---:|"
      for (i = 1; i <= count; ++i) { name = order[i]
        printf "| %s | %.1f %% | %s | %.1f %% | %s |\n", name == "all" ? "**all**" : name,
          100 * cover[1, name], width[1, name], 100 * cover[2, name], width[2, name] }
      bound = 0.95 - 2 * sqrt(0.95 * 0.05 / seeds)
      printf "\nBreakpoints right in %s and %s. Criterion: at least 95 %% of all parameters, less two standard errors of a share over the seeds (%.1f %%): %s.\n", right[1], right[2], 100 * bound, (cover[1, "all"] >= bound && cover[2, "all"] >= bound) ? "met" : "NOT MET"
      printf "%s (criterion: at most 2 s).\n", time
    }' "$scratch/raw"
}

print_cost() {
  local bench repetitions=9
  [ -z "$quick" ] || repetitions=3
  local benches=(plan_strip_bench plan_nest_bench plan_vis_bench plan_update_bench plan_irregular_bench loop_bench)
  configure_and_build release "${benches[@]}" >&2
  echo "| benchmark | CPU time | criterion |"
  echo "|---|---:|---|"
  for bench in "${benches[@]}"; do
    "$bin/$bench" --benchmark_repetitions="$repetitions" --benchmark_min_time=0.2 \
      --benchmark_report_aggregates_only=true --benchmark_format=csv 2>/dev/null
  done | awk -F, '
    /_median"/ { gsub(/"/, ""); name = $1; sub(/_median$/, "", name)
      ns = $4 * ($5 == "us" ? 1e3 : $5 == "ms" ? 1e6 : 1)
      # Nothing is promised of several references with strides, nor of what is decided once for many accesses.
      bound = name ~ /DescribeAndPlan|BM_Plan(Tuned|Untuned|Encoding)/ ? 1000 : name ~ /Cached|find_known/ ? 30 : 0
      if (name ~ /DescribeAndPlan(Strided|Block|Columns|Estimated)/) bound = 1500
      if (name ~ /DescribeAndPlanMatrix/) bound = 0
      printf "| `%s` | %.1f ns | %s |\n", name, ns,
        bound == 0 ? "" : sprintf("at most %d ns: %s", bound, ns <= bound ? "met" : "NOT MET") }'
  printf '\nMedians of %s repetitions. Iancu et al., section 8: 8 us for describing and planning.\n' \
    "$repetitions"
}

# A stripline-bench whose workers run under callgrind (the launcher itself cannot: valgrind does not
# know all of its system calls). It looks for the worker in its own folder.
bench_under_callgrind() {
  mkdir -p "$scratch/callgrind"
  cp "$bin/stripline-bench" "$scratch/callgrind/"
  printf '#!/bin/sh\nexec valgrind --tool=callgrind --callgrind-out-file="%s" "%s" "$@"\n' \
    "$scratch/callgrind/out" "$repository/$bin/stripline-worker" >"$scratch/callgrind/stripline-worker"
  chmod +x "$scratch/callgrind/stripline-worker"
}

# instructions VARIANT REPETITIONS ELEMENTS: of a whole worker.
instructions() {
  "$scratch/callgrind/stripline-bench" run kernel.serial_tax --variant "$1" --reps "$2" --runs 1 \
    -n 1 --param elements="$3" --fabric emulated:modern-rdma,compute=none,jitter=off \
    --clock virtual >/dev/null 2>"$scratch/valgrind" || { cat "$scratch/valgrind" >&2; return 1; }
  sed -n 's/^\(summary\|totals\): //p' "$scratch/callgrind/out" | head -1
}

print_serial() {
  local elements variant few many line runs=12 sizes=(4096 65536 1048576)
  [ -z "$quick" ] || { runs=2 sizes=(4096); }
  require_packages valgrind
  configure_and_build release stripline-bench stripline-worker >&2
  bench_under_callgrind
  echo "| elements | instructions, access / plain | time, access / plain | 95 % interval | criterion |"
  echo "|---:|---:|---:|---:|---|"
  for elements in "${sizes[@]}"; do
    declare -A per_repetition
    for variant in plain access; do
      # The difference is the work of six repetitions, without the program around them. On this
      # clock computing takes no time, so that their number is as asked for.
      few=$(instructions "$variant" 2 "$elements")
      many=$(instructions "$variant" 8 "$elements")
      per_repetition[$variant]=$((many - few))
    done
    line=$("$bin/stripline-bench" run kernel.serial_tax -n 1 --fabric tcp --variant plain \
      --variant access --param elements="$elements" --runs "$runs" --json |
      grep '"variant":"access"')
    awk -v n="$elements" -v access="${per_repetition[access]}" -v plain="${per_repetition[plain]}" \
      -v line="$line" '
      function member(name) { match(line, "\"" name "\":[-+0-9.e]+")
        return substr(line, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 }
      BEGIN { instructions = access / plain
        printf "| %d | %.4f | %.4f | [%.4f, %.4f] | at most 1.025: %s |\n", n, instructions,
          member("ratio"), member("ratio_ci_low"), member("ratio_ci_high"),
          (instructions <= 1.025 && member("ratio_ci_low") <= 1.025) ? "met" : "NOT MET" }'
  done
  printf '\n%s\n' "\`kernel.serial_tax\`: a dot product over the rank's own part of a symmetric
array, as a plain loop and through \`strip_for\`. Instructions by callgrind, time paired over runs.
Chen, section 4.1: 2.5 % between translated and plain C. The criterion on time is not met only when
the whole interval lies above it."
}

print_compare() {
  local fabric rounds=40 launches=10
  [ -z "$quick" ] || rounds=6 launches=2
  configure_and_build release stripline-compare >&2
  for fabric in tcp net shm; do
    selected "$fabric" || continue
    echo
    "$bin/stripline-compare" --fabric "$fabric" --rounds "$rounds" --launches "$launches" --markdown
  done
  selected same-node || return 0
  echo
  "$bin/stripline-compare" --same-node --rounds "$rounds" --launches "$launches" --markdown
}

# With the models that `vis` fitted, where it did. Status 1 is a verdict, which is printed.
print_strided() {
  local fabric rounds=40 model status arguments
  [ -z "$quick" ] || rounds=6
  configure_and_build release stripline-compare >&2
  for fabric in tcp net shm same-node; do
    selected "$fabric" || continue
    arguments=(--fabric "$fabric")
    [ "$fabric" != same-node ] || arguments=(--same-node)
    model=$kept/vis/$fabric/model.stripline.json
    [ ! -f "$model" ] || arguments+=(--model "$model")
    status=0
    echo
    "$bin/stripline-compare" --vis "${arguments[@]}" --rounds "$rounds" --markdown || status=$?
    [ "$status" -le 1 ] || return "$status"
  done
}

print_arrays() {
  local rounds=60
  [ -z "$quick" ] || rounds=6
  configure_and_build release stripline-arrays stripline-run >&2
  "$bin/stripline-run" -n 2 --fabric tcp -- "$bin/stripline-arrays" --rounds "$rounds" --markdown
}

print_collectives() {
  local rounds=10
  [ -z "$quick" ] || rounds=2
  command -v mpirun mpicxx >/dev/null ||
    { echo "collectives: Open MPI is missing; install libopenmpi-dev and openmpi-bin" >&2; return 1; }
  configure_and_build release stripline-collectives stripline-collectives-mpi stripline-run >&2
  scripts/compare.py collectives build/release "$rounds" || [ $? = 3 ]  # a verdict, which is printed
}

print_neighbours() {
  local launches=6 rounds=6 path paths=()
  [ -z "$quick" ] || { launches=2 rounds=2; }
  for path in network node; do ! selected "$path" || paths+=("$path"); done
  [ ${#paths[@]} -gt 0 ] || { echo "neighbours: no path is called '$only'" >&2; return 2; }
  require_packages "${neighbour_packages[@]}" >&2
  configure_and_build release stripline-neighbours stripline-neighbours-report >&2
  scripts/compare.py neighbours build/release "$kept/neighbours" "$launches" "$rounds" "${paths[@]}"
}

print_clocks() {
  local launches=10 network networks=()
  [ -z "$quick" ] || launches=2
  for network in opteron-vapi itanium-gm opteron-vapi,compute=1; do
    ! selected "$network" || networks+=("$network")
  done
  [ ${#networks[@]} -gt 0 ] || { echo "clocks: no network is called '$only'" >&2; return 2; }
  configure_and_build release stripline-bench stripline-worker >&2
  scripts/compare.py clocks build/release "$launches" "${networks[@]}"
}

# switches PID: how often all threads of a process have waited so far.
switches() { awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' /proc/"$1"/task/*/status; }

# Until both agents are connected and have nothing to do.
wait_idle() {
  for _ in $(seq 200); do
    if [ "$("$bin/stripline" nodes --json 2>/dev/null | grep -c IDLE)" = 2 ]; then return 0; fi
    sleep 0.1
  done
  return 1
}

start_service() {
  local node address
  "$bin/stripline-server" --dev --data-dir "$scratch/server" --listen 127.0.0.1:0 \
    --port-file "$scratch/address" 2>"$scratch/server.log" &
  pids+=($!)
  for _ in $(seq 100); do
    if [ -s "$scratch/address" ]; then break; fi
    sleep 0.1
  done
  [ -s "$scratch/address" ] || { cat "$scratch/server.log" >&2; return 1; }
  address=$(cat "$scratch/address")
  case $address in *:*) ;; *) address=127.0.0.1:$address ;; esac
  export STRIPLINE_SERVER=$address
  for node in node-a node-b; do
    "$bin/stripline-agent" --server "$address" --node "$node" 2>"$scratch/$node.log" &
    pids+=($!)
  done
  wait_idle && return 0
  echo "the agents do not become idle; see the end of their log:" >&2
  tail -5 "$scratch/node-a.log" >&2
  return 1
}

# seconds_between STATE FILE: from the first event in this state to the last event.
seconds_between() {
  local first last
  first=$(grep "\"state\":\"$1\"" "$2" | head -1 | sed 's/.*"time":"\([^"]*\)".*/\1/')
  last=$(tail -1 "$2" | sed 's/.*"time":"\([^"]*\)".*/\1/')
  awk -v a="$(date -d "$first" +%s.%N)" -v b="$(date -d "$last" +%s.%N)" 'BEGIN { printf "%.3f", b - a }'
}

print_campaign() {
  local fabric effort row bound start seconds agent before idle_s=20
  local fabrics=(tcp emulated:opteron-vapi emulated:cloud-ethernet) efforts=(budgeted full)
  [ -z "$quick" ] || { fabrics=(emulated:opteron-vapi) efforts=(budgeted) idle_s=3; }
  configure_and_build release stripline stripline-server stripline-agent stripline-worker >&2
  touch "$kept/campaign.txt"
  start_service >&2
  for fabric in "${fabrics[@]}"; do
    selected "$fabric" || continue
    for effort in "${efforts[@]}"; do
      grep -q "^| $fabric | $effort |" "$kept/campaign.txt" && continue
      echo "campaign: $fabric, $effort" >&2
      bound=60
      [ "$effort" = budgeted ] || bound=300
      start=$EPOCHREALTIME
      "$bin/stripline" --json campaign run --fabric "$fabric" --effort "$effort" \
        --model "${fabric##*:}-$effort" >"$scratch/events"
      seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
      row=$(awk -v f="$fabric" -v e="$effort" -v s="$seconds" -v bound="$bound" \
        -v fit="$(seconds_between FITTING "$scratch/events")" \
        -v runs="$(tail -1 "$scratch/events" | sed 's/.*"runs_done":\([0-9]*\).*/\1/')" \
        -v samples="$(tail -1 "$scratch/events" | sed 's/.*"samples":"\([0-9]*\)".*/\1/')" '
        BEGIN { printf "| %s | %s | %s | %s | %.1f s | at most %d s: %s | %.2f s | at most 2 s: %s |",
          f, e, runs, samples, s, bound, s <= bound ? "met" : "NOT MET", fit,
          fit <= 2 ? "met" : "NOT MET" }')
      echo "$row" >>"$kept/campaign.txt"
    done
  done
  echo "| network | effort | runs | samples | wall time | criterion | from the last sample to the model | criterion |"
  echo "|---|---|---:|---:|---:|---|---:|---|"
  cat "$kept/campaign.txt"

  wait_idle
  agent=${pids[1]}
  before=$(switches "$agent")
  sleep "$idle_s"
  awk -v n="$(($(switches "$agent") - before))" -v s="$idle_s" 'BEGIN {
    printf "\nAn idle agent: %.2f wake-ups a second (all threads, voluntary context switches over %d s; criterion: less than 1): %s.\n",
      n / s, s, n / s < 1 ? "met" : "NOT MET" }'
}

# blocks PAGE: the commands that a page has marks for.
blocks() { sed -n 's/^<!-- begin \(.*\) -->$/\1/p' "$1"; }

# write_block PAGE COMMAND FILE: replaces what the page holds between the marks of the command.
write_block() {
  awk -v name="$2" -v file="$3" '
    $0 == "<!-- begin " name " -->" { print; print ""
      while ((getline line < file) > 0) print line
      print ""; skip = 1; next }
    $0 == "<!-- end " name " -->" { skip = 0 }
    !skip { print }' "$1" >"$scratch/page"
  cat "$scratch/page" >"$1"
}

# table NAME: one table, under --only if it is set.
table() {
  local name=$1 status=0 page=docs/results/$1.md
  local command="$name${only:+ --only $only}${described[*]:+ ${described[*]}}" write=
  if [ -z "$print_only" ]; then
    if blocks "$page" | grep -qxF -e "$command"; then
      write=1
    else
      echo "results.sh: $page has no marks for '$command'; the table is only printed" >&2
    fi
  fi
  case $name in
    recovery | prediction | overlap | quality | scale | strips | untuned | analysis | load | robust | ablation | bulk | vis | update-choices | gather-choices)
      on_networks "$name" >"$scratch/$name" || status=$?
      if [ "$what$status" = all2 ]; then  # recovery knows emulated networks only
        echo "results.sh: $name is left out" >&2
        return
      fi
      [ "$status" = 0 ] || exit "$status"
      ;;
    *) "print_$name" >"$scratch/$name" ;;
  esac
  {
    echo "Command: \`scripts/results.sh $command\`,"
    echo "$(date -u +%F), $sources, on $(host_text)."
    echo
    cat "$scratch/$name"
  } >"$scratch/block"
  cat "$scratch/block"
  echo
  ! grep -q 'NOT MET' "$scratch/$name" || unmet+=("$name")
  [ -n "$write" ] || return 0
  if [ -n "$(changed_sources)" ] || [ "$(last_sources)" != "$sources" ]; then
    echo "results.sh: the sources have changed since the command began; $page is left alone" >&2
    exit 1
  fi
  write_block "$page" "$command" "$scratch/block"
  echo "results.sh: $page is written; see whether what it says above the table, and docs/results.md, still holds" >&2
}

# tables NAME: the table, or one for each --only that the page has marks for.
tables() {
  local parts=()
  [ -n "$only" ] || mapfile -t parts < <(blocks "docs/results/$1.md" | sed -n "s/^$1 --only //p")
  if [ ${#parts[@]} -eq 0 ]; then
    table "$1"
    return
  fi
  for only in "${parts[@]}"; do table "$1"; done
  only=
}

if [ "$what" = all ]; then
  for name in "${names[@]}"; do tables "$name"; done
else
  tables "$what"
fi
if [ ${#unmet[@]} -gt 0 ]; then
  echo "results.sh: not all criteria are met: ${unmet[*]}" >&2
  exit 3
fi
