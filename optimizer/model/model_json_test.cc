#include "optimizer/model/model_json.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"
#include "base/whole_file.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/validate.h"

namespace stripline::model {
namespace {

namespace fs = std::filesystem;

fs::path docs() {
  const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  return fs::path(source != nullptr ? source : ".") / "docs";
}

TunedModel small_model() {
  TunedModel m = example_model();
  m.compute.reset();
  m.unknown_sections.clear();
  m.network["inter-node"].put.reset();
  m.network["inter-node"].am.reset();
  m.network["inter-node"].get->segments.resize(1);
  return m;
}

std::string text_of(const TunedModel& m) { return to_json(m)->dump(2); }

// A document with a hash that agrees with it.
std::string sealed(Json document) {
  document.erase("sha256");
  document["sha256"] = sha256_hex(*canonical_json(document));
  return document.dump();
}

// The keywords of JSON Schema that docs/schema uses; true if `value` satisfies `schema`.
bool conforms(const Json& schema, const Json& value, const Json& root) {
  const auto has = [&](const char* key) { return schema.contains(key); };
  if (has("$ref")) {
    const std::string pointer = schema["$ref"].get<std::string>().substr(1);
    return conforms(root.at(Json::json_pointer(pointer)), value, root);
  }
  if (has("const") && schema["const"] != value) return false;
  if (has("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
    return false;
  }
  if (has("type")) {
    const std::string type = schema["type"];
    const bool fits =
        (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
        (type == "string" && value.is_string()) ||
        (type == "integer" && value.is_number_integer()) ||
        (type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean());
    if (!fits) return false;
  }
  if (has("minimum") && value.get<double>() < schema["minimum"].get<double>()) return false;
  if (has("maximum") && value.get<double>() > schema["maximum"].get<double>()) return false;
  if (has("minLength") && value.get<std::string>().size() < schema["minLength"]) return false;
  if (has("maxLength") && value.get<std::string>().size() > schema["maxLength"]) return false;
  if (has("pattern") && !std::regex_search(value.get<std::string>(),
                                           std::regex(schema["pattern"].get<std::string>()))) {
    return false;
  }
  if (has("minItems") && value.size() < schema["minItems"]) return false;
  if (has("maxItems") && value.size() > schema["maxItems"]) return false;
  if (has("items")) {
    for (const Json& element : value) {
      if (!conforms(schema["items"], element, root)) return false;
    }
  }
  if (has("required")) {
    for (const Json& key : schema["required"]) {
      if (!value.contains(key.get<std::string>())) return false;
    }
  }
  if (!value.is_object()) return true;
  for (const auto& [key, member] : value.items()) {
    if (has("properties") && schema["properties"].contains(key)) {
      if (!conforms(schema["properties"][key], member, root)) return false;
    } else if (has("additionalProperties")) {
      const Json& rest = schema["additionalProperties"];
      if (rest.is_boolean() ? !rest.get<bool>() : !conforms(rest, member, root)) return false;
    }
  }
  return true;
}

TEST(ModelJson, RoundTripsEveryMember) {
  const std::string text = text_of(full_example());
  ASSERT_OK_AND_ASSIGN(const auto back, parse_model(text));
  EXPECT_EQ(text_of(back), text);
  EXPECT_EQ(back.unknown_sections.at("later"), R"({"boundary":[1,2.5]})");
  EXPECT_FALSE(back.network.at("inter-node").get->segments[0].g_s.has_value());
  EXPECT_FALSE(back.network.at("inter-node").get->segments[0].begins.has_value());
  EXPECT_EQ(back.network.at("inter-node").get->segments[1].begins, (SwitchBand{1792, 2304}));
  EXPECT_TRUE(back.network.at("inter-node").am->queue_depth->at_least);
  ASSERT_EQ(back.network.at("inter-node").get->buffers.size(), 3U);
  EXPECT_EQ(back.network.at("inter-node").get->buffers[2].retire_s_per_byte.value, 0.5e-9);
  EXPECT_EQ(back.fingerprint.at("fabric").rule, MatchRule::hard);
}

TEST(ModelJson, KeepsWhatConcernsManyRegions) {
  ASSERT_OK_AND_ASSIGN(const auto back, parse_model(text_of(full_example())));
  ASSERT_TRUE(back.pack.has_value());
  EXPECT_EQ(back.pack->unpack.at(1).span_bytes, uint64_t{2} << 20);
  EXPECT_EQ(back.pack->unpack[1].s_per_byte.value, 0.6e-9);
  const VisModel& vis = back.vis.at("inter-node");
  EXPECT_EQ(vis.put->chunk_bytes, 4096U);
  EXPECT_FALSE(vis.put->window.has_value());
  EXPECT_EQ(vis.get->window, 8U);
  EXPECT_EQ(vis.get->pipelined_window, 32U);
  EXPECT_EQ(vis.get->light_delay_s->value, 1e-6);
  EXPECT_EQ(vis.get->heavy_delay_s->value, 50e-6);
  EXPECT_EQ(vis.get->iov_piece_s->value, 0.3e-6);
  EXPECT_EQ(vis.get->communication_only.pipelined.compact.size(), 3U);
  EXPECT_EQ(vis.get->communication_only.pipelined.compact[1].regions, 4096U);
  EXPECT_EQ(vis.get->communication_only.packed.spread.at(0).ratio.value, 1.5);
  EXPECT_EQ(vis.get->communication_only.native_iov.compact.size(), 1U);
  EXPECT_EQ(vis.get->light.bounding_box.compact.at(0).region_bytes, 8U);
  EXPECT_EQ(vis.get->heavy.packed.compact.at(0).ratio.ci_high, 3.0);
}

TEST(ModelJson, RefusesUnknownMembersOfTheVisSections) {
  for (const char* pointer :
       {"/pack", "/pack/pack/0", "/vis/inter-node", "/vis/inter-node/get",
        "/vis/inter-node/get/communication_only", "/vis/inter-node/get/communication_only/packed",
        "/vis/inter-node/get/communication_only/packed/compact/0"}) {
    Json document = *to_json(full_example());
    document.at(Json::json_pointer(pointer))["surprise"] = 1;
    const auto result = parse_model(sealed(document));
    ASSERT_FALSE(result.ok()) << pointer;
    EXPECT_NE(result.error().message().find("surprise"), std::string::npos)
        << result.error().message();
  }
}

// Models of earlier versions do not have it.
TEST(ModelJson, KeepsWhatUpdatesTakeThatFindNoneOfTheirCell) {
  TunedModel model = full_example();
  model.update->items[0].miss_s = example_parameter(15e-9);
  model.update->items[1].miss_s.reset();
  ASSERT_OK_AND_ASSIGN(const auto back, parse_model(text_of(model)));
  ASSERT_TRUE(back.update->items[0].miss_s);
  EXPECT_EQ(back.update->items[0].miss_s->value, 15e-9);
  EXPECT_FALSE(back.update->items[1].miss_s);
}

TEST(ModelJson, KeepsTheChoicesForSingleOperations) {
  ASSERT_OK_AND_ASSIGN(const auto back, parse_model(text_of(full_example())));
  ASSERT_TRUE(back.rma && back.rma->atomic);
  EXPECT_EQ(back.rma->atomic->path, AtomicPath::message);
  EXPECT_EQ(back.rma->atomic->provider_s.value, 12e-6);
  EXPECT_EQ(back.rma->atomic->message_s.value, 10e-6);
  EXPECT_EQ(back.rma->atomic->gain->value, 0.1);
  ASSERT_TRUE(back.rma->buffered_put);
  EXPECT_EQ(back.rma->buffered_put->max_bytes, 32768U);
  EXPECT_EQ(back.rma->buffered_put->gain->value, 0.3);
  ASSERT_TRUE(back.rma->put_combining);
  EXPECT_EQ(back.rma->put_combining->max_put_bytes, 256U);
  EXPECT_EQ(back.rma->put_combining->message_bytes, 8192U);
  EXPECT_EQ(back.rma->put_combining->message_s.value, 5e-6);
  EXPECT_EQ(back.rma->put_combining->max_delay_s.value, 100e-6);
  EXPECT_EQ(back.rma->put_combining->gain->value, 0.6);
  ASSERT_TRUE(back.rma->progress);
  EXPECT_EQ(back.rma->progress->call_s.value, 40e-9);
  EXPECT_EQ(back.rma->progress->answer_s.value, 30e-6);
  for (const char* pointer :
       {"/rma", "/rma/buffered_put", "/rma/put_combining", "/rma/atomic", "/rma/progress"}) {
    Json document = *to_json(full_example());
    document.at(Json::json_pointer(pointer))["surprise"] = 1;
    EXPECT_FALSE(parse_model(sealed(document)).ok()) << pointer;
  }
  Json document = *to_json(full_example());
  document["rma"]["atomic"]["way"] = "telepathy";
  EXPECT_NE(parse_model(sealed(document)).error().message().find("rma.atomic.way: 'telepathy'"),
            std::string::npos);
}

TEST(ModelJson, HashIgnoresLayoutAndSeesContent) {
  const Json document = *to_json(example_model());
  EXPECT_TRUE(parse_model(document.dump()).ok());
  EXPECT_TRUE(parse_model(*canonical_json(document)).ok());
  TunedModel other = example_model();
  other.domain.max_ranks = 16;
  EXPECT_NE(*content_sha256(other), *content_sha256(example_model()));
  EXPECT_EQ(document["sha256"], *content_sha256(example_model()));
}

TEST(ModelJson, NegativeZeroKeepsItsHash) {
  TunedModel m = small_model();
  m.network["inter-node"].get->segments[0].r_base_s = Parameter{-0.0, -0.0, 0.0, 6, 6, "t", false};
  EXPECT_TRUE(parse_model(*canonical_json(*to_json(m))).ok());
}

// Every byte is tried, or, where that takes long, every seventh: elements of the text are shorter.
constexpr size_t kStep = kInstrumented ? 7 : 1;

TEST(ModelJson, EveryTruncationIsRefused) {
  const std::string text = text_of(small_model());
  ASSERT_TRUE(parse_model(text).ok());
  for (size_t length = 0; length < text.size(); length += kStep) {
    const auto result = parse_model(std::string_view(text).substr(0, length));
    ASSERT_FALSE(result.ok()) << "accepted the first " << length << " bytes";
    EXPECT_EQ(result.error().code(), ErrorCode::data_loss);
  }
}

TEST(ModelJson, EveryChangedDigitIsRefused) {
  std::string text = text_of(small_model());
  const Json original = *to_json(small_model());
  for (size_t i = 0; i < text.size(); i += kStep) {
    if (text[i] < '0' || text[i] > '9') continue;
    const char digit = text[i];
    text[i] = digit == '9' ? '1' : static_cast<char>(digit + 1);
    // The last of 17 digits may change without changing the double.
    const auto changed = parse_json(text, "changed");
    if (!changed || *changed != original) {
      EXPECT_FALSE(parse_model(text).ok()) << "accepted a changed byte " << i;
    }
    text[i] = digit;
  }
}

TEST(ModelJson, WritingRefusesWhatReadingWould) {
  TunedModel m = example_model();
  m.network["inter-node"].get->segments[0].L_s->value = -1;
  EXPECT_EQ(to_json(m).error().code(), ErrorCode::invalid_argument);
  m = example_model();
  m.unknown_sections["compute"] = "{}";
  EXPECT_FALSE(to_json(m).ok());
  m = example_model();
  m.unknown_sections["gather"] = "{";
  EXPECT_FALSE(to_json(m).ok());
}

TEST(ModelJson, ForeignSectionsAreKeptAndOtherKindsRefused) {
  Json document = *to_json(small_model());
  document["gather"] = {{"blocks", {1, 2, 3}}};
  ASSERT_OK_AND_ASSIGN(const auto model, parse_model(sealed(document)));
  EXPECT_EQ((*to_json(model))["gather"], document["gather"]);
  for (const char* section : {"provenance", "fingerprint", "domain", "network", "strip"}) {
    Json broken = document;
    broken[section] = Json::array();
    EXPECT_FALSE(parse_model(sealed(broken)).ok()) << section;
  }
  EXPECT_FALSE(parse_model("[]").ok());
  EXPECT_FALSE(parse_model("null").ok());
}

TEST(ModelJson, KeepsServiceLevels) {
  ASSERT_OK_AND_ASSIGN(const auto back, parse_model(text_of(full_example())));
  ASSERT_TRUE(back.service_levels.has_value());
  EXPECT_EQ(back.service_levels->scale, DistanceScale::switches);
  ASSERT_EQ(back.service_levels->get.size(), 5U);
  const ServiceLevel& last = back.service_levels->get.back();
  EXPECT_EQ(last.nodes, 16U);
  EXPECT_EQ(last.distance, 2U);
  EXPECT_EQ(last.bytes, 65536U);
  EXPECT_EQ(last.best.value, 3);
  EXPECT_EQ(last.worst.value, 4);
  EXPECT_EQ(back.service_levels->put.size(), 2U);
}

TEST(ModelJson, RefusesServiceLevelsItDoesNotUnderstand) {
  const auto with = [](auto change) {
    Json document = *to_json(full_example());
    change(document["service_levels"]);
    const auto model = parse_model(sealed(document));
    return model.ok() ? std::string() : model.error().message();
  };
  EXPECT_NE(with([](Json& s) { s["distance"] = "miles"; }).find("service_levels.distance"),
            std::string::npos);
  EXPECT_NE(with([](Json& s) { s.erase("distance"); }), "");
  EXPECT_NE(with([](Json& s) { s["get"] = 1; }).find("service_levels.get"), std::string::npos);
  EXPECT_NE(with([](Json& s) { s["get"][1].erase("worst"); }).find("get[1]"), std::string::npos);
  EXPECT_NE(with([](Json& s) { s["get"][0]["hops"] = 1; }).find("hops"), std::string::npos);
}

TEST(ModelJson, OnlyGetsHaveBuffers) {
  Json document = *to_json(full_example());
  Json& path = document["network"]["inter-node"];
  path["put"]["buffers"] = path["get"]["buffers"];
  EXPECT_FALSE(parse_model(sealed(document)).ok());
  document = *to_json(full_example());
  document["network"]["inter-node"]["get"]["buffers"][1].erase("read_s_per_byte");
  EXPECT_FALSE(parse_model(sealed(document)).ok());
}

TEST(ModelFile, SavesLoadsAndReportsMissing) {
  const fs::path path =
      fs::temp_directory_path() / ("stripline_model_test_" + std::to_string(::getpid()) + ".json");
  ASSERT_TRUE(save_model(example_model(), path).ok());
  const auto model = load_model(path);
  fs::remove(path);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(text_of(*model), text_of(example_model()));
  const auto missing = load_model(path);
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  EXPECT_NE(missing.error().message().find("stripline model fetch"), std::string::npos);
}

TEST(ModelFile, IsNotWrittenWhereItCouldNotBeRead) {
  const fs::path path =
      fs::temp_directory_path() / ("stripline_large_test_" + std::to_string(::getpid()) + ".json");
  TunedModel m = small_model();
  m.unknown_sections["large"] = '"' + std::string(kMaxModelFileBytes, 'x') + '"';
  const Status status = save_model(m, path);
  const bool written = fs::remove(path);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::invalid_argument);
  EXPECT_FALSE(written);
}

TEST(ModelFile, AMalformedOneIsNamedOnce) {
  const fs::path path = docs() / "schema/examples/invalid/truncated.json";
  const auto result = load_model(path);
  ASSERT_FALSE(result.ok());
  const std::string& message = result.error().message();
  const size_t first = message.find(path.string());
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(message.find(path.string(), first + 1), std::string::npos) << message;
}

TEST(ModelExamples, ValidOnesAreAcceptedAndConform) {
  const Json schema = *read_json_file(docs() / "schema" / "model-v1.schema.json");
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(docs() / "schema/examples/valid")) {
    ASSERT_OK_AND_ASSIGN(const auto model, load_model(entry.path()));
    EXPECT_TRUE(conforms(schema, *read_json_file(entry.path()), schema)) << entry.path();
    EXPECT_EQ(text_of(model) + "\n", *read_whole_file(entry.path())) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(text_of(*load_model(docs() / "schema/examples/valid/full.json")),
            text_of(full_example()));
}

TEST(ModelExamples, InvalidOnesAreRefusedForTheirReason) {
  struct Expectation {
    const char* message;
    bool schema_sees_it;  // True if the schema alone refuses it; hashes and order it cannot see.
  };
  const std::map<std::string, Expectation> expected = {
      {"algorithm-of-another-operation", {"broadcast has no algorithm bruck", false}},
      {"altered", {"altered or truncated", false}},
      {"gap-between-segments", {"segments[1]: from_bytes must equal", false}},
      {"interval-excludes-value", {"L_s: the interval does not contain", false}},
      {"missing-interval", {"L_s.ci: expected an array", true}},
      {"negative-latency", {"L_s: value", true}},
      {"newer-schema", {"schema version 2", true}},
      {"no-hash", {"no 'sha256' member", true}},
      {"no-segments", {"get.segments: needs 1 to", true}},
      {"number-out-of-range", {"out of range", true}},
      {"truncated", {"malformed or truncated", true}},
      {"unknown-algorithm", {"rules[1].algorithm: 'telepathy' is unknown", true}},
      {"unknown-match-rule", {"is unknown; expected hard, soft or ignore", true}},
      {"unknown-member", {"segments[0].l_s: unknown", true}},
      {"wrong-unit", {"L_s.unit: expected \"s\"", true}},
  };
  const Json schema = *read_json_file(docs() / "schema" / "model-v1.schema.json");
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(docs() / "schema/examples/invalid")) {
    const std::string name = entry.path().stem();
    ASSERT_TRUE(expected.contains(name)) << name;
    const auto result = load_model(entry.path());
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_NE(result.error().message().find(expected.at(name).message), std::string::npos)
        << result.error().message();
    const auto document = read_json_file(entry.path());
    EXPECT_EQ(!document || !conforms(schema, *document, schema), expected.at(name).schema_sees_it)
        << name;
    ++count;
  }
  EXPECT_EQ(count, expected.size());
}

TEST(ModelSchema, KnowsEveryMemberThatIsWritten) {
  // The schema closes all objects but the outermost one, which may hold sections of later builds.
  Json schema = *read_json_file(docs() / "schema" / "model-v1.schema.json");
  schema["additionalProperties"] = false;
  Json document = *to_json(full_example());
  document.erase("later");
  EXPECT_TRUE(conforms(schema, document, schema));
  EXPECT_FALSE(conforms(schema, *to_json(example_model()), schema));
}

}  // namespace
}  // namespace stripline::model
