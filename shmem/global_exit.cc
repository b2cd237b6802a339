#include "shmem/global_exit.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "shmem/library.h"

namespace stripline::shmem {
namespace {

// How long others have to end by themselves, before this PE is gone and its launcher ends them.
constexpr double kGraceSeconds = 0.1;

uint32_t handler = 0;

// In good order, as far as who has started the PEs is concerned: all end with the same status. On a
// virtual clock others would wait for this PE's turn: the launcher is to end them.
[[noreturn]] void leave_and_exit(World& world, int status) {
  std::fflush(nullptr);
  if (world.state().job.options().clock == "real") world.state().job.bootstrap().left();
  ::_exit(status);
}

}  // namespace

void watch_for_global_exit(World& world) {
  handler = world.context().register_am([&world](rank_t, std::span<const std::byte> payload) {
    int status = 0;
    if (payload.size() != sizeof status) return;  // no PE of this program sends that
    std::memcpy(&status, payload.data(), sizeof status);
    leave_and_exit(world, status);
  });
}

void global_exit(const char* call, int status) {
  World& here = world(call);
  const Turn turn(here);
  Context& context = here.context();
  for (rank_t pe = 0; pe < here.pes(); ++pe) {
    if (pe == here.me()) continue;
    context.am_send(pe, handler, std::as_bytes(std::span(&status, 1)));
  }
  std::fflush(nullptr);
  context.wait_until([] { return false; }, here.pes() > 1 ? kGraceSeconds : 0);
  // One that neither computes nor ends is ended by the launcher, which a status says to do.
  if (status != 0 && here.pes() > 1) ::_exit(status);
  leave_and_exit(here, status);
}

}  // namespace stripline::shmem
