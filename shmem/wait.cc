#include "shmem/wait.h"

#include <cstdint>
#include <string>

#include "base/random.h"

namespace stripline::shmem {
namespace {

struct LastFound {
  const void* variables = nullptr;
  size_t index = 0;
  uint64_t searches = 0;  // that began anywhere
};
thread_local LastFound last_found;

}  // namespace

void check_comparison(const char* call, int comparison) {
  if (comparison >= SHMEM_CMP_EQ && comparison <= SHMEM_CMP_GE) return;
  world(call).fail(std::string(call) + " with comparison " + std::to_string(comparison) +
                   ", which is not one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE");
}

size_t begin_of_search(const void* variables, size_t count) {
  if (last_found.variables == variables) return (last_found.index + 1) % count;
  return mix64(++last_found.searches * kGoldenRatio) % count;
}

void note_found(const void* variables, size_t index) {
  last_found.variables = variables;
  last_found.index = index;
}

}  // namespace stripline::shmem
