#include "shmem/global_exit.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "shmem/library.h"

namespace stripline::shmem {
namespace {

// How long others have to end by themselves, before this PE is gone and its launcher ends them.
constexpr double kGraceSeconds = 0.1;

// How long this PE may take to tell the others. Peers that do not read, and calls of other threads
// that do not end, keep it no longer.
constexpr std::chrono::seconds kLimit{3};

uint32_t handler = 0;
std::thread::id thread_of_program;

// In good order, as far as who has started the PEs is concerned: all end with the same status. On a
// virtual clock others would wait for this PE's turn: the launcher is to end them.
//
// What is to follow exit() does not: this may be in the middle of a call, on any thread. Nor are
// streams of C++ flushed that a thread of the program may be writing to.
[[noreturn]] void leave_and_exit(World& world, int status) {
  if (std::this_thread::get_id() == thread_of_program) {
    flush_streams();
  } else {
    std::fflush(nullptr);
  }
  if (world.state().job.options().clock == "real") world.state().job.bootstrap().left();
  ::_exit(status);
}

bool end_job(World& world, const char* call, int status) {
  constexpr int kStatusBits = 0xff;  // that a parent sees
  return world.state().job.bootstrap().end_job(
      status & kStatusBits, std::string(call) + "(" + std::to_string(status) + ")");
}

// Ends this PE after kLimit. `peer` is the PE that is being notified, -1 before the first one.
void limit(World& world, const char* call, int status, const std::atomic<int64_t>& peer) {
  const auto end = [&world, call, status, &peer] {
    std::this_thread::sleep_for(kLimit);
    // Streams may be in use by a thread that waits.
    if (const int64_t pe = peer.load(); pe >= 0) {
      ::dprintf(STDERR_FILENO,
                "PE %u: %s: PE %lld takes no message (it is stopped, or has died); it is left to "
                "the launcher\n",
                world.me(), call, static_cast<long long>(pe));
    } else {
      ::dprintf(
          STDERR_FILENO,
          "PE %u: %s waits for a call of another thread; other PEs are left to the launcher\n",
          world.me(), call);
    }
    end_job(world, call, status);
    ::_exit(status);
  };
  try {
    std::thread(end).detach();
  } catch (const std::system_error&) {  // no thread is to be had: then without a limit
  }
}

}  // namespace

void flush_streams() {
  for (std::ostream* const stream : {&std::cout, &std::cerr, &std::clog}) stream->flush();
  for (std::wostream* const stream : {&std::wcout, &std::wcerr, &std::wclog}) stream->flush();
  std::fflush(nullptr);
}

void watch_for_global_exit(World& world) {
  thread_of_program = std::this_thread::get_id();
  handler = world.context().register_am([&world](rank_t, std::span<const std::byte> payload) {
    int status = 0;
    if (payload.size() != sizeof status) return;  // no PE of this program sends that
    std::memcpy(&status, payload.data(), sizeof status);
    leave_and_exit(world, status);
  });
}

void global_exit(const char* call, int status) {
  World& here = world(call);
  std::atomic<int64_t> peer{-1};
  limit(here, call, status, peer);
  const Turn turn(here);
  Context& context = here.context();
  for (rank_t pe = 0; pe < here.pes(); ++pe) {
    if (pe == here.me()) continue;
    peer.store(pe);
    context.am_send(pe, handler, std::as_bytes(std::span(&status, 1)));
  }
  peer.store(-1);
  flush_streams();
  context.wait_until([] { return false; }, here.pes() > 1 ? kGraceSeconds : 0);
  // The launcher ends those that neither call nor end; one that cannot be asked for that ends them
  // if this PE fails.
  if (here.pes() > 1 && (end_job(here, call, status) || status != 0)) ::_exit(status);
  leave_and_exit(here, status);
}

}  // namespace stripline::shmem
