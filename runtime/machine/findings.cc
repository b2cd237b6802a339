#include "runtime/machine/findings.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sched.h>
#include <utility>

#include "base/control_groups.h"
#include "base/enum_names.h"
#include "base/host_memory.h"
#include "base/quantity.h"
#include "runtime/machine/preflight.h"

namespace stripline::machine {
namespace {

/// The default segment of a rank (<stripline/context.h>), for judging what fits.
constexpr uint64_t kSegmentBytes = uint64_t{256} << 20;

/// With so much to begin with, TCP connections no longer got stuck in windows that are too small.
constexpr uint64_t kEnoughReceiveBytes = uint64_t{1} << 20;

/// The bracketed word of "always [madvise] never".
std::string chosen_word(const char* path) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (word.starts_with('[') && word.ends_with(']')) return word.substr(1, word.size() - 2);
  }
  return {};
}

/// The second number of "least default most".
std::optional<uint64_t> default_number(const char* path) {
  std::ifstream file(path);
  uint64_t least = 0;
  uint64_t value = 0;
  if (!(file >> least >> value)) return std::nullopt;
  return value;
}

uint64_t number_in(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  file >> value;
  return value;
}

Finding judge_processors(const HostFacts& facts) {
  Finding finding{.check = "processors"};
  finding.detail =
      facts.topology.cpu_model + ": " + std::to_string(facts.topology.sockets) + " sockets, " +
      std::to_string(facts.topology.cores) + " cores, " + std::to_string(facts.topology.threads) +
      " threads, of which this shell may use " + std::to_string(facts.allowed_processors);
  const double quota = facts.topology.processor_quota;
  const bool limited = quota > 0 && quota < facts.allowed_processors;
  if (limited) {
    finding.detail += "; a control group's quota is worth " + quota_text(quota) +
                      " of them, and more ranks than "
                      "that count as too many for the processors";
  }
  if (limited && quota < 2) {
    finding.severity = Severity::warning;
    finding.fix =
        "the kernel halts two ranks for parts of each period; allow more (cpu.max, "
        "cpu.cfs_quota_us, --cpus)";
  } else if (facts.allowed_processors < 2) {
    finding.severity = Severity::warning;
    finding.fix =
        "two ranks share one processor and measure its scheduler; allow more (taskset, cpuset, "
        "--cpus-per-task)";
  }
  return finding;
}

Finding judge_memory(const HostFacts& facts) {
  Finding finding{.check = "memory"};
  if (facts.topology.memory_bytes == 0) {
    finding.severity = Severity::warning;
    finding.detail =
        "unknown, because /proc cannot be read; ranks of one host do not know that "
        "they are";
    finding.fix = "mount -t proc proc /proc";
    return finding;
  }
  finding.detail = bytes_text(facts.available_bytes) + " available of " +
                   bytes_text(facts.topology.memory_bytes) + "; room for " +
                   std::to_string(facts.available_bytes / kSegmentBytes) + " segments of " +
                   bytes_text(kSegmentBytes);
  if (facts.available_bytes < 2 * kSegmentBytes) {
    finding.severity = Severity::warning;
    finding.fix = "ask for smaller segments with STRIPLINE_SEGMENT_BYTES";
  }
  return finding;
}

Finding judge_locked_memory(const HostFacts& facts, bool registering_provider) {
  Finding finding{.check = "memory.locked"};
  if (!facts.lockable_bytes) {
    finding.detail = "RLIMIT_MEMLOCK is unlimited";
    return finding;
  }
  finding.detail = "RLIMIT_MEMLOCK is " + bytes_text(*facts.lockable_bytes);
  if (*facts.lockable_bytes >= kSegmentBytes) return finding;
  if (!registering_provider) {
    finding.detail += "; the providers of this host lock no memory";
    return finding;
  }
  finding.severity = Severity::warning;
  finding.detail += ", too little to register a segment of " + bytes_text(kSegmentBytes);
  finding.fix = kRaiseLockedMemory;
  return finding;
}

Finding judge_shared_memory(const HostFacts& facts) {
  Finding finding{.check = "memory.shared"};
  if (!facts.shm_free_bytes) {
    finding.severity = Severity::warning;
    finding.detail = "/dev/shm is not there; the emulated fabric and shm need it";
    finding.fix = "mount -t tmpfs tmpfs /dev/shm";
    return finding;
  }
  finding.detail = "/dev/shm has " + bytes_text(*facts.shm_free_bytes) + " free";
  if (*facts.shm_free_bytes < 2 * kSegmentBytes) {
    finding.severity = Severity::warning;
    finding.detail += ", too little for two emulated ranks";
    finding.fix =
        std::string(kEnlargeSharedMemory) + ", or smaller segments with STRIPLINE_SEGMENT_BYTES";
  }
  return finding;
}

// Segments are shared memory, of which the kernel decides by a setting of its own; the buffers of
// the runtime and of the program are private.
Finding judge_huge_pages(const HostFacts& facts) {
  Finding finding{.check = "memory.huge_pages"};
  const auto shown = [](const std::string& word) { return word.empty() ? "unknown" : word; };
  finding.detail =
      "transparent huge pages of segments (shmem_enabled): " + shown(facts.shared_hugepages) +
      ", of private memory (enabled): " + shown(facts.transparent_hugepages) +
      "; reserved: " + std::to_string(facts.huge_pages);
  const bool segments = facts.shared_hugepages != "never" && facts.shared_hugepages != "deny";
  const bool buffers = facts.transparent_hugepages != "never";
  if (segments && buffers) return finding;
  finding.severity = Severity::warning;
  finding.fix =
      segments ? "buffers take small pages" : "segments take small pages and start slowly";
  if (!segments) finding.fix += "; echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled";
  if (!buffers) finding.fix += "; echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
  return finding;
}

// A limit that a rank with the default segment does not start under is an error.
std::vector<Finding> judge_limits(const ShellLimits& limits) {
  // Beside its segment: libraries, the memory of the runtime, and a few stacks of threads.
  constexpr uint64_t kRankBytes = kSegmentBytes + (uint64_t{512} << 20);
  constexpr uint64_t kFewProcesses = 256;
  constexpr uint64_t kFewFiles = 1024;
  constexpr uint64_t kFewProcessorSeconds = 24 * 3600;
  constexpr uint64_t kFewStackBytes = uint64_t{1} << 20;
  std::vector<Finding> findings;
  const auto refuse_bytes = [&](const char* check, const std::optional<uint64_t>& limit,
                                uint64_t needed, const char* what, const char* option) {
    if (!limit || *limit >= needed) return;
    findings.push_back({.check = check,
                        .severity = Severity::error,
                        .detail = "the shell allows " + bytes_text(*limit) + " of " + what +
                                  ", but a rank with a segment of " + bytes_text(kSegmentBytes) +
                                  " needs " + bytes_text(needed),
                        .fix = std::string("ulimit ") + option + " unlimited"});
  };
  refuse_bytes("limit.address_space", limits.address_space_bytes, kRankBytes, "address space",
               "-v");
  refuse_bytes("limit.data", limits.data_bytes, kRankBytes - kSegmentBytes, "private memory", "-d");
  refuse_bytes("limit.file_size", limits.file_bytes, kSegmentBytes,
               "a file, shared memory among them", "-f");
  const auto warn = [&](const char* check, const std::optional<uint64_t>& limit, uint64_t few,
                        const char* what, const char* option) {
    if (!limit || *limit >= few) return;
    findings.push_back({.check = check,
                        .severity = Severity::warning,
                        .detail = "the shell allows " + std::to_string(*limit) + " " + what,
                        .fix = std::string("raise it: ulimit ") + option});
  };
  warn("limit.processes", limits.processes, kFewProcesses,
       "processes and threads of this user, launchers, ranks and their threads among them", "-u");
  warn("limit.open_files", limits.open_files, kFewFiles,
       "open files, of which a rank takes one or two for each other rank", "-Hn");
  warn("limit.processor_time", limits.processor_s, kFewProcessorSeconds,
       "seconds of processor time of a process, after which the kernel ends it: a rank takes them "
       "while it waits, too",
       "-t");
  warn("limit.stack", limits.stack_bytes, kFewStackBytes,
       "bytes of stack for a thread: one that needs more ends its process with SIGSEGV", "-s");
  return findings;
}

Finding judge_ptrace(const HostFacts& facts) {
  Finding finding{.check = "cross_memory_attach"};
  finding.detail = "kernel.yama.ptrace_scope is " + std::to_string(facts.ptrace_scope);
  if (facts.ptrace_scope > 0) {
    finding.severity = Severity::warning;
    finding.detail += ", which keeps shm from copying between processes directly";
    finding.fix = "sysctl kernel.yama.ptrace_scope=0, if shm is to be used";
  }
  return finding;
}

Finding judge_tcp(const HostFacts& facts) {
  Finding finding{.check = "tcp.receive_buffer"};
  if (!facts.tcp_receive_bytes) {
    finding.detail = "net.ipv4.tcp_rmem is not there to be read";
    return finding;
  }
  finding.detail =
      "TCP connections begin with a receive buffer of " + bytes_text(*facts.tcp_receive_bytes);
  if (*facts.tcp_receive_bytes >= kEnoughReceiveBytes) return finding;
  finding.severity = Severity::warning;
  finding.detail +=
      "; some of them never get a larger one, and move more than that at a third of the bandwidth";
  finding.fix = "for --fabric tcp and net, raise the second number of net.ipv4.tcp_rmem to " +
                std::to_string(kEnoughReceiveBytes) + ": sysctl -w net.ipv4.tcp_rmem='4096 " +
                std::to_string(kEnoughReceiveBytes) + " 33554432'";
  return finding;
}

// Every rank listens, and connects to all others when it first needs them, most at once.
Finding judge_connections(const HostFacts& facts) {
  constexpr uint64_t kEnoughBacklog = 1024;
  constexpr uint64_t kEnoughPorts = 16384;
  Finding finding{.check = "tcp.connections"};
  const auto shown = [](const std::optional<uint64_t>& number) {
    return number ? std::to_string(*number) : std::string("an unknown number");
  };
  finding.detail = shown(facts.listen_backlog) +
                   " connections may wait to be accepted (net.core.somaxconn), and there are " +
                   shown(facts.ephemeral_ports) + " ports for them (net.ipv4.ip_local_port_range)";
  const auto add = [&](const std::string& fix) {
    finding.severity = Severity::warning;
    finding.fix += (finding.fix.empty() ? "" : "; ") + fix;
  };
  if (facts.listen_backlog.value_or(kEnoughBacklog) < kEnoughBacklog) {
    add("for jobs of more ranks than that: sysctl -w net.core.somaxconn=4096");
  }
  if (facts.ephemeral_ports.value_or(kEnoughPorts) < kEnoughPorts) {
    add("for many ranks on this host: sysctl -w net.ipv4.ip_local_port_range='32768 60999'");
  }
  return finding;
}

}  // namespace

std::string_view to_string(Severity severity) {
  constexpr std::array<std::string_view, 4> kNames = {"ok", "info", "warning", "error"};
  return enum_name(kNames, severity);
}

HostFacts HostFacts::read() {
  HostFacts facts;
  facts.topology = read_topology();
  const auto limits = MemoryLimits::read();
  facts.available_bytes = limits.allocatable_bytes();
  facts.lockable_bytes = limits.lockable_bytes;
  facts.shm_free_bytes = shared_memory_free_bytes();
  facts.transparent_hugepages = chosen_word("/sys/kernel/mm/transparent_hugepage/enabled");
  facts.shared_hugepages = chosen_word("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  facts.limits = ShellLimits::read();
  facts.huge_pages = number_in("/proc/sys/vm/nr_hugepages");
  facts.ptrace_scope = static_cast<int>(number_in("/proc/sys/kernel/yama/ptrace_scope"));
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    facts.allowed_processors = static_cast<uint32_t>(CPU_COUNT(&mask));
  }
  facts.tcp_receive_bytes = default_number("/proc/sys/net/ipv4/tcp_rmem");
  if (const uint64_t most = number_in("/proc/sys/net/core/somaxconn")) facts.listen_backlog = most;
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  uint64_t first = 0;
  uint64_t last = 0;
  if (range >> first >> last && last >= first) facts.ephemeral_ports = last - first + 1;
  return facts;
}

std::vector<Finding> judge_host(const HostFacts& facts, bool registering_provider) {
  std::vector<Finding> findings = {
      judge_processors(facts),    judge_memory(facts),
      judge_shared_memory(facts), judge_locked_memory(facts, registering_provider),
      judge_huge_pages(facts),    judge_ptrace(facts),
      judge_tcp(facts),           judge_connections(facts)};
  for (Finding& finding : judge_limits(facts.limits)) findings.push_back(std::move(finding));
  return findings;
}

Verdict conclude(const std::vector<Finding>& findings) {
  constexpr std::string_view kExchange = "exchange.";
  std::string working;  // fabrics
  std::string failed;   // checks
  size_t warnings = 0;
  bool host_fails = false;
  const auto add = [](std::string& list, std::string_view name) {
    if (!list.empty()) list += ", ";
    list += name;
  };
  for (const Finding& finding : findings) {
    const bool exchange = finding.check.starts_with(kExchange);
    if (exchange && finding.severity != Severity::error) {
      add(working, std::string_view(finding.check).substr(kExchange.size()));
    }
    if (finding.severity == Severity::error) {
      add(failed, finding.check);
      host_fails = host_fails || !exchange;
    }
    if (finding.severity == Severity::warning) ++warnings;
  }
  const std::string warned =
      warnings == 0 ? std::string()
                    : (warnings == 1 ? " There is 1 warning"
                                     : " There are " + std::to_string(warnings) + " warnings") +
                          " of what is slower, or does for fewer ranks, than it could.";
  if (working.empty()) return {false, "This host is not ready: no fabric carried a message."};
  if (host_fails) return {false, "This host is not ready: mend " + failed + "."};
  if (!failed.empty()) {
    return {true, "This host is ready for " + working + ", and not for " + failed + "." + warned};
  }
  return {true, "This host is ready." + warned};
}

bool any_registering(const std::vector<fabric::ProviderInfo>& providers) {
  return std::ranges::any_of(providers, [](const fabric::ProviderInfo& provider) {
    return provider.usable && locks_memory(provider.name);
  });
}

std::vector<Finding> judge_variables(const fabric::LibfabricVariables& variables) {
  if (variables.empty()) return {};
  Finding finding{.check = "libfabric.variables",
                  .severity = Severity::info,
                  .detail = "in force: " + fabric::to_text(variables)};
  if (const auto changing = fabric::that_change_speed(variables); !changing.empty()) {
    finding.severity = Severity::warning;
    finding.fix =
        "measure without " + fabric::to_text(changing) + " unless production runs have the same";
  }
  return {finding};
}

std::vector<Finding> judge_providers(const Result<std::vector<fabric::ProviderInfo>>& providers) {
  if (!providers.ok()) {
    return {{.check = "libfabric",
             .severity = Severity::error,
             .detail = providers.error().message(),
             .fix = "apt-get install libfabric1"}};
  }
  std::vector<Finding> findings;
  for (const fabric::ProviderInfo& provider : *providers) {
    Finding finding{.check = "provider." + provider.name};
    // Hardware that is not there is no fault of the host.
    if (!provider.usable) finding.severity = Severity::info;
    finding.detail = (provider.usable ? "usable: " : "not usable: ") + provider.provider + ", " +
                     provider.detail;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace stripline::machine
