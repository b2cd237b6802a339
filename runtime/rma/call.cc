#include "runtime/rma/call.h"

#include <cstdio>
#include <string_view>
#include <unistd.h>

#include <stripline/byte_count.h>
#include <stripline/global_ptr.h>

#include "base/exit_codes.h"
#include "base/place_text.h"
#include "base/quantity.h"

namespace stripline {
namespace rma {

std::string text(CallSite site) {
  if (site.file == nullptr) return "an unknown place";
  const std::string place = place_text(site.file, site.line);
  // Objects made by std::make_unique and its like: the default of a CallSite is a line of these.
  const std::string_view file = site.file;
  const bool of_library = file.starts_with("/usr/") &&
                          (file.find("/c++/") != file.npos || file.find("/bits/") != file.npos);
  return of_library ? place + " (the standard library, on behalf of a call that passes no CallSite)"
                    : place;
}

std::string text(Call call) {
  return call.file == nullptr ? call.name : text(call.site()) + ": " + call.name;
}

std::string byte_count_text(size_t bytes) {
  if (bytes == detail::kTooManyBytes) return "2^64 bytes or more";
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string range_text(uint64_t offset, size_t bytes, uint32_t rank) {
  if (global_ptr<std::byte>().where() == rank && global_ptr<std::byte>().offset() == offset) {
    return byte_count_text(bytes) + " through a null pointer";
  }
  // The upper half of the offsets that pointers hold: no segment is so large.
  constexpr uint64_t kOffsets = uint64_t{1} << kOffsetBits;
  const auto place =
      static_cast<int64_t>(offset > kOffsets / 2 && offset < kOffsets ? offset - kOffsets : offset);
  return byte_count_text(bytes) + " at offset " + std::to_string(place) + " of rank " +
         std::to_string(rank);
}

void fail_without_job(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  ::_exit(exit_code_for(ErrorCode::invalid_argument));
}

}  // namespace rma

void detail::fail_moved_from(const char* call, CallSite site) {
  rma::fail_without_job(text(rma::Call(call, site)) +
                        " of an object that has been moved from; the one that it was moved to has "
                        "what it had");
}

void detail::fail_null(const char* call, uint64_t elements, CallSite site) {
  rma::fail_without_job(text(rma::Call(call, site)) + " of " + count_text(elements, "element") +
                        " at a null pointer");
}

void detail::fail_uncallable(const char* call, CallSite site) {
  rma::fail_without_job(text(rma::Call(call, site)) +
                        " with an empty std::function, or a null function pointer; give it a "
                        "function to call");
}

}  // namespace stripline
