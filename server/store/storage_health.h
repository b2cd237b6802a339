// Whether steps can be stored, by those that were to be. What is refused for want of room needs
// room: that a small step can be stored says nothing of the one that could not.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"

namespace stripline::server {

/// Nothing can be stored.
struct StorageOutage {
  double since_unix_s = 0;
  std::string why;
  bool operator==(const StorageOutage&) const = default;
};

class StorageHealth {
 public:
  /// A step of about this size was stored, or could not be. What the store refuses because it holds
  /// something else (already_exists) counts as stored.
  void note_step(const Status& stored, size_t bytes, double now_unix_s);
  /// A trial of trial_bytes() was stored, or could not be.
  void note_trial(const Status& stored);

  std::optional<StorageOutage> outage() const;
  /// The size of a step that would end the outage.
  size_t trial_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::optional<StorageOutage> outage_;
  size_t needs_bytes_ = 0;  // 0: room is not what is missing
};

/// A text of this size which no database stores in less room.
std::string trial_text(size_t bytes);

}  // namespace stripline::server
