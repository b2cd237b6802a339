#include "suites/bench/failure.h"

#include <cstdio>

#include "base/exit_codes.h"

namespace stripline::suites::bench {

int report(const Failure& failure) {
  std::fprintf(stderr, "stripline-bench: %s\n", failure.message.c_str());
  return failure.exit_code;
}

int report(const Error& error) { return report({exit_code_for(error.code()), error.message()}); }

}  // namespace stripline::suites::bench
