#!/bin/bash
# tuned_targets_test.sh SCRIPT: what scripts/tuned_targets.py finds in records and sweeps that are made up here, with a
# stand-in for stripline-tune.
set -euo pipefail
script=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# record CHOICE: of a bcast of 8 B, which two_proc ends, and of 128 B, where the default is the best.
record() {
  cat <<END
{"validated": ${2:-true},
 "cells": [{"collective": "bcast", "ranks": 2, "bytes": 8, "chosen": "$1", "outcome": "departs"},
           {"collective": "bcast", "ranks": 2, "bytes": 128, "chosen": "default", "outcome": "tie"}]}
END
}
line() { echo "{\"collective\": \"bcast\", \"ranks\": 2, \"bytes\": $1, \"candidate\": \"$2\", \"times_s\": [$3], \"failure\": \"$4\"}"; }
{
  line 8 default "1, 1.01, 1, 1.02" ""
  line 8 binomial "0.5, 0.5, 0.5, 0.52" ""
  line 8 chain "0.9, 0.8, null, 0.8" ""
  line 8 two_proc "0.1, null, null, null" "exited with code 9"
  # Its luck in the even runs counts nothing.
  line 128 default "1, 1, 1, 1" ""
  line 128 pipeline "0.8, 1, 0.8, 1" ""
} >sweep

record binomial >good
python3 -B "$script" share good sweep >out || { cat out && exit 1; }
grep -q '^| bcast | 2 | 8 | binomial | binomial | 0.50 | 0.50 |$' out
grep -q '100.0 %' out
grep -q 'Over the 1 cells .* 1.99 times as fast' out
if grep -q '^| bcast | 2 | 128 |' out; then cat out && exit 1; fi
for choice in default chain "binomial false"; do
  record $choice >bad
  if python3 -B "$script" share bad sweep >out; then
    echo "the choice of $choice is taken for as good as the best" && cat out && exit 1
  fi
done

# Settings of knobs, which act on all cells. What is lucky in the even runs, or loses in a cell, is not the best.
chosen() { echo "{\"validated\": ${2:-true}, \"cells\": [], \"knobs\": [], \"settings\": {$1}}"; }
knobs() { echo "{\"settings\": {$1}, \"operation\": \"$2\", \"ranks\": 2, \"bytes\": 8, \"times_s\": [$3], \"failure\": \"$4\"}"; }
{
  for operation in put get; do
    knobs '' $operation "1, 1, 1, 1, 1, 1, 1, 1" ""
    knobs '"A": "1"' $operation "0.6, 0.6, 0.6, 0.6, null, null, null, null" ""
    knobs '"B": "1"' $operation "0.8, 0.8, 0.8, 0.8, null, null, null, null" ""
    knobs '"A": "1", "B": "1"' $operation "null, null, null, null, 0.5, 0.5, 0.5, 0.5" ""
    knobs '"C": "1"' $operation "0.3, 1, 0.3, 1, null, null, null, null" "hung for 15 s"
  done
  knobs '"D": "1"' put "0.1, 0.1, 0.1, 0.1, null, null, null, null" ""
  knobs '"D": "1"' get "1.1, 1.2, 1.1, 1.2, null, null, null, null" ""
} >knobs
chosen '"A": "1", "B": "1"' >good
python3 -B "$script" share good knobs >out || { cat out && exit 1; }
grep -q '^| A=1 B=1 | 0.500 | 0.50 | best and choice |$' out
grep -q '100.0 %' out
grep -q 'Over the 2 cells .* 2.00 times as fast' out
for settings in '' '"B": "1"' '"A": "1"'; do
  chosen "$settings" >bad
  if python3 -B "$script" share bad knobs >out; then
    echo "settings {$settings} are taken for as good as the best" && cat out && exit 1
  fi
done
grep -q 'have 73.7 %' out
chosen '"E": "1"' >bad
if python3 -B "$script" share bad knobs >out 2>err; then
  echo "settings that were not swept are taken for good" && cat out && exit 1
fi
grep -q 'sweep with --record' err
chosen '"A": "1", "B": "1"' false >bad
if python3 -B "$script" share bad knobs >out; then
  echo "settings that are not exported are taken for good" && cat out && exit 1
fi
# Where nothing gains the default is to be kept.
grep -v '"[AB]"' knobs >idle
chosen '' >good
python3 -B "$script" share good idle >out || { cat out && exit 1; }
grep -q 'keep it' out
chosen '"D": "1"' >bad
if python3 -B "$script" share bad idle >out; then
  echo "a setting that loses is taken for good" && cat out && exit 1
fi

# Runs of tuning whose choices are CHOICES, in turns, each "choice outcome low high"; of a bcast, or, where KNOB is given, of
# this knob. The exported file says FILE, in turns.
mkdir -p build/bin
cat >build/bin/stripline-tune <<'END'
#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in --seed) seed=$2 ;; --output) output=$2 ;; esac
  shift
done
mkdir -p "$output"
IFS=';' read -ra all <<<"$CHOICES"
read -r chosen outcome low high <<<"${all[$((seed % ${#all[@]}))]}"
IFS=';' read -ra files <<<"${FILE:-$chosen}"
printf '# Written by Stripline: run %s\n%s  # in %s\n' "$seed" "${files[$((seed % ${#files[@]}))]}" "$output" >"$output/file"
found="\"outcome\": \"$outcome\", \"ratio_low\": $low, \"ratio_high\": $high"
cells= knobs= settings=
if [ -z "${KNOB+set}" ]; then
  cells="{\"collective\": \"bcast\", \"ranks\": 2, \"bytes\": 8, \"chosen\": \"$chosen\", $found}"
elif [ -n "$KNOB" ]; then
  knobs="{\"name\": \"$KNOB\", \"value\": \"1\", $found}"
  [ "$chosen" = default ] || settings="\"$KNOB\": \"$chosen\""
fi
echo "{\"cells\": [$cells], \"knobs\": [$knobs], \"settings\": {$settings}, \"files\": {\"file\": \"\"}}" >"$output/stripline-export.json"
END
chmod +x build/bin/stripline-tune
repeat() { CHOICES=$1 python3 -B "$script" repeat --build build 4 openmpi --minutes 5 >out; }
repeat "binomial departs 0.4 0.5"
grep -q '1 cells and knobs in 4 runs: choices differ in 0' out
repeat "binomial departs 0.4 0.5;chain departs 0.45 0.6;default tie 0.9 1.1"
grep -q '| yes |$' out
repeat "binomial departs 0.4 0.5;default few_runs 1 1"
grep -q 'choices differ in 0.* 2 decisions had too few runs' out
repeat "binomial departs 0.4 0.5;default not_confirmed 0.4 0.5"
grep -q '| yes |$' out
for wrong in "binomial departs 0.4 0.5;chain departs 0.6 0.7" "binomial departs 0.4 0.5;default default_best 1 1.1" \
  "binomial departs 0.4 0.5;default refuted 0.4 0.5"; do
  if repeat "$wrong"; then
    echo "'$wrong' is taken for a tie" && cat out && exit 1
  fi
  grep -q '| NO |$' out
done

# Targets with knobs alone, and files that say something else although the choices are the same.
export KNOB=UCX_RNDV_THRESH
repeat "1 departs 0.4 0.5;default not_shown 0.9 1.1"
grep -q '| knob UCX_RNDV_THRESH .*| yes |$' out
for wrong in "1 departs 0.4 0.5;default no_effect 0.99 1.01" "1 departs 0.4 0.5;default loses 1.2 1.3"; do
  if repeat "$wrong"; then
    echo "knobs: '$wrong' is taken for a tie" && cat out && exit 1
  fi
done
if FILE="a;b" repeat "1 departs 0.4 0.5"; then
  echo "files that differ are not seen" && cat out && exit 1
fi
grep -q '^Files differ in 1 cases' out
if repeat "default few_runs 1 1"; then
  echo "runs that have decided nothing are taken for the same" && cat out && exit 1
fi
if KNOB= repeat "default tie 1 1" 2>err; then
  echo "records with nothing in them are taken for the same" && cat out && exit 1
fi
grep -q 'nothing to compare' err
unset KNOB

# A program with and without settings, in turns: whatever they are called.
for name in MPIR_CVAR_A UCX_A FI_A GASNET_A SHMEM_A; do
  printf '# Written by Stripline\nexport %s=1\n' "$name" >settings.env
  python3 -B "$script" program --time 'took ([0-9.]+)' settings.env 3 sh -c "echo took \${$name:-2}" >out
  grep -q '| 3 | 2 | 1 | 0.500 \[0.500, 0.500\] |$' out
done
for nothing in '' 'export SHMEM_A=1'; do
  printf '# Written by Stripline\n%s\n' "$nothing" >nothing.env
  if SHMEM_A=1 python3 -B "$script" program nothing.env 1 true >out 2>&1; then
    echo "'$nothing': the default is compared with itself" && cat out && exit 1
  fi
  grep -q 'nothing to compare' out
done
if python3 -B "$script" program settings.env 1 false >out 2>&1; then
  echo "a program that fails is not seen" && exit 1
fi
