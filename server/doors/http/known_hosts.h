// The hosts that a request may be meant for, and pages that may make a browser send it. A page of
// elsewhere whose name was pointed at this server (DNS rebinding) is refused by its Host, one that
// merely sends requests here by its Origin. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/doors/http/message.h"
#include "server/doors/http/request_reader.h"

namespace stripline::server::http {

class KnownHosts {
 public:
  /// The names under which the server is reached, besides "localhost" and every address: what a
  /// browser shows as an address is no one's name.
  explicit KnownHosts(const std::vector<std::string>& names);

  /// Why the request is not answered; nullopt: it may be. A request without Host comes from no
  /// browser.
  std::optional<Refusal> refusal(const Request& request) const;

 private:
  bool knows(std::string_view authority) const;

  std::set<std::string> names_;  // in lower case
};

}  // namespace stripline::server::http
