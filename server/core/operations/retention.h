// What the store forgets, and when. A campaign is kept or deleted as a whole: with its runs,
// samples and events. One from which a version of a model was fitted is never deleted, nor is one
// that has not ended.
#pragma once

#include <cstdint>
#include <stop_token>

#include "base/result.h"
#include "server/core/coordinator.h"
#include "server/store/store.h"

namespace stripline::server {

struct RetentionLimits {
  /// A campaign is deleted this time after its end; 0: never for that reason.
  double keep_s = 0;
  /// While the database holds more, the campaign that ended first is deleted, unless it ended
  /// within the last hour; 0: never for that reason.
  uint64_t keep_bytes = 0;
};

/// Not thread-safe: of one thread, beside those that use the store.
class Retention {
 public:
  /// `coordinator` and `store` must outlive it.
  Retention(Coordinator& coordinator, Store& store, const RetentionLimits& limits)
      : coordinator_(coordinator), store_(store), limits_(limits) {}

  /// Deletes what is due, in small steps with pauses between them in which others have the store to
  /// themselves, and what an earlier round or server has left half done. Returns early when `stop`
  /// says so. Errors: the store's.
  Status tidy(double now_unix_s, const std::stop_token& stop = {});

 private:
  Status delete_old(double now_unix_s, const std::stop_token& stop);
  Status delete_for_room(double now_unix_s, const std::stop_token& stop);
  Status remove(const CampaignRecord& campaign, const std::string& why,
                const std::stop_token& stop);
  Status sweep(const std::stop_token& stop);

  Coordinator& coordinator_;
  Store& store_;
  RetentionLimits limits_;
  bool full_ = false;  // nothing is left to delete, which was said
};

}  // namespace stripline::server
