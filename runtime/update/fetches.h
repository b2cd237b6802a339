// Updates that tell what their cells held before, of one epoch: filled by target, sent as parcels
// of their own, answered by a message each. One completion slot stands for all of a parcel.
//
// One thread at a time, as the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <stripline/context.h>

#include "runtime/rma/operations.h"
#include "runtime/update/parcel.h"

namespace stripline::update {

class Fetches {
 public:
  /// `most` in a parcel.
  Fetches(rma::Operations& operations, rank_t ranks, uint32_t value_bytes, uint32_t most)
      : operations_(operations), value_bytes_(value_bytes), most_(most), filling_(ranks) {}

  struct Batch {
    rank_t target = 0;
    uint32_t slot = 0;  // of the bulk transport
    uint32_t sequence = 0;
    uint32_t window = 0;
    uint32_t count = 0;
    bool returned = false;
    bool answered = false;
    std::vector<std::byte> memory;  // cells, and then values
    std::vector<std::byte*> previous;
    rma::SlotUse use;  // of the completion slot
  };

  /// True if one more for this target would not go with those that are there: they are full, or of
  /// another window.
  bool must_send(rank_t target, uint32_t window) const {
    const Batch* const batch = filling_[target].get();
    return batch != nullptr && (batch->count == most_ || batch->window != window);
  }
  /// Adds one. Makes progress if there is no completion slot left.
  rma::SlotUse add(rank_t target, uint32_t window, Cell cell, const std::byte* value,
                   std::byte* previous);

  /// Targets for which there are some.
  bool empty() const { return waiting_ == 0; }
  bool has(rank_t target) const { return filling_[target] != nullptr; }
  /// What is to be sent to a target, for which there is something. It stays until it has been
  /// returned and answered.
  Batch& take(rank_t target);
  std::span<const std::byte> body_of(Batch& batch) const;

  /// The parcel in this slot has been carried out.
  void returned(rank_t target, uint32_t slot);
  /// What the cells held. False if no one has asked for it.
  bool answered(rank_t source, uint32_t sequence, std::span<const std::byte> values);
  /// True if nothing is in flight.
  bool idle() const { return in_flight_.empty(); }

 private:
  void retire();

  rma::Operations& operations_;
  uint32_t value_bytes_;
  uint32_t most_;
  uint32_t waiting_ = 0;
  std::vector<std::unique_ptr<Batch>> filling_;  // by target
  std::vector<std::unique_ptr<Batch>> in_flight_;
  std::vector<std::unique_ptr<Batch>> unused_;
};

}  // namespace stripline::update
