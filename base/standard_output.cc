#include "base/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace stripline {

Status flush_standard_output() {
  errno = 0;
  const bool lost = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !lost) return {};
  const int why = errno;
  return Error(ErrorCode::unavailable,
               "cannot write to standard output" +
                   (why == 0 ? std::string() : ": " + std::generic_category().message(why)) +
                   "; what was written is incomplete");
}

}  // namespace stripline
