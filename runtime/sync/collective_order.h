// The numbering of collective operations of one team, and the check that all its ranks make the
// same ones in the same order. A program whose ranks disagree would hang or mix up data; here it
// ends with a message that names both operations. The check is carried by the messages that the
// operations send anyway, and so finds a disagreement when the two ranks exchange one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/fabric/fabric.h"

namespace stripline::sync {

using fabric::Rank;

struct Group;
class CollectiveCheck;

enum class Collective : uint8_t {
  none,
  barrier,
  leave,
  broadcast,
  reduce,
  allreduce,
  gather,
  allgather,
  all_to_all,
  all_to_allv,
  inclusive_scan,
  exclusive_scan,
  gatherv,
  scatter,
  scatterv,
  allgatherv,
  reduce_scatter,
  broadcast_async,
  allreduce_async,
  phase,  ///< of a mechanism, in debug mode; sends no message
};

/// The name of the operation as messages show it.
std::string_view to_string(Collective kind);

/// What all ranks of a team must agree on.
struct Call {
  Collective kind = Collective::none;
  uint8_t algorithm = 0;  ///< model::CollectiveAlgorithm; 0 where there is one only
  Rank root = 0;          ///< 0 where there is none
  uint64_t bytes = 0;     ///< 0 where ranks may differ
  bool operator==(const Call&) const = default;
};

class CollectiveOrder {
 public:
  /// For the team with this id, 0 for all ranks. `me` is the rank in the job, as all ranks here.
  /// `fail` ends the job.
  CollectiveOrder(Rank me, uint32_t team, fabric::FailureHandler fail);

  /// This rank starts its next collective; returns the number of it, from 1. With a check it may
  /// make progress.
  uint64_t enter(Group& group, const Call& call);

  /// A message of collective `sequence` arrived, which is this one at its source. False: the ranks
  /// disagree, the check reports it, and the message must not be used.
  bool saw(const Call& call, uint64_t sequence, Rank source);

  /// Debug mode's check, which is notified of each operation and reports disagreements; null: none.
  void set_check(CollectiveCheck* check) { check_ = check; }

  uint64_t sequence() const { return sequence_; }

 private:
  struct Early {
    uint64_t sequence = 0;
    Call call;
    Rank source = 0;
  };

  void disagree(uint64_t sequence, const Call& theirs, Rank source) const;

  Rank me_;
  uint32_t team_;
  fabric::FailureHandler fail_;
  CollectiveCheck* check_ = nullptr;
  uint64_t sequence_ = 0;
  // By number, the latest that this rank has entered, and what peers that are ahead have. Who is
  // further ahead or behind is not checked.
  static constexpr uint64_t kRemembered = 8;
  std::array<Call, kRemembered> entered_{};
  std::array<Early, kRemembered> early_{};
};

/// Ends the job because of a message that no rank of this version sends.
void fail_malformed(const fabric::FailureHandler& fail, Rank source, Rank me);

/// What leads the message of a collective. Ends the job if the message is shorter.
template <typename T>
T header_of(std::span<const std::byte> message, const fabric::FailureHandler& fail, Rank source,
            Rank me) {
  T header{};
  if (message.size() < sizeof header) fail_malformed(fail, source, me);
  std::memcpy(&header, message.data(), sizeof header);
  return header;
}

}  // namespace stripline::sync
