// What a campaign says of transfers of many regions: the costs of packing, the best sizes and
// windows, and by how much the cost model of optimizer/plan/vis_time.h is wrong where it was
// measured. After the operations of the path, whose parameters the predictions rest on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/vis_samples.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

struct VisFitOptions {
  double confidence = 0.95;  ///< of the published intervals, in (0, 1)
};

/// Costs of packing: for each span, in each run, a line through the times of a region by its size,
/// weighted by relative error. nullopt without samples of two sizes in two runs.
std::optional<model::PackModel> fit_pack(const VisSamples& samples, const VisFitOptions& options,
                                         std::vector<std::string>& notes);

/// Everything of one path. `model` holds its operations and the costs of packing. nullopt when
/// nothing of it was measured in two runs.
///
/// * chunk_bytes and window: the pair under which micro.vis measured, whose residuals then hold as
///   they are, also for programs that compute, unless the mean relative time of another over
///   shapes (of each, the median run) is lower by a tenth; else, of those within 2 % of
///   the best, the one that needs least memory, which grows with the number of peers.
///   pipelined_window likewise.
/// * exposed time: that of a transfer with computation, less that of the computation alone in the
///   same run; at least kLeastExposed of the former, as what is hidden entirely can hardly be
///   distinguished from nothing.
/// * iov_piece_s, light_delay_s, heavy_delay_s: in each run the median, over what was measured, of
///   exposed time beyond the prediction without them, per piece (delays: beyond the same transfer
///   without computation, per window of messages, as the messages of one wait together).
/// * residuals: median over runs of exposed over predicted time. Those measured under
///   another chunk or window than the best ones are carried over by what the residuals of
///   micro.vis_chunk and micro.vis_window changed between the two.
std::optional<model::VisModel> fit_vis(const VisSamples& samples, const model::TunedModel& model,
                                       const std::string& path, const VisFitOptions& options,
                                       std::vector<std::string>& notes);

/// The least share of a transfer's time with computation that counts as exposed.
inline constexpr double kLeastExposed = 0.02;

}  // namespace stripline::fit
