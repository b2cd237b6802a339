#include "runtime/fabric/emulated/profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "base/cut_text.h"
#include "base/json.h"
#include "base/number_text.h"
#include "base/suggest.h"
#include "base/whole_file.h"
#include "runtime/fabric/emulated/builtin_profiles.h"

namespace stripline::fabric {
namespace {

constexpr std::string_view kPrefix = "emulated:";

Error bad(std::string_view where, std::string_view what) {
  return Error(ErrorCode::data_loss, std::string(where) + ": " + std::string(what));
}

// A value is {"value": x, "published": "citation"} or {"value": x, "assumed": "reason"}.
Result<double> read_value(const Json& object, std::string_view key, std::string_view where,
                          double minimum, double maximum) {
  const std::string path = std::string(where) + "." + std::string(key);
  STRIPLINE_ASSIGN_OR_RETURN(const Json* entry, get_object(object, key, where));
  STRIPLINE_ASSIGN_OR_RETURN(const double value, get_number(*entry, "value", path));
  if (!std::isfinite(value) || value < minimum || value > maximum) {
    std::ostringstream text;
    text << "value " << value << " is outside [" << minimum << ", " << maximum
         << "]; a profile describes a network that could exist";
    return bad(path, text.str());
  }
  const bool published = entry->contains("published");
  const bool assumed = entry->contains("assumed");
  if (published == assumed) {
    return bad(path,
               "mark it either \"published\" (with a citation) or \"assumed\" (with a reason)");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string origin,
                             get_string(*entry, published ? "published" : "assumed", path));
  if (origin.empty()) return bad(path, "the citation or reason is empty");
  return value;
}

Result<double> read_optional(const Json& object, std::string_view key, std::string_view where,
                             double fallback, double minimum, double maximum) {
  if (!object.contains(key)) return fallback;
  return read_value(object, key, where, minimum, maximum);
}

Result<OperationProfile> read_operation(const Json& root, std::string_view key) {
  const std::string where = "profile." + std::string(key);
  STRIPLINE_ASSIGN_OR_RETURN(const Json* object, get_object(root, key, "profile"));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* segments, get_array(*object, "segments", where));
  OperationProfile operation;
  if (object->contains("needs_target")) {
    STRIPLINE_ASSIGN_OR_RETURN(operation.needs_target, get_bool(*object, "needs_target", where));
  }
  for (size_t i = 0; i < segments->size(); ++i) {
    const std::string at = where + ".segments[" + std::to_string(i) + "]";
    const Json& entry = (*segments)[i];
    ProfileSegment segment;
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t from, get_integer(entry, "from_bytes", at));
    if (from < 0 || (i == 0 && from != 0) ||
        (i > 0 && static_cast<uint64_t>(from) <= operation.segments.back().from_bytes)) {
      return bad(at + ".from_bytes", "segments start at 0 and ascend");
    }
    segment.from_bytes = static_cast<uint64_t>(from);
    struct Member {
      const char* name;
      double* target;
    };
    for (const Member& member :
         {Member{"o_base_s", &segment.o_base_s}, Member{"o_per_byte_s", &segment.o_per_byte_s},
          Member{"L_s", &segment.L_s}, Member{"g_s", &segment.g_s},
          Member{"G_s_per_byte", &segment.G_s_per_byte}, Member{"r_base_s", &segment.r_base_s},
          Member{"r_per_byte_s", &segment.r_per_byte_s}}) {
      STRIPLINE_ASSIGN_OR_RETURN(*member.target, read_value(entry, member.name, at, 0, 1));
    }
    for (const Member& member :
         {Member{"s_base_s", &segment.s_base_s}, Member{"s_per_byte_s", &segment.s_per_byte_s}}) {
      STRIPLINE_ASSIGN_OR_RETURN(*member.target, read_optional(entry, member.name, at, 0, 0, 1));
      if (*member.target > 0 && key == "am") {
        return bad(at + "." + member.name,
                   "what serving a message takes is r_base_s and r_per_byte_s; leave this out");
      }
      if (*member.target > 0 && !operation.needs_target) {
        return bad(at + "." + member.name,
                   "a target that is not needed does not serve; leave this out, or say "
                   "\"needs_target\": true for the operation");
      }
    }
    if (segment.L_s <= 0) return bad(at + ".L_s", "a latency of zero cannot be emulated");
    operation.segments.push_back(segment);
  }
  if (operation.segments.empty()) return bad(where + ".segments", "needs at least one segment");
  return operation;
}

// {"hop_s": value, "packet_bytes": value, "buffer_bytes": value, "levels": [{"down": n, "up": n,
// "G_s_per_byte": value}, ..., {"down": n}]}
Result<FatTree> read_tree(const Json& root) {
  const std::string where = "profile.fat_tree";
  STRIPLINE_ASSIGN_OR_RETURN(const Json* object, get_object(root, "fat_tree", "profile"));
  STRIPLINE_ASSIGN_OR_RETURN(const double hop_s, read_value(*object, "hop_s", where, 0, 1));
  constexpr double kMostBytes = 1U << 30;
  PacketSwitching packets;
  STRIPLINE_ASSIGN_OR_RETURN(
      const double packet_bytes,
      read_optional(*object, "packet_bytes", where, 0, kCreditBytes, kMostBytes));
  packets.packet_bytes = static_cast<uint64_t>(packet_bytes);
  STRIPLINE_ASSIGN_OR_RETURN(
      const double buffer_bytes,
      read_optional(*object, "buffer_bytes", where, 0, kCreditBytes, kMostBytes));
  packets.buffer_bytes = static_cast<uint64_t>(buffer_bytes);
  if (object->contains("buffer_bytes") &&
      (packets.packet_bytes == 0 || packets.packet_bytes > packets.buffer_bytes)) {
    return bad(where + ".buffer_bytes",
               "what switches hold is packets: give packet_bytes, too, "
               "at most as many");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* entries, get_array(*object, "levels", where));
  constexpr size_t kMostLevels = 6;
  if (entries->empty() || entries->size() > kMostLevels) {
    return bad(where + ".levels", "a tree has 1 to 6 levels");
  }
  std::vector<FatTreeLevel> levels;
  for (size_t i = 0; i < entries->size(); ++i) {
    const std::string at = where + ".levels[" + std::to_string(i) + "]";
    const Json& entry = (*entries)[i];
    constexpr int64_t kMostPorts = 64;
    FatTreeLevel level;
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t down, get_integer(entry, "down", at));
    if (down < 1 || down > kMostPorts) return bad(at + ".down", "a switch joins 1 to 64");
    level.down = static_cast<uint32_t>(down);
    if (i + 1 < entries->size()) {
      STRIPLINE_ASSIGN_OR_RETURN(const int64_t up, get_integer(entry, "up", at));
      if (up < 1 || up > kMostPorts) return bad(at + ".up", "1 to 64 links lead upwards");
      level.up = static_cast<uint32_t>(up);
      STRIPLINE_ASSIGN_OR_RETURN(level.G_s_per_byte, read_value(entry, "G_s_per_byte", at, 0, 1));
    } else if (entry.contains("up") || entry.contains("G_s_per_byte")) {
      return bad(at, "no links lead upwards from the uppermost level");
    }
    levels.push_back(level);
  }
  return FatTree(std::move(levels), hop_s, packets);
}

// {"flops_per_s": value, "memory_bytes_per_s": value, "row_s": value}
Result<Processor> read_processor(const Json& root) {
  const std::string where = "profile.processor";
  constexpr double kSlowest = 1e3;
  constexpr double kFastest = 1e15;
  STRIPLINE_ASSIGN_OR_RETURN(const Json* object, get_object(root, "processor", "profile"));
  STRIPLINE_ASSIGN_OR_RETURN(const double flops_per_s,
                             read_value(*object, "flops_per_s", where, kSlowest, kFastest));
  STRIPLINE_ASSIGN_OR_RETURN(const double bytes_per_s,
                             read_value(*object, "memory_bytes_per_s", where, kSlowest, kFastest));
  STRIPLINE_ASSIGN_OR_RETURN(const double row_s, read_value(*object, "row_s", where, 0, 1));
  return Processor{1 / flops_per_s, 1 / bytes_per_s, row_s};
}

template <typename Integer>
Status read_count(const Json& root, std::string_view key, Integer& target, double minimum,
                  double maximum) {
  STRIPLINE_ASSIGN_OR_RETURN(const double value,
                             read_optional(root, key, "profile", target, minimum, maximum));
  target = static_cast<Integer>(value);
  return {};
}

std::string known_names() {
  std::string names;
  for (const std::string& name : builtin_profile_names()) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

Status apply_option(ProfileRequest& request, std::string_view option) {
  const size_t equals = option.find('=');
  const std::string_view key = option.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : option.substr(equals + 1);
  if (key == "compute" && value == "measured") {
    request.compute = ComputeMode::measured;
    return {};
  }
  if (key == "compute" && value == "none") {
    request.compute = ComputeMode::none;
    return {};
  }
  if (key == "compute" && value == "declared") {
    if (!request.profile.processor) {
      return Error(ErrorCode::invalid_argument,
                   "compute=declared needs to know what work takes, which profile " +
                       quoted_text(request.profile.name) +
                       " does not say; give it a member 'processor' (docs/emulated-fabric.md)");
    }
    request.compute = ComputeMode::declared;
    return {};
  }
  for (const auto& [prefix, mode] : {std::pair(std::string_view("record:"), ComputeMode::record),
                                     std::pair(std::string_view("replay:"), ComputeMode::replay)}) {
    if (key == "compute" && value.starts_with(prefix) && value.size() > prefix.size()) {
      request.compute = mode;
      request.trace_path = value.substr(prefix.size());
      return {};
    }
  }
  if (key == "compute") {
    if (const auto scale = number_from_text<double>(value); scale && *scale > 0 && *scale <= 1e6) {
      request.profile.compute_scale = *scale;
      return {};
    }
  }
  if (key == "jitter" && value == "on") return {};
  if (key == "jitter" && value == "off") {
    request.profile.jitter_within_run = 0;
    request.profile.jitter_between_runs = 0;
    return {};
  }
  if (key == "ranks_per_node") {
    if (const auto n = number_from_text<uint32_t>(value); n && *n > 0) {
      request.profile.ranks_per_node = *n;
      return {};
    }
  }
  if (key == "host_delays") {
    if (const auto seed = number_from_text<uint64_t>(value)) {
      request.host_delays_seed = *seed;
      return {};
    }
  }
  if (key == "lose") {
    const size_t at = value.find('@');
    if (at != std::string_view::npos) {
      const auto rank = number_from_text<uint32_t>(value.substr(0, at));
      const auto seconds = number_from_text<double>(value.substr(at + 1));
      if (rank && seconds && *seconds >= 0) {
        request.profile.lost_rank = *rank;
        request.profile.lost_at_s = *seconds;
        return {};
      }
    }
  }
  return Error(ErrorCode::invalid_argument,
               "unknown option " + quoted_text(option) +
                   " of the emulated fabric; known: "
                   "compute=measured|none|declared|SCALE|record:PATH|replay:PATH, jitter=on|off, "
                   "ranks_per_node=N, lose=RANK@SECONDS, host_delays=SEED");
}

}  // namespace

const ProfileSegment& OperationProfile::at(uint64_t bytes) const {
  size_t i = segments.size() - 1;
  while (segments[i].from_bytes > bytes) --i;
  return segments[i];
}

double Profile::smallest_G() const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const OperationProfile* operation : {&put, &get, &am}) {
    for (const ProfileSegment& segment : operation->segments) {
      smallest = std::min(smallest, segment.G_s_per_byte);
    }
  }
  return smallest;
}

std::vector<std::string> builtin_profile_names() {
  std::vector<std::string> names;
  for (const BuiltinProfile& profile : builtin_profiles()) names.emplace_back(profile.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view builtin_profile_text(std::string_view name) {
  for (const BuiltinProfile& profile : builtin_profiles()) {
    if (profile.name == name) return profile.json;
  }
  return {};
}

Result<Profile> parse_profile(std::string_view json_text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json root, parse_json(json_text, what));
  Profile profile;
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t version, get_integer(root, "schema_version", "profile"));
  if (version != 1) return bad("profile.schema_version", "this build reads version 1 only");
  STRIPLINE_ASSIGN_OR_RETURN(profile.name, get_string(root, "name", "profile"));
  STRIPLINE_ASSIGN_OR_RETURN(profile.title, get_string(root, "title", "profile"));
  STRIPLINE_ASSIGN_OR_RETURN(profile.put, read_operation(root, "put"));
  STRIPLINE_ASSIGN_OR_RETURN(profile.get, read_operation(root, "get"));
  STRIPLINE_ASSIGN_OR_RETURN(profile.am, read_operation(root, "am"));
  STRIPLINE_RETURN_IF_ERROR(read_count(root, "queue_depth", profile.queue_depth, 1, 65536));
  STRIPLINE_RETURN_IF_ERROR(read_count(root, "injection_limit", profile.injection_limit, 1, 64));
  STRIPLINE_RETURN_IF_ERROR(
      read_count(root, "max_message_bytes", profile.max_message_bytes, 256, 65536));
  STRIPLINE_RETURN_IF_ERROR(read_count(root, "ranks_per_node", profile.ranks_per_node, 1, 4096));
  STRIPLINE_ASSIGN_OR_RETURN(profile.poll_s,
                             read_optional(root, "poll_s", "profile", profile.poll_s, 1e-9, 1));
  STRIPLINE_ASSIGN_OR_RETURN(profile.jitter_within_run,
                             read_optional(root, "jitter_within_run", "profile", 0, 0, 1));
  STRIPLINE_ASSIGN_OR_RETURN(profile.jitter_between_runs,
                             read_optional(root, "jitter_between_runs", "profile", 0, 0, 1));
  STRIPLINE_ASSIGN_OR_RETURN(profile.compute_scale,
                             read_optional(root, "compute_scale", "profile", 1, 1e-6, 1e6));
  STRIPLINE_ASSIGN_OR_RETURN(profile.loss_detected_after_s,
                             read_optional(root, "loss_detected_after_s", "profile", 1, 0, 1e3));
  if (root.contains("fat_tree")) {
    STRIPLINE_ASSIGN_OR_RETURN(profile.tree, read_tree(root));
  }
  if (root.contains("processor")) {
    STRIPLINE_ASSIGN_OR_RETURN(profile.processor, read_processor(root));
  }
  if (root.contains("concurrency")) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* levels, get_array(root, "concurrency", "profile"));
    for (size_t i = 0; i < levels->size(); ++i) {
      const std::string at = "profile.concurrency[" + std::to_string(i) + "]";
      ConcurrencyLevel level;
      STRIPLINE_ASSIGN_OR_RETURN(const int64_t senders, get_integer((*levels)[i], "senders", at));
      if (senders < 1 || senders > (1 << 20) ||
          (i > 0 && senders <= profile.concurrency.back().senders)) {
        return bad(at + ".senders", "senders start at 1 and ascend");
      }
      level.senders = static_cast<uint32_t>(senders);
      STRIPLINE_ASSIGN_OR_RETURN(level.bandwidth_factor,
                                 read_value((*levels)[i], "bandwidth_factor", at, 1e-3, 1));
      profile.concurrency.push_back(level);
    }
  }
  return profile;
}

Result<ProfileRequest> resolve_profile(std::string_view fabric_name) {
  if (!fabric_name.starts_with(kPrefix)) {
    return Error(ErrorCode::invalid_argument,
                 quoted_text(fabric_name) + " is not an emulated fabric");
  }
  std::string_view rest = fabric_name.substr(kPrefix.size());
  const size_t comma = rest.find(',');
  const std::string name(rest.substr(0, comma));
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);

  ProfileRequest request;
  if (const std::string_view text = builtin_profile_text(name); !text.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(request.profile,
                               parse_profile(text, "profile " + quoted_text(name)));
  } else {
    const auto file = read_whole_file(name);
    if (!file.ok()) {
      return Error(ErrorCode::invalid_argument, "unknown profile " + quoted_text(name) +
                                                    did_you_mean(name, builtin_profile_names()) +
                                                    "; built in are " + known_names() +
                                                    ", and as a file: " + file.error().message());
    }
    auto parsed = parse_profile(*file, "JSON");
    if (!parsed.ok()) return parsed.error().with_context(quoted_text(name));
    request.profile = std::move(*parsed);
  }
  while (!rest.empty()) {
    const size_t end = rest.find(',');
    STRIPLINE_RETURN_IF_ERROR(apply_option(request, rest.substr(0, end)));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return request;
}

}  // namespace stripline::fabric
