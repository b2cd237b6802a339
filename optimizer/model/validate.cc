#include "optimizer/model/validate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "optimizer/model/validate_parts.h"

namespace stripline::model {
namespace {

using namespace detail;

constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxPaths = 64;
constexpr size_t kMaxSegments = 256;
constexpr size_t kMaxEntries = 4096;
constexpr size_t kMaxCollectiveRules = 1024;

Status check_name(const std::string& where, const std::string& name) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    return wrong(where, "a name has 1 to " + std::to_string(kMaxNameBytes) + " bytes");
  }
  return check_utf8(where, name);
}

Status check_segment(const std::string& where, const Segment& segment) {
  if (segment.from_bytes >= segment.to_bytes || segment.to_bytes > kMaxBytes) {
    return wrong(where, "needs from_bytes < to_bytes <= " + std::to_string(kMaxBytes));
  }
  const std::pair<const char*, const std::optional<Parameter>*> seconds[] = {
      {".o_base_s", &segment.o_base_s},
      {".L_s", &segment.L_s},
      {".g_s", &segment.g_s},
      {".r_base_s", &segment.r_base_s},
      {".s_base_s", &segment.s_base_s}};
  for (const auto& [name, parameter] : seconds) {
    STRIPLINE_RETURN_IF_ERROR(check_optional(where + name, *parameter, kSecondsRule));
  }
  const std::pair<const char*, const std::optional<Parameter>*> per_byte[] = {
      {".o_per_byte_s", &segment.o_per_byte_s},
      {".G_s_per_byte", &segment.G_s_per_byte},
      {".r_per_byte_s", &segment.r_per_byte_s},
      {".s_per_byte_s", &segment.s_per_byte_s}};
  for (const auto& [name, parameter] : per_byte) {
    STRIPLINE_RETURN_IF_ERROR(check_optional(where + name, *parameter, kSecondsPerByteRule));
  }
  return {};
}

Status check_buffers(const std::string& where, const std::vector<BufferPoint>& points) {
  if (points.size() > kMaxFootprints) {
    return wrong(where, "more than " + std::to_string(kMaxFootprints) + " sizes");
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string element = where + "[" + std::to_string(i) + "]";
    if (points[i].bytes > kMaxBytes) {
      return wrong(element + ".bytes", "larger than " + std::to_string(kMaxBytes));
    }
    if (i > 0 && points[i].bytes <= points[i - 1].bytes) {
      return wrong(element + ".bytes", "sizes must ascend");
    }
    STRIPLINE_RETURN_IF_ERROR(check_parameter(element + ".retire_s_per_byte",
                                              points[i].retire_s_per_byte, kSecondsPerByteRule));
    STRIPLINE_RETURN_IF_ERROR(check_parameter(element + ".read_s_per_byte",
                                              points[i].read_s_per_byte, kSecondsPerByteRule));
  }
  return {};
}

Status check_operation(const std::string& where, const OperationModel& operation) {
  const std::string list = where + ".segments";
  if (operation.segments.empty() || operation.segments.size() > kMaxSegments) {
    return wrong(list, "needs 1 to " + std::to_string(kMaxSegments) + " segments");
  }
  for (size_t i = 0; i < operation.segments.size(); ++i) {
    const std::string element = list + "[" + std::to_string(i) + "]";
    STRIPLINE_RETURN_IF_ERROR(check_segment(element, operation.segments[i]));
    if (i > 0 && operation.segments[i].from_bytes != operation.segments[i - 1].to_bytes) {
      return wrong(element, "from_bytes must equal the to_bytes of the segment before");
    }
  }
  STRIPLINE_RETURN_IF_ERROR(
      check_optional(where + ".queue_depth", operation.queue_depth, kQueueDepthRule));
  return check_buffers(where + ".buffers", operation.buffers);
}

Status check_footprints(const std::string& where, const std::vector<ComputePoint>& points) {
  if (points.size() > kMaxFootprints) {
    return wrong(where, "more than " + std::to_string(kMaxFootprints) + " footprints");
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string element = where + "[" + std::to_string(i) + "]";
    if (points[i].bytes > kMaxBytes) {
      return wrong(element + ".bytes", "larger than " + std::to_string(kMaxBytes));
    }
    if (i > 0 && points[i].bytes <= points[i - 1].bytes) {
      return wrong(element + ".bytes", "footprints must ascend");
    }
    STRIPLINE_RETURN_IF_ERROR(check_parameter(element + ".seconds_per_element",
                                              points[i].seconds_per_element, kSecondsRule));
  }
  return {};
}

Status check_provenance(const Provenance& provenance) {
  if (provenance.campaigns.size() > kMaxEntries) {
    return wrong("provenance.campaigns", "too many entries");
  }
  for (const std::string& campaign : provenance.campaigns) {
    STRIPLINE_RETURN_IF_ERROR(check_name("provenance.campaigns", campaign));
  }
  const std::string& hash = provenance.sample_sha256;
  const bool hexadecimal = std::all_of(hash.begin(), hash.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!hash.empty() && (hash.size() != 64 || !hexadecimal)) {
    return wrong("provenance.sample_sha256", "must be 64 lower-case hexadecimal digits or empty");
  }
  STRIPLINE_RETURN_IF_ERROR(check_text("provenance.fitter_version", provenance.fitter_version));
  return check_text("provenance.fitted_at", provenance.fitted_at);
}

Status check_domain(const Domain& domain) {
  if (domain.min_ranks > domain.max_ranks || domain.max_ranks > kMaxRanks) {
    return wrong("domain.max_ranks",
                 "must be at least min_ranks and at most " + std::to_string(kMaxRanks));
  }
  if (domain.min_bytes > domain.max_bytes || domain.max_bytes > kMaxBytes) {
    return wrong("domain.max_bytes",
                 "must be at least min_bytes and at most " + std::to_string(kMaxBytes));
  }
  return {};
}

bool hold_together(const CollectiveRule& a, const CollectiveRule& b) {
  return a.operation == b.operation && a.min_ranks <= b.max_ranks && b.min_ranks <= a.max_ranks &&
         a.from_bytes < b.to_bytes && b.from_bytes < a.to_bytes;
}

Status check_collective(const CollectiveModel& collective) {
  const std::string list = "collective.rules";
  if (collective.rules.size() > kMaxCollectiveRules) {
    return wrong(list, "more than " + std::to_string(kMaxCollectiveRules) + " rules");
  }
  for (size_t i = 0; i < collective.rules.size(); ++i) {
    const CollectiveRule& rule = collective.rules[i];
    const std::string where = list + "[" + std::to_string(i) + "]";
    if (!has_algorithm(rule.operation, rule.algorithm)) {
      return wrong(where + ".algorithm", std::string(to_string(rule.operation)) +
                                             " has no algorithm " +
                                             std::string(to_string(rule.algorithm)));
    }
    if (rule.min_ranks > rule.max_ranks || rule.max_ranks > kMaxRanks) {
      return wrong(where + ".max_ranks",
                   "must be at least min_ranks and at most " + std::to_string(kMaxRanks));
    }
    if (rule.from_bytes > rule.bytes || rule.bytes >= rule.to_bytes || rule.to_bytes > kMaxBytes) {
      return wrong(where, "needs from_bytes <= bytes < to_bytes <= " + std::to_string(kMaxBytes));
    }
    STRIPLINE_RETURN_IF_ERROR(check_parameter(where + ".time_s", rule.time_s, kSecondsRule));
    STRIPLINE_RETURN_IF_ERROR(check_optional(where + ".gain", rule.gain, kGainRule));
    for (size_t j = 0; j < i; ++j) {
      if (hold_together(collective.rules[j], rule)) {
        return wrong(where, "overlaps rule " + std::to_string(j) + " of the same operation");
      }
    }
  }
  return {};
}

}  // namespace

Status validate(const TunedModel& model) {
  STRIPLINE_RETURN_IF_ERROR(check_name("name", model.name));
  STRIPLINE_RETURN_IF_ERROR(check_provenance(model.provenance));
  STRIPLINE_RETURN_IF_ERROR(check_domain(model.domain));
  if (model.fingerprint.size() > kMaxEntries) return wrong("fingerprint", "too many fields");
  for (const auto& [field, entry] : model.fingerprint) {
    STRIPLINE_RETURN_IF_ERROR(check_name("fingerprint", field));
    STRIPLINE_RETURN_IF_ERROR(check_text("fingerprint." + field, entry.value));
  }
  if (model.network.size() > kMaxPaths) return wrong("network", "too many paths");
  for (const auto& [path, operations] : model.network) {
    STRIPLINE_RETURN_IF_ERROR(check_name("network", path));
    const std::string where = "network." + path;
    const std::pair<const char*, const std::optional<OperationModel>*> members[] = {
        {".put", &operations.put}, {".get", &operations.get}, {".am", &operations.am}};
    for (const auto& [name, operation] : members) {
      if (*operation) STRIPLINE_RETURN_IF_ERROR(check_operation(where + name, **operation));
    }
  }
  if (model.compute) {
    const ComputeModel& compute = *model.compute;
    STRIPLINE_RETURN_IF_ERROR(check_footprints("compute.red_in", compute.red_in));
    STRIPLINE_RETURN_IF_ERROR(check_footprints("compute.red_out", compute.red_out));
    STRIPLINE_RETURN_IF_ERROR(check_footprints("compute.vec_in", compute.vec_in));
    STRIPLINE_RETURN_IF_ERROR(check_footprints("compute.vec_out", compute.vec_out));
    STRIPLINE_RETURN_IF_ERROR(check_footprints("compute.alu", compute.alu));
  }
  if (model.strip) {
    STRIPLINE_RETURN_IF_ERROR(
        check_optional("strip.strip_overhead_s", model.strip->strip_overhead_s, kSecondsRule));
    STRIPLINE_RETURN_IF_ERROR(
        check_optional("strip.minimum_gain", model.strip->minimum_gain, kGainRule));
  }
  if (model.pack) STRIPLINE_RETURN_IF_ERROR(check_pack(*model.pack));
  if (model.vis.size() > kMaxPaths) return wrong("vis", "too many paths");
  for (const auto& [path, vis] : model.vis) {
    STRIPLINE_RETURN_IF_ERROR(check_name("vis", path));
    STRIPLINE_RETURN_IF_ERROR(check_vis("vis." + path, vis));
  }
  if (model.collective) STRIPLINE_RETURN_IF_ERROR(check_collective(*model.collective));
  if (model.rma) STRIPLINE_RETURN_IF_ERROR(check_rma(*model.rma));
  if (model.service_levels) STRIPLINE_RETURN_IF_ERROR(check_service(*model.service_levels));
  for (const auto& [name, text] : model.unknown_sections) {
    STRIPLINE_RETURN_IF_ERROR(check_utf8("the name of an unknown section", name));
  }
  return {};
}

}  // namespace stripline::model
