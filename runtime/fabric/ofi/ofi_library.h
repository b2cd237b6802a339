// libfabric, loaded when the first fabric is opened. Linking it would cost every program 0.2 s of
// provider constructors at start-up, also those that never communicate; so the handful of real
// symbols is looked up here, and everything else goes through the operation tables of libfabric's
// headers (inline functions).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

extern "C" {
struct fi_info;
struct fi_fabric_attr;
struct fid_fabric;
}

namespace stripline::fabric::ofi {

/// libfabric's entry points. Loaded once, never unloaded: providers leave threads and exit handlers
/// behind. All members may be called from any thread.
class Library {
 public:
  /// Loads libfabric at the first call. Errors: unavailable, with what to install.
  static Result<const Library*> load();

  /// e.g. "1.17".
  std::string version_text() const;

  /// fi_getinfo with this library's version. Providers install handlers for SIGINT, SIGTERM,
  /// SIGSEGV and others in their first call; the handlers of the process are put back. `node` may
  /// be null. Returns 0 or a negative fi_errno.
  int get_info(const char* node, uint64_t flags, const fi_info* hints, fi_info** info) const;

  void free_info(fi_info* info) const { freeinfo_(info); }
  /// An empty fi_info, to be filled in as hints; null when memory is short.
  fi_info* allocate_info() const { return dupinfo_(nullptr); }
  int open_fabric(fi_fabric_attr* attributes, fid_fabric** fabric) const {
    return fabric_(attributes, fabric, nullptr);
  }
  /// What an fi_errno (either sign) means.
  std::string error_text(int64_t code) const;

 private:
  Library() = default;
  Status look_up();

  uint32_t (*version_)() = nullptr;
  int (*getinfo_)(uint32_t, const char*, const char*, uint64_t, const fi_info*,
                  fi_info**) = nullptr;
  void (*freeinfo_)(fi_info*) = nullptr;
  fi_info* (*dupinfo_)(const fi_info*) = nullptr;
  int (*fabric_)(fi_fabric_attr*, fid_fabric**, void*) = nullptr;
  const char* (*strerror_)(int) = nullptr;
};

/// A list of fi_info, freed on destruction.
class InfoList {
 public:
  InfoList() = default;
  InfoList(const Library* library, fi_info* head) : library_(library), head_(head) {}
  InfoList(InfoList&& other) noexcept
      : library_(other.library_), head_(std::exchange(other.head_, nullptr)) {}
  InfoList& operator=(InfoList&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(head_, other.head_);
    return *this;
  }
  ~InfoList() {
    if (head_ != nullptr) library_->free_info(head_);
  }

  fi_info* get() const { return head_; }
  fi_info* operator->() const { return head_; }

 private:
  const Library* library_ = nullptr;
  fi_info* head_ = nullptr;
};

}  // namespace stripline::fabric::ofi
