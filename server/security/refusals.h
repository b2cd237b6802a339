// Calls that are refused because of who makes them: counted, and reported to the operator in one
// line each, the same line once in a minute.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "server/meters.h"
#include "server/security/rate_limit.h"

namespace stripline::server {

class Refusals {
 public:
  /// `meters` must outlive it.
  explicit Refusals(Meters& meters) : meters_(meters) {}

  /// `call` was refused; `why` is what the caller is answered, and names him as far as he is known.
  /// `peer`: the address that it came from, without a port; empty: it is not known.
  void note(const std::string& call, const std::string& peer, const std::string& why);

  /// As note(), at a time given in seconds; returns the line that is logged, empty: none is.
  std::string line_at(const std::string& call, const std::string& peer, const std::string& why,
                      double now_s);

  /// The number of lines that are remembered, so that they are not logged again: bounded, whatever
  /// is refused.
  size_t remembered();

 private:
  Meters& meters_;
  std::mutex mutex_;
  CappedAllowances lines_{{.per_s = 1.0 / 60, .burst = 1}, {.per_s = 1, .burst = 60}};
};

}  // namespace stripline::server
