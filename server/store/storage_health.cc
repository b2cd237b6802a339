#include "server/store/storage_health.h"

#include <algorithm>
#include <random>
#include <string_view>

namespace stripline::server {
namespace {

// Less fits into what a database has left in its files.
constexpr size_t kLeastTrialBytes = size_t{64} << 10;
// The largest batch of samples.
constexpr size_t kLargestTrialBytes = size_t{4} << 20;

}  // namespace

void StorageHealth::note_step(const Status& stored, size_t bytes, double now_unix_s) {
  const std::lock_guard lock(mutex_);
  if (stored.ok() || stored.error().code() == ErrorCode::already_exists) {
    if (bytes < needs_bytes_) return;
    outage_.reset();
    needs_bytes_ = 0;
    return;
  }
  if (stored.error().code() == ErrorCode::resource_exhausted) {
    needs_bytes_ = std::max(needs_bytes_, std::clamp(bytes, kLeastTrialBytes, kLargestTrialBytes));
  }
  const double since_unix_s = outage_ ? outage_->since_unix_s : now_unix_s;
  outage_ = StorageOutage{since_unix_s, stored.error().message()};
}

void StorageHealth::note_trial(const Status& stored) {
  const std::lock_guard lock(mutex_);
  if (!outage_) return;
  if (stored.ok()) {
    outage_.reset();
    needs_bytes_ = 0;
  } else {
    outage_->why = stored.error().message();
  }
}

std::optional<StorageOutage> StorageHealth::outage() const {
  const std::lock_guard lock(mutex_);
  return outage_;
}

size_t StorageHealth::trial_bytes() const {
  const std::lock_guard lock(mutex_);
  return std::max(needs_bytes_, kLeastTrialBytes);
}

std::string trial_text(size_t bytes) {
  constexpr std::string_view kDigits =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  std::mt19937_64 random;  // the same each time: it is not kept
  std::string text(bytes, '0');
  for (char& digit : text) digit = kDigits[random() % kDigits.size()];
  return text;
}

}  // namespace stripline::server
