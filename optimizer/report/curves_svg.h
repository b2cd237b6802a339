// What a model says a transfer takes by its size, as a picture that needs no browser: SVG text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::reports {

/// What of an operation is drawn (docs/measurement.md).
enum class Quantity {
  blocking,  ///< one operation, waited for; a message until its handler has run
  stream,    ///< an operation of a long stream
  issue,     ///< the processor's time to issue one
};
/// Their names, in this order: "blocking", "stream", "issue".
const std::vector<std::string>& quantity_names();
/// The quantity of a name; blocking for any other.
Quantity quantity_named(std::string_view name);

struct CurvesOptions {
  Quantity quantity = Quantity::blocking;
  std::string path;  ///< of the model; empty: all, one below the other
};

/// Curves of each operation with the band that its parameters' 95 % intervals give, and lines where
/// segments begin; both axes logarithmic. Errors: those of plan::path_named().
Result<std::string> curves_svg(const model::TunedModel& model, const CurvesOptions& options);

}  // namespace stripline::reports
