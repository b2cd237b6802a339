#!/usr/bin/env bash
# Five programs as users write them, with a model, without one, and with that of another network: a
# table of ratios of their total times, and of what guards took.
#
#   scripts/check_programs.sh [STEPS...]     numbers of steps (default: 30 200 1000)
#
# The programs are in tests/programs: a PageRank (for_each_indirect), a transpose and a heat equation
# (for_nest), a histogram (UpdateEpoch), a product of a matrix and a vector (strip_for). They run on two emulated
# networks, on the virtual clock with declared computation, where times are exact, with 4 ranks; and on tcp and
# mapped memory of this host with 2 ranks, where runs of the three kinds take turns ($PROGRAMS_REPEATS of each,
# default 15) and the ratio is the median over turns, with its interval of 95 % (of six turns and more): a program
# whose interval is above what it may take, 1.02 with its model or 1.05 with another network's, is named at the end, as is
# one of forty that take as long, by chance. What guards took is a part of what all turns took, with the turn in which
# that part was largest behind it: there a disturbance has met a check. A program whose guards take more than 1 % of all
# turns is named, too. Models are made by budgeted campaigns of a server and two agents on
# loopback, with declared computation where the programs have it, and kept in build/programs, where an interrupted
# check goes on; remove it to begin again.
# $PROGRAMS_NETWORKS: names of networks, to leave others out.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(30 200 1000)
repeats=${PROGRAMS_REPEATS:-15}
programs=(pagerank transpose heat histogram matvec)
networks=(${PROGRAMS_NETWORKS:-cloud-ethernet opteron-vapi tcp mapped})

configure_and_build release stripline stripline-server stripline-agent stripline-worker stripline-run "${programs[@]}"
bin=$repository/build/release/bin
folder=$repository/build/programs
mkdir -p "$folder"
pids=()
service=$(mktemp -d)
trap 'stop_service; rm -rf "$service"' EXIT
trap 'exit 130' INT TERM

fabric_of() {
  case $1 in
    tcp | mapped) echo tcp ;;
    *) echo "emulated:$1,compute=declared" ;;
  esac
}
# The model of a network, as a file that fits any: the check gives programs wrong ones, too.
for network in cloud-ethernet opteron-vapi tcp; do
  # Emulated networks are each other's wrong models; that of tcp is for programs on this host alone.
  [[ $network != tcp || " ${networks[*]} " =~ " tcp "|" mapped " ]] || continue
  file=$folder/$network.stripline.json
  [ -s "$file" ] && continue
  [ ${#pids[@]} -gt 0 ] || start_service "$service"
  echo "== a campaign of $network" >&2
  "$bin/stripline" campaign run --fabric "$(fabric_of "$network")" --effort budgeted --model "$network" \
    ${PROGRAMS_BUDGET:+--time-budget "$PROGRAMS_BUDGET"} >"$service/campaign.log" 2>&1 || {
    cat "$service/campaign.log" >&2
    exit 1
  }
  "$bin/stripline" model fetch "$network" -o "$service/$network.json"
  # Without what it was measured on; whoever reads it says which hash that has.
  python3 -c 'import json, sys
model = json.load(open(sys.argv[1]))
model.update(sha256="0" * 64, fingerprint={})
json.dump(model, open(sys.argv[2], "w"), indent=1)' "$service/$network.json" "$file.part"
  hash=$({ "$bin/stripline" explain loop "$file.part" --path inter-node --bytes 65536 2>&1 || true; } |
    sed -n 's/.*its content hashes to \([0-9a-f]*\),.*/\1/p')
  sed "s/0\{64\}/$hash/" "$file.part" >"$file"
  rm "$file.part"
done
stop_service
pids=()

# run NETWORK PROGRAM STEPS MODEL: sets seconds, and guard: what guards took longer, and all that they guard, in seconds.
run() {
  local options=(-n 2 --fabric tcp)
  case $1 in
    tcp) options+=(--same-node network) ;;
    mapped) options+=(--same-node mapped) ;;
    *) options=(-n 4 --fabric "emulated:$1,compute=declared,jitter=off" --clock virtual) ;;
  esac
  [ "$4" = none ] || options+=(--model "$folder/$4.stripline.json" --report "$service/report.json")
  rm -f "$service/report.json"
  seconds=$("$bin/stripline-run" "${options[@]}" -- "$bin/$2" "$3" 2>"$service/errors" |
    sed -n 's/.*: right, .* steps, \([0-9.]*\) s$/\1/p')
  [ -n "$seconds" ] || {
    echo "check.sh programs: $2 on $1 with the model '$4' failed:" >&2
    cat "$service/errors" >&2
    exit 1
  }
  guard="0 0"
  [ ! -s "$service/report.json" ] ||
    guard=$(python3 -c 'import json, sys
guard = json.load(open(sys.argv[1]))["guard"]
print(guard["excess_s"], guard["taken_s"])' "$service/report.json")
}

echo "| network | program | steps | without a model | with / without | guards (worst turn) | wrong model / without | guards (worst turn) |"
echo "|---|---|---:|---:|---:|---:|---:|---:|"
for network in "${networks[@]}"; do
  case $network in
    opteron-vapi) right=opteron-vapi wrong=cloud-ethernet ;;
    cloud-ethernet) right=cloud-ethernet wrong=opteron-vapi ;;
    *) right=tcp wrong=opteron-vapi ;;
  esac
  turns=1
  case $network in tcp | mapped) turns=$repeats ;; esac
  for program in "${programs[@]}"; do
    for count in "${steps[@]}"; do
      for _ in $(seq "$turns"); do
        for model in none "$right" "$wrong"; do
          run "$network" "$program" "$count" "$model"
          echo "$model $seconds $guard"
        done
      done | python3 -c '
import math, statistics, sys
network, program, steps, lost = sys.argv[1:]
rows = [line.split() for line in sys.stdin]
turns = [rows[i:i + 3] for i in range(0, len(rows), 3)]
seconds = lambda turn, i: float(turn[i][1])
ratios = lambda i: sorted(seconds(turn, i) / seconds(turn, 0) for turn in turns)
# The median is beyond the k-th smallest, or the k-th largest, as seldom as k - 1 or fewer of n coins show heads.
count = len(turns)
beyond = lambda k: 2 * sum(math.comb(count, i) for i in range(k)) / 2 ** count
exact = network not in ("tcp", "mapped")  # on the virtual clock
models = (None, "its model", "a wrong model")
kept = max((k for k in range(1, count // 2 + 1) if beyond(k) <= 0.05), default=0)
def ratio(i, limit):
    ordered = ratios(i)
    low = ordered[kept - 1] if kept else ordered[0] if exact else 0
    if low > limit:
        print(f"{program}, {steps} steps, on {network}, with {models[i]}: {low:.3f} or more", file=open(lost, "a"))
    return f"{statistics.median(ordered):.3f}" + (f" [{low:.3f}, {ordered[-kept]:.3f}]" if kept else "")
def guard(i):
    took = [(float(turn[i][2]), float(turn[i][3])) for turn in turns]
    taken = sum(of_turn for _, of_turn in took)
    if taken == 0:
        return "-"
    share = 100 * sum(excess for excess, _ in took) / taken
    if share > 1:
        print(f"{program}, {steps} steps, on {network}, with {models[i]}: guards took {share:.2f} %", file=open(lost, "a"))
    worst = max(100 * excess / of_turn for excess, of_turn in took if of_turn > 0)
    return f"{share:.2f} %" + (f" ({worst:.2f})" if count > 1 else "")
without = statistics.median(seconds(turn, 0) for turn in turns)
print(f"| {network} | {program} | {steps} | {1e3 * without:.2f} ms | {ratio(1, 1.02)} | {guard(1)} | {ratio(2, 1.05)} | {guard(2)} |")
' "$network" "$program" "$count" "$service/lost"
    done
  done
done
if [ -s "$service/lost" ]; then
  echo
  echo "Longer than they may take, interval and all, or guarded by more than 1 %:"
  sed 's/^/  /' "$service/lost"
fi
