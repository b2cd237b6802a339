// Debug mode's check of collective operations: each rank tells the next one of the team, at the
// beginning of an operation, which call of the program it is in, with its arguments and its place
// in the source; the receiver compares that with its own call of the same number. Ranks that agree
// with their neighbours agree with all. No one waits for the check, so that a correct program does
// not change its course; a rank that has begun another operation hears of it while it waits there.
//
// CollectiveOrder (collective_order.h) finds most disagreements without this, from the messages of
// the operations; it then leaves the report to this check, which knows both places.
//
// Two ranks that are members of two teams must also make the calls of both in one order: each would
// wait in another one for ever. A rank that waits in an operation of one team and hears that its
// predecessor is in one of another, to which it has not come, tells it so; if that one has not come
// to the operation of the first team either, the job ends. Operations in two phases (barrier_async)
// wait for none. Ranks that are no neighbours in either team, and circles of three teams, go
// unnoticed.
//
// Kinds and arguments that differ end the job. Places that differ are correct if different branches
// make the same call: this rank warns once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <stripline/call_site.h>

#include "runtime/am/active_messages.h"
#include "runtime/fabric/fabric.h"
#include "runtime/sync/collective_order.h"

namespace stripline::sync {

struct Group;
class Groups;

class CollectiveCheck {
 public:
  /// Operations of each team that are remembered while a neighbour has not come to them: more than
  /// the windows of collectives let ranks be apart.
  static constexpr size_t kRemembered = 4096;

  /// After Groups; the check is theirs as long as it lives. `fail` ends the job.
  CollectiveCheck(am::ActiveMessages& messages, Groups& groups, Rank me,
                  fabric::FailureHandler fail);
  ~CollectiveCheck();
  CollectiveCheck(const CollectiveCheck&) = delete;
  CollectiveCheck& operator=(const CollectiveCheck&) = delete;

  /// The program is in this call from now on, until leave(); calls within it belong to it.
  /// `detail`: more that must agree, for a person to read.
  void enter(const char* name, CallSite site, std::string_view detail);
  void leave();
  /// The call that the program is in returns before the operation is complete.
  void returns_early() { returns_early_ = true; }

  /// This rank begins operation `sequence` of the group. Sends a message and may make progress.
  void entered(Group& group, uint64_t sequence, const Call& call);

  /// A message of `source` shows that it is in another operation than this rank. Tells it what this
  /// rank is in, so that it can report both.
  void disagrees(uint32_t team, uint64_t sequence, Rank source);
  /// The same where this rank cannot go on: does not return, because the job ends.
  [[noreturn]] void stop_for(uint32_t team, uint64_t sequence, Rank source);

  /// The team is no more.
  void removed(uint32_t team) { teams_.erase(team); }

  /// How often a place differed from a neighbour's, for tests.
  uint64_t different_places() const { return different_places_; }

 private:
  struct Record {
    Call call;
    std::string name;
    std::string detail;
    std::string file;
    int32_t line = 0;
  };
  struct Early {
    Rank source = 0;
    Record record;
  };
  struct Team {
    uint64_t first = 1;  // number of own.front()
    std::deque<Record> own;
    std::map<uint64_t, Early> early;  // from ranks that are ahead
  };
  struct Header;
  /// An operation of a team.
  struct Place {
    uint32_t team;
    uint64_t sequence;
    bool operator==(const Place&) const = default;
  };

  const Record* find(uint32_t team, uint64_t sequence) const;
  void tell(Rank target, uint32_t team, uint64_t sequence, const Record& record,
            const Place& not_come_to = {});
  void answer(const Place& not_come_to, Rank source);
  void compare_order(const Place& theirs, const Record& record, const Place& not_come_to,
                     Rank source);
  void take(Rank source, std::span<const std::byte> message);
  void compare(uint32_t team, uint64_t sequence, const Record& mine, const Record& theirs,
               Rank source);
  static std::string describe(const Record& record, bool with_algorithm);

  am::ActiveMessages& messages_;
  uint16_t handler_ = 0;
  Groups& groups_;
  Rank me_;
  fabric::FailureHandler fail_;
  int depth_ = 0;  // of calls within calls
  bool returns_early_ = false;
  Record current_;
  std::optional<Place> waits_in_;  // of the call that the program is in
  std::map<uint32_t, Team> teams_;
  uint64_t different_places_ = 0;
};

}  // namespace stripline::sync
