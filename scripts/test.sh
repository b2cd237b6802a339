#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests.
#
#   scripts/test.sh          everything: format, release build and its tests, clang-tidy on changed files,
#                            then the same under ASan and UBSan, but for tests of whole campaigns
#   scripts/test.sh fast     format, release build, the fast tests
#   scripts/test.sh release  as everything, without the sanitizers
#   scripts/test.sh asan     only the sanitizers, with all tests
#
# STRIPLINE_TIDY_BASE=REV says what "changed" is measured against (default: the last commit).
set -euo pipefail
source "$(dirname "$0")/common.sh"
what=${1:-all}
tidy_base=${STRIPLINE_TIDY_BASE:-}
unset STRIPLINE_TIDY_BASE  # not a setting of the programs that are tested
export GTEST_BRIEF=1  # what fails, not the hundreds of tests that pass beside it
case $what in
  all | fast | release | asan) ;;
  -h | --help)
    sed -n '2,10s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  *)
    echo "unknown argument '$what'; known: fast, release, asan, or none for everything" >&2
    exit 2
    ;;
esac
cd "$repository"
require_packages "${build_packages[@]}" "${check_packages[@]}"
# What real_targets_test is skipped without.
[ "$what" = fast ] || require_packages "${target_packages[@]}"
require_node

# What comes now, and the seconds that what came before has taken.
stage() { echo "== $1 (after $SECONDS s)"; }

sources() { git ls-files '*.h' '*.cc'; }

check_format() {
  stage "clang-format"
  sources | xargs clang-format-14 --dry-run --Werror
}

tidy_changed() {
  local base changed
  base=${tidy_base:-$(git rev-parse -q --verify HEAD~1 || true)}
  [ -n "$base" ] || return 0
  changed=$(git diff --name-only --diff-filter=d "$base" -- '*.cc')
  [ -n "$changed" ] || return 0
  stage "clang-tidy on what changed since $base"
  echo "$changed" | tidy tidy --named
}

# run_tests PRESET NAME [CTEST OPTION...]: a test on each processor, and one more, as many of them mostly wait: which
# run beside each other is said in cmake/StriplineTargets.cmake. What fails is run once more by itself, since
# a host that others use, too, can be too slow for whatever waits. A test that passes then is named at the end of
# all, as one to be mended; one that fails again fails the run. Where ctest ends by anything but failed tests, which
# is its code 8, the list of these is an earlier run's.
unsteady=()
run_tests() {
  local preset=$1 selection=$2 log=build/$1/Testing/Temporary code=0 failed
  shift 2
  stage "$preset: ctest $selection"
  ctest --preset "$preset" -j $(($(nproc) + 1)) "$@" || code=$?
  [ $code -eq 8 ] || return $code
  # The reason once more: it can stand a thousand lines above the end of the output.
  echo "== $preset: what failed"
  grep -A 8 -E ': Failure$|: runtime error: |^(==[0-9]+==)?ERROR: |^terminate called' "$log/LastTest.log" |
    cut -c1-300 | tail -n 150 || true
  if grep -q -E ': runtime error: |ERROR: [A-Za-z]*Sanitizer' "$log/LastTest.log"; then
    return 1  # a report of a sanitizer is a fault, whether it repeats or not
  fi
  mapfile -t failed < <(cut -d: -f2 "$log/LastTestsFailed.log")
  stage "$preset: once more, one by one: ${failed[*]}"
  ctest --preset "$preset" -j 1 --rerun-failed || return 1
  unsteady+=("${failed[@]/#/$preset:}")
}

if [ "$what" != asan ]; then
  check_format
  stage "includes"
  scripts/check.sh includes
  stage "language"
  scripts/check.sh language
  stage "release build"
  configure_and_build release
  if [ "$what" = fast ]; then
    run_tests release "fast tests" -L fast
  else
    run_tests release "all tests"
    tidy_changed
  fi
fi
if [ "$what" != release ] && [ "$what" != fast ]; then
  stage "asan build (AddressSanitizer and UBSan)"
  configure_and_build asan
  if [ "$what" = asan ]; then
    run_tests asan "all tests"
  else
    run_tests asan "all tests but of whole campaigns" -LE campaigns
  fi
fi
if [ ${#unsteady[@]} -gt 0 ]; then echo "== passed at the second attempt only: ${unsteady[*]}"; fi
stage "all passed"
