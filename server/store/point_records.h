// Between samples and a campaign's points as they are stored, and as values and a table. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"
#include "server/store/changes.h"

namespace stripline::server {

/// The series of a stored batch. Errors: data_loss.
Result<std::vector<experiment::SampleSeries>> series_of_batch(const std::string& data);

/// What is to be stored of the point of a campaign at this place.
PointUpdate update_of(int64_t campaign, const campaign::PointTable& table, uint32_t place);

/// Medians of runs as they are stored: eight bytes each, in the same order on all machines.
std::string bytes_of_medians(std::span<const double> medians);
/// Errors: data_loss.
Result<std::vector<double>> medians_of_bytes(std::string_view bytes);

/// Adds what a run has said. Points that are not in the table are left out.
void add_samples(campaign::PointTable& table, uint32_t run,
                 const std::vector<experiment::SampleSeries>& series);

}  // namespace stripline::server
