// What /api/v1 answers, as values, and their description in the form of OpenAPI 3.1: of messages by
// the descriptors of proto/stripline/v1, so that it says what is answered. Include from .cc files.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "server/security/access.h"

namespace stripline::server {

struct Route {
  enum class Verb { get, post };
  Verb verb = Verb::get;
  const char* path = "";  ///< below /api/v1/; "{node}" stands for one name
  /// What generated clients call it: camelCase, no other route's, and of this API for good.
  const char* operation = "";
  std::string method;      ///< of stripline.v1, whose role is asked: "/stripline.v1.Fleet/GetNode"
  const char* about = "";  ///< one sentence
  /// The type that is answered: empty for the method's message, else of JSON that docs/http.md
  /// explains, or "text/event-stream".
  const char* other_type = "";
  /// Names of what may follow '?': members of the method's message, texts besides that are needed,
  /// or "*" for any.
  std::vector<const char*> query = {};
};

/// The parts of a path, which slashes separate. They live as long as it does.
std::vector<std::string_view> segments(std::string_view path);

/// Whether it is this route's path that a request asks for, below /api/v1/.
bool matches(const Route& route, const std::string& path);

/// The whole document. `roles`: method_roles().
Json openapi(std::span<const Route> routes, const std::map<std::string, Role>& roles);

}  // namespace stripline::server
