// A worker for tests: speaks docs/worker-protocol.md as stripline-worker does, and makes samples
// up. At the first point of the experiment that FAILING_WORKER_EXPERIMENT names, its ranks hang;
// when they have, which the file of FAILING_WORKER_MARK says, rank 1 is killed there.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "base/json_channel.h"
#include "base/point_record.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/point_order.h"

namespace {

using namespace stripline;  // NOLINT(google-build-using-namespace)

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

[[noreturn]] void fail(int rank) {
  const std::string mark = variable("FAILING_WORKER_MARK");
  if (rank == 1 && std::filesystem::exists(mark)) ::raise(SIGKILL);
  if (rank == 1) std::ofstream(mark) << '\n';
  while (true) ::pause();
}

void say(JsonChannel& channel, const Json& message) {
  if (!channel.write(message).ok()) std::_Exit(5);
}

Json expect(JsonChannel& channel, const std::string& type) {
  const auto message = channel.read(60);
  if (!message.ok() || !message->has_value() || (**message)["type"] != type) std::_Exit(6);
  return **message;
}

}  // namespace

int main() {
  const int rank = std::stoi(variable("STRIPLINE_RANK"));
  JsonChannel channel(UniqueFd(3));
  PointRecord record = PointRecord::from_environment();
  say(channel, {{"type", "join"}, {"rank", rank}, {"address", "00"}});
  expect(channel, "ready");
  const Json work = expect(channel, "work")["assignment"];
  const auto assignment = experiment::assignment_from_json(work);
  const auto left_out = experiment::left_out_of(work);
  if (!assignment.ok() || !left_out.ok()) return 9;
  say(channel, {{"type", "facts"}, {"facts", {{"cpu.model", "scripted"}}}});
  Json list = Json::array();
  uint64_t begun = 0;
  for (const experiment::Point& point : experiment::order_of_points(*assignment)) {
    record.begin(++begun);
    experiment::SampleSeries series;
    series.point = point;
    series.run = assignment->run;
    if (left_out->contains(point.experiment)) {
      series.note = left_out->at(point.experiment);
    } else if (point.experiment == variable("FAILING_WORKER_EXPERIMENT")) {
      fail(rank);
    } else {
      series.values = {1e-6, 2e-6};
      series.timestamps_s = {0.1, 0.2};
      series.verified = true;
    }
    list.push_back(experiment::to_json(series));
  }
  if (rank == 0) {
    say(channel, {{"type", "samples"}, {"series", std::move(list)}});
    say(channel, {{"type", "finished"}, {"reason", "complete"}});
  }
  say(channel, {{"type", "left"}});
  return 0;
}
