// What strip-mined loops need besides network and compute: the section `strip` of the tuned model
// (docs/model-file.md).
#pragma once

#include <optional>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

struct StripModel {
  std::optional<Parameter> strip_overhead_s{};  ///< engine cost per strip beyond o and r
  std::optional<Parameter> minimum_gain{};      ///< relative predicted gain below which vectorise
  // What a plan may take longer than its parts were measured to take, as a share of its time.
  std::optional<Parameter> composition_doubt{};       ///< a loop in strips
  std::optional<Parameter> nest_composition_doubt{};  ///< a nest of loops
  std::optional<Parameter> others_doubt{};            ///< a loop among those of other ranks
};

Section strip_section();

}  // namespace stripline::model
