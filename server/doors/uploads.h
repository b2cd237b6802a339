// Files that come in several calls, as one call may bring little: put together in memory, of
// several callers, in bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "server/problem.h"

namespace stripline::server {

/// Thread-safe.
class Uploads {
 public:
  struct Bounds {
    size_t file_bytes = size_t{256} << 20;
    size_t all_bytes = size_t{512} << 20;  ///< of all files that are not whole yet
    size_t of_caller = 2;                  ///< files of a caller that are not whole yet
    double patience_s = 120;               ///< from one part to the next: then it is forgotten
  };
  Uploads() : Uploads(Bounds{}) {}
  explicit Uploads(const Bounds& bounds) : bounds_(bounds) {}

  /// Adds the part of the caller's file of this name that begins at `offset`; a part that is there
  /// already is not added again, so that a call whose answer was lost can be repeated. Returns how
  /// much of the file is there. Problems: INVALID_FIELD for a part that does not follow on what is
  /// there, TOO_LARGE, BUSY.
  Answer<uint64_t> add(const std::string& caller, const std::string& file, uint64_t offset,
                       std::string_view part, double now_s);
  /// The file, which is forgotten then; empty when there is none.
  std::string take(const std::string& caller, const std::string& file);

 private:
  struct File {
    std::string text;
    double heard_s = 0;
  };
  void forget_old(double now_s);

  const Bounds bounds_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::map<std::pair<std::string, std::string>, File> files_;  // by caller and name
};

}  // namespace stripline::server
