#include "suites/bench/offline_run.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/cut_text.h"
#include "base/exit_codes.h"
#include "base/host_name.h"
#include "base/json.h"
#include "base/network_name.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "optimizer/campaign/run_pace.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/point_watch.h"
#include "optimizer/experiment/rank_environment.h"
#include "runtime/bootstrap/job.h"
#include "suites/bench/failure.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

// As agents close a batch.
constexpr size_t kBatchBytes = size_t{512} << 10;
// Ranks end themselves at the assignment's deadline; this is for those that are stuck beyond it.
constexpr double kMarginS = 5;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What the ranks of a run say.
class OfflineRanks {
 public:
  explicit OfflineRanks(campaign::OfflineRun& run) : run_(run) {}

  void joined() { pace_.joined(seconds_since(start_)); }

  void take(uint32_t rank, const Json& message, bootstrap::StartedRanks& ranks) {
    const Status taken = read(rank, message, ranks);
    if (!taken.ok() && !garbled_) garbled_ = taken.error();
  }

  Status end(size_t points) {
    run_.duration_s = seconds_since(start_);
    run_.start_s = pace_.start_s();
    run_.ended_unix_s = unix_seconds();
    if (garbled_) return *garbled_;
    if (!finished_ || run_.points() != points) {
      return Error(ErrorCode::data_loss, "its ranks ended with samples of " +
                                             std::to_string(run_.points()) + " of its " +
                                             count_text(points, "point"));
    }
    const bool any = std::ranges::any_of(run_.batches, [](const auto& batch) {
      return std::ranges::any_of(batch, [](const auto& one) { return !one.values.empty(); });
    });
    if (any) return {};
    return Error(ErrorCode::failed_precondition,
                 "nothing could be measured: " + run_.batches.front().front().note);
  }

 private:
  Status read(uint32_t rank, const Json& message, bootstrap::StartedRanks& ranks) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string type,
                               get_string(message, "type", "worker message"));
    if (type == "finished") finished_ = true;
    if (type == "facts") return take_facts(rank, message);
    if (type != "samples") return {};
    STRIPLINE_ASSIGN_OR_RETURN(const Json* list, get_array(message, "series", "worker message"));
    for (const Json& element : *list) {
      STRIPLINE_ASSIGN_OR_RETURN(auto series, experiment::sample_series_from_json(element));
      const size_t bytes = element.dump().size();
      if (run_.batches.empty() || (bytes_ > 0 && bytes_ + bytes > kBatchBytes)) {
        run_.batches.emplace_back();
        bytes_ = 0;
      }
      run_.batches.back().push_back(std::move(series));
      bytes_ += bytes;
    }
    pace_.report(seconds_since(start_), run_.points());
    // A rank that is gone ends the job.
    [[maybe_unused]] const Status sent = ranks.send(rank, {{"type", "taken"}});
    return {};
  }

  Status take_facts(uint32_t rank, const Json& message) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* facts, get_object(message, "facts", "worker message"));
    for (const auto& [field, value] : facts->items()) {
      STRIPLINE_ASSIGN_OR_RETURN(run_.facts[run_.rank_nodes.at(rank)][field],
                                 get_string(*facts, field, "facts"));
    }
    return {};
  }

  campaign::OfflineRun& run_;
  const Clock::time_point start_ = Clock::now();
  campaign::RunPace pace_{0};
  size_t bytes_ = 0;  // of the batch under construction
  bool finished_ = false;
  std::optional<Error> garbled_;
};

std::map<std::string, std::string> environment_of(const OfflineGroup& group,
                                                  const experiment::Assignment& assignment) {
  auto environment = experiment::rank_environment(assignment);
  environment.insert(group.environment.begin(), group.environment.end());
  return environment;
}

Json work_of(const OfflineOrder& order) {
  Json assignment = to_json(order.assignment);
  assignment["deadline_s"] = order.time_limit_s;
  if (!order.left_out.empty()) assignment[experiment::kLeftOutMember] = order.left_out;
  return {{"type", "work"}, {"assignment", std::move(assignment)}, {"answers", true}};
}

// " on a, b", for messages; nothing where all is on this host.
std::string place_of(const std::vector<std::string>& hosts) {
  std::string place;
  for (const std::string& host : hosts) place += (place.empty() ? " on " : ", ") + host;
  return place;
}

// What is seen of those ranks that have not ended.
std::vector<experiment::Sight> measuring_of(std::span<const bootstrap::RankSight> ranks) {
  std::vector<experiment::Sight> sights;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const bootstrap::RankSight& seen = ranks[rank];
    if (seen.stage != bootstrap::RankSight::Stage::joined) continue;
    sights.push_back({rank, seen.points, seen.stopped() || seen.state == 't'});
  }
  return sights;
}

}  // namespace

std::vector<std::string> hosts_of_run(const std::vector<std::string>& hosts, uint32_t nodes,
                                      uint32_t run) {
  std::vector<std::string> chosen;
  for (uint32_t node = 0; node < nodes && !hosts.empty(); ++node) {
    chosen.push_back(hosts[(size_t{run - 1} * nodes + node) % hosts.size()]);
  }
  return chosen;
}

std::vector<std::string> node_names(const std::vector<std::string>& hosts, uint32_t ranks) {
  std::map<std::string, size_t> times;
  for (const std::string& host : hosts) ++times[host];
  std::map<std::string, size_t> used;
  std::vector<std::string> names;
  for (const std::string& host : hosts) {
    names.push_back(times[host] == 1 ? host : host + "-" + std::to_string(++used[host]));
  }
  std::vector<std::string> by_rank;
  for (uint32_t rank = 0; rank < ranks; ++rank) by_rank.push_back(names[rank % names.size()]);
  return by_rank;
}

Status check_offline(const experiment::Assignment& assignment) {
  constexpr const char* kExportAgain = "; export the plan again from a server that you trust";
  if (!has_options_of_campaigns_only(assignment.fabric)) {
    return Error(
        ErrorCode::failed_precondition,
        "the plan is for the fabric " + quoted_text(assignment.fabric) +
            ": compute=record: and replay: name files of the host that measures, lose= and "
            "host_delays= disturb its network; campaigns have none of them" +
            kExportAgain);
  }
  for (experiment::Point point : assignment.points) {
    const Benchmark* const known = find_benchmark(point.experiment);
    const std::optional<std::string> problem =
        known == nullptr
            ? "there is no experiment " + quoted_text(point.experiment) + " in this release"
            : complete_point(known->declaration, point);
    if (!problem) continue;
    return Error(
        ErrorCode::failed_precondition,
        printable_line(cut_text("the plan has a point that is not measured here: " + *problem,
                                kLongestMessageBytes)) +
            kExportAgain);
  }
  return {};
}

Result<campaign::OfflineRun> measure_offline(const OfflineGroup& group, const OfflineOrder& order,
                                             std::string& failed_at) {
  failed_at.clear();
  const experiment::Assignment& assignment = order.assignment;
  STRIPLINE_RETURN_IF_ERROR(check_offline(assignment));
  const auto hosts = hosts_of_run(group.hosts, group.nodes, assignment.run);
  campaign::OfflineRun run;
  run.rank_nodes = node_names(
      hosts.empty() ? std::vector<std::string>(group.nodes, host_name()) : hosts, assignment.ranks);
  bootstrap::JobOptions job;
  job.launch.argv = {group.worker};
  job.launch.ranks = assignment.ranks;
  job.launch.bind = bootstrap::Bind::none;
  job.launch.environment = environment_of(group, assignment);
  job.launch.records_points = true;
  job.time_limit_s = order.time_limit_s + kMarginS;
  job.cancel_fd = group.cancel_fd;
  STRIPLINE_ASSIGN_OR_RETURN(job.watch, bootstrap::watch_settings(job.launch.environment));
  bootstrap::HostsOptions elsewhere = group.elsewhere;
  if (!hosts.empty()) {
    elsewhere.shares.clear();
    for (uint32_t rank = 0; rank < assignment.ranks; ++rank) {
      elsewhere.shares.push_back({hosts[rank % hosts.size()], rank, 1});
    }
    elsewhere.answer_limit_s = job.join_timeout_s;
    elsewhere.silence_limit_s = job.watch.peer_timeout_s;
    job.start = [&](const bootstrap::LaunchOptions& launch) {
      bootstrap::LaunchOptions heard = launch;
      heard.interrupted = [&] {
        order.tell(0, "");
        return launch.interrupted();
      };
      return bootstrap::HostsLauncher::start(heard, elsewhere);
    };
  }
  OfflineRanks collected(run);
  std::optional<experiment::PointWatch> watch;  // once they measure
  job.on_ready = [&](bootstrap::StartedRanks& ranks) {
    watch.emplace(assignment, place_of(hosts), steady_seconds());
    collected.joined();
    [[maybe_unused]] const Status sent = ranks.send_to_all(work_of(order));
  };
  job.on_message = [&](uint32_t rank, const Json& message, bootstrap::StartedRanks& ranks) {
    collected.take(rank, message, ranks);
  };
  experiment::PointNews news;
  job.on_look = [&](std::span<const bootstrap::RankSight> ranks) {
    const auto sights = measuring_of(ranks);
    news =
        watch && !sights.empty() ? watch->look(steady_seconds(), sights) : experiment::PointNews();
    if (!news.ends_run) order.tell(run.points(), news.message);
    return news.ends_run ? std::optional(bootstrap::JobOutcome{kExitTimeout, news.message})
                         : std::nullopt;
  };
  const bootstrap::JobOutcome outcome = bootstrap::run_job(job);
  const Status ended = collected.end(assignment.points.size());
  if (news.ends_run) {
    failed_at = news.experiment;
    return Error(ErrorCode::deadline_exceeded, news.message);
  }
  const auto point = watch ? watch->point_at(outcome.points) : std::nullopt;
  if (outcome.exit_code == kExitTimeout && watch && !point) {
    return Error(ErrorCode::deadline_exceeded,
                 "a run was ended after " + exact_seconds_text(order.time_limit_s) +
                     ", with which the plan's budget is used up; " +
                     watch->advice(steady_seconds(), order.time_limit_s));
  }
  if (outcome.exit_code != kExitOk) {
    std::string message = outcome.message;
    if (message.empty()) {
      message = "the ranks ended with exit code " + std::to_string(outcome.exit_code);
    }
    if (point) {
      message += ", while it measured " + experiment::point_key(*point);
      failed_at = point->experiment;
    }
    return Error(error_code_of(outcome.exit_code), message);
  }
  if (!ended.ok()) return ended.error();
  return run;
}

}  // namespace stripline::suites::bench
