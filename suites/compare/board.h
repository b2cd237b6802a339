// Memory that the two processes of a comparison share: how they find each other, and which system
// is being measured.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <string>

namespace stripline::suites::compare {

/// The systems that are compared. Each has two ranks, one per process.
enum class System : int { none, ours, bare, sockets, stop };

struct Board {
  struct Slot {
    std::atomic<size_t> bytes{0};
    char text[4096];
  };

  /// Once per system and rank. False if the address does not fit.
  bool publish(System system, uint32_t rank, const std::string& address) {
    Slot& slot = addresses[static_cast<size_t>(system)][rank];
    if (address.empty() || address.size() > sizeof slot.text) return false;
    std::memcpy(slot.text, address.data(), address.size());
    slot.bytes.store(address.size());
    return true;
  }
  /// Waits for publish(); empty when the other process gave up.
  std::string read(System system, uint32_t rank) const {
    const Slot& slot = addresses[static_cast<size_t>(system)][rank];
    while (slot.bytes.load() == 0) {
      if (failed.load()) return {};
      sched_yield();
    }
    return {slot.text, slot.bytes.load()};
  }

  std::array<std::array<Slot, 2>, 4> addresses;
  std::atomic<System> served{System::none};  ///< which system rank 1 makes progress for
  std::atomic<bool> failed{false};
};

}  // namespace stripline::suites::compare
