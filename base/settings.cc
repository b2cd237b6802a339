#include "base/settings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace stripline {
namespace {

constexpr std::array kVariables = {
    Variable{"STRIPLINE_FABRIC", "tcp",
             "network: a libfabric provider, or emulated:PROFILE[,key=value...]"},
    Variable{"STRIPLINE_CLOCK", "real", "real, or virtual (emulated fabrics only)"},
    Variable{"STRIPLINE_MODEL", "", "tuned model file"},
    Variable{"STRIPLINE_MODEL_MAY_NOT_FIT", "0",
             "1: a model that does not fit is left aside and does not end the job"},
    Variable{
        "STRIPLINE_SAME_NODE", "mapped",
        "ranks of one node reach each other by mapped memory, cma or network; with ':N' behind "
        "it every N ranks of a host are a node (not on emulated fabrics)"},
    Variable{"STRIPLINE_TUNING", "", "in place of the model's choices: NAME=VALUE,..."},
    Variable{"STRIPLINE_SEGMENT_BYTES", "256M", "shared memory of each rank, with suffix K, M, G"},
    Variable{
        "STRIPLINE_POPULATE", "0",
        "1: the segment's pages are made when the job starts, not when they are first touched"},
    Variable{"STRIPLINE_SEED", "0", "seed of the jitter of emulated fabrics"},
    Variable{"STRIPLINE_ADDRESS", "", "IP address of this host to communicate from"},
    Variable{"STRIPLINE_IFACE", "", "network interface to communicate through"},
    Variable{"STRIPLINE_PROGRESS", "manual",
             "thread: a thread of the runtime serves peers while a rank computes; auto: the "
             "provider's; tuned: one of the runtime from where it pays"},
    Variable{
        "STRIPLINE_GUARD", "1",
        "0: tuned plans are not compared with the baseline now and then; the same on all ranks"},
    Variable{"STRIPLINE_LOAD_ESTIMATION", "1",
             "0: loops count on the bandwidth of an idle network, whoever else communicates"},
    Variable{"STRIPLINE_SWITCHES", "",
             "switches above this host, from the uppermost down, joined by dots; default: what "
             "the file says, or Slurm"},
    Variable{"STRIPLINE_SWITCHES_FILE", "",
             "file with a line for each host: its name and its switches, as stripline-switches "
             "finds them"},
    Variable{"STRIPLINE_TRACE", "off",
             "summary: what tuned plans saved, at the end; sites: also what was chosen where"},
    Variable{"STRIPLINE_REPORT", "",
             "file, or agent, for what the model predicted and was measured at each place"},
    Variable{"STRIPLINE_LOOP_BUFFERS", "128M",
             "buffers of loops and nests, of each rank, with suffix K, M, G"},
    Variable{"STRIPLINE_DATA_CACHE", "0",
             "1: loops and nests keep what they fetch until the rank's next acquire"},
    Variable{"STRIPLINE_BULK", "0",
             "1: memput, memget and memcpy, and larger puts and gets of OpenSHMEM, do not wait "
             "before the next synchronisation"},
    Variable{"STRIPLINE_COALESCE", "0",
             "1: atomic operations of OpenSHMEM travel together, and single gets are read ahead"},
    Variable{"STRIPLINE_PEER_TIMEOUT", "120",
             "seconds after which a rank whose process is stopped, or that answers nothing that "
             "is in flight to it, ends the job"},
    Variable{"STRIPLINE_INJECTION_QUEUES", "16",
             "endpoints that a rank may open beside its own, for threads that inject"},
    Variable{"STRIPLINE_STALL_NOTICE", "60",
             "seconds without progress of any rank after which the launcher says where each of "
             "them is; 0: never"},
    Variable{"STRIPLINE_OVERCOMMIT", "0",
             "1: ranks are started although the host has not the memory for all of them"},
    Variable{"STRIPLINE_JOIN_TIMEOUT", "60", "seconds in which all ranks have to join the job"},
    Variable{"STRIPLINE_DEBUG", "0",
             "1: checks what the program does: freed memory, conflicts, mismatched collectives"},
    Variable{"STRIPLINE_VERBOSE", "0", "1: rank 0 shows ranks and settings when the job starts"},
};

/// Variables of launchers, tests and services; nothing that a user sets for a program.
constexpr std::array<std::string_view, 16> kOthers = {
    "STRIPLINE_RANK",         "STRIPLINE_RANKS",   "STRIPLINE_JOB_ID",
    "STRIPLINE_CONTROL_FD",   "STRIPLINE_OPTIONS", "STRIPLINE_OPERATION_RECORD",
    "STRIPLINE_POINT_RECORD", "STRIPLINE_FIBERS",  "STRIPLINE_MATRIX",
    "STRIPLINE_SERVER",       "STRIPLINE_SERVER_", "STRIPLINE_AGENT_",
    "STRIPLINE_MODELS",       "STRIPLINE_SSH",     "STRIPLINE_HTTP_",
    "STRIPLINE_TEST_"};

bool is_known(std::string_view name) {
  return std::ranges::find(kVariables, name, &Variable::name) != kVariables.end() ||
         std::ranges::any_of(kOthers, [&](std::string_view other) {
           return other.ends_with('_') ? name.starts_with(other) : name == other;
         });
}

}  // namespace

std::string environment_value(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? value : "";
}

std::span<const Variable> variables() { return kVariables; }

std::vector<Setting> settings() {
  std::vector<std::string> by_option;
  std::istringstream options(environment_value(kOptionsVariable));
  for (std::string name; options >> name;) by_option.push_back(name);

  std::vector<Setting> all;
  for (const Variable& known : kVariables) {
    Setting setting{std::string(known.name), environment_value(std::string(known.name)),
                    "environment"};
    if (setting.value.empty()) {
      setting.value = known.fallback;
      setting.origin = "default";
    } else if (std::ranges::find(by_option, setting.name) != by_option.end()) {
      setting.origin = "option";
    }
    all.push_back(std::move(setting));
  }
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (!text.starts_with("STRIPLINE_") || equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (is_known(name)) continue;
    all.push_back({std::string(name), std::string(text.substr(equals + 1)), "unknown"});
  }
  return all;
}

std::string value_with(const std::map<std::string, std::string>& environment,
                       const std::string& name) {
  const auto given = environment.find(name);
  std::string value = given != environment.end() ? given->second : environment_value(name);
  if (!value.empty()) return value;
  const auto known = std::ranges::find(kVariables, std::string_view(name), &Variable::name);
  return known != kVariables.end() ? std::string(known->fallback) : std::string();
}

}  // namespace stripline
