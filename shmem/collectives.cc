#include "shmem/collectives.h"

#include <string>
#include <vector>

#include "runtime/rma/debug_checks.h"
#include "runtime/rma/team_access.h"

namespace stripline::shmem {
namespace {

using stripline::detail::TeamAccess;
using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

Bytes bytes_at(void* memory, size_t bytes) { return {static_cast<std::byte*>(memory), bytes}; }
ConstBytes bytes_at(const void* memory, size_t bytes) {
  return {static_cast<const std::byte*>(memory), bytes};
}

void copy(Bytes to, ConstBytes from) {
  if (to.data() != from.data() && !from.empty()) std::memmove(to.data(), from.data(), from.size());
}

// What `start` returns, in a call of the program that PEs have to agree on with its detail.
template <typename Start>
auto agreed(const char* call, World& world, const char* detail, Start start) {
  if (detail == nullptr) return start();
  const auto inside = world.state().exclusive();
  const rma::CollectiveScope scope(world.state(), call, site_of(call), detail);
  return start();
}

void barrier(const char* call, World& world, const Team& team, const char* detail = nullptr) {
  if (!world.multiple()) {
    world.send_held();
    agreed(call, world, detail, [&] {
      // A phase of regions that do not wait begins at a barrier of the whole program.
      team.world ? world.context().barrier(phase_site(call)) : team.group.barrier(site_of(call));
    });
    return;
  }
  future arrived;
  {
    const Turn turn(world);
    arrived = agreed(call, world, detail, [&] { return team.group.barrier_async(site_of(call)); });
  }
  world.await(call, arrived);
}

// `data` of `root` becomes that of all.
void spread(const char* call, World& world, const Team& team, Bytes data, rank_t root) {
  if (!world.multiple()) {
    world.send_held();
    team.group.broadcast(data, root, collective_algorithm::automatic, site_of(call));
    return;
  }
  future spread;
  {
    const Turn turn(world);
    spread = team.group.broadcast_async(data, root, site_of(call));
  }
  world.await(call, spread);
}

// The PEs' blocks, counts[i] bytes each, one after the other. `out` has room for them.
void gather(const char* call, World& world, const Team& team, ConstBytes in, Bytes out,
            std::span<const size_t> counts, std::span<const size_t> offsets) {
  if (!world.multiple()) {
    world.send_held();
    team.group.allgather_v(in, out, counts, offsets, collective_algorithm::automatic,
                           site_of(call));
    return;
  }
  copy(out.subspan(offsets[static_cast<size_t>(team.me)], in.size()), in);
  for (rank_t pe = 0; pe < counts.size(); ++pe) {
    spread(call, world, team, out.subspan(offsets[pe], counts[pe]), pe);
  }
}

void gather_alike(const char* call, World& world, const Team& team, ConstBytes in, Bytes out) {
  if (!world.multiple()) {
    world.send_held();
    team.group.allgather(in, out, collective_algorithm::automatic, site_of(call));
    return;
  }
  const auto pes = static_cast<size_t>(team.pes);
  const std::vector<size_t> counts(pes, in.size());
  std::vector<size_t> offsets(pes);
  for (size_t pe = 0; pe < pes; ++pe) offsets[pe] = pe * in.size();
  gather(call, world, team, in, out, counts, offsets);
}

void exchange(const char* call, World& world, const Team& team, ConstBytes in, Bytes out) {
  if (!world.multiple()) {
    world.send_held();
    team.group.all_to_all(in, out, collective_algorithm::automatic, site_of(call));
    return;
  }
  const size_t block = in.size() / static_cast<size_t>(team.pes);
  std::vector<std::byte> blocks(in.size());
  for (int pe = 0; pe < team.pes; ++pe) {
    if (pe == team.me) copy(blocks, in);
    spread(call, world, team, blocks, static_cast<rank_t>(pe));
    copy(out.subspan(static_cast<size_t>(pe) * block, block),
         ConstBytes(blocks).subspan(static_cast<size_t>(team.me) * block, block));
  }
}

// Debug mode: two threads at a time on one team would meet the calls of other PEs in either order.
class OnTeam {
 public:
  OnTeam(const char* call, World& world, Team* team) : world_(world) {
    if (team == nullptr || !world.multiple() || world.state().job.observers().debug() == nullptr) {
      return;
    }
    const Turn turn(world);
    if (team->collective != nullptr) {
      world.fail(std::string(call) + " while another thread of this PE is in " + team->collective +
                 " on the same team; one thread at a time may be in a collective operation of a "
                 "team");
    }
    team->collective = call;
    team_ = team;
  }
  ~OnTeam() {
    if (team_ == nullptr) return;
    const Turn turn(world_);
    team_->collective = nullptr;
  }
  OnTeam(const OnTeam&) = delete;
  OnTeam& operator=(const OnTeam&) = delete;

 private:
  World& world_;
  Team* team_ = nullptr;
};

void check_buffers(const char* call, World& world, ConstBytes in, ConstBytes out) {
  world.check_local(call, in.data(), in.size());
  world.check_local(call, out.data(), out.size());
}

// What there is of this in a team; null for an invalid one, which calls answer with nonzero.
struct Call {
  World& world;
  Team* team;
  OnTeam inside;

  Call(const char* call, shmem_team_t handle)
      : world(shmem::world(call)), team(world.team_or_null(handle)), inside(call, world, team) {}
  size_t pes() const { return static_cast<size_t>(team->pes); }
};

int broadcast_from(const char* name, const Call& call, void* dest, const void* source, size_t bytes,
                   int root, bool to_root) {
  if (call.team == nullptr) return -1;
  if (root < 0 || root >= call.team->pes) {
    call.world.fail(std::string(name) + " from PE " + std::to_string(root) +
                    ", but the team has PEs 0 to " + std::to_string(call.team->pes - 1));
  }
  if (bytes == 0) return 0;
  const bool is_root = root == call.team->me;
  check_buffers(name, call.world, bytes_at(source, is_root ? bytes : 0),
                bytes_at(dest, !is_root || to_root ? bytes : 0));
  // The root's is only read.
  spread(name, call.world, *call.team, bytes_at(is_root ? const_cast<void*>(source) : dest, bytes),
         static_cast<rank_t>(root));
  if (is_root && to_root) copy(bytes_at(dest, bytes), bytes_at(source, bytes));
  return 0;
}

}  // namespace

void barrier_all(const char* call, const char* detail) {
  World& here = world(call);
  const OnTeam inside(call, here, &here.world_team());
  here.complete(here.default_context());
  barrier(call, here, here.world_team(), detail);
}

void sync_all(const char* call) {
  World& here = world(call);
  const OnTeam inside(call, here, &here.world_team());
  barrier(call, here, here.world_team());
}

int team_sync(const char* call, shmem_team_t handle) {
  const Call here(call, handle);
  if (here.team == nullptr) return -1;
  barrier(call, here.world, *here.team);
  return 0;
}

void barrier_set(const char* call, shmem_team_t set) {
  World& here = world(call);
  Team& team = here.team_of(call, set);
  const OnTeam inside(call, here, &team);
  here.complete(here.default_context());
  barrier(call, here, team);
}

void sync_set(const char* call, shmem_team_t set) { team_sync(call, set); }

int broadcast(const char* call, shmem_team_t team, void* dest, const void* source, size_t bytes,
              int root) {
  return broadcast_from(call, Call(call, team), dest, source, bytes, root, true);
}

int broadcast_to_others(const char* call, shmem_team_t team, void* dest, const void* source,
                        size_t bytes, int root) {
  return broadcast_from(call, Call(call, team), dest, source, bytes, root, false);
}

int collect(const char* call, shmem_team_t handle, void* dest, const void* source, size_t bytes) {
  const Call here(call, handle);
  if (here.team == nullptr) return -1;
  std::vector<size_t> counts(here.pes());
  gather_alike(call, here.world, *here.team, bytes_at(&bytes, sizeof bytes),
               std::as_writable_bytes(std::span(counts)));
  std::vector<size_t> offsets(here.pes());
  size_t sum = 0;
  for (size_t pe = 0; pe < here.pes(); ++pe) {
    offsets[pe] = sum;
    sum += counts[pe];
  }
  if (sum == 0) return 0;
  check_buffers(call, here.world, bytes_at(source, bytes), bytes_at(dest, sum));
  gather(call, here.world, *here.team, bytes_at(source, bytes), bytes_at(dest, sum), counts,
         offsets);
  return 0;
}

int fcollect(const char* call, shmem_team_t handle, void* dest, const void* source, size_t bytes) {
  const Call here(call, handle);
  if (here.team == nullptr) return -1;
  if (bytes == 0) return 0;
  const Bytes out = bytes_at(dest, bytes_of(call, bytes, here.pes()));
  check_buffers(call, here.world, bytes_at(source, bytes), out);
  gather_alike(call, here.world, *here.team, bytes_at(source, bytes), out);
  return 0;
}

int alltoall(const char* call, shmem_team_t handle, void* dest, const void* source, size_t bytes) {
  const Call here(call, handle);
  if (here.team == nullptr) return -1;
  if (bytes == 0) return 0;
  const size_t all = bytes_of(call, bytes, here.pes());
  check_buffers(call, here.world, bytes_at(source, all), bytes_at(dest, all));
  exchange(call, here.world, *here.team, bytes_at(source, all), bytes_at(dest, all));
  return 0;
}

int alltoalls(const char* call, shmem_team_t handle, void* dest, const void* source,
              ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t count, size_t element_bytes) {
  const Call here(call, handle);
  if (here.team == nullptr) return -1;
  if (count == 0) return 0;
  const size_t elements = bytes_of(call, count, here.pes());
  if (here.world.observed()) {
    // From the first element to the last one.
    const auto extent = [&](ptrdiff_t stride) {
      return bytes_of(call, bytes_of(call, elements - 1, static_cast<size_t>(stride)) + 1,
                      element_bytes);
    };
    check_buffers(call, here.world, bytes_at(source, extent(source_stride)),
                  bytes_at(dest, extent(dest_stride)));
  }
  std::vector<std::byte> sent(bytes_of(call, elements, element_bytes));
  std::vector<std::byte> received(sent.size());
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(dest);
  for (size_t i = 0; i < elements; ++i) {
    std::memcpy(sent.data() + i * element_bytes, from, element_bytes);
    from += source_stride * static_cast<ptrdiff_t>(element_bytes);
  }
  exchange(call, here.world, *here.team, sent, received);
  for (size_t i = 0; i < elements; ++i) {
    std::memcpy(to, received.data() + i * element_bytes, element_bytes);
    to += dest_stride * static_cast<ptrdiff_t>(element_bytes);
  }
  return 0;
}

int reduce_by(const char* call, World& world, Team* team, ConstBytes in, Bytes out,
              const stripline::detail::Reduction& op) {
  if (team == nullptr) return -1;
  const OnTeam inside(call, world, team);
  if (in.empty()) return 0;
  check_buffers(call, world, in, out);
  if (!world.multiple()) {
    world.send_held();
    TeamAccess::allreduce(team->group, in, out, op, site_of(call));
    return 0;
  }
  future reduced;
  {
    const Turn turn(world);
    reduced = TeamAccess::start_allreduce(team->group, in, out, op, site_of(call));
  }
  world.await(call, reduced);
  return 0;
}

int scan_by(const char* call, World& world, Team* team, ConstBytes in, Bytes out,
            const stripline::detail::Reduction& op, bool exclusive) {
  if (team == nullptr) return -1;
  const OnTeam inside(call, world, team);
  if (in.empty()) return 0;
  check_buffers(call, world, in, out);
  const bool first = team->me == 0;
  if (!world.multiple()) {
    world.send_held();
    TeamAccess::scan(team->group, in, out, op, exclusive, site_of(call));
  } else {
    const size_t count = in.size() / op.element_bytes;
    const auto before = static_cast<size_t>(team->me) + (exclusive ? 0 : 1);
    // Aligned as the elements are.
    std::vector<std::max_align_t> room(
        (in.size() * static_cast<size_t>(team->pes)) / sizeof(std::max_align_t) + 1);
    const Bytes all =
        std::as_writable_bytes(std::span(room)).first(in.size() * static_cast<size_t>(team->pes));
    gather_alike(call, world, *team, in, all);
    for (size_t pe = 0; pe < before; ++pe) {
      const Bytes theirs = all.subspan(pe * in.size(), in.size());
      if (pe == 0) {
        copy(out, theirs);
      } else {
        op.combine(out.data(), theirs.data(), count, false, op.function);
      }
    }
  }
  if (exclusive && first) std::memset(out.data(), 0, out.size());
  return 0;
}

}  // namespace stripline::shmem
