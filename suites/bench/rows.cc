#include "suites/bench/rows.h"

#include "base/exit_codes.h"
#include "optimizer/stats/order.h"

namespace stripline::suites::bench {

void PointSamples::add(const experiment::SampleSeries& series) {
  if (!series.note.empty()) note_ = series.note;
  if (series.values.empty()) {
    if (problem_.empty()) problem_ = series.note.empty() ? "no samples" : series.note;
    return;
  }
  if (!series.verified) {
    verification_failed_ = true;
    problem_ = series.note.empty() ? "verification failed" : series.note;
    return;
  }
  std::vector<double>& values = values_[series.run];
  values.insert(values.end(), series.values.begin(), series.values.end());
}

std::string PointSamples::plan() const { return note_.substr(0, note_.find('\n')); }

std::string PointSamples::explanation() const {
  const size_t end_of_plan = note_.find('\n');
  return end_of_plan == std::string::npos ? "" : note_.substr(end_of_plan + 1);
}

stats::Runs PointSamples::runs() const {
  stats::Runs runs;
  for (const auto& [run, values] : values_) runs.push_back(values);
  return runs;
}

std::map<uint32_t, double> PointSamples::medians() const {
  std::map<uint32_t, double> medians;
  for (const auto& [run, values] : values_) medians[run] = stats::median(values);
  return medians;
}

Samples::Samples(const std::vector<experiment::Point>& points) {
  for (const experiment::Point& point : points) {
    if (index_.try_emplace(experiment::point_key(point), points_.size()).second) {
      points_.emplace_back(point);
    }
  }
}

void Samples::add(const std::vector<experiment::SampleSeries>& series) {
  for (const experiment::SampleSeries& one : series) {
    const auto found = index_.find(experiment::point_key(one.point));
    if (found != index_.end()) points_[found->second].add(one);
  }
}

const PointSamples* Samples::find(const experiment::Point& point) const {
  const auto found = index_.find(experiment::point_key(point));
  return found == index_.end() ? nullptr : &points_[found->second];
}

std::optional<Failure> Samples::check() const {
  for (const PointSamples& one : points_) {
    const std::string where = experiment::point_key(one.point()) + ": ";
    if (one.verification_failed()) return Failure{kExitVerification, where + one.problem()};
    if (!one.problem().empty()) return Failure{kExitUsage, where + one.problem()};
    if (one.runs().empty()) return Failure{kExitFailure, where + "no samples came back"};
  }
  return std::nullopt;
}

std::vector<std::string> Samples::drop_unmeasurable(std::string_view variant) {
  std::vector<std::string> reasons;
  std::erase_if(points_, [&](const PointSamples& one) {
    if (!variant.empty() && one.point().variant != variant) return false;
    if (one.verification_failed() || one.problem().empty()) return false;
    reasons.push_back(experiment::point_key(one.point()) + ": " + one.problem());
    return true;
  });
  index_.clear();
  for (size_t i = 0; i < points_.size(); ++i) {
    index_[experiment::point_key(points_[i].point())] = i;
  }
  return reasons;
}

namespace {

// Only runs that measured both are pairs.
std::pair<std::vector<double>, std::vector<double>> pairs_of(const PointSamples& samples,
                                                             const PointSamples& baseline) {
  std::pair<std::vector<double>, std::vector<double>> pairs;
  const auto baseline_medians = baseline.medians();
  for (const auto& [run, median] : samples.medians()) {
    const auto other = baseline_medians.find(run);
    if (other == baseline_medians.end()) continue;
    pairs.first.push_back(median);
    pairs.second.push_back(other->second);
  }
  return pairs;
}

}  // namespace

Result<Verdict> compare_without_model(const PointSamples& tuned, const PointSamples& untuned,
                                      const std::optional<HostLoad>& load, uint32_t ranks) {
  const auto [mine, theirs] = pairs_of(tuned, untuned);
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<double> ratios, stats::paired_log_ratios(mine, theirs));
  return judge(std::move(ratios), load, ranks);
}

Result<Row> make_row(const std::string& label, const experiment::Experiment& declaration,
                     const PointSamples& samples, const PointSamples* baseline) {
  Row row;
  row.label = label;
  row.point = samples.point();
  row.metric = declaration.metric.name;
  row.unit = declaration.metric.unit;
  STRIPLINE_ASSIGN_OR_RETURN(row.summary, stats::summarize(samples.runs()));
  row.verified = !samples.verification_failed();
  row.plan = samples.plan();
  row.explanation = samples.explanation();
  if (baseline == nullptr) return row;

  const auto [mine, theirs] = pairs_of(samples, *baseline);
  if (auto ratio = stats::paired_ratio(mine, theirs); ratio.ok()) row.ratio = *ratio;
  return row;
}

Json to_json(const Row& row, const std::string& fabric, uint32_t ranks) {
  Json json = {{"experiment", row.point.experiment},
               {"variant", row.point.variant},
               {"row", row.label},
               {"fabric", fabric},
               {"ranks", ranks},
               {"metric", row.metric},
               {"unit", row.unit},
               {"median", row.summary.median},
               {"ci_low", row.summary.ci_low},
               {"ci_high", row.summary.ci_high},
               {"interval", stats::to_string(row.summary.method)},
               {"runs", row.summary.n_runs},
               {"samples", row.summary.n_samples},
               {"verified", row.verified},
               {"plan", row.plan}};
  Json params = Json::object();
  for (const auto& [name, value] : row.point.params) {
    params[name] = std::visit([](const auto& v) { return Json(v); }, value);
  }
  json["params"] = std::move(params);
  if (row.ratio) {
    json["ratio"] = row.ratio->value;
    json["ratio_ci_low"] = row.ratio->interval.low;
    json["ratio_ci_high"] = row.ratio->interval.high;
  }
  if (row.without_model) json["without_model"] = to_json(*row.without_model);
  return json;
}

}  // namespace stripline::suites::bench
