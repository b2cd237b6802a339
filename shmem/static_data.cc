#include "shmem/static_data.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <dirent.h>
#include <elf.h>
#include <link.h>
#include <optional>
#include <pthread.h>
#include <string_view>
#include <sys/mman.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/build_id.h"
#include "base/hex.h"

namespace stripline::shmem {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}
uintptr_t page_down(uintptr_t address) { return address / page_bytes() * page_bytes(); }
uintptr_t page_up(uintptr_t address) { return page_down(address + page_bytes() - 1); }

// NOLINTBEGIN(performance-no-int-to-ptr): addresses of segments come as numbers
std::byte* pointer_to(uintptr_t address) { return reinterpret_cast<std::byte*>(address); }
// NOLINTEND(performance-no-int-to-ptr)

// FNV-1a by words: instructions differ in many places where they differ at all.
uint64_t digest_of(const std::byte* bytes, size_t count, uint64_t digest) {
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= count; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    digest = (digest ^ word) * 0x100000001b3;
    digest ^= digest >> 29;
  }
  for (; i < count; ++i) digest = (digest ^ static_cast<uint64_t>(bytes[i])) * 0x100000001b3;
  return digest;
}

std::string executable_name() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : "the program";
}

bool belongs_to_system(std::string_view path) {
  for (const std::string_view folder : {"/lib", "/usr/lib", "/usr/libexec"}) {
    if (path.starts_with(folder)) return true;
  }
  return path.find('/') == std::string_view::npos;  // linux-vdso.so
}

// The library itself, where it is a shared object: its data are its own.
bool is_this_library(const dl_phdr_info& info) {
  const auto here = reinterpret_cast<uintptr_t>(&digest_of);
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && here >= begin && here < begin + header.p_memsz) return true;
  }
  return false;
}

std::string hex_text(std::span<const std::byte> bytes) {
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string build_of(const dl_phdr_info& info) {
  if (const auto id = build_id_of(info); !id.empty()) return "build ID " + hex_text(id);
  uint64_t digest = 0xcbf29ce484222325;
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    digest = digest_of(pointer_to(info.dlpi_addr + header.p_vaddr), header.p_filesz, digest);
  }
  return "instructions " + hex_text(std::as_bytes(std::span(&digest, 1)));
}

StaticObject object_of(const dl_phdr_info& info, std::string_view path) {
  StaticObject object;
  const size_t slash = path.rfind('/');
  object.name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  object.build = build_of(info);
  uintptr_t read_only_end = 0;
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO) {
      read_only_end = page_down(info.dlpi_addr + header.p_vaddr + header.p_memsz);
    }
  }
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || header.p_memsz == 0) continue;
    if ((header.p_flags & PF_W) == 0) continue;
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    object.initialised_bytes += header.p_filesz;
    object.zeroed_bytes += header.p_memsz - header.p_filesz;
    const uintptr_t end = page_up(begin + header.p_memsz);
    uintptr_t first = page_down(begin);
    // RELRO is at the beginning of the writable part that it belongs to.
    if (read_only_end > first && read_only_end <= end) first = read_only_end;
    if (first >= end) continue;
    if (object.pages.empty()) object.first = first - info.dlpi_addr;
    object.pages.push_back({first, end - first});
  }
  return object;
}

// Word by word, as whatever lies between objects is copied, too: AddressSanitizer, whose red zones
// that is, checks the calls of the C library. ThreadSanitizer cannot see that no thread
// writes meanwhile (WritesHeld).
__attribute__((no_sanitize("address"), no_sanitize("thread"))) void copy_page(std::byte* to,
                                                                              const std::byte* from,
                                                                              size_t bytes) {
  const auto* const words = reinterpret_cast<const volatile uint64_t*>(from);
  auto* const copy = reinterpret_cast<volatile uint64_t*>(to);
  for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i) {
    // Pages that hold nothing yet stay unmade.
    if (const uint64_t word = words[i]; word != 0) copy[i] = word;
  }
}

// To pages that hold nothing yet.
void copy_pages(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += page_bytes()) copy_page(to + i, from + i, page_bytes());
}

// Pages of static data that have been moved, and during fork() a copy of them.
struct MovedPages {
  StaticPages pages;
  void* copy = MAP_FAILED;
};

// On the heap of the process, of which a child of fork() has its own: static data are shared with
// the parent until they have been replaced by their copy.
std::vector<MovedPages>& moved() {
  static auto& pages = *new std::vector<MovedPages>;
  return pages;
}

// A child of fork() would share static data with its parent. It gets what they hold now: in the
// child they would be what the parent has made of them meanwhile.
void copy_for_child() {
  for (MovedPages& part : moved()) {
    part.copy = ::mmap(nullptr, part.pages.bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part.copy == MAP_FAILED) continue;  // the child ends
    copy_pages(static_cast<std::byte*>(part.copy), pointer_to(part.pages.begin), part.pages.bytes);
  }
}

void drop_copy_in_parent() {
  for (MovedPages& part : moved()) {
    if (part.copy != MAP_FAILED) ::munmap(part.copy, part.pages.bytes);
    part.copy = MAP_FAILED;
  }
}

void take_copy_in_child() {
  for (MovedPages& part : moved()) {
    if (part.copy == MAP_FAILED ||
        ::mremap(part.copy, part.pages.bytes, part.pages.bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                 pointer_to(part.pages.begin)) == MAP_FAILED) {
      ::_exit(127);
    }
    part.copy = MAP_FAILED;
  }
}

void remember_for_children(const StaticPages& pages) {
  std::vector<MovedPages>& all = moved();
  if (all.empty()) ::pthread_atfork(copy_for_child, drop_copy_in_parent, take_copy_in_child);
  const bool known = std::any_of(all.begin(), all.end(), [&pages](const MovedPages& one) {
    return one.pages.begin == pages.begin;
  });
  if (!known) all.push_back({.pages = pages});
}

// A second mapping of what is mapped at `place`, at `address`. Where memory is shared, that is one
// call.
bool map_again(std::byte* place, size_t bytes, std::byte* address) {
  return ::mremap(place, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, address) != MAP_FAILED;
}

// A process's own memory cannot be mapped twice: memory that can takes its place. Nothing is there
// yet.
bool make_shareable(std::span<std::byte> place) {
  return ::mmap(place.data(), page_up(place.size()), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

// True if `place` can be mapped again, tried with a page elsewhere.
bool can_be_mapped_again(std::byte* place) {
  void* const trial = ::mremap(place, 0, page_bytes(), MREMAP_MAYMOVE);
  if (trial == MAP_FAILED) return false;
  ::munmap(trial, page_bytes());
  return true;
}

// Other threads, which may write what is being moved: its pages are read-only from before they are
// copied until those of the segment are in their place, and who writes there waits for that in a
// handler of SIGSEGV, and writes then. One at a time in a process.
//
// The handler stays: a thread may not have come to it yet when all have been moved. It calls
// nothing that the dynamic linker would have to look up first, which writes static data, too.
class WritesHeld {
 public:
  explicit WritesHeld(std::span<const StaticObject> objects) {
    static auto& kept = *new std::deque<std::vector<StaticPages>>;
    std::vector<StaticPages>& all = kept.emplace_back();
    for (const StaticObject& object : objects) {
      all.insert(all.end(), object.pages.begin(), object.pages.end());
    }
    held.all.store(&all);
    held.made_again.store(0);
    held.is_moving.store(true);
    held.errno_of_mover = &errno;
    if (std::exchange(held.is_installed, true)) return;
    struct sigaction action {};
    action.sa_sigaction = wait_until_moved;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, &held.before);
  }
  ~WritesHeld() { held.is_moving.store(false); }
  WritesHeld(const WritesHeld&) = delete;
  WritesHeld& operator=(const WritesHeld&) = delete;

  /// From now on no thread writes there. False, with errno, where that cannot be.
  bool hold(const StaticPages& part) {
    held.begin.store(part.begin);
    held.bytes.store(part.bytes);
    return ::mprotect(pointer_to(part.begin), part.bytes, PROT_READ) == 0;
  }
  /// Whatever is there may be written again. `moved`: other pages are there.
  void release(const StaticPages& part, bool moved) {
    if (!moved) ::mprotect(pointer_to(part.begin), part.bytes, PROT_READ | PROT_WRITE);
    held.bytes.store(0);
  }

 private:
  // Writes that are made again though all have been moved: by threads that were late, unless what
  // is there may not be written at all.
  static constexpr uint32_t kMostMadeAgain = 1000;

  struct Held {
    std::atomic<const std::vector<StaticPages>*> all{nullptr};
    const int* errno_of_mover = nullptr;  // which thread that is
    bool is_installed = false;
    struct sigaction before {};
    std::atomic<uintptr_t> begin{0};  // of what is held
    std::atomic<size_t> bytes{0};
    std::atomic<bool> is_moving{false};
    // Not written while pages are read-only: it may be in one.
    std::atomic<uint32_t> made_again{0};
  };
  static Held held;

  static bool is_to_move(uintptr_t address) {
    for (const StaticPages& part : *held.all.load()) {
      if (address - part.begin < part.bytes) return true;
    }
    return false;
  }
  static bool is_held(uintptr_t address) { return address - held.begin.load() < held.bytes.load(); }
  static void wait_until_moved(int signal, siginfo_t* info, void*) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    if (info->si_code == SEGV_ACCERR && &errno != held.errno_of_mover && is_to_move(address) &&
        (held.is_moving.load() || ++held.made_again < kMostMadeAgain)) {
      while (is_held(address)) {
      }
      return;
    }
    // Not this one's affair: it happens again, with what was there before.
    ::sigaction(signal, &held.before, nullptr);
  }
};
WritesHeld::Held WritesHeld::held;

std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view take_field(std::string_view& line) {
  const size_t end = line.find('\t');
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return field;
}

std::string name_of(std::string_view line) { return "'" + std::string(take_field(line)) + "'"; }

// How two lines of the same name differ.
std::string difference_of_object(std::string_view own, std::string_view other) {
  const std::string name = name_of(own);
  take_field(own);
  take_field(other);
  const std::string build(take_field(own));
  const std::string other_build(take_field(other));
  if (build != other_build) {
    return name + " is not the same file as on PE 0 (" + build + ", there " + other_build + ")";
  }
  const std::string bytes(take_field(own));
  const std::string other_bytes(take_field(other));
  return name + " has static data of " + bytes +
         (bytes == other_bytes ? ", elsewhere in the file than on PE 0"
                               : ", and of " + other_bytes + " on PE 0");
}

}  // namespace

std::vector<StaticObject> static_objects() {
  std::vector<StaticObject> objects;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        auto& found = *static_cast<std::vector<StaticObject>*>(list);
        // The executable comes first, and has no name.
        if (found.empty()) {
          found.push_back(object_of(*info, executable_name()));
        } else if (!belongs_to_system(path) && !is_this_library(*info)) {
          found.push_back(object_of(*info, path));
        }
        return 0;
      },
      &objects);
  // Files of one name, from several folders, may have been loaded in another order elsewhere.
  std::stable_sort(objects.begin(), objects.end(),
                   [](const StaticObject& a, const StaticObject& b) {
                     return std::tie(a.name, a.build) < std::tie(b.name, b.build);
                   });
  return objects;
}

std::string describe(std::span<const StaticObject> objects) {
  std::string text;
  for (const StaticObject& object : objects) {
    text += object.name + "\t" + object.build + "\t" + std::to_string(object.initialised_bytes) +
            " and " + std::to_string(object.zeroed_bytes) + " bytes\t" +
            std::to_string(object.first);
    for (const StaticPages& part : object.pages) {
      text += "\t" + std::to_string(part.begin - object.pages.front().begin) + "+" +
              std::to_string(part.bytes);
    }
    text += "\n";
  }
  return text;
}

std::string difference(const std::string& mine, const std::string& theirs) {
  std::string_view here = mine;
  std::string_view there = theirs;
  while (!here.empty() || !there.empty()) {
    if (here.empty()) return name_of(next_line(there)) + " is loaded on PE 0 and not on this one";
    if (there.empty()) return name_of(next_line(here)) + " is loaded on this PE and not on PE 0";
    const std::string_view own = next_line(here);
    const std::string_view other = next_line(there);
    if (own == other) continue;
    const std::string name = name_of(own);
    const std::string other_name = name_of(other);
    if (name < other_name) return name + " is loaded on this PE and not on PE 0";
    if (name > other_name) return other_name + " is loaded on PE 0 and not on this one";
    return difference_of_object(own, other);
  }
  return {};
}

size_t total_bytes(std::span<const StaticObject> objects) {
  size_t sum = 0;
  for (const StaticObject& object : objects) sum += object.bytes();
  return sum;
}

Status move_to(std::span<std::byte> place, std::span<const StaticObject> objects, bool pinned,
               bool others_run) {
  if (place.empty()) return {};
  if (!can_be_mapped_again(place.data())) {
    if (pinned || !make_shareable(place)) {
      return Error(ErrorCode::failed_precondition,
                   "static data cannot be symmetric here: the segment is memory of this process "
                   "alone; let ranks of a node map each other's segments "
                   "(STRIPLINE_SAME_NODE=mapped)");
    }
  }
  std::optional<WritesHeld> others;
  if (others_run) others.emplace(objects);
  size_t done = 0;
  for (const StaticObject& object : objects) {
    for (const StaticPages& part : object.pages) {
      bool moved = !others || others->hold(part);
      if (moved) {
        copy_pages(place.data() + done, pointer_to(part.begin), part.bytes);
        // From here to the next line nothing of this process writes static data.
        moved = map_again(place.data() + done, part.bytes, pointer_to(part.begin));
      }
      const int why = errno;
      if (others) others->release(part, moved);
      if (!moved) {
        return Error(ErrorCode::failed_precondition,
                     "the static data of '" + object.name +
                         "' cannot be made symmetric: " + std::generic_category().message(why));
      }
      done += part.bytes;
    }
  }
  for (const StaticObject& object : objects) {
    for (const StaticPages& part : object.pages) remember_for_children(part);
  }
  return {};
}

std::byte* aligned(std::span<std::byte> memory, size_t alignment, bool pinned) {
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  if (address % alignment == 0 || memory.empty()) return memory.data();
  if (!can_be_mapped_again(memory.data()) && (pinned || !make_shareable(memory))) {
    return memory.data();
  }
  const size_t bytes = page_up(memory.size());
  void* const room = ::mmap(nullptr, bytes + alignment, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return memory.data();
  const uintptr_t begin = reinterpret_cast<uintptr_t>(room);
  const uintptr_t place = (begin + alignment - 1) / alignment * alignment;
  if (place > begin) ::munmap(room, place - begin);
  const size_t behind = begin + alignment - place;
  if (behind > 0) ::munmap(pointer_to(place + bytes), behind);
  return map_again(memory.data(), bytes, pointer_to(place)) ? pointer_to(place) : memory.data();
}

size_t threads_of_process() {
  DIR* const folder = ::opendir("/proc/self/task");
  if (folder == nullptr) return 0;
  size_t threads = 0;
  while (const dirent* const entry = ::readdir(folder)) {  // NOLINT(concurrency-mt-unsafe)
    if (entry->d_name[0] != '.') ++threads;
  }
  ::closedir(folder);
  return threads;
}

}  // namespace stripline::shmem
