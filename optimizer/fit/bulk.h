// What blocking copies that do not wait cost beside their transfers (micro.bulk_window,
// micro.bulk_check, micro.bulk_copy).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/sample_table.h"
#include "optimizer/model/sections/bulk.h"

namespace stripline::fit {

/// Copies are medians of runs. The number in flight is the smallest with which a stream takes at
/// most 2 % longer than with the best one, of puts and of gets, the larger of both. Gets are made
/// ahead up to the largest size whose copy surely takes less than waiting for the get. What is not
/// known is named in `notes`; nullopt without a copy that was measured in two runs.
std::optional<model::BulkModel> fit_bulk(const SampleTable& table, double confidence,
                                         std::vector<std::string>& notes);

}  // namespace stripline::fit
