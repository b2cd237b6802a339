// Teams for what stands above the public interface: of ranks that know each other by other means
// than team::split(), and with functions whose types are known to the caller only.
#pragma once

#include <cstddef>
#include <span>

#include <stripline/team.h>

#include "runtime/sync/group.h"

namespace stripline::detail {

struct TeamAccess {
  using Bytes = std::span<std::byte>;
  using ConstBytes = std::span<const std::byte>;

  /// A handle of a group that this rank has added and every other member, too
  /// (sync::Groups::add()). Does not own it.
  static team of(Context& context, sync::Group& group) { return {&context, &group, false}; }

  /// team::allreduce(), allreduce_async() (whose function outlives the operation) and the scans.
  static void allreduce(const team& team, ConstBytes in, Bytes out, const Reduction& op,
                        CallSite site) {
    team.allreduce_bytes(in, out, op, collective_algorithm::automatic, site);
  }
  static future start_allreduce(const team& team, ConstBytes in, Bytes out, const Reduction& op,
                                CallSite site) {
    return team.start_allreduce(in, out, op, nullptr, site);
  }
  static void scan(const team& team, ConstBytes in, Bytes out, const Reduction& op, bool exclusive,
                   CallSite site) {
    team.scan_bytes(in, out, op, exclusive, collective_algorithm::automatic, site);
  }
};

}  // namespace stripline::detail
