# Whether folders include only what docs/architecture.md allows them, and none in a circle.
#
#   awk -f scripts/check_includes.awk docs/architecture.md FILE...
#
# The first file has the table of folders ("| `folder` | what | may include |"); the others are sources and
# headers. Tests, benchmarks, fuzzers and what only they use may include everything. Says what is
# wrong, one line each, and exits with 1.

# By the table: a folder, or one of a folder with folders of its own; and the top of the folder that a room is in.
function allowed(from, to,    part, list, n, i, wanted) {
  part = from
  while (!(part in may)) {
    if (part !~ /\//) return 0
    sub(/\/[^\/]*$/, "", part)
  }
  if (to == part || index(to, part "/") == 1 || index(from, to "/") == 1 || may[part] == "everything") return 1
  n = split(may[part], list, /, */)
  for (i = 1; i <= n; ++i) {
    wanted = list[i]
    if (to == wanted || index(to, wanted "/") == 1) return 1
  }
  return 0
}

# The folder of a file, as far as circles are counted: the second level, public headers by themselves.
function folder_of(path,    part) {
  if (path ~ /^proto\//) return "proto"
  split(path, part, "/")
  if (path ~ /^[^\/]+\/[^\/]+\//) return part[1] "/" part[2]
  return part[1]
}

function complain(text) {
  print text
  ++mistakes
}

BEGIN {
  # Arrows that close circles, and are to go: a header moves, or what it declares does. There are none:
  # exception["FOLDER -> FOLDER"]
}

FNR == 1 { ++files }

files == 1 {
  if ($0 !~ /^\| `[a-z\/]+` \|/) next
  split($0, column, /\| */)
  folder = column[2]
  gsub(/[` ]/, "", folder)
  sub(/\/$/, "", folder)
  rest = column[4]
  sub(/ *$/, "", rest)
  may[folder] = rest
  next
}

FNR == 1 {
  from = folder_of(FILENAME)
  free = FILENAME ~ /(_test|_fuzz|_bench|_fixture)\.(cc|h)$/ || FILENAME ~ /_test_[a-z]+\.(cc|h)$/ ||
         FILENAME ~ /(^tests|\/testing)\//
}

free { next }

/^#include "[a-z_]+\// || /^#include <stripline\// {
  path = $2
  gsub(/[<>"]/, "", path)
  if (path ~ /^stripline\/v1\//) {
    path = "proto/" path
  } else if (path ~ /^stripline\//) {
    path = "runtime/include/" path
  }
  to = folder_of(path)
  if (to == from) next
  if (!allowed(from, to)) {
    complain(FILENAME ":" FNR ": " from "/ may not include " to "/ (docs/architecture.md)")
  }
  arrow = from " -> " to
  if (!(arrow in arrows)) arrows[arrow] = FILENAME ":" FNR
}

END {
  if (length(may) < 10) complain("docs/architecture.md has no table of folders")
  for (arrow in exception) {
    if (!(arrow in arrows)) complain(arrow ": nothing includes that any more; take it off the list in scripts/check_includes.awk")
  }
  # An arrow that nothing leads to, or that leads nowhere further, is in no circle.
  do {
    dropped = 0
    split("", leaves)
    split("", entered)
    for (arrow in arrows) {
      split(arrow, end, " -> ")
      leaves[end[1]]
      entered[end[2]]
    }
    for (arrow in arrows) {
      split(arrow, end, " -> ")
      if ((arrow in exception) || !(end[2] in leaves) || !(end[1] in entered)) {
        delete arrows[arrow]
        dropped = 1
      }
    }
  } while (dropped)
  for (arrow in arrows) complain(arrows[arrow] ": " arrow " is part of a circle of folders")
  exit mistakes > 0
}
