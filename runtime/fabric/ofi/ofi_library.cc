#include "runtime/fabric/ofi/ofi_library.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::fabric::ofi {
namespace {

constexpr char kLibraryName[] = "libfabric.so.1";

/// The interface version this code is written against; an older library gets its own version.
constexpr uint32_t kInterfaceVersion = FI_VERSION(1, 17);

/// Serialises loading and fi_getinfo: both touch the signal handlers of the whole process.
std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Puts the signal handlers back that were installed when it was made.
class SignalHandlerGuard {
 public:
  SignalHandlerGuard() {
    for (size_t number = 1; number < saved_.size(); ++number) {
      valid_[number] = sigaction(static_cast<int>(number), nullptr, &saved_[number]) == 0;
    }
  }
  SignalHandlerGuard(const SignalHandlerGuard&) = delete;
  SignalHandlerGuard& operator=(const SignalHandlerGuard&) = delete;
  ~SignalHandlerGuard() {
    for (size_t number = 1; number < saved_.size(); ++number) {
      if (valid_[number]) sigaction(static_cast<int>(number), &saved_[number], nullptr);
    }
  }

 private:
  std::array<struct sigaction, 32> saved_{};
  std::array<bool, 32> valid_{};
};

template <typename Function>
bool look_up_symbol(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

Status Library::look_up() {
  void* handle = nullptr;
  {
    const SignalHandlerGuard guard;
    handle = dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    const char* reason = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
    return Error(ErrorCode::unavailable,
                 std::string("cannot load libfabric: ") + (reason != nullptr ? reason : "unknown") +
                     "; install it (Debian: apt-get install libfabric1) or add its folder to "
                     "LD_LIBRARY_PATH");
  }
  const bool complete = look_up_symbol(handle, "fi_version", version_) &&
                        look_up_symbol(handle, "fi_getinfo", getinfo_) &&
                        look_up_symbol(handle, "fi_freeinfo", freeinfo_) &&
                        look_up_symbol(handle, "fi_dupinfo", dupinfo_) &&
                        look_up_symbol(handle, "fi_fabric", fabric_) &&
                        look_up_symbol(handle, "fi_strerror", strerror_);
  if (!complete) {
    return Error(ErrorCode::unavailable,
                 std::string(kLibraryName) +
                     " lacks a function of libfabric 1.x; install an unmodified libfabric");
  }
  return {};
}

Result<const Library*> Library::load() {
  static const Result<const Library*> loaded = []() -> Result<const Library*> {
    const std::scoped_lock lock(library_mutex());
    static Library library;
    // What shm has left under this process's number is of an earlier process, and would be taken
    // for a region of this one; unless somebody else in this process (MPI) uses libfabric already.
    if (dlopen(kLibraryName, RTLD_NOW | RTLD_NOLOAD) == nullptr) remove_ofi_leftovers(getpid());
    remove_ofi_leftovers_of_the_dead();
    STRIPLINE_RETURN_IF_ERROR(library.look_up());
    return static_cast<const Library*>(&library);
  }();
  return loaded;
}

std::string Library::version_text() const {
  const uint32_t version = version_();
  return std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

int Library::get_info(const char* node, uint64_t flags, const fi_info* hints,
                      fi_info** info) const {
  const std::scoped_lock lock(library_mutex());
  const SignalHandlerGuard guard;
  return getinfo_(std::min(kInterfaceVersion, version_()), node, nullptr, flags, hints, info);
}

std::string Library::error_text(int64_t code) const {
  const char* text = strerror_(static_cast<int>(std::abs(code)));
  return text != nullptr ? text : "error " + std::to_string(code);
}

}  // namespace stripline::fabric::ofi
