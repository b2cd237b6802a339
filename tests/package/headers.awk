# Takes the examples out of the public headers, so that they are compiled and run like those of the documents.
#
#   awk -v folder=OUT -f headers.awk tests/package/header_given.inc runtime/include/stripline/*.h
#
# An example is what is indented by three spaces or more in the comment that a header begins with; a line that is not
# ends a block. OUT/headers.cc gets a function for each header, with its blocks behind the declarations of
# fragment_given.inc and those of the header's section of header_given.inc, which begins with one of
#
#   // == HEADER         all blocks, in one function
#   // == HEADER N       block N, in a function of its own; blocks without a section are not C++
#   // == HEADER none    no block is C++
#   // == HEADER detail  it has nothing that programs use, and no example, which all others have
#   // == HEADER file    the blocks are declarations, outside of functions
#   // == HEADER main    the blocks make the Context: main() begins with them
#
# What an example leaves out is filled in: "{ ... }" becomes empty, "..." in a line of its own nothing, "for (...)" one
# iteration. The compiler's messages name header and line.
function fail(what) { print what > "/dev/stderr"; failed = 1; exit 1 }
# Its declarations live until all that its blocks have started is complete.
function add_function(key, body,    name) {
  name = key; gsub(/[^A-Za-z0-9]/, "_", name)
  functions = functions "int example_of_" name \
    "(stripline::Context& ctx, stripline::global_ptr<double> area) {\n#include \"fragment_given.inc\"\n  {\n" \
    given[key] "    {\n" body "    ;\n    }\n    ctx.barrier();\n    ctx.am_quiesce();\n  }\n  return 0;\n}\n"
  calls = calls "  if (const int code = example_of_" name "(ctx, *area); code != 0) return code;\n"
}
# All of the header that ends here.
function finish(    whole, key, i) {
  if (header == "") return
  if (blocks == 0 && mode[header] != "detail") fail(path ": does not begin with an example")
  if (blocks != 0 && mode[header] == "detail") fail(path ": has an example, which its section 'detail' leaves out")
  if (blocks == 0) { found[header] = 1; return }
  if (!(header in mode)) fail(path ": its example needs a section in header_given.inc, which may be empty")
  found[header] = 1
  if (mode[header] == "none") return
  includes = includes "#include <stripline/" header ">\n"
  for (i = 1; i <= blocks; ++i) {
    key = header " " i
    if (mode[header] != "blocks") whole = whole block[i]
    else if (key in given) { add_function(key, block[i]); delete unused[key] }
  }
  if (mode[header] == "file") declared = declared "namespace {\n" given[header] whole "}  // namespace\n"
  else if (mode[header] == "main") begin = given[header] whole
  else if (mode[header] == "all") add_function(header, whole)
}

FNR == NR {
  if (/^\/\/ == /) {
    section = $3; mode[section] = NF < 4 ? "all" : $4
    if ($4 ~ /^[0-9]+$/) { mode[$3] = "blocks"; section = $3 " " $4; unused[section] = 1 }
    given[section] = "#line " (FNR + 1) " \"" FILENAME "\"\n"
  } else if (section != "") given[section] = given[section] $0 "\n"
  next
}
FNR == 1 {
  finish()
  path = FILENAME; header = FILENAME; sub(/.*\//, "", header)
  blocks = 0; in_example = 0; over = 0
}
/^#pragma once/ { over = 1 }
over { next }
/^\/\/   / {
  if (!in_example) { in_example = 1; block[++blocks] = "" }
  line = substr($0, 3)
  gsub(/\{ \.\.\. \}/, "{}", line)
  sub(/\{ \.\.\. .*/, "{", line)
  sub(/\) \.\.\.$/, ") return 1;", line)
  sub(/^ *\.\.\.$/, "", line)
  gsub(/for \(\.\.\.\)/, "for (int once = 0; once < 1; ++once)", line)
  block[blocks] = block[blocks] "#line " FNR " \"" FILENAME "\"\n" line "\n"
  next
}
{ in_example = 0 }

END {
  if (failed) exit 1
  finish()
  for (name in mode) if (!(name in found)) fail("header_given.inc has a section of " name ", which has no example")
  for (key in unused) fail("header_given.inc has a section of block " key ", which does not exist")
  if (begin == "") fail("header_given.inc has no section HEADER main")
  print includes "#include \"fragment_headers.inc\"\n#include \"header_helpers.inc\"\n" declared functions \
    "int main() {\n" begin \
    "#line 1 \"headers.cc, main()\"\n" \
    "  auto area = ctx.new_symmetric_array<double>(kAreaElements);\n" \
    "  if (!area.ok()) return stripline::report(area.error());\n  ctx.barrier();\n" calls \
    "  if (ctx.rank_me() == 0) std::puts(\"all examples of the headers done\");\n}" > (folder "/headers.cc")
}
