#include "optimizer/model/validate.h"

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::model {
namespace {

// The message that follows from one change to a good model; "accepted" if there is none.
std::string refusal(const std::function<void(TunedModel&)>& change) {
  TunedModel m = example_model();
  change(m);
  const Status status = validate(m);
  if (status.ok()) return "accepted";
  EXPECT_EQ(status.error().code(), ErrorCode::invalid_argument);
  return status.error().message();
}

Segment& second_segment(TunedModel& m) { return m.network["inter-node"].get->segments[1]; }

TEST(ValidateModel, AcceptsTheExampleAndAnEmptyModelWithAName) {
  EXPECT_EQ(refusal([](TunedModel&) {}), "accepted");
  TunedModel empty;
  EXPECT_FALSE(validate(empty).ok());
  empty.name = "x";
  EXPECT_TRUE(validate(empty).ok());
}

TEST(ValidateModel, RefusesNumbersThatAreNotFiniteOrNegative) {
  const std::string member = "network.inter-node.get.segments[1].L_s";
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity(), -1e-9, 1e7}) {
    EXPECT_NE(refusal([&](TunedModel& m) {
                second_segment(m).L_s = Parameter{value, value, value, 6, 60, "test", false};
              }).find(member),
              std::string::npos)
        << value;
  }
  EXPECT_NE(
      refusal([](TunedModel& m) { second_segment(m).L_s->ci_high = std::nan(""); }).find(member),
      std::string::npos);
}

TEST(ValidateModel, ShowsSmallNumbersAsTheyAre) {
  EXPECT_EQ(refusal([](TunedModel& m) {
              second_segment(m).L_s = Parameter{-2e-9, -2e-9, 0, 6, 60, "test", false};
            }),
            "network.inter-node.get.segments[1].L_s: value -2e-09 is outside [0.0, 1000000.0]");
}

TEST(ValidateModel, TextsAreUtf8) {
  const std::string latin1 = "caf\xe9";
  for (const auto& change : std::vector<std::function<void(TunedModel&)>>{
           [&](TunedModel& m) { m.name = latin1; },
           [&](TunedModel& m) { m.provenance.campaigns = {latin1}; },
           [&](TunedModel& m) { m.fingerprint["cpu_model"].value = latin1; },
           [&](TunedModel& m) { m.fingerprint[latin1] = {}; },
           [&](TunedModel& m) { m.network[latin1] = {}; },
           [&](TunedModel& m) { second_segment(m).L_s->method = latin1; },
           [&](TunedModel& m) { m.unknown_sections[latin1] = "{}"; }}) {
    EXPECT_NE(refusal(change).find("not valid UTF-8"), std::string::npos);
  }
  EXPECT_EQ(refusal([](TunedModel& m) { m.name = "caf\xc3\xa9"; }), "accepted");
}

TEST(ValidateModel, AnIntervalContainsItsValueAndMayReachBelowZero) {
  EXPECT_EQ(refusal([](TunedModel& m) { second_segment(m).g_s->ci_low = -1e-6; }), "accepted");
  EXPECT_NE(refusal([](TunedModel& m) { second_segment(m).g_s->ci_low = 1; }).find("interval"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) { second_segment(m).g_s->ci_high = 0; }).find("interval"),
            std::string::npos);
}

TEST(ValidateModel, BuffersAscendAndCostSomethingOrNothing) {
  const auto with = [](const std::function<void(std::vector<BufferPoint>&)>& change) {
    return refusal([&](TunedModel& m) {
      auto& buffers = m.network["inter-node"].get->buffers;
      buffers = example_buffers();
      change(buffers);
    });
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_NE(with([](auto& b) { b[1].bytes = b[0].bytes; }).find("buffers[1].bytes"),
            std::string::npos);
  EXPECT_NE(with([](auto& b) { b[2].read_s_per_byte.value = -1; }).find("read_s_per_byte"),
            std::string::npos);
  EXPECT_NE(with([](auto& b) { b[0].retire_s_per_byte.ci_low = 1; }).find("retire_s_per_byte"),
            std::string::npos);
}

TEST(ValidateModel, ServiceLevelsAscendAndAreOfNodes) {
  const auto with = [](const std::function<void(ServiceModel&)>& change) {
    return refusal([&](TunedModel& m) { change(*m.service_levels); });
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_NE(with([](auto& s) { s.get.clear(), s.put.clear(); }).find("needs levels"),
            std::string::npos);
  EXPECT_NE(with([](auto& s) { std::swap(s.get[0], s.get[1]); }).find("get[1]"), std::string::npos);
  EXPECT_NE(with([](auto& s) { s.put[1] = s.put[0]; }).find("put[1]"), std::string::npos);
  EXPECT_NE(with([](auto& s) { s.get[0].nodes = 1; }).find("get[0].nodes"), std::string::npos);
  EXPECT_NE(with([](auto& s) { s.get[4].distance = kDistances; }).find("get[4].distance"),
            std::string::npos);
  EXPECT_NE(with([](auto& s) { s.get[0].bytes = 0; }).find("get[0].bytes"), std::string::npos);
  EXPECT_NE(with([](auto& s) { s.get[0].best.value = 0; }).find("get[0].best"), std::string::npos);
  EXPECT_NE(with([](auto& s) { s.get[0].worst.value = -1; }).find("get[0].worst"),
            std::string::npos);
}

TEST(ValidateModel, SegmentsAscendWithoutGaps) {
  EXPECT_NE(refusal([](TunedModel& m) { second_segment(m).from_bytes = 4096; }).find("from_bytes"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) { second_segment(m).to_bytes = 2048; }).find("from_bytes"),
            std::string::npos);
  EXPECT_NE(
      refusal([](TunedModel& m) { second_segment(m).to_bytes = kMaxBytes + 1; }).find("to_bytes"),
      std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) {
              m.network["inter-node"].put->segments.clear();
            }).find("network.inter-node.put.segments"),
            std::string::npos);
}

TEST(ValidateModel, RetiringWithOthersGoesWithRetiringAlone) {
  EXPECT_EQ(refusal([](TunedModel& m) { second_segment(m).r_batched_s.reset(); }), "accepted");
  EXPECT_NE(refusal([](TunedModel& m) {
              second_segment(m).r_batched_s = example_parameter(1e-7);
              second_segment(m).r_base_s.reset();
            }).find("segments[1]: has r_batched_s, which needs r_base_s"),
            std::string::npos);
}

TEST(ValidateModel, ASwitchLiesWithinItsBand) {
  // The second segment is of [2048, 4 MiB).
  const auto with = [](uint64_t after_bytes, uint64_t by_bytes) {
    return refusal([=](TunedModel& m) { second_segment(m).begins = {after_bytes, by_bytes}; });
  };
  EXPECT_EQ(with(0, 2048), "accepted");
  EXPECT_EQ(with(2047, 4 << 20), "accepted");
  EXPECT_NE(with(2048, 4096).find("segments[1].begins: needs after_bytes < from_bytes"),
            std::string::npos);
  EXPECT_NE(with(1024, 2047).find("segments[1].begins"), std::string::npos);
  EXPECT_NE(with(1024, (4 << 20) + 1).find("segments[1].begins"), std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) {
              auto& segments = m.network["inter-node"].get->segments;
              segments[0].from_bytes = 1024;
              segments[1].begins = {512, 4096};
            }).find("must not lie below that segment"),
            std::string::npos);
}

TEST(ValidateModel, CountsGainsFootprintsAndDomainHaveBounds) {
  EXPECT_NE(refusal([](TunedModel& m) {
              m.network["inter-node"].get->queue_depth = example_parameter(0.5);
            }).find("queue_depth"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) {
              m.strip->minimum_gain = example_parameter(1.5);
            }).find("strip.minimum_gain"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) {
              m.compute->red_in[1].bytes = 4096;
            }).find("compute.red_in[1].bytes"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) { m.domain.max_ranks = 1; }).find("domain.max_ranks"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) {
              m.domain.min_bytes = uint64_t{8} << 20;
            }).find("domain.max_bytes"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) {
              m.provenance.sample_sha256 = "ABC";
            }).find("provenance.sample_sha256"),
            std::string::npos);
  EXPECT_NE(refusal([](TunedModel& m) { m.name = std::string(300, 'n'); }).find("name"),
            std::string::npos);
}

// A good model with the sections on many regions, after one change.
std::string vis_refusal(const std::function<void(TunedModel&)>& change) {
  return refusal([&](TunedModel& m) {
    m.pack = example_pack();
    m.vis["inter-node"] = example_vis();
    change(m);
  });
}

TEST(ValidateModel, ChecksTheSectionsOnManyRegions) {
  EXPECT_EQ(vis_refusal([](TunedModel&) {}), "accepted");
  const auto names = [](const std::string& message, const std::string& member) {
    return message.rfind(member, 0) == 0;
  };
  EXPECT_TRUE(names(vis_refusal([](TunedModel& m) { m.pack->pack[1].span_bytes = 8; }),
                    "pack.pack[1].span_bytes"));
  EXPECT_TRUE(names(vis_refusal([](TunedModel& m) { m.pack->unpack[0].region_s.value = -1; }),
                    "pack.unpack[0].region_s"));
  EXPECT_TRUE(names(vis_refusal([](TunedModel& m) { m.pack->pack[0].span_bytes = kMaxBytes + 1; }),
                    "pack.pack[0].span_bytes"));
  EXPECT_TRUE(
      names(vis_refusal([](TunedModel& m) { m.pack->unpack.assign(2000, m.pack->unpack.front()); }),
            "pack.unpack"));
  const auto get = [](TunedModel& m) -> VisDirection& { return *m.vis["inter-node"].get; };
  EXPECT_TRUE(names(vis_refusal([&](TunedModel& m) { get(m).chunk_bytes = 0; }),
                    "vis.inter-node.get.chunk_bytes"));
  EXPECT_TRUE(names(vis_refusal([&](TunedModel& m) { get(m).pipelined_window = 0; }),
                    "vis.inter-node.get.pipelined_window"));
  EXPECT_TRUE(names(vis_refusal([&](TunedModel& m) { get(m).heavy_delay_s->value = -1; }),
                    "vis.inter-node.get.heavy_delay_s"));
  EXPECT_TRUE(names(vis_refusal([&](TunedModel& m) {
                      get(m).communication_only.pipelined.compact[2].region_bytes = 8;
                    }),
                    "vis.inter-node.get.communication_only.pipelined.compact[2]"));
  EXPECT_TRUE(names(vis_refusal([&](TunedModel& m) { get(m).heavy.packed.compact[0].regions = 0; }),
                    "vis.inter-node.get.heavy.packed.compact[0]"));
  EXPECT_TRUE(names(vis_refusal([&](TunedModel& m) {
                      get(m).heavy.packed.compact[0].ratio = Parameter{0, 0, 1, 6, 6, "t", false};
                    }),
                    "vis.inter-node.get.heavy.packed.compact[0].ratio"));
}

TEST(ValidateModel, CollectiveRulesAreOfTheirOperationAndDoNotOverlap) {
  const auto rule_refusal = [](const std::function<void(CollectiveRule&)>& change) {
    return refusal([&](TunedModel& m) { change(m.collective->rules[1]); });
  };
  using Rule = CollectiveRule;
  EXPECT_EQ(rule_refusal([](Rule& r) { r.algorithm = CollectiveAlgorithm::ring; }),
            "collective.rules[1].algorithm: broadcast has no algorithm ring");
  EXPECT_EQ(rule_refusal([](Rule& r) { r.algorithm = CollectiveAlgorithm::automatic; }),
            "collective.rules[1].algorithm: broadcast has no algorithm automatic");
  EXPECT_EQ(rule_refusal([](Rule& r) { r.from_bytes = 2047; }),
            "collective.rules[1]: overlaps rule 0 of the same operation");
  EXPECT_EQ(rule_refusal([](Rule& r) {
              r.from_bytes = 0;
              r.min_ranks = 5;
              r.max_ranks = 5;
            }),
            "accepted");
  EXPECT_NE(rule_refusal([](Rule& r) { r.min_ranks = 5; }).find("at least min_ranks"),
            std::string::npos);
  EXPECT_NE(rule_refusal([](Rule& r) { r.bytes = r.to_bytes; }).find("from_bytes <= bytes"),
            std::string::npos);
  EXPECT_NE(rule_refusal([](Rule& r) { r.gain->value = 2; }).find("rules[1].gain: value"),
            std::string::npos);
}

TEST(ValidateModel, TwoPutsThatAreCombinedFitIntoAMessage) {
  const auto with = [](const std::function<void(PutCombiningModel&)>& change) {
    return refusal([&](TunedModel& m) { change(*m.rma->put_combining); });
  };
  EXPECT_EQ(with([](PutCombiningModel& c) { c.max_put_bytes = c.message_bytes / 2 - 8; }),
            "accepted");
  EXPECT_EQ(with([](PutCombiningModel& c) { c.max_put_bytes = c.message_bytes / 2 - 7; }),
            "rma.put_combining.max_put_bytes: two such puts must fit into a message");
  EXPECT_NE(with([](PutCombiningModel& c) { c.message_bytes = 63; }).find("message_bytes"),
            std::string::npos);
  EXPECT_EQ(with([](PutCombiningModel& c) {
              c.max_put_bytes = 0;
              c.gain.reset();
            }),
            "accepted");
  EXPECT_NE(with([](PutCombiningModel& c) { c.max_put_bytes = 0; }).find("put_combining.gain"),
            std::string::npos);
  EXPECT_NE(with([](PutCombiningModel& c) { c.max_delay_s.value = -1; }).find("max_delay_s"),
            std::string::npos);
}

TEST(ValidateModel, OnlyPutsThatAreCopiedHaveAGainOverWaiting) {
  const auto with = [](const std::function<void(BufferedPutModel&)>& change) {
    return refusal([&](TunedModel& m) { change(*m.rma->buffered_put); });
  };
  EXPECT_EQ(with([](BufferedPutModel& b) { b = {}; }), "accepted");
  const std::string message =
      "rma.buffered_put.gain: belongs to puts that are copied, and only to them";
  EXPECT_EQ(with([](BufferedPutModel& b) { b.gain.reset(); }), message);
  EXPECT_EQ(with([](BufferedPutModel& b) { b.max_bytes = 0; }), message);
  EXPECT_NE(with([](BufferedPutModel& b) { b.max_bytes = kMaxBytes + 1; }).find("max_bytes"),
            std::string::npos);
}

TEST(ValidateModel, OnlyMessagesHaveAGainOverTheProvider) {
  const auto with = [](const std::function<void(AtomicModel&)>& change) {
    return refusal([&](TunedModel& m) { change(*m.rma->atomic); });
  };
  EXPECT_EQ(with([](AtomicModel& a) {
              a.path = AtomicPath::provider;
              a.gain.reset();
            }),
            "accepted");
  const std::string message = "rma.atomic.gain: belongs to the path message, and only to it";
  EXPECT_EQ(with([](AtomicModel& a) { a.gain.reset(); }), message);
  EXPECT_EQ(with([](AtomicModel& a) { a.path = AtomicPath::provider; }), message);
  EXPECT_NE(with([](AtomicModel& a) { a.gain->value = 2; }).find("rma.atomic.gain"),
            std::string::npos);
  EXPECT_NE(with([](AtomicModel& a) { a.message_s.value = -1; }).find("rma.atomic.message_s"),
            std::string::npos);
}

}  // namespace
}  // namespace stripline::model
