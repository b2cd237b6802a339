// A number of things that each may have at a time: open streams of a caller, for instance.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace stripline::server {

class Places {
 public:
  explicit Places(size_t each) : each_(each) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() = default;

  /// A place for `whose`, which is given back when the result is destroyed; nullptr: he has as many
  /// as he may. The places must outlive it.
  std::shared_ptr<void> take(const std::string& whose) {
    const std::lock_guard lock(mutex_);
    size_t& taken = taken_[whose];
    if (taken >= each_) return nullptr;
    ++taken;
    return {this, [whose](Places* places) { places->give_back(whose); }};
  }

 private:
  void give_back(const std::string& whose) {
    const std::lock_guard lock(mutex_);
    const auto entry = taken_.find(whose);
    if (--entry->second == 0) taken_.erase(entry);
  }

  const size_t each_;
  std::mutex mutex_;
  std::map<std::string, size_t> taken_;
};

}  // namespace stripline::server
