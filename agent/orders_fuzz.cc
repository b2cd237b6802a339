// What a server orders: as it comes over the wire, and the assignment in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <google/protobuf/stubs/logging.h>

#include "agent/order_check.h"
#include "proto/agent_protocol/wire.h"
#include "stripline/v1/agents.pb.h"

namespace {

using stripline::Assignment;

const stripline::agent::Description& offered() {
  static const stripline::agent::Description description = [] {
    stripline::agent::Description made;
    made.fabrics = {"tcp", "emulated:opteron-vapi"};
    made.max_ranks = 8;
    stripline::experiment::Experiment latency;
    latency.name = "micro.latency";
    latency.variants = {"get", "put"};
    latency.factors = {{"bytes", "B", "", {int64_t{8}, int64_t{64}}, {}, {}}};
    made.experiments = {latency};
    return made;
  }();
  return description;
}

void check(const Assignment& order) {
  const stripline::Status checked = stripline::agent::check_order(order, "a", offered(), {});
  // Whatever passes is of a fabric that was offered.
  if (checked.ok() && order.assignment_json->find("\"tcp\"") == std::string::npos &&
      order.assignment_json->find("opteron-vapi") == std::string::npos &&
      order.assignment_json->find("\\u") == std::string::npos) {
    std::abort();
  }
}

}  // namespace

// What protobuf has to say of each input takes longer than reading it.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  stripline::v1::ServerMessage wire;
  if (wire.ParseFromString(bytes)) {
    const auto message = stripline::from_wire(std::move(wire));
    if (message && std::holds_alternative<Assignment>(*message)) {
      check(std::get<Assignment>(*message));
    }
  }
  Assignment order;
  order.id = {"campaigns/c1/runs/1", 1};
  order.assignment_json = std::make_shared<const std::string>(bytes);
  order.ranks = {0};
  order.rank_nodes = {"a", "b"};
  order.lease_s = 10;
  order.join_timeout_s = 10;
  order.job_id = "job";
  check(order);
  return 0;
}
