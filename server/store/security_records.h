// What the store remembers of people, nodes and what they did.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stripline::server {

/// What a caller may do; proto/stripline/v1/access.proto says it of each. In the order in which the
/// roles of users include each other.
enum class Role { nobody, agent, viewer, operator_, publisher, admin };
/// "viewer", as users write it.
std::string_view to_string(Role role);
/// Role::nobody for anything else.
Role role_from_string(std::string_view name);

/// A secret that somebody shows, or has shown. The secret itself is not kept.
struct TokenRecord {
  std::string secret_sha256;
  Role role = Role::nobody;  ///< agent: it enrols nodes.
  /// The user, or the only node it enrols, or a pattern of such (node_pattern.h); empty: any.
  std::string subject;
  double created_unix_s = 0;
  double expires_unix_s = 0;
  double ended_unix_s = 0;      ///< Revoked or used up; 0: it was not.
  std::string used_by;          ///< The node that it has enrolled last.
  uint32_t count = 1;           ///< The number of enrolments that it is for.
  uint32_t uses = 0;            ///< The number of those that it was used for.
  double last_used_unix_s = 0;  ///< When it was last shown, to the hour; 0: never.

  /// "tokens/0123456789abcdef"
  std::string name() const;
  bool usable_at(double unix_s) const { return ended_unix_s == 0 && unix_s < expires_unix_s; }
};

/// Certificates of this node that began before are not accepted.
struct NodeBound {
  std::string node;
  double not_before_unix_s = 0;
  double until_unix_s = 0;  ///< When the last one that it was given ends; 0: not known.
};

/// Written in the transaction that makes the change.
struct AuditRecord {
  int64_t id = 0;  ///< Assigned by the store, ascending.
  double time_unix_s = 0;
  std::string actor;
  std::string action;
  std::string object;
};

}  // namespace stripline::server
