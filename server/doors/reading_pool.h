// Threads for reads that take long, apart from those on which agents are served: few, of low
// priority, and taking turns between callers. What does not find room is refused, so that it waits
// where it came from.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/problem.h"

namespace stripline::server {

class ReadingPool {
 public:
  struct Options {
    size_t threads = 1;
    size_t waiting = 16;  ///< submitted jobs that wait for a thread, of all callers
    size_t of_payer = 2;  ///< jobs that one caller has waiting or in progress
  };
  /// As many threads as this host can spare: one for four processors, at least one, at most two.
  static Options options_for(size_t processors);

  /// Called once: with `stopping` when the pool ends before its turn has come.
  using Job = std::function<void(bool stopping)>;

  explicit ReadingPool(const Options& options);
  /// Stops.
  ~ReadingPool();
  ReadingPool(const ReadingPool&) = delete;
  ReadingPool& operator=(const ReadingPool&) = delete;

  /// Has the job done soon, for this caller (call_limits.h). nullopt: it will be. Problems: BUSY.
  std::optional<Problem> submit(const std::string& payer, Job job);

  /// Has the next part of something done that has been let in, and of which others bound the number
  /// (long_streams.h). False: the pool is stopping, and the job is not called.
  bool go_on(const std::string& payer, Job job);

  /// Jobs in progress come to their end, the others are called with `stopping`. Idempotent.
  void stop();

 private:
  struct Waiting {
    Job job;
    bool submitted = false;  // not by go_on()
  };
  void run();
  void add(const std::string& payer, Waiting waiting);
  Waiting take(std::string& payer);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable has_work_;
  bool stopping_ = false;
  size_t submitted_ = 0;                             // jobs that wait, but for those of go_on()
  std::map<std::string, std::deque<Waiting>> jobs_;  // that wait, by payer
  std::deque<std::string> turns_;                    // payers with jobs that wait, each once
  std::map<std::string, size_t> present_;  // submitted jobs that wait or are in progress, by payer
  std::vector<std::thread> threads_;
};

}  // namespace stripline::server
