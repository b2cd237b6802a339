// What an operator should do something about before it fails: tokens and certificates that end
// soon. Pure: values and the time in, notices out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/store/security_records.h"

namespace stripline::server {

/// See ServerNotice in fleet.proto.
struct ServerNotice {
  enum class Kind {
    admin_token,
    server_certificate,
    authority,
    node_certificate,
    own_token,
    tokens
  };
  Kind kind = Kind::admin_token;
  std::string subject;  ///< "tokens/0123456789abcdef", "nodes/a", or empty
  std::string message;  ///< What ends, and what to do about it.
  double end_unix_s = 0;
};

/// A node and its certificate.
struct NodeCertificateEnd {
  std::string node;
  double end_unix_s = 0;
};

/// What ends, and when. nullopt: there is none.
struct Ends {
  std::vector<TokenRecord> tokens;
  std::optional<double> server_certificate_unix_s;
  std::optional<double> authority_unix_s;
  std::vector<NodeCertificateEnd> nodes;
  /// The token that who asks has shown.
  std::optional<TokenRecord> own_token = std::nullopt;
  /// An administrator asks, or the log, who make tokens for others.
  bool for_administrators = false;
};

/// How long before its end each is noticed.
inline constexpr double kAdminTokenNotice_s = 30.0 * 86400;
inline constexpr double kServerCertificateNotice_s = 30.0 * 86400;
inline constexpr double kAuthorityNotice_s = 90.0 * 86400;
/// Agents renew their certificate when a third of its time, ten days, is left.
inline constexpr double kNodeCertificateNotice_s = 9.0 * 86400;
/// Tokens of users that were made for longer than kLongToken_s; others are short by intent.
inline constexpr double kLongToken_s = 60.0 * 86400;
inline constexpr double kLongTokenNotice_s = 30.0 * 86400;
/// The caller's own where it was made for less.
inline constexpr double kShortTokenNotice_s = 7.0 * 86400;

/// The soonest first.
std::vector<ServerNotice> notices_of(const Ends& ends, double now_unix_s);

/// The end of the last token that makes an administrator; nullopt: none is valid.
std::optional<double> last_admin_end_unix_s(const std::vector<TokenRecord>& tokens,
                                            double now_unix_s);

}  // namespace stripline::server
