#include "runtime/fabric/emulated/compute_trace.h"

#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/whole_file.h"

namespace stripline::fabric {
namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kLongestHeader = 4096;
constexpr unsigned kBitsPerByte = 7;

Error bad(std::string_view what, std::string_view why) {
  return Error(ErrorCode::data_loss, std::string(what) + ": " + std::string(why) +
                                         "; record it again (compute=record:PATH)");
}

// The entry at `position`, which moves behind it; nothing if none ends there.
std::optional<uint64_t> decode(std::string_view body, size_t& position) {
  uint64_t value = 0;
  for (unsigned shift = 0; position < body.size(); shift += kBitsPerByte) {
    const auto byte = static_cast<unsigned char>(body[position++]);
    const uint64_t bits = byte & 0x7FU;
    if (shift >= 64 || (bits << shift) >> shift != bits) return std::nullopt;
    value |= bits << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

Error cannot_write(const std::string& file, const std::string& why) {
  return Error(ErrorCode::unavailable, "cannot write compute trace '" + file + "': " + why);
}

}  // namespace

void ComputeTrace::append(uint64_t nanoseconds) {
  ++entries_;
  while (nanoseconds > 0x7F) {
    body_.push_back(static_cast<char>((nanoseconds & 0x7F) | 0x80));
    nanoseconds >>= kBitsPerByte;
  }
  body_.push_back(static_cast<char>(nanoseconds));
}

std::optional<uint64_t> ComputeTrace::next() {
  return at_end() ? std::nullopt : decode(body_, position_);
}

std::string ComputeTrace::to_bytes() const {
  const Json header = {{"schema_version", kVersion},
                       {"rank", rank_},
                       {"ranks", ranks_},
                       {"entries", entries_},
                       {"sha256", sha256_hex(body_)}};
  return header.dump() + '\n' + body_;
}

Result<ComputeTrace> ComputeTrace::parse(std::string_view bytes, std::string_view what) {
  const size_t end = bytes.substr(0, kLongestHeader).find('\n');
  if (end == std::string_view::npos) return bad(what, "not a compute trace, or truncated");
  STRIPLINE_ASSIGN_OR_RETURN(const Json header, parse_json(bytes.substr(0, end), what));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t version, get_integer(header, "schema_version", what));
  if (version != kVersion) return bad(what, "this build reads version 1 only");
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t rank, get_integer(header, "rank", what));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t ranks, get_integer(header, "ranks", what));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t entries, get_integer(header, "entries", what));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string sha256, get_string(header, "sha256", what));
  if (rank < 0 || ranks <= rank || ranks > std::numeric_limits<Rank>::max()) {
    return bad(what,
               "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " does not exist");
  }
  ComputeTrace trace(static_cast<Rank>(rank), static_cast<Rank>(ranks));
  trace.body_ = bytes.substr(end + 1);
  int64_t found = 0;
  size_t position = 0;
  for (; position < trace.body_.size(); ++found) {
    if (!decode(trace.body_, position)) return bad(what, "truncated or corrupt");
  }
  if (found != entries) {
    return bad(what, "truncated: it has " + std::to_string(found) + " of " +
                         std::to_string(entries) + " entries");
  }
  if (sha256 != sha256_hex(trace.body_)) return bad(what, "corrupt: its checksum differs");
  trace.entries_ = static_cast<uint64_t>(entries);
  return trace;
}

std::string compute_trace_path(std::string_view path, Rank rank) {
  return std::string(path) + "." + std::to_string(rank);
}

Status prepare_compute_trace(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    return cannot_write(file, std::generic_category().message(errno));
  }
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) return cannot_write(file, error.message());
  return {};
}

Status write_compute_trace(const std::string& file, const ComputeTrace& trace) {
  return write_atomically(file, trace.to_bytes());
}

Result<ComputeTrace> read_compute_trace(const std::string& file, Rank rank, Rank ranks) {
  constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();  // long runs have long ones
  const auto bytes = read_whole_file(file, kNoLimit);
  if (!bytes.ok()) {
    return Error(bytes.error().code(),
                 "compute trace of rank " + std::to_string(rank) + ": " + bytes.error().message() +
                     "; a run with as many ranks and compute=record:PATH writes it");
  }
  STRIPLINE_ASSIGN_OR_RETURN(ComputeTrace trace,
                             ComputeTrace::parse(*bytes, "compute trace '" + file + "'"));
  if (trace.rank() != rank || trace.ranks() != ranks) {
    return Error(ErrorCode::failed_precondition,
                 "compute trace '" + file + "' is of rank " + std::to_string(trace.rank()) +
                     " of " + std::to_string(trace.ranks()) + ", not of rank " +
                     std::to_string(rank) + " of " + std::to_string(ranks) +
                     "; start as many ranks as were recorded");
  }
  return trace;
}

}  // namespace stripline::fabric
