// The worst that a user who may only read does: the dearest reads by HTTP and by gRPC, several at a
// time, as many watches as one caller can have, and exports and answers that are not read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace stripline::load {

struct Visited;

/// Thread-safe.
class WorstViewer {
 public:
  /// `measured`: a campaign that is being measured, "c7"; empty: none is known. `visited` must
  /// outlive it.
  WorstViewer(const Visited& visited, std::function<std::string()> measured);

  /// The number of his threads, each of which calls act() with its number.
  static constexpr size_t kThreads = 9;
  /// Until it is to stop.
  void act(size_t thread, const std::stop_token& stop);

  /// How often each of what he tries has come to something, at least.
  uint64_t rounds() const;

 private:
  enum Kind : size_t { pages, calls, exports, watches, unread, kKinds };

  void read_pages(const std::stop_token& stop, size_t first);
  void call(const std::stop_token& stop);
  void hold_exports(const std::stop_token& stop);
  void hold_watches(const std::stop_token& stop);
  void leave_answers_unread(const std::stop_token& stop);
  void count(Kind kind) { ++rounds_[kind]; }

  const Visited& visited_;
  const std::function<std::string()> measured_;
  std::array<std::atomic<uint64_t>, kKinds> rounds_{};
};

}  // namespace stripline::load
