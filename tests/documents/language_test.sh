#!/bin/sh
# language_test.sh PROGRAM: check_language.py finds what is new, and nothing else; recorded numbers only fall.
set -eu
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
git init -q .
git config user.name test
git config user.email test@localhost
mkdir -p scripts base pages other docs/results
cat >base/code.cc <<'END'
// One way to do it, always; away from the gateway.

/// Of a comment that needs the one before.
// A second line of the block:
// Of this nothing is counted.
int way = 0;
int GatherWays = 1, leeway = 1'000;  // nobody
const char* text = "'x' is no number";  // as long as so many as are there
const char* right = "there is no number, and it is no longer one";
const char* description = "Of the log";
const char* argument = "WAY[:N]";
END
cat >base/code_test.cc <<'END'
const char* text = "'x' is no number";
END
cat >pages/words.md <<'END'
He was told it anew, so many times.
<!-- language: off -->
way way way told
<!-- language: on -->
END
cat >docs/results/updates.md <<'END'
What was made anew, and how.

| what a program wrote | the way it is |
END
git add .
python3 "$program" record >sums
cat >expected <<'END'
way                    2
way-in-names           2
so-many                1
told                   1
told-in-names          0
anew                   2
nobody                 1
is-no                  1
fragment-message       1
fragment-comment       1
END
diff expected sums
git add .
git commit -q -m "Record"
python3 "$program" >found
[ ! -s found ]

# One more, beside one that was there.
sed -i 's/^int way.*/&\n\/\/ Another way./' base/code.cc
if python3 "$program" >found; then
  echo "a word that is new was not found"
  exit 1
fi
cat >expected <<'END'
way: 3 in base, and 2 are recorded; docs/glossary.md says what to write instead. New:
  base/code.cc:7: // Another way.
END
head -2 found | diff expected -
if python3 "$program" record >found; then
  echo "a number that rose was recorded"
  exit 1
fi
grep -q '^way: 3 in all, and 2 are recorded' found

# What moves to another folder may be recorded; what is gone stays gone.
git checkout -q base/code.cc
git mv base/code_test.cc other/
git mv pages/words.md other/
if python3 "$program" >found; then
  echo "words in a folder without any were not found"
  exit 1
fi
python3 "$program" record >/dev/null
python3 "$program"
sed -i 's/anew, //' other/words.md
python3 "$program" | grep -q "1 numbers are lower than recorded"
