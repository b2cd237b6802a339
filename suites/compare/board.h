// Memory that the two processes of a comparison share: how they find each other, and whose turn it
// is.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <vector>

#include "suites/harness/turns.h"

namespace stripline::suites::compare {

struct Board {
  /// What one rank gives to the other.
  struct Mailbox {
    std::atomic<uint64_t> given{0};  ///< messages
    std::atomic<uint64_t> taken{0};  ///< of them
    size_t bytes = 0;
    std::array<std::byte, 8192> text;
  };

  /// Collective: gives `mine` to the other rank, and returns what it gives. What is too long for a
  /// mailbox arrives as nothing. The parent ends both processes where one of them has ended.
  std::vector<std::byte> swap(uint32_t rank, const std::vector<std::byte>& mine) {
    Mailbox& out = mailboxes[rank];
    Mailbox& in = mailboxes[1 - rank];
    const uint64_t number = out.given.load() + 1;
    harness::Turns::wait_for(out.taken, number - 1);
    out.bytes = mine.size() <= out.text.size() ? mine.size() : 0;
    std::memcpy(out.text.data(), mine.data(), out.bytes);
    out.given.store(number);
    harness::Turns::wait_for(in.given, number);
    std::vector<std::byte> theirs(in.text.data(), in.text.data() + in.bytes);
    in.taken.store(number);
    return theirs;
  }

  std::array<Mailbox, 2> mailboxes;
  harness::Turns turns;
  std::atomic<bool> failed{false};  ///< a rank has said why
};

}  // namespace stripline::suites::compare
