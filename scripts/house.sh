#!/usr/bin/env bash
# Counts of the source tree that are asked to stay within bounds, one a name:
#
#   scripts/house.sh [NAME...]
#
#   lines        lines of C++ without tests, by folder; the files with most of them
#   server-top   files at server/'s top
#   headers      the largest headers of server/, whose classes are to have one job each
#   functions    functions of C++ without tests that have more than 100 lines, tables of rows included
#   call [BRANCH]  files that BRANCH (default: the current commit) changes since it left main, for a branch that
#                adds one call as a proof; BASE...BRANCH: since it left BASE; BASE..BRANCH: between the two commits.
#                Documents and what programs write (clients, recorded answers) are not counted
#   mechanism [BRANCH]  the same for a branch that adds one mechanism, apart from tests and documents; and which of
#                them are in folders that mechanisms are built upon
#   node-budget  files without tests that know the field node_budget of a campaign's specification
#   exceptions   arrows between folders that scripts/check_includes.awk excuses
#   language     words that docs/glossary.md asks not to use
#   readmes      headers that the README.md of their folder does not name, and folders without one
#   heavy        public and internal headers that include JSON, gRPC, CLI11, regex or spdlog
#   build [DIR]  seconds that the steps of the build in DIR (default: build/release) took, by its log
#   incremental [DIR]  brings the build in DIR up to date, touches a public header of the runtime, then a file of the
#                server's core, and prints the processor seconds that the build takes after each
#
# Without a NAME: all of them but `call`, `mechanism` and `incremental`. Prints each count beside what is asked; exits with 1 if one is beyond it.
# Counts are of files that git tracks. `lines` has no bound of its own: what a change takes away or adds is the
# difference of two commits.
# shellcheck disable=SC2317  # functions are called by the names of their counts
set -euo pipefail
cd "$(dirname "$0")/.."

# What is a test, or serves tests only; generated files are not tracked.
tests='(_test|_fuzz|_bench|_fixture)\.(h|cc|inc)$|_test_[a-z]+\.(h|cc)$|(^|/)(tests|testing)/'
beyond=0

# count WHAT VALUE MOST: a line, with a verdict.
count() {
  local verdict=met
  [ "$2" -le "$3" ] || {
    verdict="NOT MET"
    beyond=1
  }
  printf '%-58s %7d   at most %d: %s\n' "$1" "$2" "$3" "$verdict"
}

sources() { git ls-files -- '*.h' '*.cc' '*.inc' | grep -vE "$tests"; }

print_lines() {
  # xargs may call awk more than once; so it adds up what wc says.
  sources | tr '\n' '\0' | xargs -0 wc -l | grep -v ' total$' | awk '
    { folder = $2; sub(/\/.*/, "", folder); of[folder] += $1; all += $1 }
    END { for (folder in of) printf "%-58s %7d\n", "lines without tests: " folder, of[folder] | "sort -k5,5 -nr"
      close("sort -k5,5 -nr"); printf "%-58s %7d\n", "lines without tests: all", all }'
  sources | tr '\n' '\0' | xargs -0 wc -l | grep -v ' total$' | sort -nr |
    awk 'NR <= 5 { printf "    %5d %s\n", $1, $2 }' # reads to the end, so that sort is not cut off
}

print_server_top() {
  count "files at server/'s top" "$(git ls-files server | grep -cE '^server/[^/]+$' || true)" 10
}

print_headers() {
  local large
  large=$(git ls-files 'server/*.h' | grep -vE "$tests" | tr '\n' '\0' | xargs -0 wc -l | grep -v ' total$' | sort -nr)
  count "headers of server/ with more than 250 lines" "$(awk '$1 > 250' <<<"$large" | wc -l)" 0
  head -5 <<<"$large" | awk '{ printf "    %5d %s\n", $1, $2 }'
}

# In the form of clang-format: from the last line that begins in the first column to the brace that stands there.
print_functions() {
  local long
  long=$(sources | tr '\n' '\0' | xargs -0 awk '
    FNR == 1 { begin = 0 } /^(namespace|extern "C")/ { next } /^[A-Za-z]/ { begin = FNR }
    /^}$/ && begin { if (FNR - begin >= 100) print FNR - begin + 1, FILENAME ":" begin; begin = 0 }' | sort -nr)
  count "functions with more than 100 lines" "$(grep -c . <<<"$long" || true)" 6
  awk 'NF { printf "    %5d %s\n", $1, $2 }' <<<"$long"
}

# changed BRANCH: the files that a branch changes since it left main, or that a range of commits does.
changed() {
  local range=main...$1
  case $1 in *..*) range=$1 ;; esac
  git diff --name-only "$range" -- . ':!*.md' ':!docs' ':!clients' ':!*/recorded_answers.txt'
}

print_call() {
  local branch=${1:-HEAD} files
  files=$(changed "$branch")
  count "files of the call that $branch adds" "$(grep -c . <<<"$files" || true)" 5
}

print_mechanism() {
  local branch=${1:-HEAD} files
  files=$(changed "$branch")
  files=$(grep -vE "$tests" <<<"$files" || true)
  count "files of the mechanism that $branch adds" "$(grep -c . <<<"$files" || true)" 12
  awk 'NF { print "    " $0 }' <<<"$files"
  count "of them in rma, am, fabric, sync, bootstrap" \
    "$(grep -cE '^runtime/(rma|am|fabric|sync|bootstrap)/' <<<"$files" || true)" 0
}

print_node_budget() {
  local files
  files=$(git grep -lE 'node_?[bB]udget' -- '*.h' '*.cc' '*.proto' '*.ts' '*.tsx' | grep -vE "$tests|\.test\.tsx?$" || true)
  count "files that know node_budget" "$(grep -c . <<<"$files" || true)" 8
  awk 'NF { print "    " $0 }' <<<"$files"
}

print_exceptions() {
  count "exceptions of scripts/check_includes.awk" "$(grep -cE '^ *exception\["' scripts/check_includes.awk || true)" 0
}

print_language() {
  local kind most found
  while read -r kind most; do
    found=$(python3 -B scripts/check_language.py list "$kind")
    count "words not to use: $kind" "$(grep -c . <<<"$found" || true)" "$most"
  done <<'END'
way 20
so-many 10
told 0
anew 0
nobody 0
is-no 0
END
}

# What a README.md names: "name.h", "name" in "name.h, other.h", "{one,other}.h", "*_part.h", "X_part.h".
print_readmes() {
  local missing
  missing=$(python3 -B - "$tests" <<'END'
import collections, fnmatch, os, re, subprocess, sys
tests = re.compile(sys.argv[1])
tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
folders = collections.defaultdict(list)
for path in tracked:
    if path.endswith(".h") and not tests.search(path):
        folders[os.path.dirname(path)].append(os.path.basename(path))
for folder, headers in sorted(folders.items()):
    at = folder
    while at and not os.path.exists(os.path.join(at, "README.md")):
        at = os.path.dirname(at)
    if at != folder and folder.count("/") < 2:
        print(f"{folder}/README.md is missing")
        continue
    text = open(os.path.join(at, "README.md"), encoding="utf-8").read()
    named = set()
    for word in re.findall(r"[\w*{},./-]+", text):
        match = re.search(r"\{([^{}]*)\}", word)
        for one in match.group(1).split(",") if match else [""]:
            name = word[:match.start()] + one + word[match.end():] if match else word
            name = re.sub(r"\.(h|cc)$", "", name.rstrip(".,/").rsplit("/", 1)[-1])
            named.add(re.sub("^X_", "*_", name))
    for header in headers:
        stem = header[:-2]
        if not any(fnmatch.fnmatchcase(stem, name) for name in named if name.strip("*")):
            print(os.path.join(folder, header))
END
)
  count "headers that no README.md names" "$(grep -c . <<<"$missing" || true)" 0
  awk NF <<<"$missing" | cut -d/ -f1-2 | sort | uniq -c | sort -nr | sed -n '1,10s/^/  /p'
}

print_heavy() {
  local name pattern most
  while read -r name most pattern; do
    count "headers that include $name" \
      "$(git grep -lE "^ *# *include [<\"]($pattern)" -- '*.h' | grep -cvE "$tests" || true)" "$most"
  done <<'END'
JSON 40 base/json\.h|nlohmann/
gRPC 6 grpc
CLI11 1 CLI/
regex 0 regex>
spdlog 1 spdlog/
END
}

# ninja logs a line for each output, of which a step may have several, and a later build's line again.
print_build() {
  local folder=${1:-build/release}
  [ -f "$folder/.ninja_log" ] || {
    echo "build: $folder has no .ninja_log; build there from nothing first"
    return 0
  }
  local figures steps busy wall
  figures=$(awk -F'\t' '/^#/ { next } { start[$4] = $1; end[$4] = $2; hash[$4] = $5 }
    END { for (output in start) { key = start[output] " " end[output] " " hash[output]
        if (key in seen) continue
        seen[key] = 1; ++steps; busy += end[output] - start[output]
        if (end[output] > wall) wall = end[output] }
      printf "%d %d %d\n", steps, busy / 1000, wall / 1000 }' "$folder/.ninja_log")
  read -r steps busy wall <<<"$figures"
  echo "build of $folder, $steps steps, if it was made from nothing in one run:"
  count "seconds of wall time" "$wall" 600
  count "seconds of all steps" "$busy" 1200
}

# rebuild DIR FILE MOST
rebuild() {
  local TIMEFORMAT='%U %S' user system took
  touch "$2"
  took=$({ time cmake --build "$1" >/dev/null; } 2>&1 | tail -n 1) || {
    echo "incremental: the build of $1 failed" >&2
    exit 2
  }
  read -r user system <<<"$took"
  count "processor seconds after a change of $2" "$(awk -v u="$user" -v s="$system" 'BEGIN { printf "%.0f", u + s }')" "$3"
}

print_incremental() {
  local folder=${1:-build/release}
  [ -f "$folder/build.ninja" ] || {
    echo "incremental: $folder is not a build folder; configure it first" >&2
    exit 2
  }
  cmake --build "$folder" >/dev/null
  rebuild "$folder" runtime/include/stripline/context.h 90
  rebuild "$folder" server/core/campaigns/campaigns.cc 30
}

names=(lines server-top headers functions node-budget exceptions language readmes heavy build)
[ $# -gt 0 ] || set -- "${names[@]}"
while [ $# -gt 0 ]; do
  name=$1
  shift
  case $name in
    call | mechanism | build | incremental)
      # An argument of its own, unless it is the next name.
      argument=
      case " ${names[*]} call mechanism incremental " in *" ${1:-call} "*) ;; *) argument=$1 && shift ;; esac
      "print_$name" ${argument:+"$argument"}
      ;;
    lines | headers | functions | exceptions | language | readmes | heavy) "print_$name" ;;
    server-top) print_server_top ;;
    node-budget) print_node_budget ;;
    -h | --help) sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" | grep -v '^shellcheck' ;;
    *)
      echo "house.sh: there is no count '$name'; see --help" >&2
      exit 2
      ;;
  esac
done
exit "$beyond"
