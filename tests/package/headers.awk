# Takes the examples out of the public headers, so that they are compiled and run, too.
#
#   awk -v folder=OUT -f headers.awk tests/package/header_given.inc runtime/include/stripline/*.h
#
# An example is what is indented by three spaces in the comment that a header begins with. Those of a header become a
# function of OUT/headers.cc, behind the declarations of fragment_given.inc and those of header_given.inc, where a
# section begins with "// == HEADER", and with "// == HEADER N" if only the first N blocks are C++,
# or "// == HEADER file" if they stand outside of functions. What an example
# leaves open is filled in: "{ ... }" is empty, "..." in a line of its own is nothing.
function fail(what) { print FILENAME ": " what > "/dev/stderr"; failed = 1; exit 1 }
function finish() {
  if (body == "") return
  includes = includes "#include <stripline/" header ">\n"
  if (!(header in given)) fail("its example needs a section in header_given.inc, which may be empty")
  used[header] = 1
  if (most[header] == "file") {
    declared = declared "namespace {\n" given[header] body "}  // namespace\n"
    body = ""
    return
  }
  name = header; gsub(/[^A-Za-z0-9]/, "_", name)
  functions = functions "int example_of_" name "(stripline::Context& ctx, stripline::global_ptr<double> area) {\n" \
    "#include \"fragment_given.inc\"\n  {\n#line " at[header] " \"tests/package/header_given.inc\"\n" given[header] \
    "    {\n" body "    }\n  }\n  return 0;\n}\n"
  calls = calls "  if (const int code = example_of_" name "(ctx, *area); code != 0) return code;\n  ctx.barrier();\n"
  body = ""
}

FNR == NR {
  if (/^\/\/ == /) { section = $3; given[section] = ""; most[section] = NF > 3 ? $4 : 99; at[section] = FNR + 1; next }
  if (section != "") given[section] = given[section] $0 "\n"
  next
}
FNR == 1 {
  finish()
  header = FILENAME; sub(/.*\//, "", header)
  blocks = 0; in_example = 0; over = 0
}
over { next }
/^#pragma once/ { over = 1; next }
/^\/\/   / {
  if (!in_example) { in_example = 1; ++blocks }
  if (most[header] != "file" && blocks > most[header] + 0) next
  line = substr($0, 6)
  gsub(/\{ \.\.\. \}/, "{}", line)
  sub(/\{ \.\.\. .*/, "{", line)
  sub(/\) \.\.\.$/, ") return 1;", line)
  sub(/^ *\.\.\.$/, "", line)
  gsub(/for \(\.\.\.\)/, "for (int once = 0; once < 1; ++once)", line)
  body = body "#line " FNR " \"" FILENAME "\"\n" line "\n"
  next
}
{ in_example = 0 }

END {
  if (failed) exit 1
  finish()
  for (section in given) if (!(section in used) && most[section] != 0) fail("no example of " section)
  print includes "#include \"fragment_headers.inc\"\n#include \"header_helpers.inc\"\n" declared functions "int main() {\n" \
    "  auto context = stripline::Context::init();\n" \
    "  if (!context.ok()) return stripline::report(context.error());\n" \
    "  stripline::Context& ctx = **context;\n" \
    "  auto area = ctx.new_symmetric_array<double>(kAreaElements);\n" \
    "  if (!area.ok()) return stripline::report(area.error());\n  ctx.barrier();\n" calls \
    "  if (ctx.rank_me() == 0) std::puts(\"all examples done\");\n}" > (folder "/headers.cc")
}
