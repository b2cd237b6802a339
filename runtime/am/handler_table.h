// The handlers of active messages and of puts that land, by name.
//
// A mechanism names its handlers and its landings when it is made, in the constructor of the rank's
// state; ids and tags follow in the order of naming. This layer therefore knows no mechanism, and
// one more costs no line here. Ids mean the same on two ranks if both have named the same in the
// same order, which terms() says in a line: ranks compare it before they connect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/fabric/fabric.h"

namespace stripline::am {

using fabric::Rank;

/// As stripline::AmHandler in <stripline/context.h>.
using Handler = std::function<void(Rank source, std::span<const std::byte> payload)>;

/// Handles what landed; may send as handlers do.
using LandingHandler = std::function<void(Rank source, uint32_t value)>;

/// What a message is to its target.
enum class Purpose : uint8_t {
  answer,   ///< tells of something that the target waits for, or may come to wait for
  work,     ///< asks for something that its sender may have asked for by other means: how long it
            ///< waits at the target is a service delay
  program,  ///< work that runs code of the program, and counts as one of its messages
};

/// The tags of one kind of put that tells its target (fabric::Shortcuts::put_notify).
struct Landing {
  uint32_t first = 0;
  uint32_t tag(uint32_t value) const { return first + value; }
};

/// One thread at a time.
class HandlerTable {
 public:
  /// The id of messages that only give credits back; no handler has it.
  static constexpr uint16_t kNoHandler = 0;

  /// The id of one of the runtime's own handlers. A name that is new gets the next id; after
  /// close() there are no new ones. Errors: internal for a new name after close().
  Result<uint16_t> id(std::string_view name);

  /// What the handler of this id does, from now on.
  void serve(uint16_t id, Purpose purpose, Handler handler);

  /// As many tags as there are values, and what becomes of puts with them. Errors:
  /// resource_exhausted if no tags are left; internal after close().
  Result<Landing> land(std::string_view name, uint32_t values, Purpose purpose,
                       LandingHandler handler);

  /// From here on ids are handlers' of the program.
  void close() { first_of_program_ = static_cast<uint32_t>(entries_.size()); }

  /// Adds a handler of the program. Errors: invalid_argument if there are too many.
  Result<uint32_t> add(Handler handler);
  /// True if the program has added it.
  bool is_of_program(uint32_t id) const { return id >= first_of_program_ && id < entries_.size(); }

  /// True if a message for this id has a handler here.
  bool serves(uint32_t id) const { return id < entries_.size() && entries_[id].handler != nullptr; }
  /// What an id that serves() runs.
  const Handler& handler(uint32_t id) const { return entries_[id].handler; }
  Purpose purpose(uint32_t id) const { return entries_[id].purpose; }

  struct Landed {
    std::string name;
    Landing tags;
    uint32_t values = 0;
    Purpose purpose = Purpose::answer;
    LandingHandler handler;
  };
  /// Null: nothing here expects this tag.
  const Landed* landed(uint32_t tag) const;

  /// Null: no such name.
  const Landed* landed(std::string_view name) const;

  /// All names of the runtime's own, in order, for ranks to compare: "14 handlers 1f3c..., 4
  /// landings 77aa...".
  std::string terms() const;

 private:
  struct Entry {
    std::string name;
    Purpose purpose = Purpose::answer;
    Handler handler;
  };

  bool closed() const { return first_of_program_ != kOpen; }

  static constexpr uint32_t kOpen = UINT32_MAX;
  std::vector<Entry> entries_{Entry{"credits", Purpose::answer, nullptr}};
  std::vector<Landed> landings_;
  uint32_t next_tag_ = 0;
  uint32_t first_of_program_ = kOpen;
};

}  // namespace stripline::am
