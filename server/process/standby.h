// A server that waits for its turn to write (postgres_store.h): it has its ports, says that it is
// not ready and why, and refuses every call with a hint where to call instead.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "server/process/server.h"

namespace stripline::server {

class Standby {
 public:
  /// Takes the ports of `options`. Errors: as of Server::start().
  static Result<Standby> start(const ServerOptions& options);
  Standby(Standby&& other) noexcept;
  Standby& operator=(Standby&&) = delete;
  /// Gives the ports back.
  ~Standby();

  /// Where it listens: the port is the real one.
  const ListenAddress& address() const;

  /// What it tells: where the server is that serves now (empty: unknown), and what else keeps this
  /// one waiting (empty: nothing).
  void tell(const std::string& writer_address, const std::string& obstacle);

 private:
  class Impl;
  explicit Standby(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::server
