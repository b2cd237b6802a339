#include "runtime/bootstrap/job_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cut_text.h"
#include "base/quantity.h"
#include "base/settings.h"

namespace stripline::bootstrap {
namespace {

/// Looks in the shorter of the two times that are watched for, and the limits of their distance.
constexpr double kLooks = 20;
constexpr double kShortestSeconds = 0.1;
constexpr double kLongestSeconds = 2;

/// Time between two looks that counts, on a host that is slow to let the launcher look.
constexpr double kMostUnseenSeconds = 1;

/// Groups of ranks that where() shows.
constexpr size_t kMostLines = 40;

std::string whole_seconds(double seconds) {
  return std::to_string(static_cast<uint64_t>(std::llround(seconds))) + " s";
}

Result<double> seconds_of(const std::string& name, const std::string& text, bool zero_is_never) {
  const auto seconds = parse_seconds(text);
  const bool never = zero_is_never && seconds.ok() && *seconds == 0;
  if (never) return std::numeric_limits<double>::infinity();
  if (seconds.ok() && *seconds > 0) return *seconds;
  return Error(ErrorCode::invalid_argument, name + " is " + quoted_text(text) +
                                                "; use a positive number of seconds" +
                                                (zero_is_never ? ", or 0 for never" : ""));
}

std::string process_text(const RankSight& rank) {
  return "process " + std::to_string(rank.pid) + (rank.host.empty() ? "" : " on " + rank.host);
}

/// What a rank does, without the operation.
std::string describe(const RankSight& rank, bool idle) {
  std::string text;
  switch (rank.stage) {
    case RankSight::Stage::starting:
      text = "not joined yet";
      break;
    case RankSight::Stage::left:
      text = "left the job";
      break;
    case RankSight::Stage::ended:
      return "ended";
    case RankSight::Stage::failed:
      text = rank.waiting() ? "gave up waiting" : "failed";
      break;
    case RankSight::Stage::joined:
      if (rank.waiting()) {
        text = "waiting";
      } else {
        text = rank.stopped() ? "between waits" : idle ? "sleeping" : "computing";
      }
      break;
  }
  const std::string process = process_text(rank);
  if (rank.stopped()) text = "stopped (state T, " + process + "), " + text;
  if (rank.state == 't') text = "held by a debugger (state t, " + process + "), " + text;
  if (rank.state == 'D') text = "in the kernel (state D, " + process + "), " + text;
  return text;
}

}  // namespace

Result<WatchSettings> watch_settings(const std::map<std::string, std::string>& environment) {
  WatchSettings watch;
  STRIPLINE_ASSIGN_OR_RETURN(watch.peer_timeout_s,
                             seconds_of("STRIPLINE_PEER_TIMEOUT",
                                        value_with(environment, "STRIPLINE_PEER_TIMEOUT"), false));
  STRIPLINE_ASSIGN_OR_RETURN(watch.stall_notice_s,
                             seconds_of("STRIPLINE_STALL_NOTICE",
                                        value_with(environment, "STRIPLINE_STALL_NOTICE"), true));
  return watch;
}

JobWatch::JobWatch(uint32_t first_rank, uint32_t ranks, WatchSettings settings)
    : first_rank_(first_rank), settings_(settings), seen_(ranks) {}

double JobWatch::interval_s() const {
  return std::clamp(std::min(settings_.peer_timeout_s, settings_.stall_notice_s) / kLooks,
                    kShortestSeconds, kLongestSeconds);
}

std::optional<std::string> JobWatch::look(double now_s, std::span<const RankSight> ranks) {
  const double passed_s = looked_s_ ? std::max(now_s - *looked_s_, 0.0) : 0;
  const double seen_s = std::min(passed_s, std::max(2 * interval_s(), kMostUnseenSeconds));
  looked_s_ = now_s;
  const bool all_stopped = std::ranges::all_of(ranks, &RankSight::stopped);
  bool stalled = std::ranges::any_of(ranks, &RankSight::waiting);
  std::optional<size_t> lost;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankSight& rank = ranks[i];
    Seen& seen = seen_[i];
    const bool same = rank.waits == seen.waits;
    seen.waits = rank.waits;
    seen.same_s = same ? seen.same_s + passed_s : 0;
    if (!rank.stopped()) seen.stopped_s = 0;
    if (rank.stopped() && !all_stopped) seen.stopped_s += seen_s;
    if (!lost && seen.stopped_s >= settings_.peer_timeout_s) lost = i;
    const bool out = rank.stage == RankSight::Stage::left || rank.stage == RankSight::Stage::ended;
    const bool held = rank.stopped() || rank.state == 't';
    seen.idle = rank.state == 'S' && rank.cpu_ticks == seen.cpu_ticks;
    seen.cpu_ticks = rank.cpu_ticks;
    const bool sleeps = rank.stage == RankSight::Stage::joined && seen.idle;
    stalled = stalled && (out || held || (same && (rank.waiting() || sleeps)));
  }
  stalled_s_ = stalled ? stalled_s_ + seen_s : 0;
  if (!lost) return std::nullopt;
  const RankSight& rank = ranks[*lost];
  return "rank " + std::to_string(first_rank_ + *lost) + " has been stopped for " +
         whole_seconds(seen_[*lost].stopped_s) + " (state T, " + process_text(rank) +
         ") while others were not; 'kill -CONT " + std::to_string(rank.pid) + "'" +
         (rank.host.empty() ? "" : " there") +
         " lets it go on, and a longer STRIPLINE_PEER_TIMEOUT waits for that";
}

bool JobWatch::has_stalled() {
  return stalled_s_ >= settings_.stall_notice_s && !std::exchange(told_, true);
}

std::string JobWatch::where(std::span<const RankSight> ranks) const {
  struct Line {
    std::string what;
    std::string operation;
    std::vector<uint32_t> ranks;
    double shortest_s = std::numeric_limits<double>::infinity();
    double longest_s = 0;
  };
  std::vector<Line> lines;
  std::map<std::string, size_t> line_of;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankSight& rank = ranks[i];
    Line line{.what = describe(rank, seen_[i].idle), .operation = "", .ranks = {}};
    if (rank.in_job() && !rank.operation.empty()) {
      line.operation = (rank.waiting() ? " in " : ", last call ") + rank.operation;
    }
    const auto [found, added] = line_of.try_emplace(line.what + line.operation, lines.size());
    if (added) lines.push_back(std::move(line));
    Line& own = lines[found->second];
    own.ranks.push_back(first_rank_ + static_cast<uint32_t>(i));
    own.shortest_s = std::min(own.shortest_s, seen_[i].same_s);
    own.longest_s = std::max(own.longest_s, seen_[i].same_s);
  }
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    const Line& line = lines[i];
    const std::string least = whole_seconds(line.shortest_s);
    const std::string most = whole_seconds(line.longest_s);
    const bool timed = ranks[line.ranks.front() - first_rank_].in_job();
    text += std::string(i == 0 ? "" : "\n") + "  rank" + (line.ranks.size() > 1 ? "s " : " ") +
            rank_list(line.ranks) + ": " + line.what +
            (timed ? " for " + (least == most ? least : least + " to " + most) : std::string()) +
            line.operation;
  }
  if (lines.size() > kMostLines) {
    text += "\n  and others at " + std::to_string(lines.size() - kMostLines) + " more places";
  }
  return text;
}

std::string rank_list(std::span<const uint32_t> ranks) {
  std::string text;
  for (size_t begin = 0; begin < ranks.size();) {
    size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[begin]);
    if (end - begin > 1) text += "-" + std::to_string(ranks[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace stripline::bootstrap
