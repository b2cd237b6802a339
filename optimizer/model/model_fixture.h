// Small models for tests of this folder and of those above it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/model/tuned_model.h"

namespace stripline::model {

inline Parameter example_parameter(double value, double relative_half_width = 0.02) {
  return {value,
          value * (1 - relative_half_width),
          value * (1 + relative_half_width),
          12,
          2400,
          "wls-per-run+t",
          false};
}

/// Buffers beyond a cache of 1 MiB are dear: twice the cost to read from, and half a nanosecond per
/// byte more to get into.
inline std::vector<BufferPoint> example_buffers() {
  return {{128 << 10, example_parameter(0), example_parameter(0.2e-9)},
          {1 << 20, example_parameter(0), example_parameter(0.2e-9)},
          {2 << 20, example_parameter(0.5e-9), example_parameter(0.4e-9)}};
}

/// Copies of data that stay in a cache of 1 MiB, and of others.
inline PackModel example_pack() {
  return {{{64 << 10, example_parameter(8e-9), example_parameter(0.2e-9)},
           {2 << 20, example_parameter(20e-9), example_parameter(0.5e-9)}},
          {{64 << 10, example_parameter(9e-9), example_parameter(0.2e-9)},
           {2 << 20, example_parameter(25e-9), example_parameter(0.6e-9)}}};
}

/// Nodes of one switch leave each other alone; beyond it two, and among 16 nodes four, share a
/// link.
inline ServiceModel example_service() {
  const auto level = [](uint32_t nodes, uint32_t distance, double best, double worst) {
    return ServiceLevel{nodes, distance, 65536, example_parameter(best), example_parameter(worst)};
  };
  const std::vector<ServiceLevel> levels = {level(4, 0, 1, 1), level(4, 1, 1.5, 2),
                                            level(16, 0, 1, 1), level(16, 1, 2, 2),
                                            level(16, 2, 3, 4)};
  return {DistanceScale::switches, levels, {levels[0], levels[1]}};
}

/// Every member present once; residuals of two methods in some places.
inline VisModel example_vis() {
  VisDirection get;
  get.chunk_bytes = 8192;
  get.window = 8;
  get.pipelined_window = 32;
  get.iov_piece_s = example_parameter(0.3e-6);
  get.light_delay_s = example_parameter(1e-6);
  get.heavy_delay_s = example_parameter(50e-6);
  get.communication_only.pipelined.compact = {{8, 16, example_parameter(1.1)},
                                              {8, 4096, example_parameter(1.3)},
                                              {4096, 16, example_parameter(0.9)}};
  get.communication_only.packed.compact = {{8, 16, example_parameter(1.2)},
                                           {4096, 16, example_parameter(1.4)}};
  get.communication_only.packed.spread = {{8, 16, example_parameter(1.5)}};
  get.communication_only.native_iov.compact = {{8, 16, example_parameter(1)}};
  get.light.bounding_box.compact = {{8, 16, example_parameter(1.2)}};
  get.heavy.packed.compact = {{8, 16, example_parameter(2, 0.5)}};
  VisDirection put;
  put.chunk_bytes = 4096;
  return {put, get};
}

/// Every member present once, but for the buffers of gets and what concerns many regions, in the
/// order of magnitude of an InfiniBand network of 2004.
inline TunedModel example_model() {
  TunedModel m;
  m.name = "example";
  m.provenance = {{"campaigns/17"}, std::string(64, 'a'), "0.1.0", "2024-05-01T12:00:00Z"};
  m.fingerprint = {{"cpu_model", {"AMD Opteron 248", MatchRule::soft}},
                   {"fabric", {"emulated:opteron-vapi", MatchRule::hard}},
                   {"kernel", {"6.1.0", MatchRule::ignore}}};
  m.domain = {2, 8, 8, uint64_t{4} << 20};
  Segment small;
  small.from_bytes = 0;
  small.to_bytes = 2048;
  small.o_base_s = example_parameter(0.8e-6);
  small.o_per_byte_s = example_parameter(0.1e-9);
  small.L_s = example_parameter(4.5e-6);
  small.G_s_per_byte = example_parameter(1.5e-9);
  small.r_base_s = example_parameter(0.4e-6);
  Segment large = small;
  large.from_bytes = 2048;
  large.to_bytes = uint64_t{4} << 20;
  large.o_per_byte_s.reset();
  large.g_s = example_parameter(1.2e-6);
  large.G_s_per_byte = example_parameter(1.25e-9);
  large.r_per_byte_s = example_parameter(0.01e-9);
  large.s_base_s = example_parameter(0.5e-6);
  large.s_per_byte_s = example_parameter(0.02e-9);
  OperationModel operation;
  operation.segments = {small, large};
  operation.queue_depth = example_parameter(64);
  OperationModel message;
  message.segments = {small};
  message.queue_depth = example_parameter(256, 0);
  message.queue_depth->at_least = true;
  m.network["inter-node"] = {operation, operation, message};
  ComputeModel c;
  c.red_in = {{4096, example_parameter(1.0e-9)}, {65536, example_parameter(1.1e-9)}};
  c.red_out = {{65536, example_parameter(2.5e-9)}, {4 << 20, example_parameter(3.0e-9)}};
  c.vec_in = {{4096, example_parameter(1.5e-9)}};
  c.vec_out = {{4 << 20, example_parameter(6.0e-9)}};
  c.alu = {{0, example_parameter(2.0e-9)}};
  m.compute = c;
  m.strip = StripModel{example_parameter(0.1e-6), example_parameter(0.02, 0)};
  m.unknown_sections["later"] = R"({"boundary":[1,2.5]})";
  m.collective = CollectiveModel{{{.operation = CollectiveOperation::broadcast,
                                   .algorithm = CollectiveAlgorithm::binomial,
                                   .min_ranks = 2,
                                   .max_ranks = 4,
                                   .from_bytes = 0,
                                   .to_bytes = 2048,
                                   .bytes = 512,
                                   .time_s = example_parameter(9e-6)},
                                  {.operation = CollectiveOperation::broadcast,
                                   .algorithm = CollectiveAlgorithm::scatter_allgather,
                                   .min_ranks = 2,
                                   .max_ranks = 4,
                                   .from_bytes = 2048,
                                   .to_bytes = uint64_t{1} << 53,
                                   .bytes = 16384,
                                   .time_s = example_parameter(30e-6),
                                   .gain = example_parameter(0.25)}}};
  m.rma = RmaModel{
      .buffered_put = BufferedPutModel{32768, example_parameter(0.3)},
      .put_combining = PutCombiningModel{256, 8192, example_parameter(5e-6),
                                         example_parameter(100e-6), example_parameter(0.6)},
      .atomic = AtomicModel{AtomicWay::message, example_parameter(12e-6), example_parameter(10e-6),
                            example_parameter(0.1)},
      .progress = ProgressModel{example_parameter(40e-9), example_parameter(30e-6)}};
  m.service_levels = example_service();
  return m;
}

}  // namespace stripline::model
