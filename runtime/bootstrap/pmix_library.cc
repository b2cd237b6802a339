#include "runtime/bootstrap/pmix_library.h"

#include <charconv>
#include <dlfcn.h>

namespace stripline::bootstrap::pmix {
namespace {

constexpr int kOldestVersion = 4;

template <typename Function>
bool look_up(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

Status check_version(std::string_view version) {
  const size_t digit = version.find_first_of("0123456789");
  int major = 0;
  if (digit != std::string_view::npos) {
    std::from_chars(version.data() + digit, version.data() + version.size(), major);
  }
  if (major >= kOldestVersion) return {};
  return Error(ErrorCode::unavailable, "the PMIx library calls itself '" + std::string(version) +
                                           "', but " + std::to_string(kOldestVersion) +
                                           " or newer is needed; install a newer one (Debian: "
                                           "apt-get install libpmix2) and put its folder first in "
                                           "LD_LIBRARY_PATH");
}

Result<Library> Library::load(const char* name) {
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
    return Error(ErrorCode::unavailable,
                 std::string("this rank was started by mpirun or srun, but the PMIx library cannot "
                             "be loaded: ") +
                     (reason != nullptr ? reason : "unknown") +
                     "; install it (Debian: apt-get install libpmix2) or add its folder to "
                     "LD_LIBRARY_PATH");
  }
  const char* (*version)() = nullptr;
  Library library;
  if (look_up(handle, "PMIx_Get_version", version)) {
    STRIPLINE_RETURN_IF_ERROR(check_version(version()));
  }
  const bool complete =
      version != nullptr && look_up(handle, "PMIx_Init", library.init) &&
      look_up(handle, "PMIx_Finalize", library.finalize) &&
      look_up(handle, "PMIx_Abort", library.abort) && look_up(handle, "PMIx_Put", library.put) &&
      look_up(handle, "PMIx_Commit", library.commit) &&
      look_up(handle, "PMIx_Fence", library.fence) && look_up(handle, "PMIx_Get", library.get) &&
      look_up(handle, "PMIx_Register_event_handler", library.register_event_handler) &&
      look_up(handle, "PMIx_Deregister_event_handler", library.deregister_event_handler) &&
      look_up(handle, "PMIx_Error_string", library.error_string);
  if (!complete) {
    return Error(ErrorCode::unavailable, std::string(name) +
                                             " lacks a function of PMIx; install an unmodified "
                                             "one (Debian: apt-get install libpmix2)");
  }
  return library;
}

}  // namespace stripline::bootstrap::pmix
