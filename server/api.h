// The door of HTTP: /api/v1, the messages of stripline.v1 in their JSON form to those who read
// (docs/http.md), and the pages that show them. The same rules hold as for gRPC: one
// Access::authorize(), and the role that the .proto file asks of the method.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "server/access.h"
#include "server/call_limits.h"
#include "server/coordinator.h"
#include "server/http/web_server.h"
#include "server/meters.h"
#include "server/store.h"
#include "server/watch_hub.h"

namespace stripline::server {

/// Thread-safe. All that it is made of must outlive it, and the streams that it has answered with.
class Api {
 public:
  Api(Coordinator& coordinator, Store& store, WatchHub& hub, const Access& access, Meters& meters);

  http::Response answer(const http::Request& request);

 private:
  struct Call;

  http::Response call(const http::Request& request);
  http::Response campaign(const Call& call);
  http::Response points(const Call& call);
  http::Response events(const Call& call);
  http::Response model(const Call& call);
  http::Response content(const Call& call);

  Coordinator& coordinator_;
  Store& store_;
  WatchHub& hub_;
  const Access& access_;
  Meters& meters_;
  const std::map<std::string, Role> roles_;
  CallLimits limits_;
};

}  // namespace stripline::server
