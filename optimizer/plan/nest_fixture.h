// Nests on a network for the tests of this folder.
#pragma once

#include "optimizer/plan/nest.h"
#include "optimizer/plan/strip_fixture.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan {

// A network and the costs of transfers of many regions over it.
struct Network {
  explicit Network(const model::TunedModel& m)
      : strip(costs_of(m)), vis(m.network.at("inter-node"), m.pack, nullptr) {}
  NestLink link() const {
    NestLink link{.strip = &strip, .vis = &vis};
    link.many.medium_bytes = kUsualMessageBytes;
    link.many.message_bytes = kUsualMessageBytes;
    return link;
  }
  StripCosts strip;
  VisCosts vis;
};

inline NestRequest request_on(const Network& network) {
  NestRequest request;
  request.links[kLocalLink].in_reach = true;
  request.links[link_by(model::Path::network)] = network.link();
  request.link.fill(link_by(model::Path::network));
  return request;
}

// y[i] += a[i * columns + j] * x[j], a and y in another rank's segment.
inline NestRequest matrix_times_vector(const Network& network, uint64_t rows, uint64_t columns) {
  NestRequest request = request_on(network);
  request.nest.add_loop(rows);
  request.nest.add_loop(columns);
  const auto row_bytes = static_cast<int64_t>(8 * columns);
  request.nest.add({.mode = access::Mode::read, .owner = 1, .stride_bytes = {row_bytes, 8}});
  request.nest.add(
      {.mode = access::Mode::update, .owner = 1, .base = int64_t{1} << 40, .stride_bytes = {8, 0}});
  request.compute_s = 1e-3;
  return request;
}

// Two or three loops with some arrays, each of which every loop goes through in order or not at
// all, so that tiles are contiguous.
inline NestRequest random_nest(RandomCases& draw, const Network& network) {
  NestRequest request = request_on(network);
  const uint32_t depth = 1 + static_cast<uint32_t>(draw.below(3));
  for (uint32_t loop = 0; loop < depth; ++loop) request.nest.add_loop(4 + draw.below(60));
  const uint32_t arrays = 1 + static_cast<uint32_t>(draw.below(3));
  uint64_t iterations = 1;
  for (uint32_t loop = 0; loop < depth; ++loop) iterations *= request.nest.counts[loop];
  for (uint32_t a = 0; a < arrays; ++a) {
    access::Reference reference{
        .mode = draw.below(3) == 0 ? access::Mode::update : access::Mode::read,
        .owner = 1,
        .base = static_cast<int64_t>(a) << 40};
    int64_t stride = 8;
    for (uint32_t loop = depth; loop-- > 0;) {
      if (draw.below(3) == 0 && a > 0) continue;  // does not move with this loop
      reference.stride_bytes[loop] = stride;
      stride *= static_cast<int64_t>(request.nest.counts[loop]);
    }
    request.nest.add(reference);
  }
  request.surroundings.target_polls_only = request.nest.counts[0] % 4 == 0;
  request.surroundings.alone = request.nest.counts[0] % 4 == 1;
  request.compute_s = static_cast<double>(iterations) * draw.log_uniform(0.2e-9, 100e-9);
  return request;
}

}  // namespace stripline::plan
