// Ranks as threads, for the tests of the suites; as fibers, which pass turns ten times faster, on
// the virtual clock where no computation counts, so that nothing of what they measure depends on
// that.
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "runtime/bootstrap/testing/as_fibers.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "suites/session.h"

namespace stripline::suites {

inline void on_ranks(rank_t ranks, const std::string& fabric, const std::string& clock,
                     const std::function<void(Session&)>& body, const std::string& model_path = "",
                     const std::function<void(Options&)>& set = {}) {
  bootstrap::ThreadGroupOptions options;
  options.ranks = ranks;
  options.context.fabric = fabric;
  options.context.clock = clock;
  options.context.same_node = "network";
  options.context.model_path = model_path;
  options.context.segment_bytes = size_t{32} << 20;
  if (set) set(options.context);
  const auto run = [&](Context& context) {
    Session session(context, 1);
    body(session);
  };
  const bool as_fibers = clock == "virtual" && fabric.find("compute=none") != std::string::npos;
  const Status status =
      as_fibers ? bootstrap::run_as_fibers(options, run) : bootstrap::run_ranks(options, run);
  ASSERT_TRUE(status.ok()) << status.error().message();
}

}  // namespace stripline::suites
