// Ranks for the tests of this folder: threads of one process, each with a fabric of its own.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/ofi_rank.h"
#include "runtime/fabric/ofi/ofi_settings.h"
#include "runtime/fabric/ofi/ofi_test_bytes.h"

namespace stripline::fabric::ofi {

/// Thrown by the failure handler of the tests, which must not return.
class FabricFailure : public std::runtime_error {
 public:
  explicit FabricFailure(const Error& error)
      : std::runtime_error(error.message()), code(error.code()) {}
  ErrorCode code;
};

inline Result<std::unique_ptr<Fabric>> open_rank(const std::string& fabric, Rank rank, Rank ranks,
                                                 size_t segment_bytes, const Settings& settings) {
  OpenOptions options;
  options.fabric = fabric;
  options.rank = rank;
  options.ranks = ranks;
  options.job_id = "test";
  options.segment_bytes = segment_bytes;
  auto opened = OfiRank::open(options, settings);
  if (opened.ok()) {
    (*opened)->set_failure_handler([](const Error& error) { throw FabricFailure(error); });
  }
  return opened;
}

/// Opens and connects `ranks` fabrics. Failures are those of the test.
inline std::vector<std::unique_ptr<Fabric>> connected_ranks(const std::string& fabric, Rank ranks,
                                                            size_t segment_bytes,
                                                            const Settings& settings = {}) {
  std::vector<std::unique_ptr<Fabric>> fabrics;
  std::vector<std::string> addresses;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto opened = open_rank(fabric, rank, ranks, segment_bytes, settings);
    if (!opened.ok()) throw FabricFailure(opened.error());
    fabrics.push_back(std::move(opened).value());
    addresses.push_back(fabrics.back()->local_address());
  }
  std::vector<Status> results(ranks);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { results[rank] = fabrics[rank]->connect(addresses, 20); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) {
    if (!result.ok()) throw FabricFailure(result.error());
  }
  return fabrics;
}

/// Makes progress for a rank in a thread of its own, as an attentive target does.
class Attendant {
 public:
  explicit Attendant(Fabric& fabric)
      : thread_([this, &fabric] {
          fabric.wait([this] { return stop_.load(); }, std::numeric_limits<double>::infinity());
        }) {}
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;
  ~Attendant() { stop(); }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace stripline::fabric::ofi
