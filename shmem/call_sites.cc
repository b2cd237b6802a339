#include "shmem/call_sites.h"

#include <cstdint>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "base/place_text.h"

namespace stripline::shmem {

bool calls_are_watched = false;
bool callers_are_noted = false;

namespace {

thread_local const void* last_caller = nullptr;

struct SourceLine {
  std::string file;  // without folders; empty: not known
  int line = 0;
};

// What is used of libdwfl.h, which need not be there when this is built.
class Dwfl {
 public:
  Dwfl() {
    void* const library = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    void* (*begin)(const Callbacks*) = nullptr;
    int (*report)(void*, pid_t) = nullptr;
    int (*end_report)(void*, void*, void*) = nullptr;
    callbacks_.find_elf = ::dlsym(library, "dwfl_linux_proc_find_elf");
    const bool complete = callbacks_.find_elf != nullptr && look_up(library, "dwfl_begin", begin) &&
                          look_up(library, "dwfl_linux_proc_report", report) &&
                          look_up(library, "dwfl_report_end", end_report) &&
                          look_up(library, "dwfl_addrmodule", module_of_) &&
                          look_up(library, "dwfl_module_getsrc", line_in_) &&
                          look_up(library, "dwfl_lineinfo", describe_);
    if (!complete) return;
    session_ = begin(&callbacks_);
    if (session_ == nullptr) return;
    if (report(session_, ::getpid()) != 0 || end_report(session_, nullptr, nullptr) != 0) {
      session_ = nullptr;
    }
  }

  SourceLine find(uintptr_t address) const {
    if (session_ == nullptr) return {};
    void* const module = module_of_(session_, address);
    void* const line = module == nullptr ? nullptr : line_in_(module, address);
    if (line == nullptr) return {};
    SourceLine found;
    const char* const path = describe_(line, nullptr, &found.line, nullptr, nullptr, nullptr);
    if (path == nullptr) return {};
    const std::string_view whole(path);
    found.file = whole.substr(whole.rfind('/') + 1);
    return found;
  }

 private:
  // Dwfl_Callbacks. Debug information in files of its own is not looked for: that may ask servers.
  struct Callbacks {
    void* find_elf = nullptr;
    int (*find_debuginfo)(void*, void**, const char*, uint64_t, const char*, const char*, uint32_t,
                          char**) = [](void*, void**, const char*, uint64_t, const char*,
                                       const char*, uint32_t, char**) { return -1; };
    void* section_address = nullptr;
    char** debuginfo_path = nullptr;
  };

  template <typename Function>
  static bool look_up(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
  }

  Callbacks callbacks_;
  void* session_ = nullptr;  // stays until the process ends
  void* (*module_of_)(void*, uint64_t) = nullptr;
  void* (*line_in_)(void*, uint64_t) = nullptr;
  const char* (*describe_)(void*, uint64_t*, int*, int*, uint64_t*, uint64_t*) = nullptr;
};

// What has been found, by the address that a call returns to.
class Sites {
 public:
  SourceLine line_of(const void* caller) {
    const std::lock_guard guard(mutex_);
    return find(caller);
  }
  CallSite site_of(const char* call, const void* caller) {
    const std::lock_guard guard(mutex_);
    const auto [known, is_new] = sites_.try_emplace({caller, call}, CallSite{call, 0});
    if (!is_new) return known->second;
    if (const SourceLine& line = find(caller); !line.file.empty()) {
      const std::string& name = *names_.insert(std::string(call) + " at " + line.file).first;
      known->second = {name.c_str(), line.line};
    }
    return known->second;
  }
  CallSite number_of(const char* call, const void* caller) {
    const std::lock_guard guard(mutex_);
    const auto next = static_cast<int>(numbers_.size()) + 1;
    return {call, numbers_.try_emplace({caller, call}, next).first->second};
  }

 private:
  const SourceLine& find(const void* caller) {
    const auto [known, is_new] = lines_.try_emplace(caller);
    // The call itself comes before what it returns to.
    if (is_new) known->second = source_.find(reinterpret_cast<uintptr_t>(caller) - 1);
    return known->second;
  }

  std::mutex mutex_;
  Dwfl source_;
  std::map<const void*, SourceLine> lines_;
  std::map<std::pair<const void*, const char*>, CallSite> sites_;
  std::map<std::pair<const void*, const char*>, int> numbers_;
  std::set<std::string> names_;  // stay where they are
};

Sites& sites() {
  static auto& all = *new Sites;  // threads may call until the process ends
  return all;
}

}  // namespace

void watch_calls() { calls_are_watched = callers_are_noted = true; }

void note_callers() { callers_are_noted = true; }

void note_caller(const void* return_address) { last_caller = return_address; }

CallSite watched_site(const char* call) {
  return last_caller == nullptr ? CallSite{call, 0} : sites().site_of(call, last_caller);
}

CallSite phase_site(const char* call) {
  if (calls_are_watched || last_caller == nullptr) return site_of(call);
  return sites().number_of(call, last_caller);
}

std::string caller_text() {
  if (!calls_are_watched || last_caller == nullptr) return {};
  const SourceLine line = sites().line_of(last_caller);
  return line.file.empty() ? std::string() : place_text(line.file, line.line) + ": ";
}

}  // namespace stripline::shmem
