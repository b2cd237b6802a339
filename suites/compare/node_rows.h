// What is compared between ranks of one node: operations through the mapping beside plain loads,
// stores and copies of the same memory.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <stripline/context.h>

#include "suites/compare/row_table.h"

namespace stripline::suites::compare {

/// Seconds per operation of a batch, and whether it had its effect.
using Side = std::function<std::pair<double, bool>()>;

struct NodeRow {
  RowTimes what;  ///< without times
  Side ours;
  Side plain;
};

/// Makes rows, and is the memory that they work on.
class NodeRows {
 public:
  virtual ~NodeRows() = default;
  virtual std::vector<NodeRow> rows() = 0;  ///< valid as long as this object
};

/// For rank 0 of a context whose same_node is mapped; `array` has harness::kAllBytes.
std::unique_ptr<NodeRows> node_rows(Context& context, global_ptr<std::byte> array);

}  // namespace stripline::suites::compare
