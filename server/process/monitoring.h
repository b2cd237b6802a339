// A port for those who watch the server: /metrics for Prometheus, /healthz (it lives) and /readyz
// (it can do its work). Plain HTTP that tells figures to everybody who reaches it, and takes
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/doors/listen_address.h"

namespace stripline::server {

class Monitoring {
 public:
  struct Answers {
    /// In Prometheus' text format. May take long: once at a time, and once a second at most.
    std::function<std::string()> metrics;
    std::function<std::string()> not_ready;  ///< why; empty: it is ready. Must not wait.
  };

  /// Serves on threads of its own, which call `answers`. `names` are those under which this host is
  /// reached, besides that of `listen` (http/known_hosts.h). Errors: already_exists, unavailable or
  /// invalid_argument when it cannot listen there.
  static Result<Monitoring> start(const ListenAddress& listen,
                                  const std::vector<std::string>& names, Answers answers);
  Monitoring(Monitoring&& other) noexcept;
  Monitoring& operator=(Monitoring&&) = delete;
  /// Stops.
  ~Monitoring();

  /// Where it listens: the port is the real one.
  const ListenAddress& address() const;

 private:
  class Impl;
  explicit Monitoring(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::server
