# Checks what Markdown pages refer to: each relative link leads to a file or folder that is there, and
# its #anchor to a heading of that page; each path in a code span that begins at a folder of the
# repository's root is there, too; each source file that one names is somewhere in the repository; and to
# each page of docs another one leads.
#
#   awk -f links.awk PAGE...      (from the root of the repository; status 1 if anything is dead)
#
# Code blocks and comments are skipped. A code span counts as a path if its first part names a folder of the root and
# it has no place holders (capitals, blanks, * and braces); source files may be named by the end of their
# path alone.

# The anchor that a heading gets: as GitHub makes them.
function slug(text) {
  gsub(/`/, "", text)
  text = without_links(text)
  text = tolower(text)
  gsub(/[!-,.\/:-@\[-^{-~]/, "", text)
  gsub(/ /, "-", text)
  return text
}

# [text](target) becomes text.
function without_links(text) {
  while (match(text, /\[[^\]]*\]\([^)]*\)/)) {
    inner = substr(text, RSTART + 1, RLENGTH - 1)
    sub(/\].*/, "", inner)
    text = substr(text, 1, RSTART - 1) inner substr(text, RSTART + RLENGTH)
  }
  return text
}

function add_anchor(page, anchor) {
  if ((page, anchor) in anchors) anchor = anchor "-" ++repeated[page, anchor]
  anchors[page, anchor] = 1
}

# dir/../x and ./x become x.
function normal(path) {
  gsub(/\/\.\//, "/", path)
  sub(/^\.\//, "", path)
  while (match(path, /[^\/.][^\/]*\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
  return path
}

function exists(path) {
  if (!(path in there)) there[path] = system("test -e '" path "'") == 0
  return there[path]
}

function refer(target) {
  if (target ~ /^[a-z]+:/) return
  sub(/ +".*"$/, "", target)
  ++links
  target_of[links] = target
  page_of[links] = FILENAME
  line_of[links] = FNR
}

function complain(i, what) {
  print page_of[i] ":" line_of[i] ": " what
  failed = 1
}

FNR == 1 { fenced = 0; listed = 0; hidden = 0; pages[FILENAME] = 1 }
/^ *```/ { fenced = !fenced; next }
fenced { next }
/^<!--/ { hidden = 1 }
hidden { if (/-->/) hidden = 0; next }
# Indented by four after an empty line, and not within a list: a code block.
/^[*0-9-]/ { listed = 1 }
/^[^ *0-9-]/ { listed = 0 }
/^    / && !listed { next }
/^#+ / {
  text = $0
  sub(/^#+ +/, "", text)
  add_anchor(FILENAME, slug(text))
}
/^\[[^\]]+\]: [^ ]+$/ { refer($2) }
{
  rest = $0
  while (match(rest, /`[^`]+`/)) {
    span = substr(rest, RSTART + 1, RLENGTH - 2)
    if (span ~ /^[a-z][a-z0-9_\/]*\.(h|cc|proto|awk|sh)$/) source_span[span] = FILENAME ":" FNR
    if (span ~ /^[a-z]+\/[a-z0-9_.\/-]+$/) {
      root = span
      sub(/\/.*/, "", root)
      if (root == "build") root = ""  # what is built is not there before
      ++spans
      span_of[spans] = span
      root_of[spans] = root
      span_page[spans] = FILENAME
      span_line[spans] = FNR
    }
    rest = substr(rest, 1, RSTART - 1) substr(rest, RSTART + RLENGTH)
  }
  while (match(rest, /\]\([^)]+\)/)) {
    refer(substr(rest, RSTART + 2, RLENGTH - 3))
    rest = substr(rest, RSTART + RLENGTH)
  }
}

END {
  for (i = 1; i <= links; ++i) {
    target = target_of[i]
    anchor = ""
    if ((at = index(target, "#")) > 0) {
      anchor = substr(target, at + 1)
      target = substr(target, 1, at - 1)
    }
    page = page_of[i]
    folder = page
    if (!sub(/\/[^\/]*$/, "/", folder)) folder = ""
    path = target == "" ? page : normal(folder target)
    if (path != page) led_to[path] = 1
    if (!exists(path)) {
      complain(i, "'" target_of[i] "' leads nowhere: there is no " path)
    } else if (anchor != "" && (path in pages) && !((path, anchor) in anchors)) {
      complain(i, "'" target_of[i] "' leads nowhere: " path " has no heading with the anchor #" anchor)
    }
  }
  for (page in pages) {
    if (page ~ /^docs\// && !(page in led_to)) {
      print page ": no page leads here"
      failed = 1
    }
  }
  for (i = 1; i <= spans; ++i) {
    if (root_of[i] != "" && exists(root_of[i]) && !exists(span_of[i])) {
      print span_page[i] ":" span_line[i] ": there is no " span_of[i]
      failed = 1
    }
  }
  # Every end of the path of every source file.
  while (("find . -path './build*' -prune -o -type f -print" | getline path) > 0) {
    while (sub(/^[^\/]*\//, "", path)) ends[path] = 1
  }
  for (span in source_span) {
    if (!(span in ends)) {
      print source_span[span] ": there is no " span
      failed = 1
    }
  }
  if (links == 0) { print "no page has a link: the pages were not read"; failed = 1 }
  exit failed
}
