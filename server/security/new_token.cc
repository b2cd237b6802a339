#include "server/security/new_token.h"

#include <algorithm>

#include "base/cut_text.h"
#include "base/pki/token.h"
#include "server/security/node_pattern.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr double kUserTokenValid_s = 90 * 86400.0;
constexpr double kNodeTokenValid_s = 86400;
constexpr double kMaxValid_s = 3650 * 86400.0;
constexpr uint32_t kMaxEnrolments = 10'000;

bool is_subject(Role role, const std::string& subject) {
  if (role != Role::agent) return is_segment(subject);
  return subject.empty() || is_node_pattern(subject);
}

}  // namespace

Answer<NewToken> new_token(const TokenOrder& order, const std::string& authority_sha256,
                           double now_unix_s) {
  const bool is_agent = order.role == Role::agent;
  if (order.role == Role::nobody) {
    return invalid_field("role", "one of agent, viewer, operator, publisher, admin is needed");
  }
  if (!is_subject(order.role, order.subject)) {
    return invalid_field("subject",
                         quoted_text(order.subject) +
                             " is not a valid name; it must match [a-z0-9][a-z0-9._-]{0,62}" +
                             (is_agent ? ", where '*' and '?' stand for other characters" : ""));
  }
  if (order.count > (is_agent ? kMaxEnrolments : 1)) {
    return invalid_field("count", "1 to " + std::to_string(kMaxEnrolments) +
                                      " enrolments are possible, for tokens of nodes alone");
  }
  const double usual_s = is_agent ? kNodeTokenValid_s : kUserTokenValid_s;
  const double wanted_s = order.valid_s == 0 ? usual_s : order.valid_s;
  if (!(wanted_s >= 1 && wanted_s <= kMaxValid_s)) {
    return invalid_field("valid_s", "1 second to 3650 days are possible");
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto token, pki::make_token(is_agent ? pki::Token::Kind::node : pki::Token::Kind::user,
                                        authority_sha256));
  TokenRecord record{pki::secret_sha256(token.secret),
                     order.role,
                     order.subject,
                     now_unix_s,
                     now_unix_s + wanted_s,
                     0,
                     "",
                     std::max(order.count, 1U)};
  return NewToken{std::move(record), token.text()};
}

Changes changes_for(const NewToken& token, const std::string& actor) {
  const TokenRecord& record = token.record;
  std::string action = "create token for " + std::string(to_string(record.role));
  if (!record.subject.empty()) action += " " + record.subject;
  if (record.count > 1) action += ", " + std::to_string(record.count) + " times";
  Changes changes;
  changes.tokens.push_back(record);
  changes.audit.push_back({0, record.created_unix_s, actor, action, record.name()});
  return changes;
}

}  // namespace stripline::server
