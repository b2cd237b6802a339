// A call of the program, as messages about it begin.
#pragma once

#include <string>

#include <stripline/call_site.h>

namespace stripline::rma {

struct Call {
  // NOLINTBEGIN(google-explicit-constructor): a call whose place no one knows is its name
  constexpr Call(const char* name_in, CallSite site = {})
      : name(name_in), file(site.file), line(site.line) {}
  // NOLINTEND(google-explicit-constructor)

  const char* name = nullptr;  ///< lives as long as the program
  // The parts of the place, one by one, because compilers do not keep what is nested in registers.
  const char* file = nullptr;
  int line = 0;
  constexpr CallSite site() const { return {file, line}; }

  friend constexpr bool operator==(const Call& a, const Call& b) {
    return a.name == b.name && a.file == b.file && a.line == b.line;
  }
};

/// place_text().
std::string text(CallSite site);

/// "FILE:LINE: NAME", as compilers begin; without the place where it is not known.
std::string text(Call call);

/// "N bytes", "1 byte", or that 64 bits do not hold their number.
std::string byte_count_text(size_t bytes);

/// "N bytes at offset O of rank R"; O is negative for what global pointers name below a segment.
/// For a null pointer: "N bytes through a null pointer".
std::string range_text(uint64_t offset, size_t bytes, uint32_t rank);

/// Ends the process with a message: for calls of what refers to no job, as far as it knows.
[[noreturn]] void fail_without_job(const std::string& message);

}  // namespace stripline::rma
