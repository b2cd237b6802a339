#!/usr/bin/env bash
# Loops that read through an index once, in blocks as the planner says, over the same loops one by
# one, on an emulated network in virtual time:
#   scripts/compare_indirect.sh MODEL [BUILD_DIR] [NETWORK] [RANKS...]
# MODEL is a tuned model of emulated:NETWORK, or "" for none. Prints, per kernel and number of ranks,
# both times and by how many times the loop in blocks is faster, beside what Alvanos et al. (Combining
# Static and Dynamic Data Coalescing in Unified Parallel C, 2015) report of their compiler on up to
# 32768 ranks; and the command of a row. The same command prints the same figures, unless NETWORK
# measures what ranks compute. Takes some minutes for all of 32, 64 and 128 ranks.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,10s/^# //p' "$0" >&2; exit 2; }
model=$1
bin=${2:-build/release}/bin
network=${3:-power5-lapi,compute=declared,jitter=off}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- 32 64 128
[ -x "$bin/stripline-bench" ] && [ -x "$bin/stripline-worker" ] || {
  echo "compare_indirect.sh: $bin has no stripline-bench and stripline-worker; build them first" >&2
  exit 2
}
# What the loops need, rather than what programs may: 128 ranks are in the memory of this host.
export STRIPLINE_SEGMENT_BYTES=4M
ways=(--fabric "emulated:$network" --clock virtual --variant naive --variant tuned --runs 1 --reps 4 --json)
[ -z "$model" ] || ways+=(--model "$model")

# The loop's name, Alvanos et al., the experiment and its parameters.
loops=(
  'stream, 2 members|3.1-6.7|struct_reads --param order=stream --param members=2 --param iterations=512'
  'stream, 4 members|3.1-6.7|struct_reads --param order=stream --param members=4 --param iterations=512'
  'random, 2 members|3.2-21.6|struct_reads --param order=random --param members=2 --param iterations=512'
  'random, 4 members|3.2-21.6|struct_reads --param order=random --param members=4 --param iterations=512'
  'Sobel|2.4-3.3|sobel --param rows_per_rank=16 --param columns=128'
  'Fish|9-26|fish --param bodies_per_rank=4'
  'WaTor|5.3-25.1|wator --param rows_per_rank=4 --param columns=64'
  'Guppie|1.1-7.5|guppie --param iterations=512'
  'Mcop|3.2-14.4|mcop --param matrices=128'
)

times=$(mktemp)
trap 'rm -f "$times"' EXIT
trap 'exit 130' INT TERM
for ranks in "$@"; do
  for loop in "${loops[@]}"; do
    IFS='|' read -r name paper experiment <<<"$loop"
    read -ra words <<<"$experiment"
    command=(run "kernel.${words[0]}" "${words[@]:1}" -n "$ranks")
    timeout 300 "$bin/stripline-bench" "${command[@]}" "${ways[@]}" |
      sed "s/^{/{\"loop\":\"$name\",\"paper\":\"$paper\",\"command\":\"${command[*]}\",/" >>"$times"
  done
done
python3 -B - "$times" "stripline-bench COMMAND ${ways[*]}" <<'PY'
import json
import sys
rows = {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    rows.setdefault((row["loop"], row["ranks"]), {})[row["variant"]] = row
print("| loop | ranks | one by one [us] | in blocks [us] | times faster | Alvanos et al. | command |")
print("|---|---:|---:|---:|---:|---:|---|")
for (loop, ranks), of in rows.items():
    naive, tuned = of["naive"], of["tuned"]
    if not (naive["verified"] and tuned["verified"]):
        sys.exit(f"compare_indirect.sh: {loop} with {ranks} ranks has a wrong result")
    print(f"| {loop} | {ranks} | {1e6 * naive['median']:.4g} | {1e6 * tuned['median']:.4g} "
          f"| {naive['median'] / tuned['median']:.2f} | {naive['paper']} | `{naive['command']}` |")
print(f"\nA command is that of `{sys.argv[2]}`.")
PY
