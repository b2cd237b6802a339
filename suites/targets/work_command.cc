#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/host_name.h"
#include "base/json_channel.h"
#include "base/rfc3339.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"
#include "suites/targets/bundle.h"
#include "suites/targets/commands.h"
#include "suites/targets/session.h"
#include "suites/targets/tuning.h"
#include "suites/targets/verifying.h"
#include "suites/targets/work_folder.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

// What is left of a run's time is for compiling the driver, the last launch and its end.
constexpr double kShareOfRun = 0.8;
constexpr double kAnswerLimitS = 5;
constexpr const char* kDefault = "default";  // as candidates name it
constexpr const char* kUse =
    "To validate it again, and that it is read: stripline export verify FILE, on a node";

std::string member(const Json& message, const char* key) {
  const auto found = message.find(key);
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The channel to the agent that has started this process (docs/worker-protocol.md). While the
// target is measured a thread waits for what the agent says; it wakes for that alone.
class AgentChannel {
 public:
  static Result<AgentChannel> open() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there are threads
    const char* const text = std::getenv("STRIPLINE_CONTROL_FD");
    char* end = nullptr;
    const long fd = text == nullptr ? -1 : std::strtol(text, &end, 10);
    if (fd < 3 || fd > 1 << 20 || *end != '\0' ||
        ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC) != 0) {
      return Error(ErrorCode::invalid_argument,
                   "'work' is for stripline-agent, which starts it with a channel to itself");
    }
    return AgentChannel(UniqueFd(static_cast<int>(fd)));
  }

  // An agent that is gone ends this process, too: nothing has to be done about a message that does
  // not reach it.
  void say(const Json& message) { (void)channel_.write(message); }

  // Joins the run, and waits for what it is. Errors: cancelled, unavailable, data_loss.
  Result<experiment::Assignment> join() {
    say({{"type", "join"},
         {"rank", 0},
         {"address", "none"},
         {"host", host_name()},
         {"pid", ::getpid()}});
    while (true) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto message, channel_.read(-1));
      if (!message) continue;
      const std::string type = member(*message, "type");
      if (type == "abort" || type == "cancel") return Error(ErrorCode::cancelled, "cancelled");
      if (type != "work") continue;
      STRIPLINE_ASSIGN_OR_RETURN(const Json* work, get_object(*message, "assignment", "work"));
      return experiment::assignment_from_json(*work);
    }
  }

  JsonChannel& channel() { return channel_; }

 private:
  explicit AgentChannel(UniqueFd fd) : channel_(std::move(fd)) {}
  JsonChannel channel_;
};

// Listens for as long as it lives.
class Listener {
 public:
  explicit Listener(JsonChannel& channel)
      : channel_(channel),
        cancelled_(::eventfd(0, EFD_CLOEXEC)),
        ended_(::eventfd(0, EFD_CLOEXEC)),
        thread_([this] { run(); }) {}
  ~Listener() {
    raise(ended_);
    thread_.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Readable once the run is cancelled, or the agent gone.
  int cancel_fd() const { return cancelled_.get(); }

  // The agent has sent the samples on.
  void wait_until_taken() {
    std::unique_lock lock(mutex_);
    answered_.wait_for(lock, std::chrono::duration<double>(kAnswerLimitS), [&] { return taken_; });
  }

 private:
  static void raise(const UniqueFd& event) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(event.get(), &one, sizeof one);
  }

  void run() {
    std::array<pollfd, 2> fds = {pollfd{channel_.fd(), POLLIN, 0}, pollfd{ended_.get(), POLLIN, 0}};
    while (true) {
      // First what is there: poll() does not see what was read with the message before.
      while (true) {
        const auto message = channel_.read(0);
        if (!message.ok()) return raise(cancelled_);
        if (!message->has_value()) break;
        const std::string type = member(**message, "type");
        if (type == "cancel" || type == "abort") raise(cancelled_);
        if (type != "taken") continue;
        {
          const std::lock_guard lock(mutex_);
          taken_ = true;
        }
        answered_.notify_one();
      }
      (void)::poll(fds.data(), fds.size(), -1);
      if (fds[1].revents != 0) return;
    }
  }

  JsonChannel& channel_;
  UniqueFd cancelled_;
  UniqueFd ended_;
  std::mutex mutex_;
  std::condition_variable answered_;
  bool taken_ = false;
  std::thread thread_;  // the last: it uses the others
};

// The points of a run are numbers of ranks, and have the other options in common.
Result<TuneOptions> options_of(const experiment::Assignment& work) {
  TuneOptions options;
  options.target = experiment::tuned_target(work.fabric);
  options.ranks.clear();
  for (const experiment::Point& point : work.points) {
    const auto ranks = number_param(point, experiment::tune_factor::kRanks);
    if (point.experiment != experiment::kTuneExperiment || !ranks) {
      return Error(ErrorCode::invalid_argument,
                   experiment::point_key(point) + " is not something to tune");
    }
    options.ranks.push_back(static_cast<uint32_t>(*ranks));
    options.path = text_param(point, experiment::tune_factor::kPath).value_or(options.path);
    const auto is_set = [&](const char* factor) { return number_param(point, factor) == 1.0; };
    options.commutative_only = is_set(experiment::tune_factor::kCommutativeOnly);
    options.accept_untried = is_set(experiment::tune_factor::kAcceptUntried);
  }
  std::ranges::sort(options.ranks);
  options.seed = work.seed;
  options.minutes = kShareOfRun * work.deadline_s / 60;
  options.use = kUse;
  return options;
}

// How many times as fast cells of this number of ranks are with the settings, in the geometric mean
// of what validation compared; 1: none departs.
double gain_of(const ExportRecord& record, uint32_t ranks) {
  double logs = 0;
  size_t count = 0;
  for (const Checked& one : record.checked) {
    if (one.check.stage != Stage::fitted || one.check.asked.ranks != ranks) continue;
    if (!std::isfinite(one.test.ratio) || one.test.ratio <= 0) continue;
    logs -= std::log(one.test.ratio);
    ++count;
  }
  if (!record.validated || count == 0) return 1;
  return std::exp(logs / static_cast<double>(count));
}

// A cell that was measured, with the medians of its launches; nothing where there are none.
void add_cell(const experiment::Assignment& work, const ExportRecord& record,
              const std::string& operation, const std::string& variant, uint32_t ranks,
              uint64_t bytes, const std::vector<double>& times_s, Json& all) {
  experiment::SampleSeries series{
      .point = {experiment::cell_experiment(operation),
                variant,
                {{experiment::tune_factor::kRanks, int64_t{ranks}},
                 {experiment::tune_factor::kBytes, static_cast<int64_t>(bytes)},
                 {experiment::tune_factor::kPath, std::string(to_string(record.path))}}},
      .run = work.run};
  std::ranges::copy_if(times_s, std::back_inserter(series.values),
                       [](double time_s) { return std::isfinite(time_s); });
  if (series.values.empty()) return;
  series.verified = true;
  all.push_back(experiment::to_json(series));
}

// Cells of the search: the default and what was chosen, and values of knobs.
void add_cells(const experiment::Assignment& work, const ExportRecord& record, Json& all) {
  const SearchReport& search = record.search;
  for (size_t i = 0; i < search.times.size(); ++i) {
    const targets::CellTimes& times = search.times[i];
    const std::string operation(to_string(times.cell.collective));
    const std::string& chosen = search.result.by_cell[i].candidate.name;
    add_cell(work, record, operation, kDefault, times.cell.ranks, times.cell.bytes, times.default_s,
             all);
    if (chosen == kDefault) continue;
    add_cell(work, record, operation, chosen, times.cell.ranks, times.cell.bytes, times.value_s,
             all);
  }
  for (const SweptSettings& one : search.knob_times.swept) {
    std::string variant = "default_settings";
    if (!one.settings.empty()) {
      variant = one.settings.front().name + "=" + one.settings.front().value;
    }
    for (size_t i = 0; i < one.times_s.size(); ++i) {
      const DriverCell& cell = search.knob_times.cells[i];
      add_cell(work, record, cell.operation, variant, cell.ranks, cell.bytes, one.times_s[i], all);
    }
  }
}

// A series for each point; the first one has the settings. Behind them are cells of the search.
Result<Json> series_of(const experiment::Assignment& work, const Tuned& tuned) {
  Json all = Json::array();
  for (const experiment::Point& point : work.points) {
    experiment::SampleSeries series{.point = point, .run = work.run};
    const double ranks = number_param(point, experiment::tune_factor::kRanks).value_or(0);
    series.values = {gain_of(tuned.record, static_cast<uint32_t>(ranks))};
    series.verified = true;
    if (tuned.file.empty()) {
      series.note = why_default(tuned.record);
    } else if (all.empty()) {
      STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, read_bundle(tuned.file));
      STRIPLINE_ASSIGN_OR_RETURN(series.result, packed(bundle));
    }
    all.push_back(experiment::to_json(series));
  }
  add_cells(work, tuned.record, all);
  return all;
}

// True if an error of a validation is about the settings, rather than about this node or this run.
bool is_verdict(const Error& error) {
  return error.code() == ErrorCode::failed_precondition || error.code() == ErrorCode::data_loss ||
         error.code() == ErrorCode::aborted;
}

// The export in `file` with what was found of it now; nothing of it holds after an error.
Result<std::string> packed_with(const fs::path& file, const Result<ExportRecord>& verified) {
  STRIPLINE_ASSIGN_OR_RETURN(Bundle bundle, read_bundle(file));
  STRIPLINE_ASSIGN_OR_RETURN(Json record, parse_json(bundle.record, "export record"));
  const Json found = verified.ok() ? to_json(*verified) : Json::object();
  for (const char* const list : {"stages", "checks", "proofs"}) {
    record[list] = found.value(list, Json::array());
  }
  record["validated"] = verified.ok() && verified->validated;
  record["host"] = host_name();
  record["time"] = rfc3339(unix_seconds());
  bundle.record = record.dump();
  return packed(bundle);
}

// A series for each point; the first one has the settings with what was found.
Result<Json> verified_series(const experiment::Assignment& work, const VerifyOptions& options,
                             const Tell& tell) {
  const Result<ExportRecord> verified = verify_export(options, tell);
  if (!verified.ok() && !is_verdict(verified.error())) return verified.error();
  Json all = Json::array();
  for (const experiment::Point& point : work.points) {
    experiment::SampleSeries series{.point = point, .run = work.run, .values = {1}};
    const double ranks = number_param(point, experiment::tune_factor::kRanks).value_or(0);
    if (verified.ok()) series.values = {gain_of(*verified, static_cast<uint32_t>(ranks))};
    series.verified = true;
    if (!verified.ok()) {
      series.note = verified.error().message();
    } else if (!verified->validated) {
      series.note = verified->stages.back().verdict;
    }
    if (all.empty()) {
      STRIPLINE_ASSIGN_OR_RETURN(series.result, packed_with(options.file, verified));
    }
    all.push_back(experiment::to_json(series));
  }
  return all;
}

// Tunes, or validates again the settings that the assignment holds.
Result<Json> measured(const experiment::Assignment& work, uint32_t largest_job, int cancel_fd,
                      const Tell& tell) {
  STRIPLINE_ASSIGN_OR_RETURN(TuneOptions options, options_of(work));
  STRIPLINE_ASSIGN_OR_RETURN(const WorkFolder folder, WorkFolder::create());
  if (!work.model_json.empty()) {
    VerifyOptions verify{.minutes = options.minutes,
                         .accept_untried = options.accept_untried,
                         .cancel_fd = cancel_fd};
    STRIPLINE_ASSIGN_OR_RETURN(const fs::path file, unpack_into(folder.path(), work.model_json,
                                                                "what the server has sent"));
    verify.file = file.string();
    return verified_series(work, verify, tell);
  }
  options.largest_job = largest_job;
  options.output = (folder / "export").string();
  options.cancel_fd = cancel_fd;
  STRIPLINE_ASSIGN_OR_RETURN(const Tuned tuned, tune(options, tell));
  return series_of(work, tuned);
}

Status tune_for(AgentChannel& agent, const experiment::Assignment& work, uint32_t largest_job) {
  Listener listener(agent.channel());
  STRIPLINE_ASSIGN_OR_RETURN(
      Json series, measured(work, largest_job, listener.cancel_fd(), [&](const std::string& line) {
        agent.say({{"type", "note"}, {"message", line}});
      }));
  const size_t points = work.points.size();
  agent.say({{"type", "progress"}, {"done", points}, {"total", points}});
  agent.say({{"type", "samples"}, {"series", std::move(series)}});
  listener.wait_until_taken();
  agent.say({{"type", "finished"}, {"reason", "complete"}});
  agent.say({{"type", "left"}});
  return {};
}

Result<int> work(uint32_t largest_job) {
  STRIPLINE_ASSIGN_OR_RETURN(AgentChannel agent, AgentChannel::open());
  STRIPLINE_ASSIGN_OR_RETURN(const experiment::Assignment assignment, agent.join());
  if (const Status done = tune_for(agent, assignment, largest_job); !done.ok()) {
    agent.say({{"type", "failed"},
               {"code", to_string(done.error().code())},
               {"message", done.error().message()}});
    return done.error();
  }
  return kExitOk;
}

}  // namespace

int work_command(uint32_t largest_job) { return exit_code_of(work(largest_job)); }

}  // namespace stripline::suites::tune
