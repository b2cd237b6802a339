#include "server/store/security_records.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stripline::server {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 5> kNames{{{Role::agent, "agent"},
                                                                   {Role::viewer, "viewer"},
                                                                   {Role::operator_, "operator"},
                                                                   {Role::publisher, "publisher"},
                                                                   {Role::admin, "admin"}}};
constexpr size_t kNameDigits = 16;

}  // namespace

std::string_view to_string(Role role) {
  const auto* const found = std::find_if(kNames.begin(), kNames.end(),
                                         [&](const auto& pair) { return pair.first == role; });
  return found == kNames.end() ? "none" : found->second;
}

Role role_from_string(std::string_view name) {
  const auto* const found = std::find_if(kNames.begin(), kNames.end(),
                                         [&](const auto& pair) { return pair.second == name; });
  return found == kNames.end() ? Role::nobody : found->first;
}

std::string TokenRecord::name() const { return "tokens/" + secret_sha256.substr(0, kNameDigits); }

}  // namespace stripline::server
