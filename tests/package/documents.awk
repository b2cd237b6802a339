# Takes the C++ out of the documents, so that the package is tested with what users read.
#
#   awk -v folder=OUT -f documents.awk README.md docs/*.md      (from the root of the repository)
#
# Blocks of "```cpp" that have a main() become programs, OUT/PAGE-LINE.cc. All others are fragments:
# each becomes a function of OUT/fragments.cc, behind the declarations of fragment_given.inc and
# those of a comment of the page, directly before the block, which readers do not see:
#
#   <!-- given: DECLARATIONS -->
#
# "```cmake" blocks become OUT/PAGE-LINE.cmake, command lines with pkg-config go to OUT/commands.
# The compiler's messages name page and line.
function fresh() { given = ""; given_line = 0 }
FNR == 1 { if (in_block) fail("a block is not closed"); fresh(); name = FILENAME; gsub(/[^A-Za-z0-9]/, "_", name) }
function fail(what) { print FILENAME ": " what > "/dev/stderr"; exit 1 }

/^<!-- given:/ { in_given = 1; given_line = FNR; given = ""; sub(/^<!-- given:/, "") }
in_given {
  ends = sub(/ *-->$/, "")
  given = given $0 "\n"
  if (ends) in_given = 0
  next
}
/^```/ && !in_block && /^```(c\+\+|C\+\+|cc|cxx)$/ { fail("line " FNR ": write ```cpp, so that the block is compiled") }
/^```(cpp|cmake)$/ && !in_block {
  in_block = substr($0, 4); first = FNR + 1; body = ""; includes = ""; has_main = 0
  next
}
in_block && /^```$/ {
  place = "#line " first " \"" FILENAME "\"\n"
  if (in_block == "cmake") {
    printf "%s", body > (folder "/" name "-" first ".cmake")
  } else if (has_main) {
    printf "%s", place body > (folder "/" name "-" first ".cc")
  } else {
    all_includes = all_includes includes
    function_name = name "_" first
    # Includes go to the top; the lines they leave keep the numbers right.
    gsub(/#include[^\n]*/, "", body)
    functions = functions "void " function_name "(stripline::Context& ctx, stripline::global_ptr<double> area) {\n" \
      "#include \"fragment_given.inc\"\n" \
      "  {\n#line " given_line + 0 " \"" FILENAME "\"\n" given "    {\n" place body "    }\n  }\n}\n"
    calls = calls "  " function_name "(ctx, *area);\n  ctx.barrier();\n"
  }
  in_block = ""; fresh()
  next
}
in_block {
  body = body $0 "\n"
  if (/^#include/) includes = includes $0 "\n"
  if (/int main\(/) has_main = 1
  next
}
/\$\(pkg-config .*stripline\)/ { sub(/^ */, ""); print > (folder "/commands") }
NF { fresh() }

END {
  print all_includes "#include \"fragment_headers.inc\"\n" functions "int main() {\n" \
    "  auto context = stripline::Context::init();\n" \
    "  if (!context.ok()) return stripline::report(context.error());\n" \
    "  stripline::Context& ctx = **context;\n" \
    "  auto area = ctx.new_symmetric_array<double>(kAreaElements);\n" \
    "  if (!area.ok()) return stripline::report(area.error());\n" calls \
    "  if (ctx.rank_me() == 0) std::puts(\"all fragments done\");\n}" > (folder "/fragments.cc")
}
