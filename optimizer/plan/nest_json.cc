#include "optimizer/plan/nest_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "optimizer/model/paths.h"
#include "optimizer/plan/request_fields.h"
#include "optimizer/plan/row.h"

namespace stripline::plan {
namespace {

using access::Mode;
using access::Nest;
using access::Piece;
using access::Reference;

// Offsets of global pointers have 44 bits: no byte of a nest is farther away than this from where
// its offsets count.
constexpr int64_t kFarthest = int64_t{1} << 44;
constexpr int64_t kMostStride = 2 * kFarthest;  // from one end to the other
// For all loops together: counts are exact as doubles.
constexpr uint64_t kMostIterations = uint64_t{1} << 53;
constexpr uint64_t kMostElementBytes = uint64_t{1} << 20;
constexpr size_t kMostPieces = size_t{1} << 20;
constexpr double kMostSeconds = 1e9;

constexpr std::array<std::pair<Mode, std::string_view>, 3> kModes = {
    {{Mode::read, "read"}, {Mode::write, "write"}, {Mode::update, "update"}}};
constexpr std::string_view kLocal = "local";
// What target_polls_only was called; documents that were kept have it.
constexpr const char* kEarlierPolling = "served_between_steps";

std::string names_of_paths() {
  std::string names = "'" + std::string(kLocal) + "'";
  for (size_t i = 0; i < model::kPaths; ++i) {
    names += ", '" + std::string(model::path_name(static_cast<model::Path>(i))) + "'";
  }
  return names;
}

// Reads the members of one object. The first failure is kept; later reads do nothing, so that an
// object reads as a list of lines.
class Members {
 public:
  Members(const Json& object, std::string where, std::initializer_list<std::string_view> known)
      : Members(object, std::move(where), std::span(known.begin(), known.size()), {}) {}
  // `earlier`: a name that is read, but not listed in messages.
  Members(const Json& object, std::string where, std::span<const std::string_view> known,
          std::string_view earlier)
      : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) {
      error_ = Error(ErrorCode::data_loss, where_ + ": expected an object");
      return;
    }
    for (const auto& [key, ignored] : object_.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      if (key == earlier) continue;
      std::string names;
      for (const std::string_view name : known) {
        names += (names.empty() ? "" : ", ") + std::string(name);
      }
      error_ = Error(ErrorCode::data_loss,
                     where_ + ": '" + key + "' is not known here; there is " + names);
      return;
    }
  }

  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }

  void fail(const std::string& key, const std::string& expected) {
    if (!error_)
      error_ = Error(ErrorCode::data_loss, where_ + "." + key + ": expected " + expected);
  }
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  template <typename Integer>
  void integer(const char* key, Integer& out, int64_t least, int64_t most, bool required = false) {
    const Json* json = member(key, required, "an integer");
    if (json == nullptr) return;
    const auto value = integer_of(*json, least, most);
    if (!value) return fail(key, between(least, most));
    out = static_cast<Integer>(*value);
  }

  void number(const char* key, double& out, double most) {
    const Json* json = member(key, false, "a number");
    if (json == nullptr) return;
    const double value = json->is_number() ? json->get<double>() : std::nan("");
    if (!(value >= 0 && value <= most)) return fail(key, "a number from 0 to " + Json(most).dump());
    out = value;
  }

  void flag(const char* key, bool& out) {
    const Json* json = member(key, false, "true or false");
    if (json == nullptr) return;
    if (!json->is_boolean()) return fail(key, "true or false");
    out = json->get<bool>();
  }

  std::string text(const char* key, bool required) {
    const Json* json = member(key, required, "a string");
    if (json == nullptr) return {};
    if (!json->is_string()) {
      fail(key, "a string");
      return {};
    }
    return json->get<std::string>();
  }

  // Calls `read(element, where)`, which returns a Status, for each element.
  template <typename Read>
  void array(const char* key, size_t least, size_t most, bool required, Read read) {
    const Json* json = member(key, required, "an array");
    if (json == nullptr) return;
    if (!json->is_array() || json->size() < least || json->size() > most) {
      return fail(key, "an array of " + std::to_string(least) + " to " + std::to_string(most) +
                           " elements");
    }
    for (size_t i = 0; i < json->size() && !error_; ++i) {
      const Status status = read((*json)[i], where_ + "." + key + "[" + std::to_string(i) + "]");
      if (!status.ok()) fail(status.error());
    }
  }

  static std::optional<int64_t> integer_of(const Json& json, int64_t least, int64_t most) {
    // What is above the largest signed integer is unsigned, and too much.
    if (!json.is_number_integer()) return std::nullopt;
    if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
      return std::nullopt;
    }
    const auto value = json.get<int64_t>();
    if (value < least || value > most) return std::nullopt;
    return value;
  }
  static std::string between(int64_t least, int64_t most) {
    return "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  }

  Status status() const { return error_ ? Status(*error_) : Status(); }

 private:
  const Json* member(const char* key, bool required, const char* kind) {
    if (error_) return nullptr;
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    if (required) fail(key, std::string(kind) + ", which is missing");
    return nullptr;
  }

  const Json& object_;
  std::string where_;
  std::optional<Error> error_;
};

struct LoopRange {
  uint64_t count = 1;
  int64_t first = 0;
  int64_t step = 1;
};

Status read_loop(const Json& json, const std::string& where, LoopRange& loop) {
  Members members(json, where, {"count", "first", "step"});
  members.integer("count", loop.count, 1, kFarthest, true);
  members.integer("first", loop.first, -kFarthest, kFarthest);
  members.integer("step", loop.step, -kFarthest, kFarthest);
  return members.status();
}

// Adds to an offset, which must not go farther than allowed.
bool go(int64_t& offset, int64_t factor, int64_t bytes) {
  int64_t distance = 0;
  return !__builtin_mul_overflow(factor, bytes, &distance) &&
         !__builtin_add_overflow(offset, distance, &offset) && offset >= -kFarthest &&
         offset <= kFarthest;
}

// True if all elements are near enough. Makes the loops begin at 0, in steps of 1.
bool place(const std::vector<LoopRange>& loops, Reference& reference) {
  for (size_t loop = 0; loop < loops.size(); ++loop) {
    int64_t& stride = reference.stride_bytes[loop];
    if (!go(reference.base, loops[loop].first, stride)) return false;
    if (__builtin_mul_overflow(stride, loops[loop].step, &stride)) return false;
    if (loops[loop].count == 1) stride = 0;
  }
  int64_t low = reference.base;
  int64_t high = reference.base;
  for (size_t loop = 0; loop < loops.size(); ++loop) {
    const int64_t stride = reference.stride_bytes[loop];
    if (!go(stride < 0 ? low : high, static_cast<int64_t>(loops[loop].count - 1), stride)) {
      return false;
    }
  }
  return true;
}

Status read_array(const Json& json, const std::string& where, std::vector<Piece>& pieces) {
  const std::string expected = ": expected pieces, [rank, offset in bytes] each";
  if (!json.is_array() || json.empty() || json.size() > kMostPieces) {
    return Error(ErrorCode::data_loss, where + expected);
  }
  for (const Json& piece : json) {
    if (!piece.is_array() || piece.size() != 2)
      return Error(ErrorCode::data_loss, where + expected);
    const auto owner = Members::integer_of(piece[0], 0, UINT32_MAX);
    const auto base = Members::integer_of(piece[1], -kFarthest, kFarthest);
    if (!owner || !base) return Error(ErrorCode::data_loss, where + expected);
    pieces.push_back({static_cast<uint32_t>(*owner), *base});
  }
  return {};
}

std::optional<uint8_t> link_named(std::string_view name) {
  if (name == kLocal) return kLocalLink;
  for (size_t i = 0; i < model::kPaths; ++i) {
    const auto path = static_cast<model::Path>(i);
    if (model::path_name(path) == name) return link_by(path);
  }
  return std::nullopt;
}

std::string name_of_link(uint8_t link) {
  return std::string(link == kLocalLink ? kLocal
                                        : model::path_name(static_cast<model::Path>(link - 1)));
}

Status read_reference(const Json& json, const std::string& where,
                      const std::vector<LoopRange>& loops, DescribedNest& nest) {
  NestRequest& request = nest.request;
  Members members(json, where,
                  {"mode", "path", "element_bytes", "owner", "offset_bytes", "stride_bytes",
                   "array", "array_loop", "local_part"});
  Reference reference;
  const std::string mode = members.text("mode", true);
  const auto* const known =
      std::ranges::find_if(kModes, [&](const auto& entry) { return entry.second == mode; });
  if (known == kModes.end()) {
    members.fail("mode", "'read', 'write' or 'update'");
  } else {
    reference.mode = known->first;
  }
  const uint32_t index = request.nest.references();
  uint8_t& link = request.link[index];
  link = link_by(model::Path::network);
  if (members.has("path")) {
    const auto named = link_named(members.text("path", true));
    if (!named) members.fail("path", "one of " + names_of_paths());
    link = named.value_or(link);
  }
  members.integer("element_bytes", reference.element_bytes, 1, kMostElementBytes);
  members.integer("owner", reference.owner, 0, UINT32_MAX);
  members.integer("offset_bytes", reference.base, -kFarthest, kFarthest);
  size_t loop = 0;
  members.array("stride_bytes", loops.size(), loops.size(), true,
                [&](const Json& stride, const std::string& at) -> Status {
                  const auto bytes = Members::integer_of(stride, -kMostStride, kMostStride);
                  if (!bytes) {
                    return Error(ErrorCode::data_loss,
                                 at + ": expected " + Members::between(-kMostStride, kMostStride));
                  }
                  reference.stride_bytes[loop++] = *bytes;
                  return {};
                });
  if (members.has("array")) {
    size_t array = 0;
    members.integer("array", array, 0, static_cast<int64_t>(nest.arrays.size()) - 1, true);
    members.integer("array_loop", reference.piece_loop, 0, static_cast<int64_t>(loops.size()) - 1,
                    true);
    members.number("local_part", request.in_reach_part[index], 1);
    STRIPLINE_RETURN_IF_ERROR(members.status());
    reference.pieces = nest.arrays[array];
    if (reference.pieces.size() < loops[reference.piece_loop].count) {
      members.fail("array", "an array of at least as many pieces as loop " +
                                std::to_string(reference.piece_loop) + " has iterations");
    }
  } else if (members.has("array_loop") || members.has("local_part")) {
    members.fail("array", "the array that array_loop and local_part are about");
  }
  STRIPLINE_RETURN_IF_ERROR(members.status());
  if (!place(loops, reference)) {
    return Error(ErrorCode::data_loss,
                 where + ": some of its elements are more than 16 TiB from where offsets count");
  }
  request.nest.add(reference);
  return {};
}

// A member by its table.
void read_field(Members& members, const Field<Surroundings>& field, Surroundings& out) {
  const FieldText& text = field.text;
  const auto most = static_cast<int64_t>(text.most);
  FieldValue value = field.get(out);
  if (auto* flag = std::get_if<bool>(&value)) {
    members.flag(text.name, *flag);
  } else if (auto* seconds = std::get_if<double>(&value)) {
    members.number(text.name, *seconds, kMostSeconds);
  } else if (auto* number = std::get_if<uint64_t>(&value)) {
    members.integer(text.name, *number, static_cast<int64_t>(text.least), most);
  } else if (auto* numbers = std::get_if<std::vector<uint64_t>>(&value)) {
    size_t next = 0;
    members.array(text.name, 0, numbers->size(), false,
                  [&](const Json& element, const std::string& where) -> Status {
                    const auto count = Members::integer_of(element, 0, most);
                    if (!count) {
                      return Error(ErrorCode::data_loss,
                                   where + ": expected " + Members::between(0, most));
                    }
                    numbers->at(next++) = static_cast<uint64_t>(*count);
                    return {};
                  });
  }
  field.set(out, value);
}

Status read_operations(const Json& json, const std::string& where, cost::LoopClass& loop) {
  Members members(json, where, {"local_refs", "int_ops", "fp_ops", "divisions"});
  members.integer("local_refs", loop.n_local_ref, 0, 1000000);
  members.integer("int_ops", loop.n_int_alu, 0, 1000000);
  members.integer("fp_ops", loop.n_fp_alu, 0, 1000000);
  members.integer("divisions", loop.n_div, 0, 1000000);
  return members.status();
}

Status read_job(const Json& json, const std::string& where, VisRequest& many) {
  Members members(json, where,
                  {"iov_limit", "chunk_bytes", "message_bytes", "message_header_bytes", "box_bytes",
                   "service_delay_s"});
  members.integer("iov_limit", many.iov_limit, 1, 1 << 20);
  members.integer("chunk_bytes", many.medium_bytes, 0, kFarthest);
  members.integer("message_bytes", many.message_bytes, 1, kFarthest);
  members.integer("message_header_bytes", many.message_header_bytes, 0, 1 << 20);
  members.integer("box_bytes", many.max_buffer_bytes, 0, kFarthest);
  members.number("service_delay_s", many.surroundings.service_delay_s, kMostSeconds);
  return members.status();
}

}  // namespace

Result<DescribedNest> parse_nest(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(text, what));
  return nest_from_json(json, what);
}

Result<DescribedNest> nest_from_json(const Json& json, std::string_view what) {
  DescribedNest nest;
  NestRequest& request = nest.request;
  std::vector<std::string_view> names = {
      "loops",       "references",       "arrays",         "compute_s",     "operations",
      "local_bytes", "max_buffer_bytes", "slot_alignment", "uniform_steps", "job"};
  for (const auto& [fact, field] : surroundings_fields()) {
    if (has(NestRequest::kFacts, fact)) names.emplace_back(field.text.name);
  }
  Members members(json, std::string(what), names, kEarlierPolling);
  std::vector<LoopRange> loops;
  uint64_t iterations = 1;
  members.array("loops", 1, access::kMaxDepth, true,
                [&](const Json& loop, const std::string& where) -> Status {
                  STRIPLINE_RETURN_IF_ERROR(read_loop(loop, where, loops.emplace_back()));
                  if (loops.back().count > kMostIterations / iterations) {
                    return Error(ErrorCode::data_loss,
                                 where + ": all loops together have more than 2^53 iterations");
                  }
                  iterations *= loops.back().count;
                  request.nest.add_loop(loops.back().count);
                  return {};
                });
  members.array("arrays", 0, access::kMaxReferences, false,
                [&](const Json& array, const std::string& where) {
                  return read_array(array, where, nest.arrays.emplace_back());
                });
  members.array("references", 1, access::kMaxReferences, true,
                [&](const Json& reference, const std::string& where) {
                  return read_reference(reference, where, loops, nest);
                });
  if (members.has("compute_s") && members.has("operations")) {
    members.fail("operations", "nothing, as compute_s says how long they take");
  }
  members.number("compute_s", request.compute_s, kMostSeconds);
  if (members.has("operations")) {
    const Status status =
        read_operations(json["operations"], std::string(what) + ".operations", request.loop);
    if (!status.ok()) members.fail(status.error());
  }
  members.integer("local_bytes", request.local_bytes, 0, kFarthest);
  members.integer("max_buffer_bytes", request.max_buffer_bytes, 0, kFarthest);
  request.slot_alignment = kUsualSlotAlignment;
  members.integer("slot_alignment", request.slot_alignment, 1, kFarthest);
  members.flag("uniform_steps", request.uniform_steps);
  members.flag(kEarlierPolling, request.surroundings.target_polls_only);
  for (const auto& [fact, field] : surroundings_fields()) {
    if (has(NestRequest::kFacts, fact)) read_field(members, field, request.surroundings);
  }
  VisRequest many;
  many.max_buffer_bytes = kUsualBoxBytes;
  many.medium_bytes = kLandingSlotBytes;
  many.message_bytes = kUsualMessageBytes;
  many.message_header_bytes = kStridedHeaderBytes;
  if (members.has("job")) {
    const Status status = read_job(json["job"], std::string(what) + ".job", many);
    if (!status.ok()) members.fail(status.error());
  }
  STRIPLINE_RETURN_IF_ERROR(members.status());
  request.links[kLocalLink].in_reach = true;
  for (size_t i = 0; i < model::kPaths; ++i) {
    const auto path = static_cast<model::Path>(i);
    NestLink& link = request.links[link_by(path)];
    link.many = many;
    if (path != model::Path::network) link.many.surroundings.service_delay_s = 0;
  }
  return nest;
}

Json to_json(const NestRequest& request) {
  const Nest& nest = request.nest;
  Json json = {{"loops", Json::array()}, {"references", Json::array()}};
  const Surroundings usual;
  for (const auto& [fact, field] : surroundings_fields()) {
    const FieldValue value = field.get(request.surroundings);
    if (has(NestRequest::kFacts, fact) && value != field.get(usual)) {
      json[field.text.name] = json_of(value);
    }
  }
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    json["loops"].push_back({{"count", nest.counts[loop]}});
  }
  std::vector<std::span<const Piece>> arrays;
  for (uint32_t r = 0; r < nest.references(); ++r) {
    const Reference& reference = nest.reference[r];
    Json one = {{"path", name_of_link(request.link[r])},
                {"element_bytes", reference.element_bytes},
                {"offset_bytes", reference.base},
                {"stride_bytes", Json::array()}};
    for (const auto& [mode, name] : kModes) {
      if (mode == reference.mode) one["mode"] = name;
    }
    for (uint32_t loop = 0; loop < nest.depth; ++loop) {
      one["stride_bytes"].push_back(reference.stride_bytes[loop]);
    }
    if (reference.in_pieces()) {
      // References to one array are recognised by its memory (access/nest.cc).
      const auto same = std::ranges::find_if(arrays, [&](const auto& array) {
        return array.data() == reference.pieces.data() && array.size() == reference.pieces.size();
      });
      one["array"] = same - arrays.begin();
      one["array_loop"] = reference.piece_loop;
      if (request.in_reach_part[r] > 0) one["local_part"] = request.in_reach_part[r];
      if (same == arrays.end()) arrays.push_back(reference.pieces);
    } else {
      one["owner"] = reference.owner;
    }
    json["references"].push_back(std::move(one));
  }
  for (const auto& array : arrays) {
    Json pieces = Json::array();
    for (const Piece& piece : array) pieces.push_back({piece.owner, piece.base});
    json["arrays"].push_back(std::move(pieces));
  }
  if (request.compute_s >= 0) {
    json["compute_s"] = request.compute_s;
  } else {
    json["operations"] = {{"local_refs", request.loop.n_local_ref},
                          {"int_ops", request.loop.n_int_alu},
                          {"fp_ops", request.loop.n_fp_alu},
                          {"divisions", request.loop.n_div}};
  }
  if (request.local_bytes > 0) json["local_bytes"] = request.local_bytes;
  if (request.max_buffer_bytes <= static_cast<uint64_t>(kFarthest)) {
    json["max_buffer_bytes"] = request.max_buffer_bytes;
  }
  if (request.slot_alignment != kUsualSlotAlignment) {
    json["slot_alignment"] = request.slot_alignment;
  }
  if (request.uniform_steps) json["uniform_steps"] = true;
  const VisRequest& many = request.links[link_by(model::Path::network)].many;
  const auto limited = [](uint64_t bytes) {  // more makes no difference
    return std::min(bytes, static_cast<uint64_t>(kFarthest));
  };
  json["job"] = {{"iov_limit", many.iov_limit},
                 {"chunk_bytes", limited(many.medium_bytes)},
                 {"message_bytes", limited(many.message_bytes)},
                 {"message_header_bytes", many.message_header_bytes},
                 {"box_bytes", limited(many.max_buffer_bytes)}};
  if (many.surroundings.service_delay_s > 0) {
    json["job"]["service_delay_s"] = many.surroundings.service_delay_s;
  }
  return json;
}

}  // namespace stripline::plan
