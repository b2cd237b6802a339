#include "optimizer/plan/nest_json.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/nest_fixture.h"

namespace stripline::plan {
namespace {

namespace fs = std::filesystem;
using access::Mode;

constexpr const char* kSmall =
    R"({"loops":[{"count":4}],"references":[{"mode":"read","stride_bytes":[8]}]})";

DescribedNest parsed(std::string_view text) {
  auto nest = parse_nest(text, "the nest");
  EXPECT_TRUE(nest.ok()) << nest.error().message();
  return nest.ok() ? *std::move(nest) : DescribedNest();
}

std::string refused(std::string_view text) {
  const auto nest = parse_nest(text, "the nest");
  if (nest.ok()) return "accepted: " + std::string(text);
  EXPECT_EQ(nest.error().code(), ErrorCode::data_loss);
  return nest.error().message();
}

// The small nest with one of its members, or one more.
std::string refused_with(const char* pointer, Json value) {
  Json json = Json::parse(kSmall);
  json[Json::json_pointer(pointer)] = std::move(value);
  return refused(json.dump());
}

TEST(NestJson, LoopsMayBeginAnywhereAndGoInSteps) {
  const DescribedNest nest = parsed(R"({
    "loops": [{"count": 10, "first": 3, "step": 2}, {"count": 5, "first": 4, "step": -1}],
    "references": [{"mode": "update", "path": "local", "element_bytes": 4, "owner": 7,
                    "offset_bytes": 100, "stride_bytes": [40, 4]}],
    "operations": {"fp_ops": 2, "local_refs": 1}})");
  const NestRequest& request = nest.request;
  EXPECT_EQ(request.nest.depth, 2U);
  EXPECT_EQ(request.nest.counts[0], 10U);
  ASSERT_EQ(request.nest.references(), 1U);
  const access::Reference& reference = request.nest.reference[0];
  EXPECT_EQ(reference.mode, Mode::update);
  EXPECT_EQ(reference.owner, 7U);
  EXPECT_EQ(reference.base, 100 + 3 * 40 + 4 * 4);
  EXPECT_EQ(reference.stride_bytes[0], 80);
  EXPECT_EQ(reference.stride_bytes[1], -4);
  EXPECT_EQ(request.link[0], kLocalLink);
  EXPECT_EQ(request.loop.n_fp_alu, 2U);
  EXPECT_LT(request.compute_s, 0);
}

TEST(NestJson, ReferencesToOneArrayShareIt) {
  const DescribedNest nest = parsed(R"({
    "loops": [{"count": 2}, {"count": 5}],
    "arrays": [[[1, 0], [2, 64], [3, 0]]],
    "references": [
      {"mode": "read", "array": 0, "array_loop": 0, "local_part": 0.5, "stride_bytes": [0, 8]},
      {"mode": "read", "array": 0, "array_loop": 0, "offset_bytes": 8, "stride_bytes": [0, 8]}]})");
  const auto& references = nest.request.nest.reference;
  ASSERT_EQ(references[0].pieces.size(), 3U);
  EXPECT_EQ(references[0].pieces.data(), references[1].pieces.data());
  EXPECT_EQ(references[0].pieces[1], (access::Piece{2, 64}));
  EXPECT_EQ(nest.request.in_reach_part[0], 0.5);
}

TEST(NestJson, SaysWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_EQ(refused("{"), "the nest: not valid JSON at byte 2; the file is malformed or truncated");
  EXPECT_EQ(refused("[]"), "the nest: expected an object");
  EXPECT_EQ(refused("{}"), "the nest.loops: expected an array, which is missing");
  EXPECT_EQ(refused_with("/loop", 1).find("the nest: 'loop' is not known here; there is loops, "),
            0U);
  EXPECT_EQ(refused_with("/loops/0/count", 0),
            "the nest.loops[0].count: expected an integer from 1 to 17592186044416");
  EXPECT_EQ(refused_with("/references/0/mode", "rd"),
            "the nest.references[0].mode: expected 'read', 'write' or 'update'");
  EXPECT_EQ(refused_with("/references/0/path", "net"),
            "the nest.references[0].path: expected one of 'local', 'inter-node', 'intra-node', "
            "'intra-node-cma'");
  EXPECT_EQ(refused_with("/references/0/stride_bytes", Json::array({8, 8})),
            "the nest.references[0].stride_bytes: expected an array of 1 to 1 elements");
  EXPECT_EQ(refused_with("/references/0/stride_bytes/0", int64_t{1} << 43),
            "the nest.references[0]: some of its elements are more than 16 TiB from where offsets "
            "count");
  EXPECT_EQ(refused_with("/references/0/array", 0).find("the nest.references[0].array: expected"),
            0U);
  EXPECT_EQ(refused_with("/references/0/array_loop", 0),
            "the nest.references[0].array: expected the array that array_loop and local_part are "
            "about");
  EXPECT_EQ(refused_with("/arrays", Json::parse("[[[1]]]")),
            "the nest.arrays[0]: expected pieces, [rank, offset in bytes] each");
  EXPECT_EQ(refused_with("/compute_s", -1),
            "the nest.compute_s: expected a number from 0 to 1000000000.0");
  EXPECT_EQ(refused_with("/nic_ranks", 1.5),
            "the nest.nic_ranks: expected an integer from 1 to 1048576");
  EXPECT_EQ(refused_with("/alone", 1), "the nest.alone: expected true or false");
  EXPECT_EQ(refused_with("/target_polls_only", 1),
            "the nest.target_polls_only: expected true or false");
  EXPECT_EQ(refused_with("/nodes", 0), "the nest.nodes: expected an integer from 1 to 1048576");
  EXPECT_EQ(refused_with("/distances", {1, 65536}),
            "the nest.distances[1]: expected an integer from 0 to 65535");
  EXPECT_EQ(refused_with("/distances", Json::array({1, -2})),
            "the nest.distances[1]: expected an integer from 0 to 65535");
  EXPECT_EQ(refused_with("/operations", Json::parse(R"({"flops":1})"))
                .find("the nest.operations: 'flops' is not known here; there is local_refs,"),
            0U);
  EXPECT_EQ(refused(R"({"loops":[{"count":4}],"compute_s":1,"operations":{},
                        "references":[{"mode":"read","stride_bytes":[8]}]})"),
            "the nest.operations: expected nothing, as compute_s says how long they take");
  Json many = Json::parse(kSmall);
  for (int i = 0; i < 2; ++i) {
    many["loops"][i]["count"] = int64_t{1} << 40;
    many["references"][0]["stride_bytes"][i] = 0;
  }
  EXPECT_EQ(refused(many.dump()),
            "the nest.loops[1]: all loops together have more than 2^53 iterations");
  EXPECT_EQ(refused(R"({"loops":[{"count":3}],"arrays":[[[1,0],[2,0]]],"references":
                        [{"mode":"read","array":0,"array_loop":0,"stride_bytes":[0]}]})"),
            "the nest.references[0].array: expected an array of at least as many pieces as loop 0 "
            "has iterations");
}

// What a run writes is planned as the run does.
TEST(NestJson, ADocumentIsPlannedAsTheRequestThatItIsOf) {
  RandomCases draw(77);
  for (int i = 0; i < 100; ++i) {
    const Network network(draw.network(0.05));
    NestRequest request = random_nest(draw, network);
    if (draw.below(3) == 0) request.max_buffer_bytes = uint64_t{8192} << draw.below(8);
    request.slot_alignment = i % 2 == 0 ? 1 : kUsualSlotAlignment;
    request.uniform_steps = i % 3 == 0;
    const double delay_s = i % 5 == 0 ? 1e-4 : 0;
    request.links[link_by(model::Path::network)].many.surroundings.service_delay_s = delay_s;
    for (access::Reference& reference : request.nest.reference) reference.base >>= 4;
    DescribedNest again = parsed(to_json(request).dump());
    EXPECT_EQ(to_json(again.request), to_json(request));
    NestLink& link = again.request.links[link_by(model::Path::network)];
    link.strip = &network.strip;
    link.vis = &network.vis;
    const NestPlan a = plan_nest(request);
    const NestPlan b = plan_nest(again.request);
    EXPECT_EQ(a.predicted_s, b.predicted_s);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.reason, b.reason);
    EXPECT_EQ(a.gain_low, b.gain_low);
    for (uint32_t g = 0; g < a.groups; ++g) {
      for (const Direction direction : {Direction::get, Direction::put}) {
        EXPECT_EQ(a.transfer[g].by(direction, access::Mode::update),
                  b.transfer[g].by(direction, access::Mode::update));
      }
    }
  }
}

TEST(NestJson, TheExamplesOfTheDocumentationAreValid) {
  const char* const source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
  const Json schema = *read_json_file(fs::path(source) / "docs/schema/nest-v1.schema.json");
  int examples = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(source) / "docs/schema/nests")) {
    ++examples;
    const Json json = *read_json_file(entry.path());
    const DescribedNest nest = parsed(json.dump());
    EXPECT_EQ(to_json(parsed(to_json(nest.request).dump()).request), to_json(nest.request));
    const auto known_in = [&](const Json& object, const char* properties) {
      for (const auto& [key, ignored] : object.items()) {
        EXPECT_TRUE(schema.at(Json::json_pointer(properties)).contains(key)) << key;
      }
    };
    known_in(to_json(nest.request), "/properties");
    known_in(to_json(nest.request)["references"][0], "/properties/references/items/properties");
    known_in(to_json(nest.request)["job"], "/properties/job/properties");
  }
  EXPECT_GE(examples, 4);
}

}  // namespace
}  // namespace stripline::plan
