// What the parts of Service share: the servers that it may call, and calls of one that serves.
// Include from .cc files of Service.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "base/host_and_port.h"
#include "cli/service.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "stripline/v1/models.grpc.pb.h"

namespace stripline::cli {

std::chrono::system_clock::time_point deadline_after(double seconds);

/// Within a few seconds a server has an issuer's keys, if that answers.
inline constexpr int kMaxTriesForKeys = 6;

/// Where the answer was lost, or the server ended while it answered.
inline bool may_be_repeated(const Error& error) {
  return error.code() == ErrorCode::unavailable || error.code() == ErrorCode::cancelled;
}

/// One of the servers that this user may call.
struct Door {
  Door(std::string address, Result<std::optional<Context>> login);

  /// Shows who calls. The secret of a --dev server changes with each of its starts, and is shown to
  /// no other machine; a user's token is shown to the server of its authority alone.
  Status show(grpc::ClientContext& context);
  /// Whether another secret would be shown now: the server has been restarted since.
  bool secret_has_changed();
  /// Whether an issuer vouches for this user there.
  bool is_by_issuer() const;
  /// Whether it is reached within the time after which another one is tried.
  bool connects() const;

  /// The secret that calls of this server show; empty if they show none. One of an issuer that is
  /// about to end is replaced before, by the issuer.
  Result<std::string> secret();

  std::string server;
  Result<std::optional<Context>> context_of_login;  ///< nullopt: none for this server
  std::string shown;                                ///< the secret of the last call
  std::shared_ptr<grpc::Channel> channel;
  // For calls that stream; all others go by the channel.
  std::unique_ptr<v1::Campaigns::Stub> campaigns;
  std::unique_ptr<v1::Models::Stub> models;
};

class Service::Impl {
 public:
  /// `login` of each server.
  template <typename Login>
  Impl(const Global& global, Login login) : server(global.server), timeout_s(global.timeout_s) {
    const auto servers = parse_servers(global.server);
    if (servers.ok()) {
      for (const HostAndPort& one : *servers) doors.emplace_back(one.text(), login(one.text()));
    } else {
      doors.emplace_back(global.server, login(global.server));
    }
  }

  Door& door() { return doors[current]; }

  /// The call at the server that has served last; where that one cannot be reached or stands by, at
  /// the others. `begun`: some of the answer has been used, so that the call cannot be made again.
  /// A call that met a --dev server between its start and the writing of its token has shown the
  /// token of the start before, and is made once more. A token of an issuer may be newer than the
  /// keys by which the server knows it: such a call is made again once the server has fetched them.
  template <typename Call>
  auto at_some_server(Call call, const bool& begun) -> decltype(call()) {
    for (size_t left = doors.size(); true; --left) {
      elsewhere = false;
      outdated = false;
      soon_s = 0;
      const bool reached = left == 1 || door().connects();
      if (reached) {
        auto result = call();
        if (outdated && !begun) result = call();
        for (int tries = 0; soon_s > 0 && !begun && tries < kMaxTriesForKeys; ++tries) {
          std::this_thread::sleep_for(std::chrono::duration<double>(std::exchange(soon_s, 0)));
          result = call();
        }
        if (result.ok() || !elsewhere || begun || left == 1) return result;
      }
      current = (current + 1) % doors.size();
    }
  }
  template <typename Call>
  auto at_some_server(Call call) -> decltype(call()) {
    return at_some_server(call, false);
  }

  /// Says what to do, and notes whether another server, or another secret, may be answered
  /// otherwise.
  Error error_of(const grpc::Status& status);

  std::string server;
  double timeout_s;
  std::vector<Door> doors;
  size_t current = 0;
  bool elsewhere = false;  ///< The last error says nothing of the other servers.
  bool outdated = false;   ///< The last call was refused for a secret that has changed since.
  double soon_s = 0;       ///< After this the secret of the last call may be accepted; 0: it was.
};

}  // namespace stripline::cli
