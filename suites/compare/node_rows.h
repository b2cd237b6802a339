// What is compared between ranks of one node: operations through the mapping beside plain loads,
// stores and copies of the same memory, or through the kernel's copy beside the bare system call.
#pragma once

#include <memory>
#include <vector>

#include "suites/compare/rows.h"

namespace stripline::suites::compare {

/// The rows, with the memory they work on. For rank 0 of Contexts whose same_node is mapped or cma.
class NodeRows {
 public:
  NodeRows(Systems& systems, global_ptr<std::byte> array);
  ~NodeRows();
  const std::vector<Row>& all() const { return rows_; }

 private:
  class Work;
  std::unique_ptr<Work> work_;
  std::vector<Row> rows_;
};

}  // namespace stripline::suites::compare
