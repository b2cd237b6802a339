// Single one-sided operations: who carries out an atomic operation; whether a small put travels by
// itself, together with others, or from a copy; whether a rank has a thread that serves its peers.
// What campaigns have found is in the model's section `rma`; the defaults suit networks that charge
// a message as much as some hundred bytes, and whose latency is that of some tens of kilobytes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "optimizer/model/sections/rma.h"
#include "optimizer/plan/decision.h"
#include "optimizer/plan/surroundings.h"

namespace stripline::plan {

/// What a thread that serves peers costs, and leaves; the defaults are what was seen of networks
/// over TCP.
struct ProgressCosts {
  double call_s = 1e-6;     ///< it adds to each call of the program that waits
  double answer_s = 50e-6;  ///< a request to a computing rank waits all the same
};

/// What decides about single operations.
struct SingleCosts {
  model::AtomicPath atomic = model::AtomicPath::provider;
  uint64_t combined_put_bytes = 64;                ///< larger puts travel alone; 0: all do
  uint64_t copied_put_bytes = uint64_t{64} << 10;  ///< larger buffered puts are waited for
  ProgressCosts progress;
  bool knows_atomic = false;  ///< by the model, and so on
  bool knows_combining = false;
  bool knows_copying = false;
  bool knows_progress = false;

  SingleCosts() = default;
  explicit SingleCosts(const model::RmaModel& model);
};

enum class AtomicMethod : uint8_t {
  provider,  ///< the network carries them out
  message,   ///< a message each, which the owner's processor carries out
  combined,  ///< likewise, but those without a result travel together, with small puts
};
inline constexpr std::array<std::string_view, 3> kAtomicMethodNames = {"provider", "message",
                                                                       "combined"};
inline std::string_view to_string(AtomicMethod method) {
  return kAtomicMethodNames[static_cast<size_t>(method)];
}

/// Atomic operations of a domain.
struct AtomicRequest {
  bool mapped = false;    ///< some rank reaches another's variables by loads and stores
  bool lacking = false;   ///< the provider lacks an operation of the domain
  bool together = false;  ///< the program lets those without a result wait for each other
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const AtomicRequest&) const = default;
};
struct AtomicPlan {
  const AtomicMethod method = AtomicMethod::provider;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< not known
};
/// Operations that may travel together do where puts of their size do.
AtomicPlan plan_atomic(const AtomicRequest& request, const SingleCosts& costs) noexcept;

enum class PutMethod : uint8_t { alone, combined, copied };
inline constexpr std::array<std::string_view, 3> kPutMethodNames = {"alone", "combined", "copied"};
inline std::string_view to_string(PutMethod method) {
  return kPutMethodNames[static_cast<size_t>(method)];
}

/// A put of contiguous memory.
struct PutRequest {
  uint64_t bytes = 8;
  bool implicit = false;  ///< it has no handle: only a fence waits for it
  bool buffered = false;  ///< the program may change its source at once
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const PutRequest&) const = default;
};
struct PutPlan {
  const PutMethod method = PutMethod::alone;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< not known
};
PutPlan plan_put(const PutRequest& request, const SingleCosts& costs) noexcept;

enum class ProgressMethod : uint8_t { calls, thread };
inline constexpr std::array<std::string_view, 2> kProgressMethodNames = {"calls", "thread"};
inline std::string_view to_string(ProgressMethod method) {
  return kProgressMethodNames[static_cast<size_t>(method)];
}

/// A rank that did without a thread so far.
struct ProgressRequest {
  uint64_t calls = 0;    ///< that have waited
  uint64_t missed = 0;   ///< times that peers waited for its attention
  double waited_s = 0;   ///< that they did, in all
  double absence_s = 0;  ///< a thread serves a program that did not call for this time
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const ProgressRequest&) const = default;
};
struct ProgressPlan {
  const ProgressMethod method = ProgressMethod::calls;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;  ///< not known
};
/// A thread once peers have waited, beyond what a thread would have let them wait, for longer than
/// it would have cost the rank's calls: a rank that shall have a thread loses by waiting for that
/// at most what its calls saved, and the last wait.
ProgressPlan plan_progress(const ProgressRequest& request, const SingleCosts& costs) noexcept;

}  // namespace stripline::plan
