#include "optimizer/plan/vis_time.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::plan {
namespace {

using namespace detail;
using model::example_parameter;

// One segment, so that a size does not change the parameters.
model::OperationModel operation(double scale) {
  model::Segment s;
  s.to_bytes = uint64_t{1} << 40;
  s.o_base_s = example_parameter(1e-6 * scale);
  s.L_s = example_parameter(5e-6);
  s.g_s = example_parameter(2e-6);
  s.G_s_per_byte = example_parameter(1e-9);
  s.r_base_s = example_parameter(0.5e-6 * scale);
  model::OperationModel operation;
  operation.segments = {s};
  return operation;
}

VisCosts costs_with(double delay_s = 0) {
  model::PathModel path{operation(1), operation(1), operation(2)};
  model::VisModel vis;
  vis.get.emplace();
  vis.get->heavy_delay_s = example_parameter(delay_s);
  vis.put = vis.get;
  return {path, model::example_pack(), &vis};
}

VisRequest request_of(uint64_t regions, uint64_t region_bytes) {
  VisRequest request;
  request.regions = regions;
  request.region_bytes = region_bytes;
  request.extent_bytes = 2 * regions * region_bytes;
  request.local_regions = 1;
  request.medium_bytes = 8192;
  return request;
}

TEST(VisTime, OnePieceIsABlockingGet) {
  const VisCosts costs = costs_with();
  EXPECT_DOUBLE_EQ(pipelined_time(request_of(1, 1000), costs, 16),
                   costs.link(Direction::get).blocking(1000));
}

TEST(VisTime, AWindowOfOneIsBlockingGetsInARow) {
  const VisCosts costs = costs_with();
  EXPECT_NEAR(pipelined_time(request_of(7, 1000), costs, 1),
              7 * costs.link(Direction::get).blocking(1000), 1e-15);
}

TEST(VisTime, ALongStreamIsAsFastAsItsSlowestStage) {
  const VisCosts costs = costs_with();
  constexpr uint64_t kMany = 1000000;
  EXPECT_NEAR(pipelined_time(request_of(kMany, 8), costs, 1024) / kMany,
              costs.link(Direction::get).stream(8), 1e-9);
  EXPECT_NEAR(pipelined_time(request_of(kMany, 100000), costs, 1024) / kMany, 2e-6 + 100e-6, 1e-8);
}

// One that is waited for alone costs more to retire than one of a window that is not.
TEST(VisTime, OperationsInFlightTogetherAreRetiredTogether) {
  model::OperationModel batched = operation(4);
  batched.segments[0].r_batched_s = example_parameter(0.2e-6);
  const VisCosts with({batched, batched, operation(2)}, model::example_pack(), nullptr);
  const VisCosts without({operation(4), operation(4), operation(2)}, model::example_pack(),
                         nullptr);
  constexpr uint64_t kMany = 1000;
  EXPECT_DOUBLE_EQ(pipelined_time(request_of(kMany, 8), with, 1),
                   pipelined_time(request_of(kMany, 8), without, 1));
  EXPECT_NEAR(pipelined_time(request_of(kMany, 8), without, 2 * kMany) -
                  pipelined_time(request_of(kMany, 8), with, 2 * kMany),
              0, 1e-12)
      << "while all are issued nothing is retired";
  EXPECT_NEAR((pipelined_time(request_of(kMany, 8), without, 64) -
               pipelined_time(request_of(kMany, 8), with, 64)) /
                  (kMany - 64),
              2e-6 - 0.2e-6, 1e-10);
}

// A get leaves the queue when its data are there, so that a larger window is of no use; a put when
// it is sent.
TEST(VisTime, AQueueHoldsUpMoreGetsThanItHas) {
  constexpr uint64_t kMany = 1000000;
  model::OperationModel distant = operation(1);
  distant.segments[0].L_s = example_parameter(200e-6);
  distant.queue_depth = example_parameter(8, 0);
  const VisCosts costs({distant, distant, operation(2)}, model::example_pack(), nullptr);
  VisRequest request = request_of(kMany, 8);
  const double blocking_s = costs.link(Direction::get).blocking(8);
  EXPECT_NEAR(pipelined_time(request, costs, 64) / kMany, blocking_s / 8, 1e-9);
  EXPECT_NEAR(pipelined_time(request, costs, 4) / kMany, blocking_s / 4, 1e-9);
  request.direction = Direction::put;
  EXPECT_NEAR(pipelined_time(request, costs, 64) / kMany, blocking_s / 64, 1e-9);
}

TEST(VisTime, LocalPiecesCountAsWell) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(4, 1000);
  request.local_regions = 40;
  EXPECT_DOUBLE_EQ(pipelined_time(request, costs, 8),
                   pipelined_time(request_of(40, 100), costs, 8));
}

TEST(VisTime, NativeOperationsTakeSeveralPieces) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(16, 100);
  request.iov_limit = 4;
  EXPECT_EQ(iov_operations(request), 4U);
  EXPECT_DOUBLE_EQ(native_iov_time(request, costs, 8, 0),
                   pipelined_time(request_of(4, 400), costs, 8));
  // CPU-bound streams pay for each piece.
  EXPECT_NEAR(native_iov_time(request, costs, 8, 1e-3) - native_iov_time(request, costs, 8, 0),
              16e-3, 1e-4);
}

// Five pieces are four and one: the four are too many for the protocol of small operations,
// although half of the pieces would not be.
TEST(VisTime, NativeOperationsGoByTheProtocolOfThoseThatAreFull) {
  model::OperationModel switching = operation(1);
  switching.segments.push_back(switching.segments.front());
  switching.segments[0].to_bytes = switching.segments[1].from_bytes = 4000;
  switching.segments[1].L_s = example_parameter(50e-6);
  const VisCosts costs({switching, switching, operation(2)}, model::example_pack(), nullptr);
  VisRequest request = request_of(5, 1000);
  request.iov_limit = 4;
  const double full_s = costs.link(Direction::get).blocking(4000);
  EXPECT_GT(native_iov_time(request, costs, 8, 0), full_s);
  EXPECT_GT(vis_stage(request, costs, {VisMethod::native_iov, 8, 0}).round_trip, 100e-6);
  // All of them in one are smaller.
  request.regions = 3;
  EXPECT_LT(native_iov_time(request, costs, 8, 0), full_s / 2);
}

TEST(VisTime, ABoundingBoxIsAGetAndCopies) {
  const VisCosts costs = costs_with();
  const VisRequest request = request_of(16, 100);
  EXPECT_DOUBLE_EQ(bounding_box_time(request, costs),
                   costs.link(Direction::get).blocking(3200) + costs.pack().unpack(16, 1600, 3200));
}

TEST(VisTime, OneMessageGoesThroughAllStages) {
  const VisCosts costs = costs_with();
  const VisRequest request = request_of(16, 100);
  const double there = costs.am().at(32).one_way(32);
  const double back = costs.am().at(1632).one_way(1632);
  EXPECT_NEAR(packed_time(request, costs, 8192, 4, 0),
              there + costs.pack().pack(16, 1600, 3200) + back + costs.pack().unpack(1, 1600, 1600),
              1e-15);
  // A message that has to wait at the target once.
  EXPECT_NEAR(packed_time(request, costs, 8192, 4, 1e-3) - packed_time(request, costs, 8192, 4, 0),
              1e-3, 1e-12);
}

TEST(VisTime, AChunkBeyondAMessageIsAskedForAndFetched) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(400, 100);
  request.medium_bytes = 64000;
  request.message_bytes = 8192;
  ASSERT_TRUE(vis_lands(request, 64000));
  const double asking = costs.am().at(32).one_way(32);
  EXPECT_NEAR(packed_time(request, costs, 64000, 4, 0),
              2 * asking + costs.pack().pack(400, 40000, 80000) +
                  costs.link(Direction::get).blocking(40000) + costs.pack().unpack(1, 40000, 40000),
              1e-12);
  request.direction = Direction::put;
  EXPECT_NEAR(packed_time(request, costs, 64000, 4, 1e-3),
              2 * asking + costs.pack().unpack(400, 40000, 80000) + 1e-3 +
                  costs.link(Direction::put).blocking(40000) + costs.pack().pack(1, 40000, 40000),
              1e-12);
}

TEST(VisTime, ChunksThatLandOverlap) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(16000, 100);
  request.medium_bytes = 64000;
  request.message_bytes = 8192;
  // A stream of gets that take longer than packing and unpacking.
  const auto chunks = static_cast<double>(vis_message_count(request, 64000));
  EXPECT_NEAR(packed_time(request, costs, 64000, 4, 0) / chunks,
              costs.link(Direction::get).gap(64000), 0.3 * costs.link(Direction::get).gap(64000));
  EXPECT_GT(packed_time(request, costs, 64000, 1, 0),
            1.2 * packed_time(request, costs, 64000, 2, 0));
}

TEST(VisTime, FewBytesTravelInMessagesWhateverTheChunk) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(200, 100);
  request.medium_bytes = 64000;
  request.message_bytes = 8192;
  EXPECT_FALSE(vis_lands(request, 64000));  // less than three messages
  EXPECT_DOUBLE_EQ(packed_time(request, costs, 64000, 4, 0),
                   packed_time(request, costs, 8192, 4, 0));
  EXPECT_EQ(force_vis(request, nullptr, VisMethod::packed, 64000, 4).window, 3U);
  request = request_of(400, 100);
  request.message_bytes = 8192;
  EXPECT_FALSE(vis_lands(request, 8192));
  EXPECT_TRUE(vis_lands(request, 8193));
  request.region_header_bytes = 8;
  request.region_bytes = 50;
  request.regions = 800;
  EXPECT_FALSE(vis_lands(request, 64000));  // requests full of short regions
  request.direction = Direction::put;
  EXPECT_TRUE(vis_lands(request, 64000));
}

TEST(VisTime, NobodyIsAskedWhereTheDataLieTogether) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(100, 100);
  request.extent_bytes = 10000;
  request.local_regions = 100;
  request.medium_bytes = 64000;
  request.message_bytes = 8192;
  ASSERT_TRUE(vis_lands(request, 64000));
  EXPECT_NEAR(packed_time(request, costs, 64000, 4, 1e-3),
              costs.link(Direction::get).blocking(10000) + costs.pack().unpack(100, 10000, 10000),
              1e-12);
}

TEST(VisTime, WhatWasSeenOfTheTargetAddsToWhatNeedsItsAttention) {
  const VisCosts costs = costs_with(1e-3);  // of the heavy class
  VisRequest idle = request_of(16, 100);
  VisRequest busy = idle;
  busy.surroundings.service_delay_s = 3e-3;
  const auto grows_by = [&](const VisCandidate& candidate) {
    return model_time(busy, costs, candidate) - model_time(idle, costs, candidate);
  };
  const VisCandidate packed{VisMethod::packed, 4, 8192};
  const VisCandidate pipelined{VisMethod::pipelined, 16, 0};
  const VisCandidate native{VisMethod::native_iov, 16, 0};
  const VisCandidate box{VisMethod::bounding_box, 1, 0};
  EXPECT_NEAR(grows_by(packed), 3e-3, 1e-12);
  for (const VisCandidate& direct : {pipelined, native, box}) EXPECT_EQ(grows_by(direct), 0.0);

  // Only what exceeds the delay that was measured for the class, which the residuals know.
  idle.compute = busy.compute = ComputeClass::heavy;
  EXPECT_NEAR(grows_by(packed), 2e-3, 1e-12);
  busy.surroundings.service_delay_s = 0.5e-3;
  EXPECT_EQ(grows_by(packed), 0.0);

  // A network that makes everything wait for the target.
  busy.surroundings.service_delay_s = 3e-3;
  idle.surroundings.target_polls_only = busy.surroundings.target_polls_only = true;
  for (const VisCandidate& direct : {pipelined, native, box}) {
    EXPECT_NEAR(grows_by(direct), 2e-3, 1e-12);
  }
  EXPECT_NEAR(grows_by({VisMethod::pipelined, 1, 0}), 16 * 2e-3, 1e-9);
}

// o + L + G S of a put of one word.
double flag_s(const VisCosts& costs) {
  const cost::MessageCosts& put = costs.link(Direction::put).at(8);
  return put.o(8) + put.L + 8 * put.G;
}

TEST(VisTime, AFlagFollowsOperationsOfTheNetwork) {
  const VisCosts costs = costs_with();
  VisRequest plain = request_of(16, 100);
  plain.direction = Direction::put;
  plain.iov_limit = 4;
  VisRequest signalled = plain;
  signalled.signalled = true;
  for (const VisCandidate& direct : {VisCandidate{VisMethod::pipelined, 1, 0},
                                     {VisMethod::pipelined, 16, 0},
                                     {VisMethod::native_iov, 4, 0}}) {
    EXPECT_NEAR(model_time(signalled, costs, direct) - model_time(plain, costs, direct),
                flag_s(costs), 1e-15);
  }
  // One region: a blocking put and a flag.
  signalled.regions = 1;
  EXPECT_NEAR(pipelined_time(signalled, costs, 4),
              costs.link(Direction::put).blocking(100) + flag_s(costs), 1e-15);
}

TEST(VisTime, AFlagThatIsPackedDoesNotWaitForTheAnswer) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(16, 100);
  request.direction = Direction::put;
  request.signalled = true;
  // One message: packed, sent, unpacked.
  const uint64_t bytes = 1600 + request.message_header_bytes;
  EXPECT_NEAR(packed_time(request, costs, 8192, 4, 0),
              costs.pack().pack(1, 1600, 1600) +
                  costs.am().at(bytes).one_way(static_cast<double>(bytes)) +
                  costs.pack().unpack(16, 1600, 3200),
              1e-15);
  // With several, and with chunks that land, the last answer counts.
  const double answer = costs.am().at(32).one_way(32);
  const auto saves = [&](uint64_t chunk_bytes) {
    VisRequest plain = request;
    plain.signalled = false;
    return packed_time(plain, costs, chunk_bytes, 4, 0) -
           packed_time(request, costs, chunk_bytes, 4, 0);
  };
  EXPECT_NEAR(saves(500), answer, 1e-15);
  request.regions = 4000;
  request.extent_bytes = 800000;
  request.medium_bytes = 64000;
  request.message_bytes = 8192;
  ASSERT_TRUE(vis_lands(request, 64000));
  EXPECT_NEAR(saves(64000), answer, 1e-12);
  // What lies together there is put without an answer.
  request.extent_bytes = 400000;
  request.local_regions = 4000;
  ASSERT_TRUE(vis_lands(request, 64000));
  EXPECT_NEAR(saves(64000), -flag_s(costs), 1e-12);
}

TEST(VisTime, AFlagTravelsWithTheOnlyPutWhereTheNetworkCan) {
  const VisCosts costs = costs_with();
  VisRequest request = request_of(1, 6400);
  request.direction = Direction::put;
  request.extent_bytes = 6400;
  request.local_regions = 64;
  request.medium_bytes = 64000;
  request.message_bytes = 4096;
  request.signalled = true;
  ASSERT_TRUE(vis_lands(request, 64000));
  const double follows = packed_time(request, costs, 64000, 1, 0);
  const double several = packed_time(request, costs, 5000, 1, 0);
  request.surroundings.flag_with_data = true;
  // Packed, and sent.
  const cost::MessageCosts& put = costs.link(Direction::put).at(6400);
  EXPECT_NEAR(packed_time(request, costs, 64000, 1, 0),
              costs.pack().pack(64, 6400, 6400) + put.o(6400) + put.L + 6400 * put.G, 1e-15);
  EXPECT_NEAR(follows - packed_time(request, costs, 64000, 1, 0),
              put.L + put.r(6400) + flag_s(costs), 1e-15);
  EXPECT_EQ(packed_time(request, costs, 5000, 1, 0), several);
}

// It sees the flag when it looks for it.
TEST(VisTime, WhatATargetLetsWaitDoesNotCountWhereItWaitsForTheFlag) {
  const VisCosts costs = costs_with(1e-3);
  VisRequest idle = request_of(160, 100);
  idle.direction = Direction::put;
  idle.signalled = true;
  VisRequest busy = idle;
  busy.surroundings.service_delay_s = 3e-3;
  busy.compute = ComputeClass::heavy;
  busy.surroundings.target_polls_only = true;
  for (const VisCandidate& any :
       {VisCandidate{VisMethod::pipelined, 2, 0}, {VisMethod::packed, 1, 2000}}) {
    EXPECT_EQ(model_time(busy, costs, any), model_time(idle, costs, any));
  }
}

TEST(VisTime, PackedMessagesOneByOneTakeARoundEach) {
  const VisCosts costs = costs_with();
  const VisRequest request = request_of(uint64_t{4} * 16, 100);
  EXPECT_EQ(vis_message_count(request, 1632), 4U);
  EXPECT_NEAR(packed_time(request, costs, 1632, 1, 1e-4),
              4 * (packed_time(request_of(16, 100), costs, 1632, 1, 1e-4)), 1e-8);
}

TEST(VisTime, WindowsNeverHurt) {
  const VisCosts costs = costs_with(1e-5);
  for (const uint64_t regions : {1U, 3U, 100U, 5000U}) {
    for (const uint64_t bytes : {8U, 1000U, 50000U}) {
      const VisRequest request = request_of(regions, bytes);
      for (uint32_t window = 1; window < 64; ++window) {
        EXPECT_LE(pipelined_time(request, costs, window + 1),
                  pipelined_time(request, costs, window) * (1 + 1e-12));
        EXPECT_LE(packed_time(request, costs, 2048, window + 1, 1e-5),
                  packed_time(request, costs, 2048, window, 1e-5) * (1 + 1e-12));
      }
    }
  }
}

TEST(VisTime, CountsMetadata) {
  VisRequest request = request_of(1000, 8);
  request.message_header_bytes = 0;
  EXPECT_EQ(vis_message_count(request, 8000), 1U);
  request.region_header_bytes = 8;
  EXPECT_EQ(vis_message_count(request, 8000), 2U);  // what is cut is described twice
  EXPECT_EQ(vis_message_count(request, 8008), 1U);  // of a get, the lists are sent by the initiator
  request.direction = Direction::put;
  EXPECT_EQ(vis_message_count(request, 8008), 2U);
  EXPECT_EQ(vis_message_count(request, 16008), 1U);
}

}  // namespace
}  // namespace stripline::plan
