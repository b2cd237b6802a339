// A full campaign's measurements on one network without server and agents: the same experiments,
// grids and stopping rule (docs/campaigns.md), from runs that are kept so that a command can
// continue. Sizes between those of the grid are measured in the same launches: what a fitted model
// has to predict.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/fit/fit_model.h"
#include "suites/results/fabrics.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// Runs (fresh ranks each) of a campaign: what a full one makes. Quick: the fewest that give
/// intervals.
constexpr uint32_t campaign_runs(bool quick) { return quick ? 6 : 12; }

/// All points of the registered experiments that feed a model, those on computation only if it
/// takes time. Sizes at which a repetition would move more than 128 MiB are left out, as in a full
/// campaign; on a virtual clock, where the copies take the host's time and nothing else, more than
/// 16 MiB. Quick: every sixth size and count.
std::vector<experiment::Point> campaign_points(const Network& network, bool quick);

/// The points for prediction: micro.latency get and put at sizes a quarter of an octave from those
/// of the grid.
std::vector<experiment::Point> held_out_points(bool quick);

/// Ranks of a campaign.
inline constexpr uint32_t kCampaignRanks = 2;

/// How often a point is repeated in a run.
experiment::StopRule campaign_rule(const std::string& clock, bool quick);

/// Checks whether no series holds a wrong result (one without values was merely not measurable).
/// Errors: failed_precondition, with the point.
Status check_verified(const std::vector<experiment::SampleSeries>& series);

/// The campaign_points() that decisions on transfers of many regions rest on: packing, such
/// transfers, and the operations of the network at every other size up to 1 MiB, in few bursts.
std::vector<experiment::Point> vis_campaign_points(const Network& network, bool quick);

/// All runs (of campaign_runs(), on `ranks` ranks) with ranks and jitter of their own: those that
/// `folder` holds and, newly measured and kept there, those that are missing. Errors: as
/// measure_run() and check_verified(), after which the run is not kept; data_loss for a damaged
/// file.
Result<std::vector<experiment::SampleSeries>> load_or_measure_runs(
    const Options& options, const Network& network, uint64_t seed,
    const std::filesystem::path& folder, const std::vector<experiment::Point>& points,
    std::optional<uint32_t> runs = std::nullopt, uint32_t ranks = kCampaignRanks);

/// load_or_measure_runs() of this network's campaign in options.folder; grid and held-out points.
Result<std::vector<experiment::SampleSeries>> load_or_measure(const Options& options,
                                                              const Network& network);

/// A model of these series without the held-out points, that fits `network` only and holds one
/// path. Errors: as fit_model(); failed_precondition when no operation could be fitted.
Result<fit::Fit> fit_network(const Network& network,
                             const std::vector<experiment::SampleSeries>& series);

/// The file of the model for this network: the one given by the user, else fitted from
/// load_or_measure() and kept in options.folder.
Result<std::string> model_file(const Options& options, const Network& network);

}  // namespace stripline::suites::results
