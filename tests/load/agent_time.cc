#include "tests/load/agent_time.h"

#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <variant>

#include "agent/assignment_runner.h"
#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "proto/agent_protocol/messages.h"
#include "proto/agent_protocol/wire.h"
#include "stripline/v1/agents.pb.h"
#include "tests/load/give_up.h"
#include "tests/load/load_agent.h"

namespace stripline::load {
namespace {

double thread_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A run of this point alone, on two nodes.
Assignment order_of(const experiment::Point& point) {
  experiment::Assignment work;
  work.name = "campaigns/c1/runs/1";
  work.fabric = "tcp";
  work.ranks = 2;
  work.deadline_s = 60;
  work.points = {point};
  Assignment order;
  order.id = {work.name, 1};
  order.lease_s = 10;
  order.assignment_json = std::make_shared<const std::string>(experiment::to_json(work).dump());
  order.ranks = {0};
  order.rank_nodes = {"a", "b"};
  order.join_timeout_s = 60;
  order.job_id = "load";
  return order;
}

}  // namespace

double agent_s_per_million(const experiment::Point& point, uint32_t samples_per_batch) {
  constexpr uint64_t kSamples = 1'000'000;
  const Json series = experiment::to_json(made_up(point, 1, samples_per_batch));
  const std::string line = Json{{"type", "samples"}, {"series", Json::array({series})}}.dump();
  agent::AssignmentRunner runner(order_of(point), "a");
  runner.start(0);
  size_t bytes = 0;
  uint64_t sent = 0;
  const double begin_s = thread_s();
  for (uint64_t samples = 0; samples < kSamples; samples += samples_per_batch) {
    runner.on_worker_line(0, 0, line);
    runner.flush();
    for (const agent::Action& action : runner.take_actions()) {
      const auto* message = std::get_if<agent::TellServer>(&action);
      if (message == nullptr || !std::holds_alternative<SampleBatch>(message->message)) continue;
      bytes += to_wire(message->message).SerializeAsString().size();
      runner.on_ack(++sent);
    }
  }
  const double took_s = thread_s() - begin_s;
  if (bytes < line.size()) give_up("an agent does not pass samples on");
  return took_s;
}

}  // namespace stripline::load
