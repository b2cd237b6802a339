// stripline-worker: the rank program of the suites (docs/worker-protocol.md). Started by
// stripline-bench and by agents, not by hand.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <signal.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <stripline/context.h>

#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/json_channel.h"
#include "base/point_record.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/point_order.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/fiber_group.h"
#include "suites/join_to_measure.h"
#include "suites/worker/assignment.h"
#include "suites/worker/describe.h"

namespace {

using namespace stripline;          // NOLINT(google-build-using-namespace)
using namespace stripline::suites;  // NOLINT(google-build-using-namespace)

/// Set: this process runs all ranks of its assignment, as fibers.
constexpr const char* kFibersVariable = "STRIPLINE_FIBERS";
/// A file for kernels that take a matrix (Session::matrix_file()).
constexpr const char* kMatrixVariable = "STRIPLINE_MATRIX";

constexpr const char* kUsage =
    "Usage: stripline-worker --describe [--profile FILE]...\n"
    "       (as a rank, started by stripline-bench or stripline-agent)\n\n"
    "Measures the points of an assignment that it receives over its control channel\n"
    "(docs/worker-protocol.md). With --describe it prints the experiments, fabrics and facts of "
    "this\n"
    "host as JSON; --profile FILE adds the emulated network of that file to the fabrics.\n";

// --describe [--profile FILE]...; nullopt for anything else.
std::optional<std::vector<std::string>> profiles_to_describe(
    const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "--describe" || arguments.size() % 2 == 0) return {};
  std::vector<std::string> profiles;
  for (size_t i = 1; i < arguments.size(); i += 2) {
    if (arguments[i] != "--profile") return {};
    profiles.push_back(arguments[i + 1]);
  }
  return profiles;
}

int describe_here(const std::vector<std::string>& profiles) {
  const auto described = describe(profiles);
  if (!described.ok()) {
    std::fprintf(stderr, "stripline-worker: %s\n", described.error().message().c_str());
    return exit_code_for(described.error().code());
  }
  std::cout << described->dump() << '\n';
  return kExitOk;
}

/// Speaks with the launcher between points.
class ChannelReporter final : public Reporter {
 public:
  ChannelReporter(JsonChannel& channel, bool answers) : channel_(channel), answers_(answers) {}

  bool cancelled() override {
    while (!cancelled_ && next(0)) {
    }
    return cancelled_;
  }

  Status report(const std::vector<experiment::SampleSeries>& series, size_t done,
                size_t total) override {
    if (!series.empty()) {
      Json list = Json::array();
      for (const experiment::SampleSeries& one : series) list.push_back(experiment::to_json(one));
      STRIPLINE_RETURN_IF_ERROR(channel_.write({{"type", "samples"}, {"series", std::move(list)}}));
    }
    STRIPLINE_RETURN_IF_ERROR(
        channel_.write({{"type", "progress"}, {"done", done}, {"total", total}}));
    // Until the launcher is idle again.
    while (answers_ && !series.empty() && !cancelled_) {
      const auto type = next(kAnswerTimeoutS);
      if (!type || *type == "taken") break;
    }
    return {};
  }

 private:
  static constexpr double kAnswerTimeoutS = 5;

  // The type of the launcher's next message, if one comes in time. A launcher that is gone cannot
  // be notified of anything; the kernel ends this process with it.
  std::optional<std::string> next(double timeout_s) {
    const auto message = channel_.read(timeout_s);
    if (!message.ok() || !message->has_value()) return std::nullopt;
    const auto type = get_string(**message, "type", "message");
    if (!type.ok()) return std::string();
    cancelled_ = cancelled_ || *type == "cancel";
    return *type;
  }

  JsonChannel& channel_;
  bool answers_;  // the launcher says when it has taken samples
  bool cancelled_ = false;
};

/// Ends the rank when an assignment takes longer than its deadline, wherever it is: a point may
/// hang.
void end_after(double seconds) {
  struct sigaction action {};
  action.sa_handler = [](int) {
    constexpr std::string_view kMessage =
        "stripline-worker: error: the assignment's deadline passed; ask for fewer points or give "
        "it more time\n";
    [[maybe_unused]] const ssize_t written =
        ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
    ::_exit(kExitTimeout);
  };
  ::sigaction(SIGALRM, &action, nullptr);
  constexpr double kMostSeconds = 1e8;  // alarm() takes an unsigned int; three years will do
  ::alarm(static_cast<unsigned>(std::ceil(std::clamp(seconds, 1.0, kMostSeconds))));
}

struct Work {
  experiment::Assignment assignment;
  experiment::LeftOut left_out;
  bool answers = false;
};

Result<Work> receive_work(JsonChannel& channel) {
  STRIPLINE_ASSIGN_OR_RETURN(auto message, channel.read(-1));
  const Json& json = *message;
  STRIPLINE_ASSIGN_OR_RETURN(const std::string type, get_string(json, "type", "message"));
  if (type == "abort") {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string code, get_string(json, "code", "abort"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string text, get_string(json, "message", "abort"));
    return Error(error_code_from_string(code).value_or(ErrorCode::aborted), text);
  }
  if (type == "cancel") {
    return Error(ErrorCode::cancelled, "cancelled before the assignment was given");
  }
  if (type != "work") {
    return Error(ErrorCode::data_loss, "expected 'work' of the launcher, not '" + type + "'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* assignment, get_object(json, "assignment", "work"));
  STRIPLINE_ASSIGN_OR_RETURN(auto read, experiment::assignment_from_json(*assignment));
  STRIPLINE_ASSIGN_OR_RETURN(auto left_out, experiment::left_out_of(*assignment));
  const auto answers = json.find("answers");
  return Work{std::move(read), std::move(left_out), answers != json.end() && *answers == true};
}

Status carry_out(Context& context, const Work& work, JsonChannel& channel, PointRecord& record) {
  const experiment::Assignment& assignment = work.assignment;
  if (!assignment.model_json.empty()) {
    STRIPLINE_RETURN_IF_ERROR(adopt_model(context, assignment.model_json));
  }
  Session session(context, assignment.run);
  if (const char* const matrix = std::getenv(kMatrixVariable)) {  // NOLINT(*-mt-unsafe)
    session.set_matrix_file(matrix);
  }
  if (work.answers) {
    std::map<std::string, std::string> facts = context.state().job.fingerprint();
    facts.merge(host_facts());
    STRIPLINE_RETURN_IF_ERROR(channel.write({{"type", "facts"}, {"facts", facts}}));
  }
  ChannelReporter reporter(channel, work.answers);
  STRIPLINE_ASSIGN_OR_RETURN(
      const RunEnd end, run_assignment(session, assignment, &reporter, {work.left_out, &record}));
  if (context.rank_me() != 0) return {};
  return channel.write(
      {{"type", "finished"}, {"reason", end == RunEnd::complete ? "complete" : "cancelled"}});
}

int run_rank() {
  auto context = join_to_measure();
  if (!context.ok()) return report(context.error());
  detail::ContextState& state = (*context)->state();
  JsonChannel* channel = state.job.bootstrap().control();
  if (channel == nullptr) {
    std::fputs(kUsage, stderr);
    return kExitUsage;
  }
  const auto work = receive_work(*channel);
  // The other ranks may be anywhere; the launcher ends them.
  if (!work.ok()) state.fail(work.error());
  end_after(work->assignment.deadline_s);
  PointRecord record = PointRecord::from_environment();
  const Status done = carry_out(**context, *work, *channel, record);
  if (!done.ok()) state.fail(done.error());
  return kExitOk;
}

// All ranks of the assignment.
Status run_all_ranks(bootstrap::Bootstrap& process, JsonChannel& channel) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto alone, process.exchange(std::string()));
  STRIPLINE_ASSIGN_OR_RETURN(const Work work, receive_work(channel));
  end_after(work.assignment.deadline_s);
  PointRecord record = PointRecord::from_environment();
  bootstrap::FiberGroupOptions group{.ranks = work.assignment.ranks, .process = &process};
  STRIPLINE_ASSIGN_OR_RETURN(group.context, Options::from_environment());
  return bootstrap::run_fibers(group, [&](Context& context) {
    const Status done = carry_out(context, work, channel, record);
    if (!done.ok()) context.state().fail(done.error());
  });
}

int run_fibers() {
  const auto process = bootstrap::from_environment();
  if (!process.ok()) return report(process.error());
  JsonChannel* const channel = (*process)->control();
  if (channel == nullptr) {
    std::fputs(kUsage, stderr);
    return kExitUsage;
  }
  const Status done = run_all_ranks(**process, *channel);
  if (!done.ok()) {
    // Ranks that could not join have reported that to the launcher themselves.
    (*process)->report_failure(done.error());
    return exit_code_for(done.error().code());
  }
  (*process)->left();
  return kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  prepare_descriptors();
  if (const auto profiles = profiles_to_describe({argv + 1, argv + argc})) {
    return describe_here(*profiles);
  }
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::cout << kUsage;
    return kExitOk;
  }
  if (argc != 1) {
    std::fputs(kUsage, stderr);
    return kExitUsage;
  }
  const bool fibers = std::getenv(kFibersVariable) != nullptr;  // NOLINT(*-mt-unsafe)
  return fibers ? run_fibers() : run_rank();
}
