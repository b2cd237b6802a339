#!/bin/bash
# house_test.sh SCRIPTS: what SCRIPTS/house.sh counts in a repository made for this, and when it fails.
set -euo pipefail
scripts=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
git init -q -b main .
mkdir -p scripts server/core base build/release
cp "$scripts"/{house.sh,check_language.py,check_includes.awk} scripts/
sed -i '/exception\["/d' scripts/check_includes.awk
# prints TEXT NAME...: fails unless a line of what is printed, without the space between columns, contains TEXT.
prints() {
  local text=$1 printed
  shift
  printed=$(scripts/house.sh "$@" | tr -s ' ') || true
  [[ $printed == *"$text"* ]] || { echo "'$*' does not print '$text' but: $printed" && exit 1; }
}
fails() { if scripts/house.sh "$@" >/dev/null; then echo "'$*' is within what is asked" && exit 1; fi; }

printf 'int a;\nint node_budget;\n' >base/a.cc
printf 'int a;\n' >base/a_test.cc
printf '#include "base/json.h"\n' | tee base/one.h base/two.h base/three_test.h >base/six_part.h
echo '`one.h`, `{two,seven}.h`: what they are.' >base/README.md
echo '`server.h`: all.' >server/README.md
for i in $(seq 251); do echo "int x$i;"; done >server/server.h
git add .
git commit -q -m "Begin"
prints 'lines without tests: base 5' lines # a.cc and three headers
prints 'lines without tests: all 256' lines
prints "headers of server/ with more than 250 lines 1 at most 0: NOT MET" headers
fails headers
prints "files at server/'s top 2 at most 10: met" server-top
prints 'functions with more than 100 lines 0 at most 6: met' functions
for lines in 98 99; do # and the two of its braces
  { echo 'int f() {' && seq -f '  a(%g);' "$lines" && echo '}'; } >"base/$lines.cc"
done
git add base
prints 'functions with more than 100 lines 1 at most 6: met' functions
prints ' 101 base/99.cc:1' functions
git rm -q -f base/98.cc base/99.cc
prints ' base/a.cc' node-budget
prints 'headers that no README.md names 1 at most 0: NOT MET' readmes
prints 'headers that include JSON 3 at most 40: met' heavy
prints 'check_includes.awk 0 at most 0: met' exceptions
echo '  exception["server -> cli"]' >>scripts/check_includes.awk
prints 'check_includes.awk 1 at most 0: NOT MET' exceptions
fails exceptions
prints 'words not to use: way 0 at most 20: met' language
echo 'He was told so on the way.' >words.md
git add words.md
prints 'words not to use: way 1 at most 20: met' language
prints 'words not to use: told 1 at most 0: NOT MET' language
fails language
git rm -q -f words.md
echo '`X_part.h`: parts.' >>base/README.md
prints 'names 0 at most 0: met' readmes
sed -i "s/X_part/*_part/" base/README.md
prints 'names 0 at most 0: met' readmes
prints 'headers that include JSON 3' readmes heavy # goes on where none is missing

# A branch that adds a call in five files, a page and what programs and people write of it, then in six.
git checkout -q -b proof
mkdir docs
for i in 1 2 3 4 5; do touch "base/call_$i.cc"; done
touch docs/page.txt base/recorded_answers.txt server/README.md base/call.md
git add base docs server
git commit -q -m "Add a call"
prints 'proof adds 5 at most 5: met' call proof
git branch five
touch base/call_6.cc
git add base/call_6.cc
git commit -q -m "One more"
fails call proof
prints 'five...proof adds 1 at most 5: met' call five...proof
if scripts/house.sh call nowhere >printed 2>errors; then
  echo "a branch that does not exist is within what is asked" && exit 1
fi
[ ! -s printed ] || { echo "it is counted all the same" && exit 1; }
grep -q nowhere errors

# Another one, that adds a mechanism in twelve files, a test and a README, then in a folder that mechanisms are built upon.
git checkout -q -b second
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do touch "base/part_$i.cc"; done
touch base/part_test.cc docs/mechanism.txt server/core/README.md
git add base/part_* docs server/core/README.md
git commit -q -m "Add a mechanism"
prints 'proof..second adds 12 at most 12: met' mechanism proof..second
prints 'bootstrap 0 at most 0: met' mechanism proof..second
prints 'second adds 18 at most 12: NOT MET' mechanism second
mkdir -p runtime/rma
touch runtime/rma/part.cc
git rm -q base/part_1.cc
git add runtime
git commit -q -m "Move a part"
prints 'bootstrap 1 at most 0: NOT MET' mechanism proof..second
fails mechanism proof..second
fails mechanism nowhere 2>/dev/null

# A step with two outputs counts once, and what was built again as the last time.
prints 'has no .ninja_log' build
printf '# ninja log v5\n0\t1000\t1\ta.o\tx\n0\t2000\t1\tb.o\ty\n0\t2000\t1\tb.d\ty\n0\t700000\t1\ta.o\tx\n' >build/release/.ninja_log
prints 'seconds of wall time 700 at most 600: NOT MET' build
prints 'seconds of all steps 702 at most 1200: met' build
