// In place of stripline-worker, which is beside it: rank 1 hangs at a point of the experiment that
// HANGING_WORKER_EXPERIMENT names, and when it has, which the file of HANGING_WORKER_MARK says, it
// is killed at the next one. It is a child of this process, which passes on what it says, and stops
// it: whoever started this process sees none that is stopped.
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "base/exit_codes.h"
#include "base/json_channel.h"
#include "base/point_record.h"
#include "base/process_state.h"
#include "base/subprocess.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/point_order.h"

namespace {

using namespace stripline;  // NOLINT(google-build-using-namespace)

constexpr int kControlFd = 3;

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

// Passes on what is said next; nullopt if nothing is in this time.
std::optional<Json> pass_on(JsonChannel& from, JsonChannel& to, double timeout_s) {
  auto message = from.read(timeout_s);
  if (!message.ok() || !message->has_value() || !to.write(**message).ok()) return std::nullopt;
  return std::optional<Json>(std::move(**message));
}

// Where it is to hang, by the numbers that workers record.
std::set<uint64_t> points_to_hang_at(const Json& work) {
  const std::string name = variable("HANGING_WORKER_EXPERIMENT");
  const auto assignment = experiment::assignment_from_json(work);
  const auto left_out = experiment::left_out_of(work);
  std::set<uint64_t> points;
  if (!assignment.ok() || !left_out.ok() || left_out->contains(name)) return points;
  uint64_t number = 0;
  for (const experiment::Point& point : experiment::order_of_points(*assignment)) {
    ++number;
    if (point.experiment == name) points.insert(number);
  }
  return points;
}

[[noreturn]] void hang() {
  const std::string mark = variable("HANGING_WORKER_MARK");
  if (std::filesystem::exists(mark)) ::raise(SIGKILL);
  std::ofstream(mark) << '\n';
  while (true) ::pause();
}

void stop_at(const std::set<uint64_t>& points, Subprocess& worker, const PointRecord& record) {
  if (!points.contains(record.begun())) return;
  worker.signal(SIGSTOP);
  while (true) {
    if (worker.poll()) return;
    const auto state = process_state(worker.pid());
    if (state && state->stopped()) break;
    ::usleep(100);
  }
  // It may have gone on before it was stopped.
  if (points.contains(record.begun())) hang();
  worker.signal(SIGCONT);
}

}  // namespace

int main(int /*argc*/, char** argv) {
  const std::string program = executable_folder() + "/stripline-worker";
  if (variable("STRIPLINE_RANK") != "1") {
    ::execv(program.c_str(), argv);
    return kExitFailure;
  }
  const int record_fd = std::stoi(variable(kPointRecordVariable));
  const UniqueFd record_file(::fcntl(record_fd, F_DUPFD_CLOEXEC, 0));
  const PointRecord record = PointRecord::from_environment();
  auto ends = socket_pair();
  if (!ends.ok()) return kExitFailure;
  SubprocessOptions options;
  options.argv = {program};
  options.inherit = {{ends->second.get(), kControlFd}, {record_file.get(), record_fd}};
  auto worker = Subprocess::spawn(options);
  if (!worker.ok()) return kExitFailure;
  ends->second.reset();

  JsonChannel launcher{UniqueFd(kControlFd)};
  JsonChannel rank{std::move(ends->first)};
  std::set<uint64_t> points;
  while (true) {
    // What it has said before its end is passed on.
    const auto ended = worker->poll();
    const auto order = pass_on(launcher, rank, 0);
    if (order && order->contains("assignment")) points = points_to_hang_at(order->at("assignment"));
    while (pass_on(rank, launcher, 0.001)) {
    }
    if (ended) return ended->exit_code;
    stop_at(points, *worker, record);
  }
}
