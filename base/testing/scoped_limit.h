// A limit of the shell for the length of a test.
#pragma once

#include <stdexcept>
#include <sys/resource.h>

namespace stripline {

/// Lowers the soft limit of a resource (RLIMIT_FSIZE, ...) of this process while it lives.
class ScopedLimit {
 public:
  using Resource = decltype(RLIMIT_FSIZE);

  ScopedLimit(Resource resource, rlim_t limit) : resource_(resource) {
    ::getrlimit(resource_, &before_);
    rlimit lower = before_;
    lower.rlim_cur = limit;
    if (::setrlimit(resource_, &lower) != 0) throw std::runtime_error("setrlimit");
  }
  ~ScopedLimit() { ::setrlimit(resource_, &before_); }
  ScopedLimit(const ScopedLimit&) = delete;
  ScopedLimit& operator=(const ScopedLimit&) = delete;

 private:
  const Resource resource_;
  rlimit before_{};
};

}  // namespace stripline
