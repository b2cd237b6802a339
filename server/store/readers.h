// Connections of a store for reads: each is used by one caller at a time, and who finds none free
// waits for the first that is. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace stripline::server {

/// Readers at a time: one that takes long does not keep the others waiting.
inline constexpr size_t kReaders = 4;

template <typename Connection>
class Readers {
  struct GiveBack {
    Readers* readers;
    void operator()(Connection* connection) const { readers->give_back(connection); }
  };

 public:
  /// A connection, until it is destroyed.
  using Use = std::unique_ptr<Connection, GiveBack>;

  explicit Readers(std::vector<std::unique_ptr<Connection>> connections)
      : connections_(std::move(connections)) {
    for (const auto& connection : connections_) free_.push_back(connection.get());
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  Use take() {
    std::unique_lock lock(mutex_);
    given_back_.wait(lock, [this] { return wanted_whole_ == 0 && !free_.empty(); });
    return take_one();
  }

  /// All of them, once those in use are given back: no one reads meanwhile.
  std::vector<Use> take_all() {
    std::unique_lock lock(mutex_);
    ++wanted_whole_;
    given_back_.wait(lock, [this] { return free_.size() == connections_.size(); });
    --wanted_whole_;
    return take_free();
  }

  /// All of them, if none is in use; else none.
  std::vector<Use> try_take_all() {
    const std::lock_guard lock(mutex_);
    return free_.size() == connections_.size() ? take_free() : std::vector<Use>();
  }

 private:
  std::vector<Use> take_free() {
    std::vector<Use> all;
    while (!free_.empty()) all.push_back(take_one());
    return all;
  }

  Use take_one() {
    Connection* const connection = free_.back();
    free_.pop_back();
    return Use(connection, GiveBack{this});
  }

  void give_back(Connection* connection) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(connection);
    }
    given_back_.notify_all();
  }

  const std::vector<std::unique_ptr<Connection>> connections_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<Connection*> free_;
  size_t wanted_whole_ = 0;  // callers of take_all() that wait
};

}  // namespace stripline::server
