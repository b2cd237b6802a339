// From the samples of a campaign that has measured all to a version of its model.
#pragma once

#include <cstdint>
#include <optional>

#include "server/core/core_state.h"
#include "server/core/models/fit_queue.h"

namespace stripline::server {

class CampaignFits {
 public:
  /// Both must outlive it.
  CampaignFits(CoreState& state, FitQueue& fits) : state_(state), fits_(fits) {}

  /// On the fitting thread.
  void fit(int64_t campaign) STRIPLINE_EXCLUDES(state_.mutex);

 private:
  std::optional<uint32_t> wanted(int64_t campaign) const STRIPLINE_REQUIRES(state_.mutex);
  Status note_failure(int64_t campaign, const Error& why) STRIPLINE_REQUIRES(state_.mutex);
  Status publish(int64_t campaign, const Result<FittedModel>& fitted)
      STRIPLINE_REQUIRES(state_.mutex);

  CoreState& state_;
  FitQueue& fits_;
};

}  // namespace stripline::server
