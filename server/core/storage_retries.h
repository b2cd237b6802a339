// What follows when a step cannot be stored: it is tried again, campaigns are not charged for the
// time, and people learn why. Not thread-safe.
#pragma once

#include <optional>

#include "base/result.h"
#include "server/store/storage_health.h"

namespace stripline::server {

class StorageRetries {
 public:
  explicit StorageRetries(double pause_s) : pause_s_(pause_s) {}

  /// A step has failed, and is due again after the pause.
  void failed(const Error& error, double now_s);
  /// What was due is being tried.
  void try_again() { retry_s_.reset(); }
  /// Everything can be stored again. When that began to be impossible; nullopt: it was not.
  std::optional<double> end();

  /// When the next try is due; nullopt: nothing has failed since the last one.
  std::optional<double> due_s() const { return retry_s_; }
  /// Since when nothing can be stored.
  std::optional<double> since_s() const { return since_s_; }
  /// The same for people; nullopt as well when only something stored cannot be read.
  const std::optional<StorageOutage>& outage() const { return outage_; }

 private:
  const double pause_s_;
  std::optional<double> retry_s_;
  std::optional<double> since_s_;
  std::optional<StorageOutage> outage_;
};

}  // namespace stripline::server
