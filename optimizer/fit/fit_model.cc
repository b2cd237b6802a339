#include "optimizer/fit/fit_model.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "optimizer/experiment/json.h"
#include "optimizer/fit/collective.h"
#include "optimizer/fit/fit_vis.h"
#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/samples.h"
#include "optimizer/fit/section_fits.h"
#include "optimizer/model/paths.h"
#include "optimizer/model/validate.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

// SHA-256 over the canonical forms of the series, sorted so that their order does not matter.
Result<std::string> hash_of(std::span<const SampleSeries> series,
                            const std::vector<std::size_t>& used) {
  std::vector<std::string> texts;
  texts.reserve(used.size());
  for (const std::size_t index : used) {
    STRIPLINE_ASSIGN_OR_RETURN(std::string text,
                               canonical_json(experiment::to_json(series[index])));
    texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  std::string all = "[";
  for (const std::string& text : texts) {
    if (all.size() > 1) all += ',';
    all += text;
  }
  return sha256_hex(all + "]");
}

// `title` begins the names of the operations in the report.
void fit_operations(const SortedSamples& samples, const std::string& path_name,
                    const std::string& title, const FitRequest& request, Fit& fit) {
  model::PathModel path;
  bool any = false;
  const std::tuple<const char*, Kind, std::optional<model::OperationModel>*> members[] = {
      {"put", Kind::put, &path.put}, {"get", Kind::get, &path.get}, {"am", Kind::am, &path.am}};
  for (const auto& [name, kind, member] : members) {
    const auto found = samples.operations.find(name);
    if (found == samples.operations.end()) continue;
    auto fitted = fit_operation(found->second, kind, request.options);
    if (!fitted.ok()) {
      fit.report.notes.push_back(title + name + ": " + fitted.error().message());
      continue;
    }
    *member = std::move(fitted->model);
    fitted->model = {};
    fit.report.operations.emplace(title + name, std::move(*fitted));
    any = true;
  }
  if (any) fit.model.network[path_name] = std::move(path);
}

void fit_compute(const SortedSamples& samples, const FitRequest& request, Fit& fit) {
  model::ComputeModel compute;
  bool any = false;
  for (const model::ComputePrimitive& primitive : model::kComputePrimitives) {
    const auto found = samples.compute.find(primitive.name);
    if (found == samples.compute.end()) continue;
    for (const auto& [bytes, medians] : found->second) {
      std::vector<double> per_run;
      for (const auto& [run, value] : medians) per_run.push_back(value);
      const auto parameter = over_runs(per_run, samples.compute_raw.at(primitive.name).at(bytes),
                                       "run-medians+t", {.confidence = request.options.confidence});
      if (parameter) {
        (compute.*primitive.points).push_back({bytes, *parameter});
        any = true;
      } else {
        fit.report.notes.push_back(std::string(primitive.name) + " at " + std::to_string(bytes) +
                                   " bytes is absent: it was measured in fewer than two runs");
      }
    }
  }
  if (any) fit.model.compute = std::move(compute);
}

// By buffer: what getting into it takes beyond getting into the smallest one, and what it takes to
// go through it, in each run; per byte of the largest gets that were measured.
void fit_buffers(const SortedSamples& samples, const FitRequest& request, Fit& fit) {
  const auto path = fit.model.network.find(request.path);
  if (path == fit.model.network.end() || !path->second.get || samples.receive.empty()) return;
  const auto& [bytes, receive] = *samples.receive.rbegin();
  if (receive.get.empty() || bytes == 0) return;
  const RunMedians& smallest = receive.get.begin()->second;
  const double scale = 1 / static_cast<double>(bytes);
  for (const auto& [buffer_bytes, get_s] : receive.get) {
    const auto read_s = receive.read.find(buffer_bytes);
    if (read_s == receive.read.end()) {
      fit.report.notes.push_back("what a buffer of " + std::to_string(buffer_bytes) +
                                 " bytes costs is absent: reading it was not measured");
      continue;
    }
    std::vector<double> retire;
    std::vector<double> read;
    for (const auto& [run, value] : get_s) {
      const auto base = smallest.find(run);
      if (base != smallest.end()) retire.push_back((value - base->second) * scale);
    }
    for (const auto& [run, value] : read_s->second) read.push_back(value * scale);
    const OverRunsOptions options{.confidence = request.options.confidence};
    auto beyond = over_runs(retire, receive.raw_samples, "paired-run-medians+t", options);
    auto first_read = over_runs(read, receive.raw_samples, "run-medians+t", options);
    if (beyond && first_read) {
      path->second.get->buffers.push_back(
          {buffer_bytes, *std::move(beyond), *std::move(first_read)});
    } else {
      fit.report.notes.push_back("what a buffer of " + std::to_string(buffer_bytes) +
                                 " bytes costs is absent: it was measured in fewer than two runs");
    }
  }
}

// What the engine costs a strip: the mean over the points, of each run that measured both methods.
void fit_strip(const SortedSamples& samples, const FitRequest& request, Fit& fit) {
  std::map<uint32_t, std::vector<double>> overheads;
  for (const auto& [bytes, by_count] : samples.strip_loops) {
    for (const auto& [strips, loops] : by_count) {
      for (const auto& [run, engine_s] : loops.engine) {
        const auto by_hand = loops.by_hand.find(run);
        if (by_hand == loops.by_hand.end()) continue;
        overheads[run].push_back((engine_s - by_hand->second) / static_cast<double>(strips));
      }
    }
  }
  if (overheads.empty()) return;
  std::vector<double> per_run;
  per_run.reserve(overheads.size());
  for (const auto& [run, of_points] : overheads) {
    per_run.push_back(stats::mean_and_variance(of_points).mean);
  }
  auto overhead = over_runs(per_run, samples.strip_loops_raw, "paired-run-medians+t",
                            {.confidence = request.options.confidence});
  if (overhead) {
    fit.model.strip = model::StripModel{std::move(overhead), std::nullopt};
  } else {
    fit.report.notes.emplace_back(
        "the strip overhead is absent: it was measured in fewer than two runs");
  }
}

// After the operations: predictions rest on them.
void fit_many_regions(const VisSamples& samples, const FitRequest& request, Fit& fit) {
  const VisFitOptions options{.confidence = request.options.confidence};
  fit.model.pack = fit_pack(samples, options, fit.report.notes);
  auto vis = fit_vis(samples, fit.model, request.path, options, fit.report.notes);
  if (vis) fit.model.vis[request.path] = *std::move(vis);
}

// The sizes of the operations that could be fitted.
model::Domain domain_of(const SortedSamples& samples, const FitRequest& request,
                        const FitReport& report) {
  model::Domain domain;
  domain.min_ranks = request.min_ranks;
  domain.max_ranks = request.max_ranks;
  uint64_t low = std::numeric_limits<uint64_t>::max();
  for (const auto& [name, operation] : samples.operations) {
    if (!report.operations.contains(name)) continue;
    low = std::min(low, operation.latency.begin()->first);
    domain.max_bytes = std::max(domain.max_bytes, operation.latency.rbegin()->first);
  }
  domain.min_bytes = std::min(low, domain.max_bytes);
  return domain;
}

}  // namespace

Result<Fit> fit_model(std::span<const SampleSeries> series, const FitRequest& request) {
  const SampleTable table(series);
  const SortedSamples samples = sort_samples(table);
  Fit fit;
  fit.report.series_used = table.used().size();
  fit.report.rejected = table.rejected();
  fit_operations(samples, request.path, "", request, fit);
  for (const auto& [same_node, of_path] : sort_node_samples(table)) {
    const auto path = model::path_of_same_node(same_node);
    const std::string name(path ? model::path_name(*path) : std::string_view());
    // The network between ranks of a node is no path of its own.
    if (!path || path == model::Path::network || name == request.path) {
      fit.report.notes.push_back("samples of ranks of one node that reach each other by '" +
                                 same_node + "' are of no known path");
      continue;
    }
    fit_operations(of_path, name, name + " ", request, fit);
  }
  fit_compute(samples, request, fit);
  fit_buffers(samples, request, fit);
  fit_strip(samples, request, fit);
  fit_many_regions(sort_vis_samples(table), request, fit);
  fit.model.collective =
      fit_collectives(samples, request.max_ranks, request.options.confidence, fit.report.notes);
  for (const SectionFit& section : kSectionFits) {
    section.fit(table, request.options.confidence, fit.model, fit.report.notes);
  }
  if (fit.model.network.empty() && !fit.model.compute && !fit.model.collective && !fit.model.rma &&
      !fit.model.shared_update) {
    std::string why = "nothing could be fitted from " + std::to_string(series.size()) + " series";
    if (!fit.report.notes.empty()) why += ": " + fit.report.notes.front();
    if (fit.report.notes.empty() && !fit.report.rejected.empty()) {
      why += ": " + fit.report.rejected.front();
    }
    return Error(ErrorCode::failed_precondition,
                 why + "; run the micro experiments in two runs or more");
  }
  fit.model.name = request.name;
  fit.model.fingerprint = request.fingerprint;
  fit.model.domain = domain_of(samples, request, fit.report);
  fit.model.provenance.campaigns = request.campaigns;
  fit.model.provenance.fitter_version = kFitterVersion;
  fit.model.provenance.fitted_at = request.fitted_at;
  fit.model.provenance.provisional = request.provisional;
  STRIPLINE_ASSIGN_OR_RETURN(fit.model.provenance.sample_sha256, hash_of(series, table.used()));
  STRIPLINE_RETURN_IF_ERROR(model::validate(fit.model));
  return fit;
}

}  // namespace stripline::fit
