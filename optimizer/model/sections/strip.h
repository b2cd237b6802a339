// What strip-mined loops need besides network and compute: the section `strip` of the tuned model
// (docs/model-file.md).
#pragma once

#include <optional>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

struct StripModel {
  std::optional<Parameter> strip_overhead_s;  ///< engine cost per strip beyond o and r
  std::optional<Parameter> minimum_gain;      ///< relative predicted gain below which vectorise
};

Section strip_section();

}  // namespace stripline::model
