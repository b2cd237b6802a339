#include "runtime/sync/collective_check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/place_text.h"
#include "optimizer/model/collective.h"
#include "runtime/sync/group.h"

namespace stripline::sync {
namespace {

// Bytes of a name, a detail, or the end of a path.
constexpr size_t kLongestText = 200;

std::string_view head_of(std::string_view text) { return text.substr(0, kLongestText); }
std::string_view tail_of(std::string_view text) {
  return text.size() <= kLongestText ? text : text.substr(text.size() - kLongestText);
}

bool has_root(Collective kind) {
  switch (kind) {
    case Collective::broadcast:
    case Collective::broadcast_async:
    case Collective::reduce:
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// Leads the message; then name, detail and file.
struct CollectiveCheck::Header {
  uint64_t sequence;
  uint64_t bytes;
  uint64_t other_sequence;  ///< of other_team, to which the sender has not come; 0: says nothing
  uint32_t other_team;
  uint32_t team;
  uint32_t root;
  int32_t line;
  Collective kind;
  uint8_t algorithm;
  uint8_t name_bytes;
  uint8_t detail_bytes;
  uint8_t file_bytes;
  uint8_t reserved[3];
};

CollectiveCheck::CollectiveCheck(am::ActiveMessages& messages, Groups& groups, Rank me,
                                 fabric::FailureHandler fail)
    : messages_(messages), groups_(groups), me_(me), fail_(std::move(fail)) {
  groups_.set_check(this);
  handler_ = messages_.serve(
      "collective check", am::Purpose::answer,
      [this](Rank source, std::span<const std::byte> message) { take(source, message); });
}

CollectiveCheck::~CollectiveCheck() { groups_.set_check(nullptr); }

void CollectiveCheck::enter(const char* name, CallSite site, std::string_view detail) {
  if (depth_++ > 0) return;
  current_.name = head_of(name);
  current_.detail = head_of(detail);
  current_.file = tail_of(site.file == nullptr ? "" : site.file);
  current_.line = site.line;
}

void CollectiveCheck::leave() {
  if (--depth_ > 0) return;
  current_ = {};
  returns_early_ = false;
  waits_in_.reset();
}

void CollectiveCheck::entered(Group& group, uint64_t sequence, const Call& call) {
  Team& team = teams_[group.id];
  Record record = current_;
  record.call = call;
  if (record.name.empty()) record.name = to_string(call.kind);
  if (team.own.empty()) team.first = sequence;
  team.own.push_back(record);
  if (team.own.size() > kRemembered) {
    team.own.pop_front();
    ++team.first;
  }
  if (const auto early = team.early.find(sequence); early != team.early.end()) {
    compare(group.id, sequence, record, early->second.record, early->second.source);
  }
  team.early.erase(team.early.begin(), team.early.upper_bound(sequence));
  if (group.size > 1) tell(group.world((group.me + 1) % group.size), group.id, sequence, record);
  if (depth_ == 0 || returns_early_) return;
  waits_in_ = Place{group.id, sequence};
  for (const auto& [id, other] : teams_) {
    if (id == group.id || other.early.empty()) continue;
    const auto& [other_sequence, early] = *other.early.begin();
    answer({id, other_sequence}, early.source);
  }
}

// This rank waits in one operation, and `source` is in another one, to which this rank has not
// come.
void CollectiveCheck::answer(const Place& not_come_to, Rank source) {
  const Group* group = groups_.find(waits_in_->team);
  if (group == nullptr || !group->from_world(source)) return;
  if (const Record* mine = find(waits_in_->team, waits_in_->sequence); mine != nullptr) {
    tell(source, waits_in_->team, waits_in_->sequence, *mine, not_come_to);
  }
}

// `source` waits in an operation, and has not come to another one of this rank.
void CollectiveCheck::compare_order(const Place& theirs, const Record& record,
                                    const Place& not_come_to, Rank source) {
  const Group* group = groups_.find(theirs.team);
  if (group == nullptr || theirs.sequence <= group->order.sequence()) return;
  if (waits_in_ != not_come_to) return;
  const Record* mine = find(not_come_to.team, not_come_to.sequence);
  if (mine == nullptr) return;
  const auto side = [](Rank rank, const Place& place, const Record& call) {
    return "rank " + std::to_string(rank) + " is in " + describe(call, false) + " (operation " +
           std::to_string(place.sequence) + " of " +
           (place.team == 0 ? "all ranks" : "team " + std::to_string(place.team)) + ")";
  };
  const std::string my_side = side(me_, not_come_to, *mine);
  const std::string their_side = side(source, theirs, record);
  fail_(Error(ErrorCode::invalid_argument,
              "the ranks disagree on the order of collective operations of two teams: " +
                  (me_ < source ? my_side + ", " + their_side : their_side + ", " + my_side) +
                  ", and neither has come to the other's; ranks that share two teams must make "
                  "the collective calls of both in the same order"));
}

const CollectiveCheck::Record* CollectiveCheck::find(uint32_t team, uint64_t sequence) const {
  const auto found = teams_.find(team);
  if (found == teams_.end()) return nullptr;
  const Team& one = found->second;
  if (sequence < one.first || sequence - one.first >= one.own.size()) return nullptr;
  return &one.own[sequence - one.first];
}

void CollectiveCheck::disagrees(uint32_t team, uint64_t sequence, Rank source) {
  if (const Record* mine = find(team, sequence); mine != nullptr) {
    tell(source, team, sequence, *mine);
  }
}

void CollectiveCheck::stop_for(uint32_t team, uint64_t sequence, Rank source) {
  disagrees(team, sequence, source);
  messages_.wait([] { return false; });
  std::abort();  // the wait has no end of its own
}

void CollectiveCheck::tell(Rank target, uint32_t team, uint64_t sequence, const Record& record,
                           const Place& not_come_to) {
  Header header{};
  header.other_sequence = not_come_to.sequence;
  header.other_team = not_come_to.team;
  header.sequence = sequence;
  header.bytes = record.call.bytes;
  header.team = team;
  header.root = record.call.root;
  header.line = record.line;
  header.kind = record.call.kind;
  header.algorithm = record.call.algorithm;
  header.name_bytes = static_cast<uint8_t>(record.name.size());
  header.detail_bytes = static_cast<uint8_t>(record.detail.size());
  header.file_bytes = static_cast<uint8_t>(record.file.size());
  const std::string texts = record.name + record.detail + record.file;
  messages_.send(target, handler_, std::as_bytes(std::span(&header, 1)),
                 std::as_bytes(std::span(texts)));
}

void CollectiveCheck::take(Rank source, std::span<const std::byte> message) {
  const auto header = header_of<Header>(message, fail_, source, me_);
  message = message.subspan(sizeof header);
  if (message.size() !=
      size_t{header.name_bytes} + size_t{header.detail_bytes} + size_t{header.file_bytes}) {
    fail_malformed(fail_, source, me_);
    return;
  }
  const auto take_text = [&message](size_t bytes) {
    std::string text(reinterpret_cast<const char*>(message.data()), bytes);
    message = message.subspan(bytes);
    return text;
  };
  Record theirs;
  theirs.call = {.kind = header.kind,
                 .algorithm = header.algorithm,
                 .root = header.root,
                 .bytes = header.bytes};
  theirs.line = header.line;
  theirs.name = take_text(header.name_bytes);
  theirs.detail = take_text(header.detail_bytes);
  theirs.file = take_text(header.file_bytes);
  if (header.other_sequence != 0) {
    compare_order({header.team, header.sequence}, theirs,
                  {header.other_team, header.other_sequence}, source);
    return;
  }
  const Group* group = groups_.find(header.team);
  if (group == nullptr) {
    fail_malformed(fail_, source, me_);
    return;
  }
  if (header.sequence > group->order.sequence()) {
    Team& team = teams_[header.team];
    if (team.early.size() < kRemembered) {
      team.early[header.sequence] = {.source = source, .record = std::move(theirs)};
    }
    if (waits_in_ && waits_in_->team != header.team) {
      answer({header.team, header.sequence}, source);
    }
    return;
  }
  if (const Record* mine = find(header.team, header.sequence); mine != nullptr) {
    compare(header.team, header.sequence, *mine, theirs, source);
  }
}

std::string CollectiveCheck::describe(const Record& record, bool with_algorithm) {
  std::string text = record.name;
  if (record.call.bytes > 0) text += " of " + std::to_string(record.call.bytes) + " bytes";
  if (has_root(record.call.kind)) text += ", root " + std::to_string(record.call.root);
  if (!record.detail.empty()) text += ", " + record.detail;
  if (with_algorithm && record.call.algorithm < model::kCollectiveAlgorithms) {
    text += ", algorithm " + std::string(model::to_string(
                                 static_cast<model::CollectiveAlgorithm>(record.call.algorithm)));
  }
  if (!record.file.empty()) text += " at " + place_text(record.file, record.line);
  return text;
}

void CollectiveCheck::compare(uint32_t team, uint64_t sequence, const Record& mine,
                              const Record& theirs, Rank source) {
  const bool same =
      mine.call == theirs.call && mine.name == theirs.name && mine.detail == theirs.detail;
  if (same && mine.file == theirs.file && mine.line == theirs.line) return;
  const bool algorithms =
      mine.call.kind == theirs.call.kind && mine.call.algorithm != theirs.call.algorithm;
  // The lower rank first, so that the message does not depend on who finds out.
  const bool i_am_low = me_ < source;
  const auto side = [&](bool low) {
    const bool me = low == i_am_low;
    return "rank " + std::to_string(me ? me_ : source) + " is in " +
           describe(me ? mine : theirs, algorithms);
  };
  const std::string what = "collective operation " + std::to_string(sequence) +
                           (team == 0 ? std::string() : " of team " + std::to_string(team)) + ": " +
                           side(true) + ", " + side(false);
  if (!same) {
    fail_(Error(ErrorCode::invalid_argument,
                "the ranks disagree on " + what +
                    "; every rank must make the same collective calls, with the same arguments, "
                    "in the same order"));
    return;
  }
  if (different_places_++ > 0) return;
  std::fprintf(stderr,
               "warning: different places in %s; if they are not meant to meet, data are mixed up "
               "(said once)\n",
               what.c_str());
}

}  // namespace stripline::sync
