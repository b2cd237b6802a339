#include "suites/results/recovery.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "optimizer/stats/order.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/results/campaign.h"
#include "suites/results/fabrics.h"
#include "suites/results/json_lines.h"

namespace stripline::suites::results {
namespace {

constexpr uint64_t kSeeds = 10;
constexpr uint64_t kQuickSeeds = 1;
constexpr uint64_t kSmallestBytes = 8;
constexpr uint64_t kLargestBytes = uint64_t{4} << 20;
constexpr uint64_t kAmHeaderBytes = 8;  // runtime/am/active_messages.h

const model::Segment& segment_for(const model::OperationModel& operation, uint64_t bytes) {
  for (const model::Segment& segment : operation.segments) {
    if (bytes < segment.to_bytes) return segment;
  }
  return operation.segments.back();
}

// Adds what one operation's model holds.
class Comparison {
 public:
  Comparison(std::string operation, std::vector<Recovered>& found)
      : operation_(std::move(operation)), found_(found) {}

  void at_segment(size_t segment) { segment_ = segment; }
  void add(const char* name, const std::optional<model::Parameter>& parameter, double truth) {
    if (!parameter || parameter->at_least) return;
    found_.push_back({operation_, segment_, name, truth, parameter->value, parameter->ci_low,
                      parameter->ci_high});
  }

 private:
  std::string operation_;
  size_t segment_ = 0;
  std::vector<Recovered>& found_;
};

void compare_operation(const std::string& name, const fabric::OperationProfile& truth,
                       const std::optional<model::OperationModel>& fitted, double queue_depth,
                       uint64_t smallest, uint64_t largest, uint64_t header_bytes,
                       std::vector<Recovered>& found) {
  if (!fitted || fitted->segments.empty()) return;
  Comparison comparison(name, found);
  const bool one_way = name == "am";
  const auto header = static_cast<double>(header_bytes);
  for (size_t i = 0; i < truth.segments.size(); ++i) {
    const fabric::ProfileSegment& s = truth.segments[i];
    const uint64_t from = std::max(s.from_bytes, smallest);
    const uint64_t to = i + 1 < truth.segments.size() ? truth.segments[i + 1].from_bytes : largest;
    if (from >= to || from >= largest) continue;
    const double middle =
        std::sqrt(static_cast<double>(from) * static_cast<double>(std::min(to, largest)));
    const model::Segment& f = segment_for(*fitted, static_cast<uint64_t>(middle));
    // What the handler of a message costs its target is part of L and G.
    const double handler_s = one_way ? s.r_base_s : 0;
    const double handler_per_byte_s = one_way ? s.r_per_byte_s : 0;
    const double per_byte_s = s.G_s_per_byte + handler_per_byte_s;
    comparison.at_segment(i);
    comparison.add("o_base", f.o_base_s, s.o_base_s + s.o_per_byte_s * header);
    comparison.add("o_per_byte", f.o_per_byte_s, s.o_per_byte_s);
    comparison.add("L", f.L_s, s.L_s + handler_s + per_byte_s * header);
    comparison.add("g", f.g_s, s.g_s + s.G_s_per_byte * header);
    comparison.add("G", f.G_s_per_byte, per_byte_s);
    if (one_way) continue;
    comparison.add("r_base", f.r_base_s, s.r_base_s);
    comparison.add("r_per_byte", f.r_per_byte_s, s.r_per_byte_s);
  }
  comparison.at_segment(0);
  comparison.add("Q", fitted->queue_depth, queue_depth);
}

Json to_json(const std::string& profile, uint64_t seed, const std::vector<Recovered>& found) {
  Json parameters = Json::array();
  for (const Recovered& one : found) {
    parameters.push_back({{"operation", one.operation},
                          {"segment", one.segment},
                          {"parameter", one.parameter},
                          {"truth", one.truth},
                          {"value", one.value},
                          {"low", one.low},
                          {"high", one.high}});
  }
  return {{"profile", profile}, {"seed", seed}, {"parameters", std::move(parameters)}};
}

Result<std::vector<Recovered>> recovered_from_json(const Json& record) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* list, get_array(record, "parameters", "recovery"));
  std::vector<Recovered> found;
  for (const Json& json : *list) {
    Recovered one;
    STRIPLINE_ASSIGN_OR_RETURN(one.operation, get_string(json, "operation", "recovery"));
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t segment, get_integer(json, "segment", "recovery"));
    one.segment = static_cast<size_t>(segment);
    STRIPLINE_ASSIGN_OR_RETURN(one.parameter, get_string(json, "parameter", "recovery"));
    STRIPLINE_ASSIGN_OR_RETURN(one.truth, get_number(json, "truth", "recovery"));
    STRIPLINE_ASSIGN_OR_RETURN(one.value, get_number(json, "value", "recovery"));
    STRIPLINE_ASSIGN_OR_RETURN(one.low, get_number(json, "low", "recovery"));
    STRIPLINE_ASSIGN_OR_RETURN(one.high, get_number(json, "high", "recovery"));
    found.push_back(std::move(one));
  }
  return found;
}

// Counts of several fits together.
struct Tally {
  size_t fits = 0;
  size_t parameters = 0;
  size_t inside = 0;
  std::map<std::string, std::vector<double>> half_widths;  // by parameter; of the true ones above 0

  void add(const Recovered& one) {
    ++parameters;
    inside += one.inside() ? 1 : 0;
    if (one.truth > 0) half_widths[one.parameter].push_back(one.half_width());
  }
  double share() const {
    return static_cast<double>(inside) / static_cast<double>(std::max<size_t>(1, parameters));
  }
  double half_width(const std::string& parameter) const {
    const auto found = half_widths.find(parameter);
    return stats::median(found == half_widths.end() ? std::vector<double>{} : found->second);
  }
};

void print_tables(const std::map<std::string, Tally>& by_profile,
                  const std::map<std::string, Tally>& by_parameter, uint32_t runs) {
  Table profiles({"profile", ">campaigns", ">parameters", ">truth inside the interval",
                  ">half-width of L", ">half-width of G", "criterion"});
  for (const auto& [profile, tally] : by_profile) {
    const bool good = tally.share() >= asked::recovery::kShare &&
                      tally.half_width("L") <= asked::recovery::kHalfWidth &&
                      tally.half_width("G") <= asked::recovery::kHalfWidth;
    profiles.add({profile, std::to_string(tally.fits), std::to_string(tally.parameters),
                  percent(tally.share()), percent(tally.half_width("L"), 2),
                  percent(tally.half_width("G"), 2), met(good)});
  }
  std::printf(
      "Truth inside the 95 %% interval, over all identifiable parameters of get, put and am "
      "(criterion: at least 90 %%, median half-width of L and G at most 5 %%), %u runs per "
      "campaign, virtual clock, a jitter of its own for every run:\n\n%s\n",
      runs, profiles.text().c_str());
  Table parameters({"parameter", ">estimates", ">truth inside the interval", ">median half-width"});
  for (const auto& [parameter, tally] : by_parameter) {
    parameters.add({parameter, std::to_string(tally.parameters), percent(tally.share()),
                    percent(tally.half_width(parameter), 2)});
  }
  std::printf(
      "By parameter, all profiles together (half-widths relative to the truth, of true values "
      "above zero):\n\n%s",
      parameters.text().c_str());
}

// Profiles get different seeds: the same ones would be equally lucky on all of them.
uint64_t jitter_seed(const std::string& profile, uint64_t seed) {
  const auto names = fabric::builtin_profile_names();
  const auto place = std::find(names.begin(), names.end(), profile) - names.begin();
  return static_cast<uint64_t>(place + 1) * 1000 + seed;
}

struct Truth {
  Network network;
  fabric::Profile profile;
};

// The emulated networks that are asked for.
Result<std::vector<Truth>> truths_of(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> chosen, networks(options, false));
  std::vector<Truth> truths;
  for (const Network& network : chosen) {
    if (!network.emulated()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto request, fabric::resolve_profile(network.fabric));
    truths.push_back({network, request.profile});
  }
  if (truths.empty()) {
    return Error(ErrorCode::invalid_argument, "the true parameters of '" + options.only +
                                                  "' are not known; name an emulated network");
  }
  return truths;
}

}  // namespace

std::vector<Recovered> compare_with_truth(const fabric::Profile& profile,
                                          const model::PathModel& path, uint64_t smallest,
                                          uint64_t largest, uint64_t am_header_bytes) {
  std::vector<Recovered> found;
  const auto depth = static_cast<double>(profile.queue_depth);
  compare_operation("get", profile.get, path.get, depth, smallest, largest, 0, found);
  compare_operation("put", profile.put, path.put, depth, smallest, largest, 0, found);
  const auto window = static_cast<double>(profile.injection_limit);
  compare_operation("am", profile.am, path.am, std::min(depth, window), smallest,
                    profile.max_message_bytes, am_header_bytes, found);
  return found;
}

Status print_recovery(const Options& options) {
  const std::filesystem::path file = options.path("recovery.jsonl");
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Truth> truths, truths_of(options));
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<Json> records, read_json_lines(file));
  std::set<std::pair<std::string, uint64_t>> done;
  for (const Json& record : records) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string profile,
                               get_string(record, "profile", "recovery"));
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t seed, get_integer(record, "seed", "recovery"));
    done.emplace(profile, static_cast<uint64_t>(seed));
  }

  // Seed by seed, so that an interrupted command has something of every profile.
  for (uint64_t seed = 1; seed <= (options.quick ? kQuickSeeds : kSeeds); ++seed) {
    for (const auto& [network, truth] : truths) {
      const std::string& profile = truth.name;
      if (done.contains({profile, seed})) continue;
      std::fprintf(stderr, "recovery: %s, jitter seed %llu\n", profile.c_str(),
                   static_cast<unsigned long long>(seed));
      // The runs are kept until they are fitted.
      const std::filesystem::path runs =
          options.path("recovery-runs") / (profile + "-" + std::to_string(seed));
      STRIPLINE_ASSIGN_OR_RETURN(
          const auto series, load_or_measure_runs(options, network, jitter_seed(profile, seed),
                                                  runs, campaign_points(network, options.quick)));
      STRIPLINE_ASSIGN_OR_RETURN(const fit::Fit fitted, fit_network(network, series));
      const Json record =
          to_json(profile, seed,
                  compare_with_truth(truth, fitted.model.network.begin()->second, kSmallestBytes,
                                     kLargestBytes, kAmHeaderBytes));
      STRIPLINE_RETURN_IF_ERROR(append_json_line(file, record));
      records.push_back(record);
      std::error_code ignored;  // left-over runs do no harm
      std::filesystem::remove_all(runs, ignored);
    }
  }

  std::map<std::string, Tally> by_profile;
  std::map<std::string, Tally> by_parameter;
  for (const Json& record : records) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto found, recovered_from_json(record));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string profile,
                               get_string(record, "profile", "recovery"));
    const bool asked = std::any_of(truths.begin(), truths.end(),
                                   [&](const Truth& one) { return one.profile.name == profile; });
    if (!asked) continue;  // of an earlier command, for other networks
    ++by_profile[profile].fits;
    for (const Recovered& one : found) {
      by_profile[profile].add(one);
      by_parameter[one.parameter].add(one);
    }
  }
  print_tables(by_profile, by_parameter, campaign_runs(options.quick));
  return {};
}

}  // namespace stripline::suites::results
