// What single operations on pointers to shared cost (Chen, Figures 4.3 and 4.4).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <stripline/context.h>

#include "base/result.h"

namespace stripline::suites::arrays {

/// One operation. `batch` carries it out kOperationsPerBatch times and returns whether what it
/// computed is right. Operands are in memory that the compiler must not look through, as Chen's are
/// volatile.
struct Operation {
  std::string row;
  std::string column;
  std::function<bool()> batch;
};

inline constexpr int kOperationsPerBatch = 100'000;

/// p + n. Rows are layouts; columns the form and what is known of the number of ranks.
std::vector<Operation> arithmetic();
extern const std::vector<std::string> kArithmeticColumns;

/// Reading one of this rank's own doubles. One column. Collective.
Result<std::vector<Operation>> own_element(Context& context);

}  // namespace stripline::suites::arrays
