// A task of some seconds for which the agent's loop, which sends heartbeats, does not wait. One at
// a time.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace stripline::agent {

class SideTask {
 public:
  /// What follows on the loop's thread once the task is over.
  using Then = std::function<void()>;

  /// `wake`: has the loop call finish(); called by the task's thread when the task is over.
  explicit SideTask(std::function<void()> wake) : wake_(std::move(wake)) {}
  /// Waits for the task; nothing follows.
  ~SideTask() {
    if (thread_.joinable()) thread_.join();
  }
  SideTask(const SideTask&) = delete;
  SideTask& operator=(const SideTask&) = delete;

  /// True from begin() to the finish() that finds it over.
  bool runs() const { return thread_.joinable(); }

  /// None runs. The task must not touch what the loop changes.
  void begin(std::function<Then()> task) {
    over_ = false;
    thread_ = std::thread([this, task = std::move(task)] {
      then_ = task();
      over_ = true;
      wake_();
    });
  }

  /// If the task is over, does what follows.
  void finish() {
    if (!runs() || !over_) return;
    thread_.join();
    std::exchange(then_, nullptr)();
  }

 private:
  std::function<void()> wake_;
  std::atomic<bool> over_ = false;
  Then then_;
  std::thread thread_;
};

}  // namespace stripline::agent
