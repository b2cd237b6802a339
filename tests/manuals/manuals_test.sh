#!/usr/bin/env bash
# manuals_test.sh BIN WRAPPERS: every program that users start writes pages that groff formats without a warning, with
# all options of its help, and completion that works when bash asks for it.
set -euo pipefail
bin=$1 wrappers=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
  echo "$*" >&2
  failed=1
}

commands=(stripline stripline-run stripline-bench stripline-doctor stripline-results stripline-switches stripline-tune)
daemons=(stripline-server stripline-agent)
for program in "${commands[@]}"; do "$bin/$program" --write-manual "$work" 1; done
for program in "${daemons[@]}"; do "$bin/$program" --write-manual "$work" 8; done
cp "$wrappers"/*.1 "$work/man/man1"

pages=("$work"/man/man[18]/*)
[ ${#pages[@]} -ge 20 ] || fail "there are only ${#pages[@]} pages"
# Terminals would not show them.
if LC_ALL=C grep -l '[[:cntrl:]]' "${pages[@]}"; then fail "these pages have control characters"; fi
# Not of the machine that made it.
if grep -l -e "$(uname -n)" -e "$bin" "${pages[@]}"; then fail "these pages speak of this machine"; fi
if command -v groff >/dev/null; then
  for page in "${pages[@]}"; do
    LC_ALL=C groff -man -Tutf8 -ww -z "$page" >"$work/said" 2>&1 || fail "groff fails on $page"
    [ ! -s "$work/said" ] || fail "groff on $page: $(cat "$work/said")"
  done
fi
if command -v man >/dev/null; then
  LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$work/man/man1/stripline-campaign.1" >"$work/page" 2>"$work/said" ||
    fail "man fails"
  [ ! -s "$work/said" ] || fail "man says: $(cat "$work/said")"
  grep -q 'stripline campaign watch' "$work/page" || fail "the page of campaigns lacks 'watch'"
fi

# Every option that a help shows is in the page.
options_missing() {  # PAGE COMMAND...
  local page=$1 option
  shift
  for option in $("$@" --help | grep -oE '^ +(-[a-z],)?--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u); do
    # Not grep -q, which would end before sed has written all.
    sed 's/\\-/-/g' "$page" | grep -F -e "\\fB$option\\fR" >/dev/null || fail "$(basename "$page") lacks $option"
  done
}
options_missing "$work/man/man1/stripline-run.1" "$bin/stripline-run"
options_missing "$work/man/man1/stripline-doctor.1" "$bin/stripline-doctor"
options_missing "$work/man/man1/stripline-results.1" "$bin/stripline-results"
options_missing "$work/man/man8/stripline-server.8" "$bin/stripline-server"
options_missing "$work/man/man8/stripline-agent.8" "$bin/stripline-agent"
options_missing "$work/man/man1/stripline-bench.1" "$bin/stripline-bench" run
options_missing "$work/man/man1/stripline-tune-openmpi.1" "$bin/stripline-tune" openmpi
options_missing "$work/man/man1/stripline-campaign.1" "$bin/stripline" campaign run
options_missing "$work/man/man1/stripline-model.1" "$bin/stripline" model promote
options_missing "$work/man/man1/stripline-report.1" "$bin/stripline" report

# As bash calls it: offered LAST-WORD-INCLUDED WORDS...
offered() {
  bash --norc -c '
    for file in "$1"/bash-completion/completions/*; do source "$file"; done
    shift
    function=$(complete -p "$1" | sed "s/.*-F \([^ ]*\) .*/\1/")
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    cd /
    "$function"
    printf "%s " "${COMPREPLY[@]}"' bash "$work" "$@"
}
expect() {  # OFFERED WORDS...
  local expected=$1 found
  shift
  found=$(offered "$@" 2>&1)
  [[ " $found" == *" $expected "* ]] || fail "'$*' offers '$found', not '$expected'"
}
expect campaign stripline cam
expect watch stripline campaign w
expect '--fabric' stripline campaign run --fab
expect '--json' stripline campaign run --js
expect 'real virtual' stripline run --clock ''
expect 'real virtual' stripline-run --clock = ''
expect 'off summary sites' stripline-run --trace = ''
expect '--output' stripline campaign run-plan --out
expect '--output' stripline-bench run-plan --out
expect '--quick' stripline-results --qu
expect quality stripline-results qualit
expect 'keep rollback replace' stripline-server --stale-policy ''
expect init stripline-server in
expect '--enroll' stripline-agent --en
expect etc stripline-agent --enroll et
exit $failed
