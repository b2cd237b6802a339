// Samples in transit to the disk, beside the coordinator: whatever waits while a transaction is
// synced goes into the next one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "server/store/store.h"

namespace stripline::server {

/// A batch of an active attempt that is to be stored, and what is to be done with it then.
struct Arrival {
  BatchRecord batch;
  std::string node;                            ///< that sent it
  std::vector<campaign::PointResult> results;  ///< by place in the run's plan
  std::string note;                            ///< of the first series without time
  double received_s = 0;                       ///< on the steady clock
  Status stored;                               ///< once it has been tried
};

/// Thread-safe.
class Ingest {
 public:
  /// Called on the writing thread, with all batches of a transaction.
  using Sink = std::function<void(const std::vector<Arrival>&)>;

  /// `store` must outlive it, and what `sink` uses.
  Ingest(Store& store, Sink sink);
  ~Ingest();
  Ingest(const Ingest&) = delete;
  Ingest& operator=(const Ingest&) = delete;

  void add(Arrival arrival);
  /// What still waits is not stored, and was never acknowledged. No call of the sink follows.
  void stop();

 private:
  void run();
  std::vector<Arrival> next_group();
  void store_group(std::vector<Arrival>& group);

  Store& store_;
  const Sink sink_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Arrival> waiting_;
  bool stopping_ = false;
  std::thread writer_;
};

}  // namespace stripline::server
