#include "runtime/machine/preflight.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <thread>

#include "base/descriptors.h"
#include "base/host_memory.h"
#include "base/job_memory.h"
#include "base/quantity.h"
#include "base/settings.h"
#include "base/symmetric_size.h"
#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::machine {
namespace {

constexpr std::array<std::string_view, 5> kSoftwareProviders = {"tcp", "net", "udp", "sockets",
                                                                "shm"};

/// Proportional set sizes of ranks of libfabric 1.17 without their segments: after a first exchange
/// (2 to 64 ranks), and what each peer adds while all communicate with all. Most of the memory of
/// ofi_rxm are buffers that it takes at once.
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kRankBytes = 18 * kMiB;
constexpr uint64_t kRxmBytes = 80 * kMiB;
constexpr uint64_t kPeerBytes = kMiB / 8;

/// The number of the capability in <linux/capability.h>.
constexpr int kCapIpcLock = 14;

/// True if RLIMIT_MEMLOCK does not apply to this process.
bool may_lock_all() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    return ((std::stoull(line.substr(7), nullptr, 16) >> kCapIpcLock) & 1) != 0;
  }
  return false;
}

std::string segments_text(const JobPlan& plan) {
  return std::to_string(plan.ranks) + (plan.ranks == 1 ? " segment of " : " segments of ") +
         bytes_text(plan.segment_bytes);
}

std::string free_text(const std::optional<uint64_t>& bytes) {
  return bytes ? "has " + bytes_text(*bytes) + " free" : std::string("is not there");
}

// The launcher has a control channel and a process descriptor of each rank, a rank a connection to
// and from each peer; the rest is for what else a process opens.
uint64_t descriptors_of(uint32_t job_ranks) {
  constexpr uint64_t kEach = 2;
  constexpr uint64_t kOthers = 32;
  return kEach * job_ranks + kOthers;
}

}  // namespace

JobPlan plan_job(uint32_t ranks, const std::map<std::string, std::string>& environment) {
  JobPlan plan;
  plan.fabric = value_with(environment, "STRIPLINE_FABRIC");
  plan.ranks = ranks;
  // A value that does not parse is for the ranks to refuse.
  const auto bytes =
      parse_bytes(value_with(environment, "STRIPLINE_SEGMENT_BYTES"), "STRIPLINE_SEGMENT_BYTES");
  if (bytes.ok()) plan.segment_bytes = *bytes;
  for (const char* const name : kSymmetricSizeVariables) {
    const std::string text = value_with(environment, name);
    if (text.empty()) continue;
    const auto heap = parse_symmetric_size(text, name);
    if (heap.ok() && *heap > plan.segment_bytes) {
      plan.segment_bytes = *heap;
      plan.size_setting = name;
    }
    break;
  }
  const std::string overcommit = value_with(environment, "STRIPLINE_OVERCOMMIT");
  plan.overcommit = !overcommit.empty() && overcommit != "0";
  return plan;
}

HostRoom HostRoom::read() {
  const auto limits = MemoryLimits::read();
  HostRoom room;
  room.memory = limits;
  room.shm_free_bytes = shared_memory_free_bytes();
  room.lockable_bytes = may_lock_all() ? std::nullopt : limits.lockable_bytes;
  room.processors = std::max(1U, std::thread::hardware_concurrency());
  room.descriptors = descriptor_limit();
  return room;
}

uint64_t runtime_bytes(std::string_view fabric, uint32_t ranks) {
  const std::string_view provider = fabric.substr(0, fabric.find(';'));
  const bool emulated = fabric.starts_with("emulated:");
  const bool layered = !emulated && provider != "shm" && provider != "udp" && provider != "sockets";
  return kRankBytes + (layered ? kRxmBytes : 0) + kPeerBytes * (std::max(1U, ranks) - 1);
}

bool locks_memory(std::string_view fabric) {
  if (fabric.starts_with("emulated:")) return false;
  return std::ranges::find(kSoftwareProviders, fabric.substr(0, fabric.find(';'))) ==
         kSoftwareProviders.end();
}

Preflight check_host(const JobPlan& plan, const HostRoom& room) {
  Preflight result;
  const uint32_t job_ranks = std::max(plan.job_ranks, plan.ranks);
  if (const uint64_t needed = descriptors_of(job_ranks); needed > room.descriptors) {
    result.refusal = Error(ErrorCode::resource_exhausted,
                           std::to_string(job_ranks) + " ranks need " + std::to_string(needed) +
                               " open files in each process, and this host allows " +
                               std::to_string(room.descriptors) +
                               "; raise 'ulimit -Hn', or ask for fewer ranks");
    return result;
  }
  const std::string smaller = "smaller segments (" + plan.size_setting + ")";
  // Without overflow: what does not fit into 64 bits fits nowhere.
  const auto exceeds = [&](uint64_t bytes) {
    return plan.segment_bytes > bytes / std::max(1U, plan.ranks);
  };
  if (const Status fits = check_job_memory({.ranks = plan.ranks,
                                            .segment_bytes = plan.segment_bytes,
                                            .runtime_bytes = runtime_bytes(plan.fabric, job_ranks),
                                            .size_setting = plan.size_setting},
                                           room.memory);
      !fits.ok()) {
    const std::string& message = fits.error().message();
    if (!plan.overcommit) {
      result.refusal =
          Error(fits.error().code(), message + "; --overcommit (STRIPLINE_OVERCOMMIT=1) insists");
      return result;
    }
    result.warnings.push_back(message);
  }
  if (plan.fabric.starts_with("emulated:")) {
    if (exceeds(room.shm_free_bytes.value_or(0))) {
      result.refusal = Error(ErrorCode::resource_exhausted,
                             segments_text(plan) + " do not fit into /dev/shm, which " +
                                 free_text(room.shm_free_bytes) + "; ask for " + smaller + ", or " +
                                 std::string(kEnlargeSharedMemory));
    }
    return result;
  }
  if (plan.fabric == "shm") {
    const uint64_t wanted =
        fabric::kShmProviderBytes * std::max<uint64_t>(plan.ranks, room.processors);
    if (room.shm_free_bytes.value_or(0) < wanted) {
      result.warnings.push_back("libfabric's shm wants " + bytes_text(wanted) +
                                " of /dev/shm, which " + free_text(room.shm_free_bytes) + "; " +
                                std::string(kEnlargeSharedMemory));
    }
  }
  if (locks_memory(plan.fabric) && room.lockable_bytes &&
      *room.lockable_bytes < plan.segment_bytes) {
    result.warnings.push_back("a process may lock " + bytes_text(*room.lockable_bytes) +
                              " of memory, less than the segment of " +
                              bytes_text(plan.segment_bytes) + " that " + plan.fabric +
                              " has to register; " + std::string(kRaiseLockedMemory));
  }
  return result;
}

}  // namespace stripline::machine
