// The updates of a rank: which epochs are open here, and what arrives for them. One per Context.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "runtime/am/active_messages.h"
#include "runtime/am/bulk.h"
#include "runtime/rma/context_state.h"
#include "runtime/update/chooser.h"

namespace stripline::update {

class Epoch;

class EpochEngine final : public rma::Mechanism, public am::Background {
 public:
  static constexpr const char* kName = "updates";

  explicit EpochEngine(detail::ContextState& state);
  ~EpochEngine() override;

  /// An epoch is there from here on, under the number that it has on every rank, until close().
  /// Numbers count up in the order of the calls.
  uint32_t open(Epoch& epoch);
  void close(uint32_t number);

  /// Collective when it is first called: plan::UpdateRequest::node_ranks of the job.
  uint32_t node_ranks(Context& context, CallSite site);

  /// What rank 0 knows of the places that make epochs.
  UpdateSites& sites() { return sites_; }
  void add_to(rma::MechanismReport& report) const override;
  void frees(const rma::Call& call, uint64_t offset, uint64_t bytes) override;
  void leaves() override;

  /// The memory of the buffers of all open epochs.
  uint64_t buffer_bytes() const override;

  /// While this rank sends updates of any epoch, nothing else is sent for them: what waits
  /// meanwhile is to fill its buffer.
  class Sending {
   public:
    explicit Sending(EpochEngine& engine) : engine_(engine) { ++engine_.sending_; }
    ~Sending() { --engine_.sending_; }
    Sending(const Sending&) = delete;
    Sending& operator=(const Sending&) = delete;

   private:
    EpochEngine& engine_;
  };

  // What is forwarded goes on always; what is fetched leaves when this rank waits.
  bool ready() const override;
  void advance() override;

 private:
  Epoch* find(uint32_t number) const;
  void arrived(const am::Bulk::Parcel& parcel);
  void returned(fabric::Rank target, uint32_t slot, uint64_t note);
  Epoch& named(fabric::Rank source, std::span<const std::byte> message, size_t head_bytes) const;
  [[noreturn]] void fail_unknown(fabric::Rank source, uint32_t number) const;

  detail::ContextState& state_;
  uint32_t first_ = 0;  // the number of the oldest one that is open
  uint32_t sending_ = 0;
  std::optional<uint32_t> node_ranks_;
  UpdateSites sites_;
  std::deque<Epoch*> epochs_;  // from there on; null: closed
};

}  // namespace stripline::update
