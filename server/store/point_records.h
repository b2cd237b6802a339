// Between samples and a campaign's points as they are stored, and as values and a table. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"
#include "server/store/records.h"

namespace stripline::server {

/// The series of a stored batch. Errors: data_loss.
Result<std::vector<experiment::SampleSeries>> series_of_batch(const std::string& data);

/// What is to be stored of the point at this place.
PointRecord record_of(const campaign::PointTable& table, uint32_t place);

/// Adds what a run has said. Points that are not in the table are left out.
void add_samples(campaign::PointTable& table, uint32_t run,
                 const std::vector<experiment::SampleSeries>& series);

}  // namespace stripline::server
