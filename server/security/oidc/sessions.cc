#include "server/security/oidc/sessions.h"

#include <algorithm>
#include <utility>

namespace stripline::server::oidc {

void Sessions::add(const std::string& secret_sha256, Person person, double now_unix_s) {
  const std::lock_guard lock(mutex_);
  std::erase_if(people_, [&](const auto& one) { return one.second.until_unix_s < now_unix_s; });
  const auto make_room = [&](size_t most, const auto& counts) {
    const auto number = static_cast<size_t>(std::ranges::count_if(people_, counts));
    if (number < most) return;
    auto first = people_.end();
    for (auto one = people_.begin(); one != people_.end(); ++one) {
      if (!counts(*one)) continue;
      if (first == people_.end() || one->second.until_unix_s < first->second.until_unix_s)
        first = one;
    }
    if (first != people_.end()) people_.erase(first);
  };
  make_room(most_of_person_, [&](const auto& one) { return one.second.name == person.name; });
  make_room(most_, [](const auto& /*one*/) { return true; });
  people_.insert_or_assign(secret_sha256, std::move(person));
}

std::optional<Person> Sessions::find(const std::string& secret_sha256, double now_unix_s) const {
  const std::lock_guard lock(mutex_);
  const auto found = people_.find(secret_sha256);
  if (found == people_.end() || found->second.until_unix_s < now_unix_s) return std::nullopt;
  return found->second;
}

void Sessions::end(const std::string& secret_sha256) {
  const std::lock_guard lock(mutex_);
  people_.erase(secret_sha256);
}

size_t Sessions::size() const {
  const std::lock_guard lock(mutex_);
  return people_.size();
}

}  // namespace stripline::server::oidc
