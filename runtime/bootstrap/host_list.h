// The hosts of a job as users name them, and which ranks each gets. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::bootstrap {

struct ListedHost {
  std::string name;    ///< as ssh takes it: "node7", "ada@node7", "fe80::1%eth0"
  uint32_t slots = 1;  ///< ranks that it takes, or how often it was named
  bool operator==(const ListedHost&) const = default;
};

struct HostList {
  std::vector<ListedHost> hosts;  ///< each once, in the order in which they were named first
  bool counted = false;           ///< numbers of slots were given, and limit the ranks
  bool operator==(const HostList&) const = default;

  uint64_t slots() const;  ///< of all of them
};

/// "a,b", "a:4,b:4", "ada@[fe80::1]:2". A host that is named again gets the slots of both. Errors:
/// invalid_argument: an empty name or one that cannot be a host's, a number of slots that is none,
/// or numbers for some of the hosts only.
Result<HostList> parse_host_list(std::string_view text);

/// The same of a file: a host a line, with its slots as ":4" or " slots=4"; what follows a # says
/// nothing. `origin` is the name of the file, for messages.
Result<HostList> parse_hosts_file(std::string_view text, const std::string& origin);

/// The ranks of one host.
struct HostRanks {
  std::string host;
  uint32_t first_rank = 0;
  uint32_t ranks = 0;
  bool operator==(const HostRanks&) const = default;
};

/// Blocks of consecutive ranks. With numbers of slots, one host after the other is filled; without,
/// each gets the same, the first ones one more. Hosts without ranks are left out. `ranks` nullopt:
/// one for each slot. Errors: invalid_argument if there are more ranks than slots.
Result<std::vector<HostRanks>> distribute(const HostList& list, std::optional<uint32_t> ranks);

}  // namespace stripline::bootstrap
