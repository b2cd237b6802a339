#include "shmem/environment.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace stripline::shmem {
namespace {

struct Found {
  std::string name;
  const char* text = nullptr;  // null: it is not set
};

// Read at start-up only, before the program has reason to change its environment.
Found find(const char* name) {
  for (const char* const prefix : {"SHMEM_", "SMA_"}) {
    Found found{.name = std::string(prefix) + name};
    found.text = std::getenv(found.name.c_str());  // NOLINT(concurrency-mt-unsafe)
    if (found.text != nullptr) return found;
  }
  return {};
}

Error not_a_size(std::string_view text, std::string_view variable) {
  return {ErrorCode::invalid_argument,
          std::string(variable) + "='" + std::string(text) +
              "' is not a size of the symmetric heap; write bytes as 1048576, 512M or 1.5g"};
}

}  // namespace

Result<uint64_t> parse_symmetric_size(std::string_view text, std::string_view variable) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0 || std::signbit(number)) {
    return not_a_size(text, variable);
  }
  int exponent = 0;
  if (end != text.data() + text.size()) {
    switch (*end) {
      case 'k':
      case 'K':
        exponent = 10;
        break;
      case 'm':
      case 'M':
        exponent = 20;
        break;
      case 'g':
      case 'G':
        exponent = 30;
        break;
      case 't':
      case 'T':
        exponent = 40;
        break;
      default:
        return not_a_size(text, variable);
    }
  }
  const double bytes = std::ceil(std::ldexp(number, exponent));
  // Beyond what addresses reach there is no need to be exact.
  if (bytes > std::ldexp(1.0, 60)) return not_a_size(text, variable);
  return static_cast<uint64_t>(bytes);
}

Result<Environment> read_environment() {
  Environment environment;
  if (const Found size = find("SYMMETRIC_SIZE"); size.text != nullptr) {
    STRIPLINE_ASSIGN_OR_RETURN(environment.heap_bytes, parse_symmetric_size(size.text, size.name));
  }
  environment.version = find("VERSION").text != nullptr;
  environment.info = find("INFO").text != nullptr;
  environment.debug = find("DEBUG").text != nullptr;
  return environment;
}

std::string_view environment_help() {
  return "SHMEM_SYMMETRIC_SIZE  bytes of the symmetric heap of each PE, as 1048576, 512M or 1.5g\n"
         "                      (default: STRIPLINE_SEGMENT_BYTES)\n"
         "SHMEM_VERSION         print the version\n"
         "SHMEM_INFO            print this text\n"
         "SHMEM_DEBUG           check what the program does (docs/debugging.md)\n"
         "SMA_...               the same, where SHMEM_... is not set\n"
         "STRIPLINE_...         fabric, model, trace, ...: docs/launching.md\n";
}

}  // namespace stripline::shmem
