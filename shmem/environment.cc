#include "shmem/environment.h"

#include <cstdlib>
#include <string>

#include "base/symmetric_size.h"

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

}  // namespace

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
