// Fits a tuned model from a campaign's samples: the entrance to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/fit/operation.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// Recorded in a model's provenance; raised when the same samples give another model.
inline constexpr const char* kFitterVersion = "fit/12";

/// What the samples do not say of themselves.
struct FitRequest {
  std::string name;                 ///< of the model
  std::string path = "inter-node";  ///< the path between ranks that was measured
  std::vector<std::string> campaigns;
  std::string fitted_at;           ///< RFC 3339; this folder reads no clock
  std::string provisional;         ///< See model::Provenance.
  model::Fingerprint fingerprint;  ///< of the machine that was measured
  uint32_t min_ranks = 2;
  uint32_t max_ranks = 2;  ///< the ranks that collectives were measured with
  OperationOptions options;
};

/// What the fit found besides parameters.
struct FitReport {
  std::size_t series_used = 0;
  std::vector<std::string> rejected;  ///< Series that were left out, and why.
  /// By operation, "put" or "intra-node put": breakpoints with their intervals, misfit, what could
  /// not be identified. The model member is empty here.
  std::map<std::string, OperationFit> operations;
  std::vector<std::string> notes;  ///< What could not be fitted as a whole, and why.
};

struct Fit {
  model::TunedModel model;
  FitReport report;
};

/// Fits every operation on every path, compute primitive, strip overhead, rule for collectives,
/// transfer of many regions and choice for single operations that the series hold. The result is
/// deterministic, does not depend on the order of the series, and satisfies model::validate().
/// Errors: failed_precondition when no operation, no primitive and no updates that workers share
/// could be fitted (the message says why), invalid_argument when the request breaks a rule of the
/// model, such as an empty name.
Result<Fit> fit_model(std::span<const experiment::SampleSeries> series, const FitRequest& request);

}  // namespace stripline::fit
