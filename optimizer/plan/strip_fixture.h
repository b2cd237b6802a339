// Random models and requests for the property tests of this folder.
#pragma once

#include <cmath>
#include <random>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/strip.h"

namespace stripline::plan {

inline StripCosts costs_of(const model::TunedModel& m) {
  return {m.network.at("inter-node"), m.compute, m.strip, m.service_levels};
}

/// Draws networks from slow Ethernet to fast RDMA, with and without protocol switches.
class RandomCases {
 public:
  explicit RandomCases(uint64_t seed)
      : random_(seed), loads_(seed + 1), uneven_(seed + 2), served_(seed + 3) {}

  double log_uniform(double low, double high) {
    return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random_));
  }
  uint64_t below(uint64_t limit) { return random_() % limit; }

  model::TunedModel network(double half_width) {
    const auto parameter = [&](double value) {
      return model::example_parameter(value, half_width);
    };
    model::OperationModel operation;
    const int segments = static_cast<int>(1 + below(3));
    uint64_t from = 0;
    const double L = log_uniform(0.5e-6, 50e-6);
    const double G = log_uniform(0.05e-9, 10e-9);
    const double o = log_uniform(0.1e-6, 5e-6);
    for (int i = 0; i < segments; ++i) {
      model::Segment s;
      s.from_bytes = from;
      from = i + 1 == segments ? uint64_t{64} << 20 : uint64_t{1} << (8 + 4 * i + below(3));
      s.to_bytes = from;
      s.o_base_s = parameter(o);
      s.o_per_byte_s = parameter(log_uniform(0.001, 0.1) * G);
      s.L_s = parameter(L * (1 + 0.3 * i));
      s.g_s = parameter(log_uniform(0.05, 1) * o);
      s.G_s_per_byte = parameter(G * log_uniform(0.9, 1.1));
      s.r_base_s = parameter(log_uniform(0.1, 1) * o);
      s.r_per_byte_s = parameter(log_uniform(0.001, 0.3) * G);
      operation.segments.push_back(s);
    }
    operation.queue_depth = parameter(static_cast<double>(uint64_t{4} << below(8)));
    model::TunedModel m = model::example_model();
    m.network["inter-node"] = {operation, operation, std::nullopt};
    m.strip = model::StripModel{parameter(log_uniform(10e-9, 200e-9)), std::nullopt};
    return m;
  }

  StripRequest request() {
    StripRequest r;
    r.direction = below(2) == 0 ? Direction::get : Direction::put;
    r.element_bytes = below(4) == 0 ? 24 : 8;
    r.granule_elements = below(4) == 0 ? 100 : 1;
    const uint64_t granule = r.element_bytes * r.granule_elements;
    r.total_bytes = granule * (1 + static_cast<uint64_t>(log_uniform(1, 8e6)) / granule);
    if (r.direction == Direction::get && below(3) == 0) r.halo_bytes = r.element_bytes * below(64);
    if (below(3) == 0) {  // a few regions, beside data of one's own
      r.blocks = static_cast<uint32_t>(1 + below(7));
      r.total_bytes *= r.blocks;
      r.peers = static_cast<uint32_t>(1 + below(r.blocks));
      r.uneven = uneven_() % 2 == 0;
      if (r.direction == Direction::get) r.own_bytes = r.total_bytes / r.blocks * below(2);
    }
    if (below(3) == 0) r.max_buffer_bytes = granule + r.halo_bytes + below(2 * r.total_bytes);
    if (below(4) == 0) r.surroundings.nic_ranks = static_cast<uint32_t>(1 + below(8));
    if (loads_() % 4 == 0) {
      r.surroundings.load.nodes = static_cast<uint32_t>(2 + loads_() % 30);
      for (uint32_t peer = 0; peer < r.peers; ++peer) {
        r.surroundings.load.add(static_cast<uint32_t>(loads_() % 3));
      }
    }
    if (r.direction == Direction::get) r.surroundings.target_polls_only = served_() % 4 == 0;
    // From much cheaper to much dearer than the transfer.
    r.compute_s = static_cast<double>(r.total_bytes) * log_uniform(0.01e-9, 50e-9);
    return r;
  }

 private:
  std::mt19937_64 random_;
  std::mt19937_64 loads_;
  std::mt19937_64 uneven_;
  std::mt19937_64 served_;
};

}  // namespace stripline::plan
