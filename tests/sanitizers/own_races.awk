# Prints of ThreadSanitizer's reports those that our code is to blame for, and exits with 1 if there
# are any. gRPC and abseil come without instrumentation, so that whatever passes between threads
# inside them looks like a race; suppressions cannot help, because our handlers run inside gRPC's
# functions and would be suppressed with them.
#
# A data race is ours when both of its accesses were made by our code: when of each stack the first
# frame that is not the standard library's or the allocator's is in a source file of ours (compiled
# as ../../FOLDER/FILE). Every other kind of report (deadlocks, misuse of mutexes) is ours at once.

function finish_report() {
  if (text == "") return
  if (kind != "data race" || (stacks >= 2 && own == stacks)) {
    printf "%s", text
    ++found
  }
  text = ""
}

/^==================$/ { finish_report(); next }

/^WARNING: ThreadSanitizer: / {
  finish_report()
  kind = $0 ~ /ThreadSanitizer: data race/ ? "data race" : "other"
  stacks = own = 0
  in_access = 0
}

{ text = text $0 "\n" }

# "  Write of size 8 at ..." and "  Previous read of size 8 at ...".
/^  (Previous )?([Aa]tomic )?([Rr]ead|[Ww]rite) of size [0-9]+ at / { in_access = 1; ++stacks; next }

/^$/ { in_access = 0; next }

in_access && /^    #[0-9]+ / {
  frame = $0
  sub(/^    #[0-9]+ /, "", frame)
  if (frame ~ /^(void |bool |int )?(std::|__gnu_cxx::)/ || frame ~ /^operator (new|delete)/ ||
      frame ~ /\/include\/c\+\+\// || frame ~ /libtsan|libstdc\+\+|libc\.so/) next
  if (frame ~ / \.\.\/\.\.\/[a-z]/ && frame !~ /\.pb\.(cc|h):/) ++own
  in_access = 0
}

END {
  finish_report()
  exit found > 0
}
