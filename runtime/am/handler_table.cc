#include "runtime/am/handler_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/sha256.h"
#include "runtime/fabric/shortcuts.h"

namespace stripline::am {
namespace {

// Enough to tell two versions of the runtime apart.
constexpr size_t kShownOfHash = 12;

Error too_late(std::string_view name) {
  return {ErrorCode::internal,
          "the message handler '" + std::string(name) +
              "' is named after ranks have connected; name it where its mechanism is made"};
}

}  // namespace

Result<uint16_t> HandlerTable::id(std::string_view name) {
  const auto end = entries_.begin() + std::min<ptrdiff_t>(std::ssize(entries_), first_of_program_);
  const auto found = std::find_if(entries_.begin() + 1, end,
                                  [name](const Entry& entry) { return entry.name == name; });
  if (found != end) return static_cast<uint16_t>(found - entries_.begin());
  if (closed()) return too_late(name);
  entries_.push_back({.name = std::string(name)});
  return static_cast<uint16_t>(entries_.size() - 1);
}

void HandlerTable::serve(uint16_t id, Purpose purpose, Handler handler) {
  entries_[id].purpose = purpose;
  entries_[id].handler = std::move(handler);
}

Result<Landing> HandlerTable::land(std::string_view name, uint32_t values, Purpose purpose,
                                   LandingHandler handler) {
  if (closed()) return too_late(name);
  if (values > fabric::Shortcuts::kLandingTags - next_tag_) {
    return Error(ErrorCode::resource_exhausted,
                 "puts that tell their target of '" + std::string(name) + "' need " +
                     std::to_string(values) + " tags, and " +
                     std::to_string(fabric::Shortcuts::kLandingTags - next_tag_) + " are left");
  }
  const Landing tags{.first = next_tag_};
  next_tag_ += values;
  landings_.push_back({std::string(name), tags, values, purpose, std::move(handler)});
  return tags;
}

Result<uint32_t> HandlerTable::add(Handler handler) {
  if (entries_.size() > std::numeric_limits<uint16_t>::max()) {
    return Error(ErrorCode::invalid_argument,
                 "register_am: more handlers than the 65520 that there is room for; register each "
                 "handler once, not per use");
  }
  entries_.push_back({"", Purpose::program, std::move(handler)});
  return static_cast<uint32_t>(entries_.size() - 1);
}

const HandlerTable::Landed* HandlerTable::landed(uint32_t tag) const {
  const auto found = std::ranges::find_if(landings_, [tag](const Landed& one) {
    return tag >= one.tags.first && tag - one.tags.first < one.values;
  });
  return found == landings_.end() ? nullptr : &*found;
}

const HandlerTable::Landed* HandlerTable::landed(std::string_view name) const {
  const auto found = std::ranges::find(landings_, name, &Landed::name);
  return found == landings_.end() ? nullptr : &*found;
}

std::string HandlerTable::terms() const {
  const size_t own = std::min<size_t>(entries_.size(), first_of_program_);
  std::string handlers;
  for (size_t i = 1; i < own; ++i) handlers += entries_[i].name + "\n";
  std::string landings;
  for (const Landed& one : landings_) {
    landings += one.name + " " + std::to_string(one.values) + "\n";
  }
  return std::to_string(own - 1) + " handlers " + sha256_hex(handlers).substr(0, kShownOfHash) +
         ", " + std::to_string(landings_.size()) + " landings " +
         sha256_hex(landings).substr(0, kShownOfHash);
}

}  // namespace stripline::am
