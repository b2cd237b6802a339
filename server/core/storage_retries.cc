#include "server/core/storage_retries.h"

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"

namespace stripline::server {

void StorageRetries::failed(const Error& error, double now_s) {
  spdlog::error("{}; trying again in {}", error.message(), exact_seconds_text(pause_s_));
  retry_s_ = now_s + pause_s_;
  if (!since_s_) since_s_ = now_s;
  // What cannot be read of one campaign keeps no other from being stored.
  if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::resource_exhausted) {
    return;
  }
  outage_ = StorageOutage{outage_ ? outage_->since_unix_s : unix_seconds(), error.message()};
}

std::optional<double> StorageRetries::end() {
  const auto since_s = since_s_;
  since_s_.reset();
  outage_.reset();
  return since_s;
}

}  // namespace stripline::server
