#include "server/security/people.h"

#include <algorithm>
#include <utility>

#include "base/cut_text.h"
#include "base/sha256.h"
#include "server/security/oidc/sign_in.h"

namespace stripline::server {
namespace {

constexpr const char* kEverybody = "*";
constexpr const char* kNameSpace = "oidc:";
constexpr size_t kMaxSeen = 1024;
// How soon keys that are being fetched are known, as a rule.
constexpr const char* kSoon_s = "2";
// A day of work: groups are looked at when somebody signs in.
constexpr double kLongestSession_s = 12 * 3600;

Problem unauthenticated(const std::string& message) {
  return {ErrorCode::failed_precondition, "UNAUTHENTICATED", message, {}};
}

// The same token may be accepted when the keys that are being fetched are known.
Problem not_yet(const std::string& message) {
  return {ErrorCode::failed_precondition,
          "UNAUTHENTICATED",
          message + "; they are being fetched, so try again in a few seconds",
          {{"retry_after_s", kSoon_s}}};
}

Error wrong_rules(const std::string& why) {
  return {ErrorCode::invalid_argument,
          why + "; write ROLE=GROUP with commas between, as in 'admin=hpc-admins,viewer=*'"};
}

std::string_view without_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

Result<std::vector<RoleRule>> parse_role_rules(std::string_view text) {
  std::vector<RoleRule> rules;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = without_spaces(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos) return wrong_rules(quoted_text(one) + " has no '='");
    const std::string_view name = without_spaces(one.substr(0, equals));
    const std::string_view group = without_spaces(one.substr(equals + 1));
    const Role role = role_from_string(name);
    if (role == Role::nobody || role == Role::agent) {
      return wrong_rules(quoted_text(name) +
                         " is not a role of people: viewer, operator, publisher, admin");
    }
    if (group.empty()) return wrong_rules(quoted_text(one) + " names no group");
    rules.push_back({role, std::string(group)});
  }
  if (rules.empty()) return wrong_rules("no group has a role, so that no one could come in");
  return rules;
}

Role role_of(const std::vector<RoleRule>& rules, const std::vector<std::string>& groups) {
  Role highest = Role::nobody;
  for (const RoleRule& rule : rules) {
    const bool is_in =
        rule.group == kEverybody || std::ranges::find(groups, rule.group) != groups.end();
    if (is_in) highest = std::max(highest, rule.role);
  }
  return highest;
}

std::string PeopleOptions::device_client() const {
  if (!device_client_id.empty()) return device_client_id;
  return issuer.client_secret_file.empty() ? issuer.client_id : "";
}

Result<std::unique_ptr<People>> People::start(PeopleOptions options) {
  STRIPLINE_ASSIGN_OR_RETURN(auto issuer, oidc::Issuer::start(options.issuer));
  return std::unique_ptr<People>(new People(std::move(options), std::move(issuer)));
}

People::People(PeopleOptions options, std::unique_ptr<oidc::Issuer> issuer)
    : options_(std::move(options)),
      expected_{options_.issuer.url,
                {options_.issuer.client_id, options_.device_client()},
                options_.claims},
      issuer_(std::move(issuer)) {}

Problem People::without_key(const std::string& why) {
  if (const auto failure = issuer_->failure()) {
    return unauthenticated(why + ", and " + options_.issuer.url +
                           " cannot be asked: " + failure->why);
  }
  issuer_->look_again();
  return not_yet(why);
}

Answer<oidc::Person> People::verified(const std::string& token, double now_unix_s) {
  const auto facts = issuer_->facts();
  if (!facts) {
    return without_key("the token is not accepted: the keys of " + options_.issuer.url +
                       " are not known yet");
  }
  auto person = oidc::verify(token, facts->keys, expected_, now_unix_s);
  if (!person.ok()) {
    const std::string& why = person.error().message();
    if (person.error().code() == ErrorCode::not_found) return without_key(why);
    return unauthenticated(why);
  }
  // Others say nothing here, and there may be many.
  std::erase_if(person->groups, [&](const std::string& group) {
    return std::ranges::none_of(options_.roles,
                                [&](const RoleRule& rule) { return rule.group == group; });
  });
  return std::move(*person);
}

Answer<VouchedFor> People::by_token(const std::string& token, double now_unix_s) {
  if (token.size() > oidc::kLongestTokenBytes) {
    return unauthenticated(oidc::parse_jwt(token).error().message());
  }
  const std::string hash = sha256_hex(token);
  const auto facts = issuer_->facts();
  {
    const std::lock_guard lock(mutex_);
    // The issuer may have withdrawn a key.
    if (seen_with_ != facts) seen_.clear();
    seen_with_ = facts;
    const auto found = seen_.find(hash);
    if (found != seen_.end() && now_unix_s <= found->second.until_unix_s + expected_.leeway_s) {
      return with_role(found->second, hash);
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto person, verified(token, now_unix_s));
  const std::lock_guard lock(mutex_);
  if (seen_.size() >= kMaxSeen) seen_.clear();
  if (seen_with_ == facts) seen_.insert_or_assign(hash, person);
  return with_role(person, hash);
}

Answer<VouchedFor> People::by_session(const std::string& secret, double now_unix_s) const {
  std::string hash = sha256_hex(secret);
  const auto person = sessions_.find(hash, now_unix_s);
  if (!person) return unauthenticated("the session has ended; sign in again");
  return with_role(*person, std::move(hash));
}

bool People::has_session(const std::string& secret_sha256, double now_unix_s) const {
  return sessions_.find(secret_sha256, now_unix_s).has_value();
}

Answer<std::string> People::open_session(const std::string& id_token, const std::string& nonce,
                                         double now_unix_s) {
  STRIPLINE_ASSIGN_OR_RETURN(auto person, verified(id_token, now_unix_s));
  if (!person.nonce || !oidc::same_secret(*person.nonce, nonce)) {
    return unauthenticated("the issuer's token was made for another sign-in ('nonce')");
  }
  STRIPLINE_RETURN_IF_ERROR(with_role(person, ""));
  STRIPLINE_ASSIGN_OR_RETURN(auto secret, oidc::random_text());
  person.until_unix_s = std::min(person.until_unix_s, now_unix_s + kLongestSession_s);
  sessions_.add(sha256_hex(secret), std::move(person), now_unix_s);
  return secret;
}

void People::close_session(const std::string& secret) { sessions_.end(sha256_hex(secret)); }

Answer<VouchedFor> People::with_role(const oidc::Person& person, std::string secret_sha256) const {
  const std::string name = kNameSpace + person.name;
  const Role role = role_of(options_.roles, person.groups);
  if (role == Role::nobody) {
    std::string why = "users/" + name;
    if (person.has_groups) {
      why += " is in no group that has a role here (--oidc-roles, claim '" +
             options_.claims.groups + "')";
    } else {
      why += " has no role here: the issuer has sent no claim '" + options_.claims.groups +
             "' with the groups; some do so only for certain --oidc-scopes, or not for people in "
             "many groups";
    }
    return Problem{ErrorCode::failed_precondition, "PERMISSION_DENIED", why, {}};
  }
  return VouchedFor{name, role, person.until_unix_s, std::move(secret_sha256)};
}

}  // namespace stripline::server
