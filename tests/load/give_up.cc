#include "tests/load/give_up.h"

#include <cstdlib>
#include <iostream>

#include "base/exit_codes.h"

namespace stripline::load {

void give_up(const std::string& why) {
  std::cerr << "stripline-load: error: " << why << "\n";
  std::exit(kExitFailure);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace stripline::load
