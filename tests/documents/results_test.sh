#!/bin/bash
# results_test.sh SCRIPT: what scripts/results.sh writes, and when it writes nothing. Nothing is
# measured: the program that it calls is a stand-in, in a repository made for this.
set -euo pipefail
script=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  echo "$1"
  exit 1
}

mkdir -p scripts docs/results build/release/bin
cp "$script" scripts/results.sh
cat >scripts/common.sh <<'END'
repository=$PWD
build_packages=()
require_packages() { :; }
configure_and_build() { :; }
END
program=build/release/bin/stripline-results  # what 'overlap' calls
printf '#!/bin/sh\necho "| measured |"\n' >"$program"
chmod +x "$program"
page=docs/results/overlap.md
printf '# Overlap\n\nWhy.\n\n<!-- begin overlap -->\n\n| old |\n\n<!-- end overlap -->\n\nAfter.\n' >"$page"
echo build >.gitignore
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
git init -q .
git add .
git commit -q -m test
commit=$(git log -1 --format=%h)

scripts/results.sh overlap >out
grep -q "$commit, on " "$page" || fail "the page does not say which sources the table is from"
grep -q '^| measured |$' "$page" || fail "the table was not written"
grep -q old "$page" && fail "the old table is still there"
[ "$(grep -c -e Why -e After "$page")" = 2 ] || fail "text around the table is gone"

# Tables that were written before are no reason not to write the next one.
git diff --quiet && fail "the page did not change"
scripts/results.sh overlap >out || fail "a new table counts as changed sources"

git commit -q -a -m "Tables"
scripts/results.sh overlap >out || fail "a committed table counts as other sources"

git checkout -q "$page"
scripts/results.sh overlap --model net=FILE >out 2>err
grep -q "has no marks for 'overlap --model net=FILE'" err || fail "no message says that the table has no place"
git diff --quiet || fail "a table was written where no marks are"

echo "# changed" >>scripts/common.sh
if scripts/results.sh overlap >out 2>err; then fail "a table was written from changed sources"; fi
grep -q "scripts/common.sh" err || fail "the message does not say what has changed"
grep -q -e --print err || fail "the message does not say what to do"
scripts/results.sh overlap --print >out 2>err || fail "--print does not work with changed sources"
grep -q "$commit-dirty, on " out || fail "the printed table does not say that the sources were changed"
git checkout -q scripts/common.sh
git diff --quiet || fail "--print wrote a table"

# What is kept was measured from other sources.
echo "# changed" >>scripts/common.sh
git commit -q -a -m "Other sources"
if scripts/results.sh overlap >out 2>err; then fail "a table was written from measurements of other sources"; fi
grep -q "build/results/full holds measurements from $commit" err || fail "the message does not say what is kept"
scripts/results.sh overlap --print >out 2>err || fail "--print does not show what is kept"
git diff --quiet || fail "--print wrote a table"
rm -r build/results
scripts/results.sh overlap >out || fail "what is measured again is not written"
git checkout -q "$page"

# A criterion that is not met is printed, and seen by the exit status.
printf '#!/bin/sh\necho "| 2, at most 1: NOT MET |"\n' >"$program"
status=0
scripts/results.sh overlap --print >out 2>err || status=$?
[ "$status" = 3 ] || fail "a criterion that is not met ends with $status"
grep -q 'NOT MET' out || fail "what is not met is not printed"
grep -q 'not all criteria are met: overlap' err || fail "the table whose criterion is not met is not named"

# Sources that change while it measures.
printf '#!/bin/sh\necho "# changed" >>scripts/common.sh\necho "| measured |"\n' >"$program"
if scripts/results.sh overlap >out 2>err; then fail "a table was written from sources that changed meanwhile"; fi
git checkout -q scripts/common.sh
git diff --quiet || fail "a table was written from sources that changed meanwhile"
