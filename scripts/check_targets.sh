#!/usr/bin/env bash
# Other runtimes, as Debian has them: whether what may be exported is right, and what tuning finds of what there is.
#
#   scripts/check_targets.sh [STEP...]     STEP: right, found, repeat; default: right found
#
#   right    every alternative that rules may name gives right results with 2 to 9 ranks, in doubles, three-byte types, matrices
#            whose products do not commute, and in place, over shared memory and TCP; and so do exported files with rules for
#            each of these numbers of ranks, in calls of all these kinds
#   found    each target over each path: a run of tuning of TARGETS_MINUTES minutes (default 5), its validation again, sweeps of
#            TARGETS_RUNS runs (default 10) of all alternatives and of all values of knobs, and the parts of their gains that
#            tuning has found
#   repeat   TARGETS_REPETITIONS runs of tuning (default 10) of each target over shared memory: where their choices differ
#
# TARGETS names the targets (default: "openmpi mpich ucx oshmem libfabric"; gasnet, which is taken untried, is built by
# scripts/build_gasnet.sh). Records, sweeps and tables are kept in build/targets. Exits with 1
# where something is not as it is asked for. Nothing else should run meanwhile.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
steps=("$@")
[ $# -gt 0 ] || steps=(right found)
read -ra targets <<<"${TARGETS:-openmpi mpich ucx oshmem libfabric}"
minutes=${TARGETS_MINUTES:-5} runs=${TARGETS_RUNS:-10} repetitions=${TARGETS_REPETITIONS:-10}
paths=(shm tcp)
kept=build/targets
failed=0

# check NAME COMMAND...: a command that may fail, whose output is shown and kept.
check() {
  local name=$1
  shift
  echo "== $name: $*"
  "$@" 2>&1 | tee "$kept/$name.txt" || { echo "check_targets.sh: $name has failed" >&2 && failed=1; }
}

# By operation, besides knobs: the others have these alone.
has_alternatives() { [ "$1" = openmpi ] || [ "$1" = mpich ]; }

require_packages "${target_packages[@]}"
configure_and_build release stripline-tune real_targets_test
tune=build/release/bin/stripline-tune
mkdir -p "$kept"
for step in "${steps[@]}"; do
  for target in "${targets[@]}"; do
    untried=()
    [ "$target" != gasnet ] || untried=(--accept-untried)
    case $step in
      right)
        has_alternatives "$target" || continue
        for path in "${paths[@]}"; do check "$target-$path-right" "$tune" try "$target" --path "$path"; done
        check "$target-files" env STRIPLINE_TEST_TARGET_RANKS=9 build/release/bin/real_targets_test \
          --gtest_filter="*ExportedRules*/$target"
        ;;
      found)
        for path in "${paths[@]}"; do
          name=$target-$path
          rm -rf "${kept:?}/$name"
          check "$name-tuned" "$tune" "$target" --path "$path" --minutes "$minutes" --output "$kept/$name" "${untried[@]}"
          for file in stripline-mca-params.conf stripline-mpich.env ucx.conf stripline-oshmem.env stripline-libfabric.env stripline-gasnet.env; do
            [ ! -e "$kept/$name/$file" ] || check "$name-verified" "$tune" export verify "$kept/$name/$file" "${untried[@]}"
          done
          record=$kept/$name/stripline-export.json
          "$tune" sweep "$target" --knobs --record "$record" --path "$path" --runs "$runs" "${untried[@]}" >"$kept/$name-knobs.jsonl"
          check "$name-knobs-share" scripts/tuned_targets.py share "$record" "$kept/$name-knobs.jsonl"
          has_alternatives "$target" || continue
          "$tune" sweep "$target" --path "$path" --runs "$runs" >"$kept/$name-sweep.jsonl"
          check "$name-share" scripts/tuned_targets.py share "$record" "$kept/$name-sweep.jsonl"
        done
        ;;
      repeat)
        check "$target-repeat" scripts/tuned_targets.py repeat "$repetitions" "$target" --minutes "$minutes" "${untried[@]}"
        ;;
      *)
        sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
  done
done
exit "$failed"
