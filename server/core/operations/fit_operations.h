// Operations: fits to several campaigns that somebody has asked for, kept in the store and carried
// out on the fitting thread.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "server/core/models/fit_order.h"
#include "server/core/models/fit_queue.h"
#include "server/problem.h"
#include "server/store/operation_records.h"
#include "server/store/store.h"

namespace stripline::server {

/// Thread-safe.
class FitOperations {
 public:
  /// Both must outlive it.
  FitOperations(Store& store, FitQueue& fits) : store_(store), fits_(fits) {}

  /// Takes up those that have not ended. Errors: the store's.
  Status recover();

  /// Problems: those of joint_spec() (fit_order.h), CAMPAIGN_NOT_FOUND, OTHER_FABRIC,
  /// REQUEST_ID_REUSED, BUSY.
  Answer<OperationRecord> fit_model(const FitOrder& order, const std::string& request_id,
                                    const std::string& actor);
  /// It is not carried out any more; once it is cancelled this changes nothing. Problems:
  /// OPERATION_NOT_FOUND, OPERATION_FINISHED.
  Answer<OperationRecord> cancel(int64_t number, const std::string& actor);

  /// On the fitting thread.
  void carry_out(int64_t number);

 private:
  Status attempt(int64_t number, const std::stop_token& stop);
  Status note(OperationRecord& operation, const std::string& message) STRIPLINE_REQUIRES(mutex_);
  Status end(OperationRecord& operation, const std::string& why) STRIPLINE_REQUIRES(mutex_);
  Status publish(OperationRecord& operation, const FitOrder& order, const FittedModel& fitted)
      STRIPLINE_REQUIRES(mutex_);

  Store& store_;
  FitQueue& fits_;
  Mutex mutex_;
  std::optional<int64_t> current_ STRIPLINE_GUARDED_BY(mutex_);  // that is carried out
  std::stop_source stop_ STRIPLINE_GUARDED_BY(mutex_);           // of the same
};

}  // namespace stripline::server
