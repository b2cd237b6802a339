// Between a campaign's points as they are stored and as a table. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"
#include "server/records.h"

namespace stripline::server {

/// What is to be stored of the point at this place.
PointRecord record_of(const campaign::PointTable& table, uint32_t place);

/// Adds what a run has said. Points that are not in the table are left out.
void add_samples(campaign::PointTable& table, uint32_t run,
                 const std::vector<experiment::SampleSeries>& series);

}  // namespace stripline::server
