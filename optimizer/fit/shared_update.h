// What updates of cells that workers share cost (micro.shared_update).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/sample_table.h"
#include "optimizer/model/sections/shared_update.h"

namespace stripline::fit {

/// Medians of runs, by team. Teams of which not all is known are named in `notes`. nullopt without
/// a team of which all is known.
std::optional<model::SharedUpdateModel> fit_shared_update(const SampleTable& table,
                                                          double confidence,
                                                          std::vector<std::string>& notes);

}  // namespace stripline::fit
