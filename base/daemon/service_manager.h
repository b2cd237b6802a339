// What a daemon reports to the service manager that started it (systemd's sd_notify(3),
// Type=notify): one datagram to the socket that $NOTIFY_SOCKET names. Nothing is reported when no
// such variable is set.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline {

class ServiceManager {
 public:
  /// Reads the environment: call it before threads start. The variable is removed from it, so that
  /// child processes do not speak for this one.
  static ServiceManager from_environment();
  /// The socket's path; one that begins with '@' is of Linux's abstract name space. Empty: none.
  explicit ServiceManager(std::string socket) : socket_(std::move(socket)) {}

  /// It serves. `status` is for people.
  Status ready(std::string_view status) const;
  /// It has begun to read its configuration again; ready() says that it has.
  Status reloading() const;
  /// It has begun to end. `status` is for people.
  Status stopping(std::string_view status) const;

 private:
  Status tell(const std::string& state) const;

  std::string socket_;
};

}  // namespace stripline
