#include "optimizer/model/rma_json.h"

#include <array>
#include <string>
#include <utility>

#include "optimizer/model/parameter_json.h"

namespace stripline::model {
namespace {

constexpr std::array kWays = {std::pair(AtomicWay::provider, std::string_view("provider")),
                              std::pair(AtomicWay::message, std::string_view("message"))};

}  // namespace

std::string_view to_string(AtomicWay way) { return kWays.at(static_cast<size_t>(way)).second; }

std::optional<AtomicWay> atomic_way_from(std::string_view name) {
  for (const auto& [way, text] : kWays) {
    if (text == name) return way;
  }
  return std::nullopt;
}

namespace detail {
namespace {

using std::string;

Json atomic_to_json(const AtomicModel& atomic) {
  Json json = {{"way", to_string(atomic.way)},
               {"provider_s", parameter_to_json(atomic.provider_s, kSecondsRule)},
               {"message_s", parameter_to_json(atomic.message_s, kSecondsRule)}};
  put_parameter(json, "gain", atomic.gain, kGainRule);
  return json;
}

Json put_combining_to_json(const PutCombiningModel& combining) {
  Json json = {{"max_put_bytes", combining.max_put_bytes},
               {"message_bytes", combining.message_bytes},
               {"message_s", parameter_to_json(combining.message_s, kSecondsRule)},
               {"max_delay_s", parameter_to_json(combining.max_delay_s, kSecondsRule)}};
  put_parameter(json, "gain", combining.gain, kGainRule);
  return json;
}

Json buffered_put_to_json(const BufferedPutModel& buffered) {
  Json json = {{"max_bytes", buffered.max_bytes}};
  put_parameter(json, "gain", buffered.gain, kGainRule);
  return json;
}

Json progress_to_json(const ProgressModel& progress) {
  return {{"call_s", parameter_to_json(progress.call_s, kSecondsRule)},
          {"answer_s", parameter_to_json(progress.answer_s, kSecondsRule)}};
}

Status read_required(const Json& json, const char* key, const string& where,
                     const ParameterRule& rule, Parameter& out) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* member, get_object(json, key, where));
  STRIPLINE_ASSIGN_OR_RETURN(out, read_parameter(*member, where + "." + key, rule));
  return {};
}

Status read_atomic(const Json& rma, std::optional<AtomicModel>& out) {
  const auto json = rma.find("atomic");
  if (json == rma.end()) return {};
  const string where = "rma.atomic";
  STRIPLINE_RETURN_IF_ERROR(only_known(*json, where, {"way", "provider_s", "message_s", "gain"}));
  STRIPLINE_ASSIGN_OR_RETURN(const string name, get_string(*json, "way", where));
  const auto way = atomic_way_from(name);
  if (!way) return damaged(where + ".way: '" + name + "' is neither provider nor message");
  AtomicModel atomic;
  atomic.way = *way;
  STRIPLINE_RETURN_IF_ERROR(
      read_required(*json, "provider_s", where, kSecondsRule, atomic.provider_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_required(*json, "message_s", where, kSecondsRule, atomic.message_s));
  STRIPLINE_RETURN_IF_ERROR(read_optional(*json, "gain", where, kGainRule, atomic.gain));
  out = std::move(atomic);
  return {};
}

Status read_put_combining(const Json& rma, std::optional<PutCombiningModel>& out) {
  const auto json = rma.find("put_combining");
  if (json == rma.end()) return {};
  const string where = "rma.put_combining";
  STRIPLINE_RETURN_IF_ERROR(only_known(
      *json, where, {"max_put_bytes", "message_bytes", "message_s", "max_delay_s", "gain"}));
  PutCombiningModel combining;
  STRIPLINE_ASSIGN_OR_RETURN(combining.max_put_bytes,
                             read_count(*json, "max_put_bytes", where, kMaxBytes));
  STRIPLINE_ASSIGN_OR_RETURN(combining.message_bytes,
                             read_count(*json, "message_bytes", where, kMaxBytes));
  STRIPLINE_RETURN_IF_ERROR(
      read_required(*json, "message_s", where, kSecondsRule, combining.message_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_required(*json, "max_delay_s", where, kSecondsRule, combining.max_delay_s));
  STRIPLINE_RETURN_IF_ERROR(read_optional(*json, "gain", where, kGainRule, combining.gain));
  out = std::move(combining);
  return {};
}

Status read_buffered_put(const Json& rma, std::optional<BufferedPutModel>& out) {
  const auto json = rma.find("buffered_put");
  if (json == rma.end()) return {};
  const string where = "rma.buffered_put";
  STRIPLINE_RETURN_IF_ERROR(only_known(*json, where, {"max_bytes", "gain"}));
  BufferedPutModel buffered;
  STRIPLINE_ASSIGN_OR_RETURN(buffered.max_bytes, read_count(*json, "max_bytes", where, kMaxBytes));
  STRIPLINE_RETURN_IF_ERROR(read_optional(*json, "gain", where, kGainRule, buffered.gain));
  out = std::move(buffered);
  return {};
}

Status read_progress(const Json& rma, std::optional<ProgressModel>& out) {
  const auto json = rma.find("progress");
  if (json == rma.end()) return {};
  const string where = "rma.progress";
  STRIPLINE_RETURN_IF_ERROR(only_known(*json, where, {"call_s", "answer_s"}));
  ProgressModel progress;
  STRIPLINE_RETURN_IF_ERROR(read_required(*json, "call_s", where, kSecondsRule, progress.call_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_required(*json, "answer_s", where, kSecondsRule, progress.answer_s));
  out = std::move(progress);
  return {};
}

}  // namespace

Json rma_to_json(const RmaModel& rma) {
  Json json = Json::object();
  if (rma.buffered_put) json["buffered_put"] = buffered_put_to_json(*rma.buffered_put);
  if (rma.put_combining) json["put_combining"] = put_combining_to_json(*rma.put_combining);
  if (rma.atomic) json["atomic"] = atomic_to_json(*rma.atomic);
  if (rma.progress) json["progress"] = progress_to_json(*rma.progress);
  return json;
}

Status read_rma(const Json& document, std::optional<RmaModel>& out) {
  const auto section = document.find("rma");
  if (section == document.end()) return {};
  STRIPLINE_RETURN_IF_ERROR(
      only_known(*section, "rma", {"buffered_put", "put_combining", "atomic", "progress"}));
  out.emplace();
  STRIPLINE_RETURN_IF_ERROR(read_buffered_put(*section, out->buffered_put));
  STRIPLINE_RETURN_IF_ERROR(read_put_combining(*section, out->put_combining));
  STRIPLINE_RETURN_IF_ERROR(read_atomic(*section, out->atomic));
  return read_progress(*section, out->progress);
}

}  // namespace detail
}  // namespace stripline::model
