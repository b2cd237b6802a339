// The CPU time of one rank between its calls into the library, written down, so that a later run of
// the same program takes it from there instead of measuring it again: the virtual clock then
// depends on nothing that the host does. docs/emulated-fabric.md.
//
// A file per rank, PATH.RANK: one line of JSON (schema_version, rank, ranks, entries, sha256 of
// what follows), then the entries in the order of the calls. An entry is in nanoseconds, as thread
// clocks count, 7 bits a byte, the lowest first, with the highest bit set in all bytes but the
// last (LEB128): one to three bytes for what programs do between two calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/fabric/fabric.h"

namespace stripline::fabric {

/// Value. Entries are appended, or read from the first one on.
class ComputeTrace {
 public:
  ComputeTrace(Rank rank, Rank ranks) : rank_(rank), ranks_(ranks) {}

  /// Reads what to_bytes() has written. Errors: data_loss, naming `what` and what is wrong with it.
  static Result<ComputeTrace> parse(std::string_view bytes, std::string_view what);
  std::string to_bytes() const;

  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }
  uint64_t entries() const { return entries_; }

  void append(uint64_t nanoseconds);
  /// The next entry; nothing after the last one.
  std::optional<uint64_t> next();
  bool at_end() const { return position_ == body_.size(); }

 private:
  Rank rank_;
  Rank ranks_;
  uint64_t entries_ = 0;
  std::string body_;
  size_t position_ = 0;
};

std::string compute_trace_path(std::string_view path, Rank rank);

/// Checks whether a trace can be written there in the end. Removes an older one. Errors:
/// unavailable.
Status prepare_compute_trace(const std::string& file);

/// Through a temporary file: a run that fails leaves none. Errors: unavailable.
Status write_compute_trace(const std::string& file, const ComputeTrace& trace);

/// Errors: not_found; data_loss; failed_precondition if it is of another rank or number of ranks.
Result<ComputeTrace> read_compute_trace(const std::string& file, Rank rank, Rank ranks);

}  // namespace stripline::fabric
