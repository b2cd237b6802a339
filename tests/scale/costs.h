// What operations of one size cost on an emulated network without jitter, for formulas over them.
#pragma once

#include <cstddef>

#include "runtime/fabric/emulated/profile.h"

namespace stripline::scale {

struct Costs {
  Costs(const fabric::OperationProfile& operation, size_t bytes) {
    const fabric::ProfileSegment& s = operation.at(bytes);
    const auto size = static_cast<double>(bytes);
    o = s.o_base_s + s.o_per_byte_s * size;
    L = s.L_s;
    wire = s.G_s_per_byte * size;
    x = s.g_s + wire;
    r = s.r_base_s + s.r_per_byte_s * size;
  }

  double o;     ///< the initiator's CPU, to issue
  double L;     ///< latency
  double wire;  ///< S G: the receive side of a NIC is busy
  double x;     ///< g + S G: the transmit side is
  double r;     ///< to retire; of a message, to serve

  /// A get, or atomic operation, that nothing delays.
  double round_trip() const { return o + 2 * L + wire + r; }
  /// A put, until it is there, and a message, until it has been served.
  double one_way() const { return o + L + wire; }
  double message() const { return one_way() + r; }
};

}  // namespace stripline::scale
