#include "optimizer/model/model_json.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/sha256.h"
#include "optimizer/model/fingerprint.h"
#include "optimizer/model/parameter_json.h"
#include "optimizer/model/rma_json.h"
#include "optimizer/model/service_json.h"
#include "optimizer/model/validate.h"
#include "optimizer/model/vis_json.h"

namespace stripline::model {
namespace {

using namespace detail;

constexpr std::array kKnownSections = {
    "collective", "compute", "domain",         "fingerprint",    "name",   "network", "pack",
    "provenance", "rma",     "schema_version", "service_levels", "sha256", "strip",   "vis"};

bool is_known_section(const std::string& name) {
  return std::find(kKnownSections.begin(), kKnownSections.end(), name) != kKnownSections.end();
}

Json operation_to_json(const OperationModel& operation) {
  Json segments = Json::array();
  for (const Segment& segment : operation.segments) {
    Json json = {{"from_bytes", segment.from_bytes}, {"to_bytes", segment.to_bytes}};
    put_parameter(json, "o_base_s", segment.o_base_s, kSecondsRule);
    put_parameter(json, "o_per_byte_s", segment.o_per_byte_s, kSecondsPerByteRule);
    put_parameter(json, "L_s", segment.L_s, kSecondsRule);
    put_parameter(json, "g_s", segment.g_s, kSecondsRule);
    put_parameter(json, "G_s_per_byte", segment.G_s_per_byte, kSecondsPerByteRule);
    put_parameter(json, "r_base_s", segment.r_base_s, kSecondsRule);
    put_parameter(json, "r_per_byte_s", segment.r_per_byte_s, kSecondsPerByteRule);
    put_parameter(json, "s_base_s", segment.s_base_s, kSecondsRule);
    put_parameter(json, "s_per_byte_s", segment.s_per_byte_s, kSecondsPerByteRule);
    segments.push_back(std::move(json));
  }
  Json json = {{"segments", std::move(segments)}};
  put_parameter(json, "queue_depth", operation.queue_depth, kQueueDepthRule);
  return json;
}

Json buffers_to_json(const std::vector<BufferPoint>& points) {
  Json json = Json::array();
  for (const BufferPoint& point : points) {
    json.push_back(
        {{"bytes", point.bytes},
         {"retire_s_per_byte", parameter_to_json(point.retire_s_per_byte, kSecondsPerByteRule)},
         {"read_s_per_byte", parameter_to_json(point.read_s_per_byte, kSecondsPerByteRule)}});
  }
  return json;
}

Json footprints_to_json(const std::vector<ComputePoint>& points) {
  Json json = Json::array();
  for (const ComputePoint& point : points) {
    json.push_back(
        {{"bytes", point.bytes},
         {"seconds_per_element", parameter_to_json(point.seconds_per_element, kSecondsRule)}});
  }
  return json;
}

Json collective_to_json(const CollectiveModel& collective) {
  Json rules = Json::array();
  for (const CollectiveRule& rule : collective.rules) {
    Json json = {{"operation", to_string(rule.operation)},
                 {"algorithm", to_string(rule.algorithm)},
                 {"min_ranks", rule.min_ranks},
                 {"max_ranks", rule.max_ranks},
                 {"from_bytes", rule.from_bytes},
                 {"to_bytes", rule.to_bytes},
                 {"bytes", rule.bytes},
                 {"time_s", parameter_to_json(rule.time_s, kSecondsRule)}};
    put_parameter(json, "gain", rule.gain, kGainRule);
    rules.push_back(std::move(json));
  }
  return {{"rules", std::move(rules)}};
}

Json provenance_to_json(const Provenance& provenance) {
  Json json = {{"campaigns", provenance.campaigns},
               {"sample_sha256", provenance.sample_sha256},
               {"fitter_version", provenance.fitter_version},
               {"fitted_at", provenance.fitted_at}};
  if (!provenance.provisional.empty()) json["provisional"] = provenance.provisional;
  return json;
}

Json network_to_json(const std::map<std::string, PathModel>& network) {
  Json json = Json::object();
  for (const auto& [name, path] : network) {
    Json operations = Json::object();
    if (path.put) operations["put"] = operation_to_json(*path.put);
    if (path.get) {
      operations["get"] = operation_to_json(*path.get);
      if (!path.get->buffers.empty()) {
        operations["get"]["buffers"] = buffers_to_json(path.get->buffers);
      }
    }
    if (path.am) operations["am"] = operation_to_json(*path.am);
    json[name] = std::move(operations);
  }
  return json;
}

Result<std::string> hash_without_member(const Json& document) {
  Json content = document;
  content.erase("sha256");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string canonical, canonical_json(content));
  return sha256_hex(canonical);
}

Result<Segment> read_segment(const Json& json, const std::string& where) {
  STRIPLINE_RETURN_IF_ERROR(
      only_known(json, where,
                 {"from_bytes", "to_bytes", "o_base_s", "o_per_byte_s", "L_s", "g_s",
                  "G_s_per_byte", "r_base_s", "r_per_byte_s", "s_base_s", "s_per_byte_s"}));
  Segment segment;
  STRIPLINE_ASSIGN_OR_RETURN(segment.from_bytes, read_count(json, "from_bytes", where, kMaxBytes));
  STRIPLINE_ASSIGN_OR_RETURN(segment.to_bytes, read_count(json, "to_bytes", where, kMaxBytes));
  STRIPLINE_RETURN_IF_ERROR(read_optional(json, "o_base_s", where, kSecondsRule, segment.o_base_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(json, "o_per_byte_s", where, kSecondsPerByteRule, segment.o_per_byte_s));
  STRIPLINE_RETURN_IF_ERROR(read_optional(json, "L_s", where, kSecondsRule, segment.L_s));
  STRIPLINE_RETURN_IF_ERROR(read_optional(json, "g_s", where, kSecondsRule, segment.g_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(json, "G_s_per_byte", where, kSecondsPerByteRule, segment.G_s_per_byte));
  STRIPLINE_RETURN_IF_ERROR(read_optional(json, "r_base_s", where, kSecondsRule, segment.r_base_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(json, "r_per_byte_s", where, kSecondsPerByteRule, segment.r_per_byte_s));
  STRIPLINE_RETURN_IF_ERROR(read_optional(json, "s_base_s", where, kSecondsRule, segment.s_base_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(json, "s_per_byte_s", where, kSecondsPerByteRule, segment.s_per_byte_s));
  return segment;
}

Result<BufferPoint> read_buffer(const Json& json, const std::string& where) {
  STRIPLINE_RETURN_IF_ERROR(
      only_known(json, where, {"bytes", "retire_s_per_byte", "read_s_per_byte"}));
  BufferPoint point;
  STRIPLINE_ASSIGN_OR_RETURN(point.bytes, read_count(json, "bytes", where, kMaxBytes));
  for (const auto& [key, parameter] : {std::pair("retire_s_per_byte", &point.retire_s_per_byte),
                                       std::pair("read_s_per_byte", &point.read_s_per_byte)}) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* object, get_object(json, key, where));
    STRIPLINE_ASSIGN_OR_RETURN(*parameter,
                               read_parameter(*object, where + "." + key, kSecondsPerByteRule));
  }
  return point;
}

// Gets only: what the others send does not come into a buffer.
Status read_buffers(const Json& get, const std::string& where, std::vector<BufferPoint>& out) {
  const auto it = get.find("buffers");
  if (it == get.end()) return {};
  if (!it->is_array()) return damaged(where + ".buffers: expected an array");
  for (size_t i = 0; i < it->size(); ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(
        BufferPoint point, read_buffer((*it)[i], where + ".buffers[" + std::to_string(i) + "]"));
    out.push_back(std::move(point));
  }
  return {};
}

Status read_operation(const Json& path, const char* key, const std::string& where_path,
                      std::optional<OperationModel>& out) {
  const auto it = path.find(key);
  if (it == path.end()) return {};
  const std::string where = where_path + "." + key;
  OperationModel operation;
  if (std::string_view(key) == "get") {
    STRIPLINE_RETURN_IF_ERROR(only_known(*it, where, {"segments", "queue_depth", "buffers"}));
    STRIPLINE_RETURN_IF_ERROR(read_buffers(*it, where, operation.buffers));
  } else {
    STRIPLINE_RETURN_IF_ERROR(only_known(*it, where, {"segments", "queue_depth"}));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* segments, get_array(*it, "segments", where));
  for (size_t i = 0; i < segments->size(); ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(
        Segment segment,
        read_segment((*segments)[i], where + ".segments[" + std::to_string(i) + "]"));
    operation.segments.push_back(std::move(segment));
  }
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(*it, "queue_depth", where, kQueueDepthRule, operation.queue_depth));
  out = std::move(operation);
  return {};
}

Status read_footprints(const Json& compute, const char* key, std::vector<ComputePoint>& out) {
  const auto it = compute.find(key);
  if (it == compute.end()) return {};
  const std::string where = std::string("compute.") + key;
  if (!it->is_array()) return damaged(where + ": expected an array");
  for (size_t i = 0; i < it->size(); ++i) {
    const Json& json = (*it)[i];
    const std::string element = where + "[" + std::to_string(i) + "]";
    STRIPLINE_RETURN_IF_ERROR(only_known(json, element, {"bytes", "seconds_per_element"}));
    ComputePoint point;
    STRIPLINE_ASSIGN_OR_RETURN(point.bytes, read_count(json, "bytes", element, kMaxBytes));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* seconds,
                               get_object(json, "seconds_per_element", element));
    STRIPLINE_ASSIGN_OR_RETURN(
        point.seconds_per_element,
        read_parameter(*seconds, element + ".seconds_per_element", kSecondsRule));
    out.push_back(std::move(point));
  }
  return {};
}

Result<CollectiveRule> read_collective_rule(const Json& json, const std::string& where) {
  STRIPLINE_RETURN_IF_ERROR(only_known(json, where,
                                       {"operation", "algorithm", "min_ranks", "max_ranks",
                                        "from_bytes", "to_bytes", "bytes", "time_s", "gain"}));
  CollectiveRule rule;
  STRIPLINE_ASSIGN_OR_RETURN(const std::string operation, get_string(json, "operation", where));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string algorithm, get_string(json, "algorithm", where));
  const auto known_operation = collective_operation_from(operation);
  const auto known_algorithm = collective_algorithm_from(algorithm);
  if (!known_operation) return damaged(where + ".operation: '" + operation + "' is unknown");
  if (!known_algorithm) return damaged(where + ".algorithm: '" + algorithm + "' is unknown");
  rule.operation = *known_operation;
  rule.algorithm = *known_algorithm;
  STRIPLINE_ASSIGN_OR_RETURN(rule.min_ranks, read_count32(json, "min_ranks", where));
  STRIPLINE_ASSIGN_OR_RETURN(rule.max_ranks, read_count32(json, "max_ranks", where));
  STRIPLINE_ASSIGN_OR_RETURN(rule.from_bytes, read_count(json, "from_bytes", where, kMaxBytes));
  STRIPLINE_ASSIGN_OR_RETURN(rule.to_bytes, read_count(json, "to_bytes", where, kMaxBytes));
  STRIPLINE_ASSIGN_OR_RETURN(rule.bytes, read_count(json, "bytes", where, kMaxBytes));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* time, get_object(json, "time_s", where));
  STRIPLINE_ASSIGN_OR_RETURN(rule.time_s, read_parameter(*time, where + ".time_s", kSecondsRule));
  STRIPLINE_RETURN_IF_ERROR(read_optional(json, "gain", where, kGainRule, rule.gain));
  return rule;
}

Status read_collective(const Json& document, std::optional<CollectiveModel>& out) {
  const auto section = document.find("collective");
  if (section == document.end()) return {};
  STRIPLINE_RETURN_IF_ERROR(only_known(*section, "collective", {"rules"}));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* rules, get_array(*section, "rules", "collective"));
  out.emplace();
  for (size_t i = 0; i < rules->size(); ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(
        CollectiveRule rule,
        read_collective_rule((*rules)[i], "collective.rules[" + std::to_string(i) + "]"));
    out->rules.push_back(std::move(rule));
  }
  return {};
}

Result<Provenance> read_provenance(const Json& document) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* json, get_object(document, "provenance", "model"));
  const std::string where = "provenance";
  STRIPLINE_RETURN_IF_ERROR(only_known(
      *json, where, {"campaigns", "sample_sha256", "fitter_version", "fitted_at", "provisional"}));
  Provenance provenance;
  STRIPLINE_ASSIGN_OR_RETURN(const Json* campaigns, get_array(*json, "campaigns", where));
  for (const Json& campaign : *campaigns) {
    if (!campaign.is_string()) return damaged("provenance.campaigns: expected strings");
    provenance.campaigns.push_back(campaign.get<std::string>());
  }
  STRIPLINE_ASSIGN_OR_RETURN(provenance.sample_sha256, get_string(*json, "sample_sha256", where));
  STRIPLINE_ASSIGN_OR_RETURN(provenance.fitter_version, get_string(*json, "fitter_version", where));
  STRIPLINE_ASSIGN_OR_RETURN(provenance.fitted_at, get_string(*json, "fitted_at", where));
  if (json->contains("provisional")) {
    STRIPLINE_ASSIGN_OR_RETURN(provenance.provisional, get_string(*json, "provisional", where));
  }
  return provenance;
}

Result<Fingerprint> read_fingerprint(const Json& document) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* json, get_object(document, "fingerprint", "model"));
  Fingerprint fingerprint;
  for (const auto& [field, entry] : json->items()) {
    const std::string where = "fingerprint." + field;
    STRIPLINE_RETURN_IF_ERROR(only_known(entry, where, {"value", "match"}));
    STRIPLINE_ASSIGN_OR_RETURN(std::string value, get_string(entry, "value", where));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string rule_name, get_string(entry, "match", where));
    const auto rule = match_rule_from_string(rule_name);
    if (!rule) return damaged(where + ".match: expected hard, soft or ignore");
    fingerprint[field] = {std::move(value), *rule};
  }
  return fingerprint;
}

Result<Domain> read_domain(const Json& document) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* json, get_object(document, "domain", "model"));
  STRIPLINE_RETURN_IF_ERROR(
      only_known(*json, "domain", {"min_ranks", "max_ranks", "min_bytes", "max_bytes"}));
  Domain domain;
  STRIPLINE_ASSIGN_OR_RETURN(domain.min_ranks, read_count32(*json, "min_ranks", "domain"));
  STRIPLINE_ASSIGN_OR_RETURN(domain.max_ranks, read_count32(*json, "max_ranks", "domain"));
  STRIPLINE_ASSIGN_OR_RETURN(domain.min_bytes, read_count(*json, "min_bytes", "domain", kMaxBytes));
  STRIPLINE_ASSIGN_OR_RETURN(domain.max_bytes, read_count(*json, "max_bytes", "domain", kMaxBytes));
  return domain;
}

Status read_sections(const Json& document, TunedModel& model) {
  STRIPLINE_ASSIGN_OR_RETURN(model.name, get_string(document, "name", "model"));
  STRIPLINE_ASSIGN_OR_RETURN(model.provenance, read_provenance(document));
  STRIPLINE_ASSIGN_OR_RETURN(model.fingerprint, read_fingerprint(document));
  STRIPLINE_ASSIGN_OR_RETURN(model.domain, read_domain(document));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* network, get_object(document, "network", "model"));
  for (const auto& [name, json] : network->items()) {
    const std::string where = "network." + name;
    STRIPLINE_RETURN_IF_ERROR(only_known(json, where, {"put", "get", "am"}));
    PathModel path;
    STRIPLINE_RETURN_IF_ERROR(read_operation(json, "put", where, path.put));
    STRIPLINE_RETURN_IF_ERROR(read_operation(json, "get", where, path.get));
    STRIPLINE_RETURN_IF_ERROR(read_operation(json, "am", where, path.am));
    model.network[name] = std::move(path);
  }
  if (const auto compute = document.find("compute"); compute != document.end()) {
    STRIPLINE_RETURN_IF_ERROR(
        only_known(*compute, "compute", {"red_in", "red_out", "vec_in", "vec_out", "alu"}));
    model.compute.emplace();
    STRIPLINE_RETURN_IF_ERROR(read_footprints(*compute, "red_in", model.compute->red_in));
    STRIPLINE_RETURN_IF_ERROR(read_footprints(*compute, "red_out", model.compute->red_out));
    STRIPLINE_RETURN_IF_ERROR(read_footprints(*compute, "vec_in", model.compute->vec_in));
    STRIPLINE_RETURN_IF_ERROR(read_footprints(*compute, "vec_out", model.compute->vec_out));
    STRIPLINE_RETURN_IF_ERROR(read_footprints(*compute, "alu", model.compute->alu));
  }
  if (const auto strip = document.find("strip"); strip != document.end()) {
    STRIPLINE_RETURN_IF_ERROR(only_known(*strip, "strip", {"strip_overhead_s", "minimum_gain"}));
    model.strip.emplace();
    STRIPLINE_RETURN_IF_ERROR(read_optional(*strip, "strip_overhead_s", "strip", kSecondsRule,
                                            model.strip->strip_overhead_s));
    STRIPLINE_RETURN_IF_ERROR(
        read_optional(*strip, "minimum_gain", "strip", kGainRule, model.strip->minimum_gain));
  }
  STRIPLINE_RETURN_IF_ERROR(read_pack(document, model.pack));
  STRIPLINE_RETURN_IF_ERROR(read_vis(document, model.vis));
  STRIPLINE_RETURN_IF_ERROR(read_collective(document, model.collective));
  STRIPLINE_RETURN_IF_ERROR(read_rma(document, model.rma));
  STRIPLINE_RETURN_IF_ERROR(read_service(document, model.service_levels));
  for (const auto& [name, json] : document.items()) {
    if (is_known_section(name)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(model.unknown_sections[name], canonical_json(json));
  }
  return {};
}

Result<TunedModel> read_document(const Json& document) {
  if (!document.is_object()) return damaged("not a JSON object, so not a tuned model");
  const auto stated = document.find("sha256");
  if (stated == document.end() || !stated->is_string()) {
    return damaged(
        "there is no 'sha256' member; this is not a tuned model, or it was cut; fetch it "
        "again with 'stripline model fetch'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string actual, hash_without_member(document));
  if (stated->get_ref<const std::string&>() != actual) {
    return damaged("the file was altered or truncated: its content hashes to " + actual +
                   ", which is not its 'sha256'; fetch it again with 'stripline model fetch'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t version,
                             get_integer(document, "schema_version", "model"));
  if (version != kSchemaVersion) {
    return Error(ErrorCode::failed_precondition,
                 "schema version " + std::to_string(version) +
                     " is not readable by this build, "
                     "which knows version " +
                     std::to_string(kSchemaVersion) +
                     "; use a matching stripline or fit the model again");
  }
  TunedModel model;
  STRIPLINE_RETURN_IF_ERROR(read_sections(document, model));
  if (const Status status = validate(model); !status) return damaged(status.error().message());
  return model;
}

}  // namespace

Result<Json> to_json(const TunedModel& model) {
  STRIPLINE_RETURN_IF_ERROR(validate(model));
  Json fingerprint = Json::object();
  for (const auto& [field, entry] : model.fingerprint) {
    fingerprint[field] = {{"value", entry.value}, {"match", to_string(entry.rule)}};
  }
  Json document = {{"schema_version", kSchemaVersion},
                   {"name", model.name},
                   {"provenance", provenance_to_json(model.provenance)},
                   {"fingerprint", std::move(fingerprint)},
                   {"domain",
                    {{"min_ranks", model.domain.min_ranks},
                     {"max_ranks", model.domain.max_ranks},
                     {"min_bytes", model.domain.min_bytes},
                     {"max_bytes", model.domain.max_bytes}}},
                   {"network", network_to_json(model.network)}};
  if (model.compute) {
    document["compute"] = {{"red_in", footprints_to_json(model.compute->red_in)},
                           {"red_out", footprints_to_json(model.compute->red_out)},
                           {"vec_in", footprints_to_json(model.compute->vec_in)},
                           {"vec_out", footprints_to_json(model.compute->vec_out)},
                           {"alu", footprints_to_json(model.compute->alu)}};
  }
  if (model.strip) {
    Json strip = Json::object();
    put_parameter(strip, "strip_overhead_s", model.strip->strip_overhead_s, kSecondsRule);
    put_parameter(strip, "minimum_gain", model.strip->minimum_gain, kGainRule);
    document["strip"] = std::move(strip);
  }
  if (model.pack) document["pack"] = pack_to_json(*model.pack);
  if (!model.vis.empty()) document["vis"] = vis_to_json(model.vis);
  if (model.collective) document["collective"] = collective_to_json(*model.collective);
  if (model.rma) document["rma"] = rma_to_json(*model.rma);
  if (model.service_levels) {
    document["service_levels"] = service_to_json(*model.service_levels);
  }
  for (const auto& [name, text] : model.unknown_sections) {
    auto section = parse_json(text, "section '" + name + "'");
    if (is_known_section(name) || !section) {
      return Error(ErrorCode::invalid_argument,
                   "unknown section '" + name + "': " +
                       (section ? "the name belongs to a known section" : "its text is not JSON"));
    }
    document[name] = *std::move(section);
  }
  STRIPLINE_ASSIGN_OR_RETURN(document["sha256"], hash_without_member(document));
  return document;
}

Result<std::string> content_sha256(const TunedModel& model) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, to_json(model));
  return document.at("sha256").get<std::string>();
}

Result<TunedModel> parse_model(std::string_view text, std::string_view what) {
  if (text.size() > kMaxModelFileBytes) {
    return damaged(std::string(what) + ": larger than " + std::to_string(kMaxModelFileBytes) +
                   " bytes; no tuned model is");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, parse_json(text, what));
  auto model = read_document(document);
  if (!model) return model.error().with_context(what);
  return model;
}

Result<TunedModel> load_model(const std::filesystem::path& path) {
  const std::string what = "model file '" + path.string() + "'";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error(ErrorCode::not_found,
                 "cannot read " + what + ": no such file; fetch one with 'stripline model fetch'");
  }
  auto document = read_json_file(path, kMaxModelFileBytes);
  if (!document) return document.error();  // names the file
  auto model = read_document(*document);
  if (!model) return model.error().with_context(what);
  return model;
}

Status save_model(const TunedModel& model, const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, to_json(model));
  const size_t bytes = document.dump(2).size() + 1;  // and the end of the last line
  if (bytes > kMaxModelFileBytes) {
    return Error(ErrorCode::invalid_argument,
                 "model '" + model.name + "' would take " + std::to_string(bytes) +
                     " bytes as a file, and none larger than " +
                     std::to_string(kMaxModelFileBytes) +
                     " is read; leave out sections that are not needed");
  }
  return write_json_file(path, document);
}

}  // namespace stripline::model
