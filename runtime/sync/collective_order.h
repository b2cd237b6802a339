// The numbering of collective operations, and the check that all ranks make the same ones in the
// same order. A program whose ranks disagree would hang or mix up data; here it ends with a message
// that names both operations. The check is carried by the messages that the operations send anyway,
// and so finds a disagreement when the two ranks exchange one.
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

enum class Collective : uint8_t { none, barrier, leave, broadcast, reduce };

/// The name of the operation as messages show it.
std::string_view to_string(Collective kind);

class CollectiveOrder {
 public:
  /// `fail` ends the job.
  CollectiveOrder(Rank me, fabric::FailureHandler fail);

  /// This rank starts its next collective; returns the number of it, from 1.
  uint64_t enter(Collective kind);

  /// A message of collective `sequence` arrived, which is of this kind at its source.
  void saw(Collective kind, uint64_t sequence, Rank source);

  uint64_t sequence() const { return sequence_; }

  /// What leads the message of a collective. Ends the job if the message is shorter.
  template <typename T>
  T header_of(Rank source, std::span<const std::byte> message) const {
    T header{};
    if (message.size() < sizeof header) malformed(source);
    std::memcpy(&header, message.data(), sizeof header);
    return header;
  }

  /// Ends the job because of a message that no rank of this version sends.
  void malformed(Rank source) const;

 private:
  struct Early {
    uint64_t sequence = 0;
    Collective kind = Collective::none;
    Rank source = 0;
  };

  void disagree(Collective theirs, Rank source);

  Rank me_;
  fabric::FailureHandler fail_;
  uint64_t sequence_ = 0;
  Collective current_ = Collective::none;
  // What peers that are ahead have entered; a peer can be few operations ahead.
  std::array<Early, 8> early_{};
};

}  // namespace stripline::sync
