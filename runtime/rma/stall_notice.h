// Says that no rank gets on, and where each of them is, in jobs at which no launcher of ours looks
// (mpirun, srun; bootstrap/job_watch.h does it for the others). Once rank 0 has been in one and the
// same wait for long, it asks all ranks, who answer when they look for messages. If all of them
// have been in one wait for as long, it says so, once; the job goes on. No one is asked while rank
// 0 gets on, and a rank that computes, or is stopped, does not answer: then nothing is said.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/bootstrap/operation_record.h"
#include "runtime/rma/job.h"

namespace stripline::rma {

class StallNotice final : public am::Background {
 public:
  /// Both outlive it. Before ActiveMessages::start(); does nothing before watch().
  StallNotice(Job& job, am::ActiveMessages& messages);

  /// From now on, with this time. On all ranks, none of which is waiting.
  void watch(double notice_s);

  bool ready() const override;
  void advance() override;

 private:
  struct Request {
    uint64_t round;
  };
  struct Answer {
    uint64_t round;
    double same_s;  // it has been in the same wait; 0: it is in none
    std::array<char, 160> operation;
  };

  // Looks between two readings of clocks; a waiting rank makes millions a second.
  static constexpr uint32_t kLooks = 256;

  Answer own(uint64_t round) const;
  double same_s(double now_s) const;
  void take_request(fabric::Rank source, std::span<const std::byte> payload);
  void take_answer(fabric::Rank source, std::span<const std::byte> payload);
  void conclude();

  Job& job_;
  am::ActiveMessages& messages_;
  const uint16_t request_;
  const uint16_t answer_;
  std::unique_ptr<bootstrap::OperationMemory> record_;  // from watch() on
  double notice_s_ = 0;
  mutable uint32_t looks_ = 0;
  mutable uint64_t waits_ = 0;  // when it was looked at last
  mutable double since_s_ = 0;  // they have been the same
  // Only rank 0 has these.
  double next_s_ = 0;  // when the others may be asked again
  uint64_t round_ = 0;
  std::vector<std::optional<Answer>> answers_;
  bool told_ = false;
};

}  // namespace stripline::rma
