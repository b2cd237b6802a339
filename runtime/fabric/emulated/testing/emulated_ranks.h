// For tests: ranks of an emulated network as threads of this process, without the runtime above.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/fabric/emulated/emulated_fabric.h"

namespace stripline::fabric {

/// Runs `body` on `ranks` threads, each with a fabric of its own, which its thread closes.
inline void run_emulated_ranks(Rank ranks, const std::string& name, const std::string& clock,
                               uint64_t seed, size_t segment_bytes,
                               const std::function<void(Fabric&, Rank)>& body) {
  static std::atomic<int> jobs{0};
  const std::string job =
      "test-" + std::to_string(::getpid()) + "-" + std::to_string(jobs.fetch_add(1));
  std::vector<std::unique_ptr<Fabric>> fabrics;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto fabric = open_emulated_fabric({.fabric = name,
                                        .clock = clock,
                                        .rank = rank,
                                        .ranks = ranks,
                                        .job_id = job,
                                        .segment_bytes = segment_bytes,
                                        .seed = seed});
    ASSERT_TRUE(fabric.ok()) << fabric.error().message();
    fabrics.push_back(std::move(*fabric));
  }
  std::vector<std::string> addresses;
  for (const auto& fabric : fabrics) addresses.push_back(fabric->local_address());
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      std::unique_ptr<Fabric> fabric = std::move(fabrics[rank]);
      ASSERT_TRUE(fabric->connect(addresses, 10).ok());
      body(*fabric, rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// What arrived, in order.
class Inbox : public MessageSink {
 public:
  void on_message(Rank source, std::span<const std::byte> message) override {
    sources.push_back(source);
    messages.emplace_back(message.begin(), message.end());
  }
  std::vector<Rank> sources;
  std::vector<std::vector<std::byte>> messages;
};

}  // namespace stripline::fabric
