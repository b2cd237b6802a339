// What updates of other ranks' memory cost (micro.update_item, micro.atomic).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/sample_table.h"
#include "optimizer/model/sections/update.h"

namespace stripline::fit {

/// Medians of runs, by span; atomic operations are those of the longest stream that was measured.
/// What cannot be fitted is named in `notes`. nullopt without a span of which all is known.
std::optional<model::UpdateModel> fit_update(const SampleTable& table, double confidence,
                                             std::vector<std::string>& notes);

}  // namespace stripline::fit
