#include "server/core/operations/server_notices.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/quantity.h"
#include "base/rfc3339.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

// "ends in 12 days, at 2030-01-01T00:00:00Z", "has ended at ...".
std::string when(double end_unix_s, double now_unix_s) {
  constexpr double kDay_s = 86400;
  const std::string at = " at " + rfc3339(std::floor(end_unix_s));
  if (end_unix_s <= now_unix_s) return "has ended" + at;
  const auto days = static_cast<int64_t>(std::floor((end_unix_s - now_unix_s) / kDay_s));
  if (days == 0) return "ends within a day," + at;
  return "ends in " + std::to_string(days) + (days == 1 ? " day," : " days,") + at;
}

bool is_admin(const TokenRecord& token, double now_unix_s) {
  return token.role == Role::admin && token.usable_at(now_unix_s);
}

bool is_long(const TokenRecord& token) {
  return token.expires_unix_s - token.created_unix_s > kLongToken_s;
}

// The user has another that lets him do as much, and lasts.
bool is_replaced(const TokenRecord& token, const Ends& ends, double now_unix_s) {
  return std::any_of(ends.tokens.begin(), ends.tokens.end(), [&](const TokenRecord& other) {
    return other.subject == token.subject && other.role >= token.role &&
           other.usable_at(now_unix_s) && other.expires_unix_s - now_unix_s >= kLongTokenNotice_s;
  });
}

// Tokens of users that end soon, the first one first, without those of these hashes.
std::vector<TokenRecord> ending_tokens(const Ends& ends, const std::set<std::string>& noticed,
                                       double now_unix_s) {
  std::vector<TokenRecord> ending;
  for (const TokenRecord& token : ends.tokens) {
    if (token.role == Role::agent || !token.usable_at(now_unix_s) || !is_long(token)) continue;
    if (token.expires_unix_s - now_unix_s >= kLongTokenNotice_s) continue;
    if (noticed.contains(token.secret_sha256) || is_replaced(token, ends, now_unix_s)) continue;
    ending.push_back(token);
  }
  std::stable_sort(ending.begin(), ending.end(), [](const auto& a, const auto& b) {
    return a.expires_unix_s < b.expires_unix_s;
  });
  return ending;
}

}  // namespace

std::optional<double> last_admin_end_unix_s(const std::vector<TokenRecord>& tokens,
                                            double now_unix_s) {
  std::optional<double> last;
  for (const TokenRecord& token : tokens) {
    if (is_admin(token, now_unix_s)) last = std::max(last.value_or(0), token.expires_unix_s);
  }
  return last;
}

std::vector<ServerNotice> notices_of(const Ends& ends, double now_unix_s) {
  using Kind = ServerNotice::Kind;
  std::vector<ServerNotice> notices;
  std::set<std::string> noticed;  // hashes of tokens that have a notice already
  const auto add = [&](Kind kind, double notice_s, double end_unix_s, const std::string& subject,
                       const std::string& what, const std::string& todo) {
    if (end_unix_s - now_unix_s >= notice_s) return;
    notices.push_back(
        {kind, subject, what + " " + when(end_unix_s, now_unix_s) + ": " + todo, end_unix_s});
  };
  if (const auto last = last_admin_end_unix_s(ends.tokens, now_unix_s)) {
    const auto token = std::find_if(ends.tokens.begin(), ends.tokens.end(), [&](const auto& one) {
      return is_admin(one, now_unix_s) && one.expires_unix_s == *last;
    });
    add(Kind::admin_token, kAdminTokenNotice_s, *last, token->name(),
        "the last token of an administrator, that of " + token->subject + ",",
        "make another with 'stripline token create --role admin NAME'");
    noticed.insert(token->secret_sha256);
  } else if (ends.authority_unix_s) {
    notices.push_back({Kind::admin_token, "",
                       "no token of an administrator is valid: make one on the server's machine, "
                       "with 'stripline-server token --role admin NAME'",
                       now_unix_s});
  }
  if (ends.server_certificate_unix_s) {
    add(Kind::server_certificate, kServerCertificateNotice_s, *ends.server_certificate_unix_s, "",
        "the server's certificate", "the log says why it could not be renewed");
  }
  if (ends.authority_unix_s) {
    add(Kind::authority, kAuthorityNotice_s, *ends.authority_unix_s, "", "the server's authority",
        "every node and every login ends with it; move tls away, make another with "
        "'stripline-server init', and enrol the nodes again");
  }
  for (const NodeCertificateEnd& node : ends.nodes) {
    add(Kind::node_certificate, kNodeCertificateNotice_s, node.end_unix_s, node_name(node.node),
        "the certificate of " + node_name(node.node),
        node.end_unix_s <= now_unix_s
            ? "enrol the node again with a token of 'stripline token create --role agent', or "
              "remove it"
            : "its agent renews it when it is connected");
  }
  if (ends.own_token) {
    add(Kind::own_token, is_long(*ends.own_token) ? kLongTokenNotice_s : kShortTokenNotice_s,
        ends.own_token->expires_unix_s, "", "your token",
        "an administrator makes another with 'stripline token create'");
    noticed.insert(ends.own_token->secret_sha256);
  }
  if (ends.for_administrators) {
    const auto ending = ending_tokens(ends, noticed, now_unix_s);
    const auto add_first = [&](const std::string& what, const std::string& todo) {
      add(Kind::tokens, kLongTokenNotice_s, ending.front().expires_unix_s, ending.front().name(),
          what, todo);
    };
    if (ending.size() == 1) {
      add_first("the token of " + ending.front().subject,
                "make another with 'stripline token create --role " +
                    std::string(to_string(ending.front().role)) + " NAME'");
    } else if (!ending.empty()) {
      add_first(count_text(ending.size(), "token") +
                    " of users end within 30 days; the first, that of " + ending.front().subject +
                    ",",
                "'stripline token list' names them, and 'stripline token create' makes others");
    }
  }
  std::stable_sort(notices.begin(), notices.end(),
                   [](const auto& a, const auto& b) { return a.end_unix_s < b.end_unix_s; });
  return notices;
}

}  // namespace stripline::server
