#include "shmem/wait.h"

#include <string>

namespace stripline::shmem {

void check_comparison(const char* call, int comparison) {
  if (comparison >= SHMEM_CMP_EQ && comparison <= SHMEM_CMP_GE) return;
  world(call).fail(std::string(call) + " with comparison " + std::to_string(comparison) +
                   ", which is not one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE");
}

}  // namespace stripline::shmem
