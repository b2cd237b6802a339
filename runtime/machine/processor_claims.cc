#include "runtime/machine/processor_claims.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "runtime/machine/placement.h"

namespace stripline::machine {
namespace {

struct flock lock_of(short type, uint32_t first, uint32_t count) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;  // 0: to the end
  return lock;
}

}  // namespace

Result<ProcessorClaims> ProcessorClaims::open(const std::string& folder) {
  UniqueFd descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct flock probe = lock_of(F_WRLCK, 0, 1);
  if (!descriptor || ::fcntl(descriptor.get(), F_OFD_GETLK, &probe) != 0) {
    return Error(ErrorCode::unavailable, "cannot look for locks on " + folder + ": " +
                                             std::generic_category().message(errno));
  }
  return ProcessorClaims(std::move(descriptor));
}

// Folders are only open for reading, so that claims are read locks, which exclude none of their
// like but are seen by whoever asks for a write lock. A job's own do not hinder it.
bool ProcessorClaims::taken(uint32_t processor) const {
  struct flock wanted = lock_of(F_WRLCK, processor, 1);
  return ::fcntl(folder_.get(), F_OFD_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
}

bool ProcessorClaims::claim(std::span<const uint32_t> processors) {
  // First lock, then look: of two jobs that want the same one, at least one sees the other.
  bool mine = true;
  for (const uint32_t processor : processors) {
    struct flock own = lock_of(F_RDLCK, processor, 1);
    mine = mine && ::fcntl(folder_.get(), F_OFD_SETLK, &own) == 0;
  }
  for (const uint32_t processor : processors) mine = mine && !taken(processor);
  if (mine) return true;
  struct flock all = lock_of(F_UNLCK, 0, 0);
  ::fcntl(folder_.get(), F_OFD_SETLK, &all);
  return false;
}

Places claim_places(uint32_t ranks, const std::string& folder) {
  // Tries of jobs that start at the same moment and yield to each other, in turn.
  constexpr int kTries = 20;
  Places places;
  const std::vector<Processor> allowed = allowed_processors();
  auto claims = ProcessorClaims::open(folder);
  if (!claims.ok()) {
    places.processors = place_ranks(allowed, ranks);
    return places;
  }
  for (int i = 0; i < kTries; ++i) {
    std::vector<uint32_t> taken;
    for (const Processor& one : allowed) {
      if (claims->taken(one.number)) taken.push_back(one.number);
    }
    places.taken = static_cast<uint32_t>(taken.size());
    places.processors = place_ranks_beside(allowed, taken, ranks);
    if (places.processors.empty()) return places;
    std::vector<uint32_t> wanted;
    for (const auto& own : places.processors) wanted.insert(wanted.end(), own.begin(), own.end());
    if (claims->claim(wanted)) {
      places.held.push_back(*std::move(claims));
      return places;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + ::getpid() % 7));
  }
  places.processors.clear();
  return places;
}

}  // namespace stripline::machine
