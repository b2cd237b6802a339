// Random networks whose parameters are known exactly, and what budgeted campaigns find out about
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "optimizer/fit/testing/synthetic.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::claims {

/// Random values.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  uint64_t below(uint64_t limit) { return random_.next() % limit; }
  bool one_in(uint64_t times) { return below(times) == 0; }
  double share() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  double between(double least, double most) { return least + (most - least) * share(); }
  /// Every factor between the two as often.
  double scaled(double least, double most);
  double normal();

 private:
  SplitMix64 random_;
};

struct Network {
  std::vector<fit::TrueOperation> operations;  ///< get, put, am
  fit::NoiseModel noise;
  double strip_overhead_s = 0;
};

/// Latencies of 0.5 us to 100 us, 20 ps to 10 ns a byte, no to two switches of protocols at any
/// size with steps of up to 3 L, queues of 2 to 512, jitter of up to 30 %.
Network draw_network(Draw& draw);

/// The operations as a model that is exact.
model::PathModel exact_path(const Network& network);

/// What is left of a campaign.
struct Campaign {
  model::TunedModel model;
  uint32_t runs = 0;
  double points_per_run = 0;
  bool usable = false;  ///< It gave a model.
};

/// A budgeted campaign: a plan of three grids, as the server makes them, as many runs as the budget
/// allows, points at breaks (optimizer/campaign/next_run.h), then the fit.
Campaign run_campaign(const Network& network, Draw& draw);

}  // namespace stripline::claims
