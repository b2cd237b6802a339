#include "optimizer/fit/fit_vis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "optimizer/cost/residual_table.h"
#include "optimizer/fit/least_squares.h"
#include "optimizer/fit/over_runs.h"
#include "optimizer/plan/vis_costs.h"
#include "optimizer/plan/vis_time.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

using plan::ComputeClass;
using plan::Direction;
using plan::VisCandidate;
using plan::VisCosts;
using plan::VisMethod;
using plan::VisRequest;

constexpr ComputeClass kClasses[] = {ComputeClass::communication_only, ComputeClass::light,
                                     ComputeClass::heavy};
constexpr double kSmallestRatio = 1e-6;  // what a model may hold
constexpr double kLargestRatio = 1e6;
// A chunk and window that are slower than the best by no more than this are as good.
constexpr double kAsGood = 0.02;
// By what share another chunk or window has to be faster than those under which micro.vis measured:
// the sizes are compared while the network is otherwise idle and the target waits, and programs
// transfer in both directions at once.
constexpr double kSurelyBetter = 0.1;

double mean_of(const std::vector<double>& values) { return stats::mean_and_variance(values).mean; }

std::vector<model::PackPoint> fit_curve(const VisSamples::PackTimes& spans, const char* name,
                                        uint32_t raw, const VisFitOptions& options,
                                        std::vector<std::string>& notes) {
  std::vector<model::PackPoint> points;
  for (const auto& [span, sizes] : spans) {
    std::map<uint32_t, std::vector<LinePoint>> by_run;
    for (const auto& [bytes, medians] : sizes) {
      const double typical = across_runs(medians);
      if (!(typical > 0)) continue;
      for (const auto& [run, seconds] : medians) {
        by_run[run].push_back({static_cast<double>(bytes), seconds, 1 / (typical * typical)});
      }
    }
    std::vector<double> region;
    std::vector<double> byte;
    for (const auto& [run, line] : by_run) {
      const auto fitted = fit_line(line);
      if (!fitted.ok()) continue;
      region.push_back(fitted->intercept);
      byte.push_back(fitted->slope);
    }
    const OverRunsOptions over{.confidence = options.confidence};
    auto region_s = over_runs(region, raw, "wls-per-run+t", over);
    auto s_per_byte = over_runs(byte, raw, "wls-per-run+t", over);
    if (region_s && s_per_byte) {
      points.push_back({span, *std::move(region_s), *std::move(s_per_byte)});
    } else {
      notes.push_back(std::string(name) + " over " + std::to_string(span) +
                      " bytes is absent: it was measured in fewer than two runs, or with one size "
                      "of regions");
    }
  }
  return points;
}

// Mean over shapes of the logarithm of a setting's time over the best one of that shape and run, of
// which the median run counts; only settings that all shapes have.
std::map<VisSetting, double> relative_times(
    const std::map<VisShape, std::map<VisSetting, RunMedians>>& shapes, Direction direction) {
  std::map<VisSetting, std::vector<double>> by_shape;
  std::size_t most = 0;
  for (const auto& [shape, settings] : shapes) {
    if (shape.direction != direction) continue;
    std::map<uint32_t, double> best;
    for (const auto& [setting, medians] : settings) {
      for (const auto& [run, seconds] : medians) {
        if (!(seconds > 0)) continue;
        const auto [it, added] = best.emplace(run, seconds);
        it->second = std::min(it->second, seconds);
      }
    }
    for (const auto& [setting, medians] : settings) {
      std::vector<double> logs;
      for (const auto& [run, seconds] : medians) {
        if (seconds > 0) logs.push_back(std::log(seconds / best.at(run)));
      }
      if (logs.empty()) continue;
      by_shape[setting].push_back(stats::median(logs));
      most = std::max(most, by_shape[setting].size());
    }
  }
  std::map<VisSetting, double> means;
  for (const auto& [setting, values] : by_shape) {
    if (values.size() == most) means[setting] = mean_of(values);
  }
  return means;
}

// `preferred`, unless another setting is surely better; else, of those that are as good as the best
// one, that with the least memory.
std::optional<VisSetting> good_setting(const std::map<VisSetting, double>& means,
                                       const std::optional<VisSetting>& preferred) {
  if (means.empty()) return std::nullopt;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [setting, mean] : means) best = std::min(best, mean);
  if (preferred) {
    const auto found = means.find(*preferred);
    if (found != means.end() && best >= found->second + std::log1p(-kSurelyBetter)) {
      return *preferred;
    }
  }
  std::optional<VisSetting> chosen;
  const auto memory = [](const VisSetting& s) {
    return std::max<uint64_t>(s.chunk_bytes, 1) * std::max<uint32_t>(s.window, 1);
  };
  for (const auto& [setting, mean] : means) {
    if (mean > best + std::log1p(kAsGood)) continue;
    if (!chosen || memory(setting) < memory(*chosen)) chosen = setting;
  }
  return chosen;
}

// The difference in each run that measured both.
RunMedians exposed_of(const VisTimes& times, const RunMedians& total) {
  RunMedians exposed;
  for (const auto& [run, seconds] : total) {
    double alone = 0;
    if (!times.compute.empty()) {
      const auto found = times.compute.find(run);
      if (found == times.compute.end()) continue;
      alone = found->second;
    }
    const double least = kLeastExposed * seconds;
    if (seconds > 0) exposed[run] = std::max(seconds - alone, least);
  }
  return exposed;
}

// Something measured with its description.
struct Measured {
  ComputeClass compute;
  VisShape shape;
  VisMethod method;
  VisSetting setting;
  RunMedians exposed;
};

std::vector<Measured> measured_in(const VisSamples& samples, Direction direction) {
  std::vector<Measured> all;
  for (const ComputeClass compute : kClasses) {
    for (const auto& [shape, times] : samples.cells[static_cast<size_t>(compute)]) {
      if (shape.direction != direction) continue;
      for (size_t m = 0; m < plan::kVisMethods; ++m) {
        for (const auto& [setting, total] : times.methods[m]) {
          all.push_back(
              {compute, shape, static_cast<VisMethod>(m), setting, exposed_of(times, total)});
        }
      }
    }
  }
  return all;
}

// How micro.vis carried out a method; if it was not measured, how programs do without a model, as
// far as that is known.
std::optional<VisSetting> setting_of(const std::vector<Measured>& all, VisMethod method) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Measured& one) { return one.method == method; });
  const bool packed = method == VisMethod::packed;
  VisSetting setting;
  if (found != all.end()) {
    if (packed) setting.chunk_bytes = found->setting.chunk_bytes;
    setting.window = found->setting.window;
  } else if (packed) {
    return std::nullopt;  // Chunks are as large as messages of the fabric.
  }
  if (setting.window == 0) {
    setting.window = packed ? plan::kDefaultPackedWindow : plan::kDefaultPipelinedWindow;
  }
  return setting;
}

VisRequest request_for(const Measured& measured) {
  VisRequest request = request_of(measured.shape, measured.compute, measured.setting.chunk_bytes);
  request.iov_limit = measured.setting.iov_limit;
  return request;
}

// Nothing if the fitter cannot know how it was carried out.
std::optional<double> predicted(const Measured& measured, const VisCosts& costs) {
  const VisRequest request = request_for(measured);
  if (!costs.has(request.direction)) return std::nullopt;
  if (measured.method == VisMethod::packed && !costs.has_am()) return std::nullopt;
  if (!plan::vis_allowed(request, measured.method)) return std::nullopt;
  const plan::VisPlan plan = plan::force_vis(request, nullptr, measured.method,
                                             measured.setting.chunk_bytes, measured.setting.window);
  const double seconds = plan::detail::model_time(
      request, costs, VisCandidate{plan.method, plan.window, plan.chunk_bytes});
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

// The median of each run, over what it measured.
class OverShapes {
 public:
  void add(uint32_t run, double value) { values_[run].push_back(value); }
  std::optional<model::Parameter> parameter(uint32_t raw, const VisFitOptions& options) const {
    std::vector<double> medians;
    medians.reserve(values_.size());
    for (const auto& [run, values] : values_) medians.push_back(stats::median(values));
    return over_runs(medians, raw, "paired-run-medians+t", {.confidence = options.confidence});
  }

 private:
  std::map<uint32_t, std::vector<double>> values_;
};

// How long the messages of a transfer wait at a target that computes.
std::optional<model::Parameter> fit_delay(const std::vector<Measured>& all, ComputeClass compute,
                                          uint32_t raw, const VisFitOptions& options) {
  std::map<std::pair<VisShape, VisSetting>, const RunMedians*> idle;
  for (const Measured& one : all) {
    if (one.method != VisMethod::packed) continue;
    if (one.compute == ComputeClass::communication_only) {
      idle[{one.shape, one.setting}] = &one.exposed;
    }
  }
  OverShapes delays;
  for (const Measured& one : all) {
    if (one.method != VisMethod::packed || one.compute != compute) continue;
    const auto found = idle.find({one.shape, one.setting});
    if (found == idle.end()) continue;
    const VisRequest request = request_for(one);
    if (!plan::vis_allowed(request, VisMethod::packed)) continue;
    const plan::VisPlan plan = plan::force_vis(request, nullptr, VisMethod::packed,
                                               one.setting.chunk_bytes, one.setting.window);
    const double windows =
        static_cast<double>(plan::vis_message_count(request, plan.chunk_bytes)) / plan.window;
    for (const auto& [run, seconds] : one.exposed) {
      const auto base = found->second->find(run);
      if (base != found->second->end()) {
        delays.add(run, (seconds - base->second) / std::max(1.0, windows));
      }
    }
  }
  return delays.parameter(raw, options);
}

std::optional<model::Parameter> fit_iov_piece(const std::vector<Measured>& all,
                                              const VisCosts& costs, uint32_t raw,
                                              const VisFitOptions& options) {
  OverShapes pieces;
  for (const Measured& one : all) {
    if (one.method != VisMethod::native_iov || one.compute != ComputeClass::communication_only) {
      continue;
    }
    const auto model_s = predicted(one, costs);
    if (!model_s) continue;
    for (const auto& [run, seconds] : one.exposed) {
      pieces.add(run, (seconds - *model_s) / static_cast<double>(one.shape.regions));
    }
  }
  return pieces.parameter(raw, options);
}

std::optional<model::Parameter> fit_ratio(const Measured& measured, double model_s, uint32_t raw,
                                          const VisFitOptions& options) {
  std::vector<double> logs;
  logs.reserve(measured.exposed.size());
  for (const auto& [run, seconds] : measured.exposed) logs.push_back(std::log(seconds / model_s));
  const auto over_runs = stats::run_median_interval(logs, options.confidence);
  if (!over_runs.ok()) return std::nullopt;
  const auto ratio = [](double log) {
    return std::clamp(std::exp(log), kSmallestRatio, kLargestRatio);
  };
  model::Parameter parameter;
  parameter.value = ratio(stats::median(logs));
  parameter.ci_low = std::min(parameter.value, ratio(over_runs->interval.low));
  parameter.ci_high = std::max(parameter.value, ratio(over_runs->interval.high));
  parameter.runs = static_cast<uint32_t>(logs.size());
  parameter.samples = raw;
  parameter.method = "log-ratio-of-run-medians+median";
  return parameter;
}

model::VisResiduals& residuals_of(model::VisDirection& vis, ComputeClass compute,
                                  VisMethod method) {
  return vis.*model::kResidualsOfClass[static_cast<size_t>(compute)].second.*
         model::kResidualsOfMethod[static_cast<size_t>(method)].second;
}

// True if `candidate` is nearer to what will be planned than `present`: two settings under which
// the same place was measured.
bool nearer(const VisSetting& candidate, const VisSetting& present, const VisSetting& planned) {
  const auto distance = [&](const VisSetting& s) {
    const auto log = [](uint64_t value) { return std::log2(static_cast<double>(value) + 1); };
    return std::abs(log(s.chunk_bytes) - log(planned.chunk_bytes)) +
           std::abs(log(s.window) - log(planned.window));
  };
  return distance(candidate) < distance(present);
}

using Settings = std::map<VisShape, std::map<VisSetting, RunMedians>>;

// Among the settings that a shape was measured under, one that comes to the same as `wanted`.
const RunMedians* measured_under(const std::map<VisSetting, RunMedians>& settings,
                                 const Measured& wanted) {
  const auto planned = [&](const VisSetting& setting) {
    Measured one = wanted;
    one.setting = setting;
    return plan::force_vis(request_for(one), nullptr, one.method, setting.chunk_bytes,
                           setting.window);
  };
  const plan::VisPlan same = planned(wanted.setting);
  for (const auto& [setting, medians] : settings) {
    const plan::VisPlan plan = planned(setting);
    if (plan.window == same.window && plan.chunk_bytes == same.chunk_bytes) return &medians;
  }
  return nullptr;
}

// By how much residuals are larger under one setting than under another, where both were measured.
cost::ResidualTable carried_over(const Settings& shapes, Direction direction, VisMethod method,
                                 const VisSetting& from, const VisSetting& to,
                                 const VisCosts& costs) {
  std::map<std::pair<uint64_t, uint64_t>, std::vector<double>> logs;
  for (const auto& [shape, settings] : shapes) {
    if (shape.direction != direction) continue;
    const Measured before{ComputeClass::communication_only, shape, method, from, {}};
    const Measured after{ComputeClass::communication_only, shape, method, to, {}};
    const RunMedians* const before_s = measured_under(settings, before);
    const RunMedians* const after_s = measured_under(settings, after);
    const auto before_model_s = predicted(before, costs);
    const auto after_model_s = predicted(after, costs);
    if (before_s == nullptr || after_s == nullptr || !before_model_s || !after_model_s) continue;
    for (const auto& [run, seconds] : *after_s) {
      const auto base = before_s->find(run);
      if (base == before_s->end() || !(seconds > 0) || !(base->second > 0)) continue;
      logs[{shape.region_bytes, shape.regions}].push_back(
          std::log(seconds / base->second) - std::log(*after_model_s / *before_model_s));
    }
  }
  std::vector<model::VisResidual> cells;
  for (const auto& [place, values] : logs) {
    model::VisResidual cell{place.first, place.second, {}};
    cell.ratio.value = std::exp(stats::median(values));
    cell.ratio.ci_low = cell.ratio.ci_high = cell.ratio.value;
    cells.push_back(std::move(cell));
  }
  return cost::ResidualTable(cells);
}

// The same at a place, as a factor.
double factor_at(const cost::ResidualTable& table, uint64_t region_bytes, uint64_t regions) {
  const double log2_region_bytes = std::log2(static_cast<double>(region_bytes));
  return std::exp(
      table.at(log2_region_bytes, log2_region_bytes + std::log2(static_cast<double>(regions)))
          .value);
}

void fit_residuals(const std::vector<Measured>& all, const VisSamples& samples, Direction direction,
                   const VisCosts& costs, uint32_t raw, const VisFitOptions& options,
                   model::VisDirection& vis, std::vector<std::string>& notes) {
  using Place = std::pair<uint64_t, uint64_t>;
  struct Best {
    VisSetting setting;
    model::Parameter ratio;
  };
  std::map<std::tuple<ComputeClass, VisMethod, bool, Place>, Best> found;
  std::size_t unexplained = 0;
  // What planners take beside computation is not what was tuned (optimizer/plan/vis.cc).
  const auto setting_planned = [&](ComputeClass compute, VisMethod method) -> VisSetting {
    if (method != VisMethod::packed) return {0, vis.pipelined_window.value_or(0)};
    if (compute != ComputeClass::communication_only) {
      return {plan::kLandingSlotBytes, plan::kDefaultPackedWindow};
    }
    return {vis.chunk_bytes.value_or(0), vis.window.value_or(0)};
  };
  for (const Measured& one : all) {
    const auto model_s = predicted(one, costs);
    const auto ratio =
        model_s ? fit_ratio(one, *model_s, raw, options) : std::optional<model::Parameter>();
    if (!ratio) {
      ++unexplained;
      continue;
    }
    VisSetting planned = setting_planned(one.compute, one.method);
    if (one.method != VisMethod::packed) planned.chunk_bytes = one.setting.chunk_bytes;
    const auto key = std::tuple(one.compute, one.method, plan::detail::vis_spread(request_for(one)),
                                Place(one.shape.region_bytes, one.shape.regions));
    const auto [it, added] = found.try_emplace(key, Best{one.setting, *ratio});
    if (!added && nearer(one.setting, it->second.setting, planned))
      it->second = {one.setting, *ratio};
  }
  std::map<std::pair<VisMethod, VisSetting>, cost::ResidualTable> tables;
  for (auto& [key, best] : found) {
    const auto& [compute, method, spread, place] = key;
    const bool packed = method == VisMethod::packed;
    const VisSetting tuned = setting_planned(compute, method);
    const bool is_tuned = packed ? vis.chunk_bytes && compute == ComputeClass::communication_only
                                 : method == VisMethod::pipelined && tuned.window > 0;
    if (is_tuned) {
      const auto [table, added] = tables.try_emplace({method, best.setting});
      if (added) {
        table->second = carried_over(packed ? samples.chunks : samples.windows, direction, method,
                                     best.setting, tuned, costs);
      }
      const double factor = factor_at(table->second, place.first, place.second);
      for (double* value : {&best.ratio.value, &best.ratio.ci_low, &best.ratio.ci_high}) {
        *value = std::clamp(*value * factor, kSmallestRatio, kLargestRatio);
      }
    }
    model::VisResiduals& residuals = residuals_of(vis, compute, method);
    (spread ? residuals.spread : residuals.compact)
        .push_back({place.first, place.second, best.ratio});
  }
  if (unexplained > 0) {
    notes.push_back(std::to_string(unexplained) +
                    " measurements of transfers of many regions are not in the model: they were "
                    "made in fewer than two runs, or what they rest on is not known");
  }
}

}  // namespace

std::optional<model::PackModel> fit_pack(const VisSamples& samples, const VisFitOptions& options,
                                         std::vector<std::string>& notes) {
  model::PackModel pack{fit_curve(samples.pack, "packing", samples.pack_raw, options, notes),
                        fit_curve(samples.unpack, "unpacking", samples.pack_raw, options, notes)};
  if (pack.pack.empty() && pack.unpack.empty()) return std::nullopt;
  return pack;
}

std::optional<model::VisModel> fit_vis(const VisSamples& samples, const model::TunedModel& model,
                                       const std::string& path, const VisFitOptions& options,
                                       std::vector<std::string>& notes) {
  const auto operations = model.network.find(path);
  if (operations == model.network.end()) return std::nullopt;
  const uint32_t raw = samples.vis_raw;
  model::VisModel fitted;
  for (const Direction direction : {Direction::get, Direction::put}) {
    model::VisDirection vis;
    const std::vector<Measured> all = measured_in(samples, direction);
    const auto chunk =
        good_setting(relative_times(samples.chunks, direction), setting_of(all, VisMethod::packed));
    if (chunk) {
      if (chunk->chunk_bytes > 0) vis.chunk_bytes = chunk->chunk_bytes;
      if (chunk->window > 0) vis.window = chunk->window;
    }
    const auto window = good_setting(relative_times(samples.windows, direction),
                                     setting_of(all, VisMethod::pipelined));
    if (window) vis.pipelined_window = window->window;

    const auto costs = [&] {
      model::VisModel so_far;
      (direction == Direction::get ? so_far.get : so_far.put) = vis;
      return VisCosts(operations->second, model.pack, &so_far);
    };
    vis.light_delay_s = fit_delay(all, ComputeClass::light, raw, options);
    vis.heavy_delay_s = fit_delay(all, ComputeClass::heavy, raw, options);
    vis.iov_piece_s = fit_iov_piece(all, costs(), raw, options);
    fit_residuals(all, samples, direction, costs(), raw, options, vis, notes);
    if (chunk || window || !all.empty()) {
      (direction == Direction::get ? fitted.get : fitted.put) = std::move(vis);
    }
  }
  if (!fitted.get && !fitted.put) return std::nullopt;
  return fitted;
}

}  // namespace stripline::fit
