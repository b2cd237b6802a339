#!/usr/bin/env bash
# The same experiments on the virtual and on the real clock of emulated networks, two ranks, paired:
# a launch of each, in turns that begin with the one and with the other. Prints a table of ratios,
# real over virtual: their median over launches, and the interval between the second least and the
# second greatest, which holds the true median with 97.9 % of 10 launches; of fewer: the least and the
# greatest.
#
#   scripts/compare_clocks.sh BUILD LAUNCHES PROFILE...
#
# Profiles that this host cannot reproduce in real time end it. Jitter is off: it is drawn, not real.
set -euo pipefail
build=${1:?which build?}
launches=${2:?how many launches?}
shift 2

experiments=(
  "micro.latency --param bytes=8,2048 --variant get --variant put --variant am"
  "micro.latency --param bytes=65536 --variant get --variant put"
  "micro.issue --param bytes=2048 --param burst=16 --variant get --variant put --variant am"
  "micro.flood --param bytes=8,65536 --param count=64 --variant get --variant put"
  "micro.overlap --param bytes=65536 --variant get --variant put"
  "micro.atomic --param in_flight=1,8 --variant provider --variant message"
  "micro.collective_allreduce --param bytes=8,65536 --variant recursive_doubling"
  "micro.strip_sweep --variant A --variant B"
  "kernel.matvec --variant blocking --variant hand --variant untuned"
  "kernel.transpose --variant blocking --variant hand --variant untuned"
)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# one PROFILE CLOCK LAUNCH EXPERIMENT...
one() {
  local profile=$1 clock=$2 launch=$3 attempt
  shift 3
  # Each start measures whether the host keeps up; a neighbour's moment should not end it all.
  for attempt in 1 2 3 4 5; do
    if "$build/bin/stripline-bench" run "$@" -n 2 --fabric "emulated:$profile,jitter=off" \
      --clock "$clock" --runs 1 --seed "$launch" --json >"$scratch/one" 2>"$scratch/errors"; then
      sed "s/^{/{\"launch\":$launch,\"profile\":\"$profile\",\"clock\":\"$clock\",/" \
        "$scratch/one" >>"$scratch/lines"
      return 0
    fi
    echo "compare_clocks.sh: attempt $attempt: $(tail -1 "$scratch/errors")" >&2
    sleep 1
  done
  return 1
}

for launch in $(seq "$launches"); do
  clocks=(virtual real)
  [ $((launch % 2)) = 0 ] || clocks=(real virtual)
  for profile in "$@"; do
    for experiment in "${experiments[@]}"; do
      for clock in "${clocks[@]}"; do
        # shellcheck disable=SC2086
        one "$profile" "$clock" "$launch" $experiment
      done
    done
  done
done

echo "| network | experiment | variant | parameters | virtual | real / virtual | interval | within 3 % |"
echo "|---|---|---|---|---:|---:|---:|---|"
awk '
  function text(name) {
    if (!match($0, "\"" name "\":\"[^\"]*\"")) return ""
    return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
  }
  function number(name) {
    match($0, "\"" name "\":[-+0-9.e]+")
    return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0
  }
  function parameters(   parts) {
    if (text("experiment") !~ /^micro\.[lifoac]/) return ""
    match($0, /"params":[{][^}]*[}]/)
    parts = substr($0, RSTART + 10, RLENGTH - 11)
    gsub(/"/, "", parts); gsub(/:/, " ", parts); gsub(/,/, ", ", parts)
    return parts
  }
  function sort(values, n,   i, j, x) {
    for (i = 2; i <= n; ++i) {
      x = values[i]
      for (j = i - 1; j >= 1 && values[j] > x; --j) values[j + 1] = values[j]
      values[j + 1] = x
    }
  }
  function middle(values, n) {
    sort(values, n)
    return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
  }
  {
    key = text("profile") " | " text("experiment") " | " text("variant") " | " parameters()
    if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
    time[key, text("clock"), number("launch")] = number("median")
    if (number("launch") > launches) launches = number("launch")
  }
  END {
    for (k = 1; k <= keys; ++k) {
      key = order[k]
      for (i = 1; i <= launches; ++i) {
        base[i] = time[key, "virtual", i]
        ratio[i] = time[key, "real", i] / base[i]
      }
      edge = launches >= 10 ? 2 : 1
      virtual_s = middle(base, launches)
      median = middle(ratio, launches)
      within = median >= 0.97 && median <= 1.03
      met += within
      printf "| %s | %.2f us | %.3f | [%.3f, %.3f] | %s |\n", key, virtual_s * 1e6, median,
        ratio[edge], ratio[launches + 1 - edge], within ? "yes" : "no"
    }
    printf "\n%d launches of each; %d of %d within 3 %%.\n", launches, met, keys
  }' "$scratch/lines"
