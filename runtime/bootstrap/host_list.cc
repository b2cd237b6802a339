#include "runtime/bootstrap/host_list.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include <stripline/global_ptr.h>

#include "base/cut_text.h"
#include "base/number_text.h"

namespace stripline::bootstrap {
namespace {

Error malformed(const std::string& what) { return {ErrorCode::invalid_argument, what}; }

std::optional<uint32_t> slots_of(std::string_view text) {
  const auto slots = number_from_text<uint32_t>(text);
  if (!slots || *slots == 0 || *slots > kMaxRanks) return std::nullopt;
  return slots;
}

/// What no host name, address or user name has, and ssh would take for something else.
bool is_no_name(std::string_view name) {
  constexpr std::string_view kOdd = "'\"\\`$;&|<>(){}*?!#=,/";
  return name.empty() || name.front() == '-' || name.front() == '@' || name.back() == '@' ||
         std::ranges::any_of(name, [kOdd](char c) {
           return c <= ' ' || c == 127 || kOdd.find(c) != std::string_view::npos;
         });
}

/// One host with or without a number of slots.
struct Mention {
  std::string name;
  std::optional<uint32_t> slots;
};

Result<Mention> parse_mention(std::string_view text) {
  const std::string shown = quoted_text(text);
  Mention mention;
  std::string_view rest = text;
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    mention.name = rest.substr(0, at + 1);
    rest.remove_prefix(at + 1);
  }
  if (rest.starts_with('[')) {
    const size_t end = rest.find(']');
    if (end == std::string_view::npos) return malformed(shown + " lacks a ']'");
    mention.name += rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!rest.empty() && rest.front() != ':') {
      return malformed(shown + " goes on after the ']' with something else than ':SLOTS'");
    }
  } else {
    const size_t colon = rest.find(':');
    if (colon != rest.rfind(':')) {
      return malformed(shown +
                       " has several colons; write IPv6 addresses in brackets: [fe80::1]:4");
    }
    mention.name += rest.substr(0, colon);
    rest.remove_prefix(std::min(colon, rest.size()));
  }
  if (is_no_name(mention.name)) {
    return malformed(text.empty() ? "a host without a name" : shown + " is not the name of a host");
  }
  if (rest.empty()) return mention;
  mention.slots = slots_of(rest.substr(1));
  if (!mention.slots) {
    return malformed(shown + " does not end in a number of slots from 1 to " +
                     std::to_string(kMaxRanks));
  }
  return mention;
}

Result<HostList> merged(const std::vector<Mention>& mentions) {
  HostList list;
  list.counted = !mentions.empty() && mentions.front().slots.has_value();
  for (const Mention& mention : mentions) {
    if (mention.slots.has_value() != list.counted) {
      const std::string& with = (list.counted ? mentions.front() : mention).name;
      const std::string& without = (list.counted ? mention : mentions.front()).name;
      return malformed("there is a number of slots for " + with + " and none for " + without +
                       "; give one for each host, or for none");
    }
    const uint32_t slots = mention.slots.value_or(1);
    const auto known = std::ranges::find(list.hosts, mention.name, &ListedHost::name);
    if (known == list.hosts.end()) {
      list.hosts.push_back({mention.name, slots});
    } else {
      known->slots += slots;
    }
  }
  if (list.slots() > kMaxRanks) {
    return malformed("the hosts have " + std::to_string(list.slots()) +
                     " slots; a job has at most " + std::to_string(kMaxRanks) + " ranks");
  }
  return list;
}

}  // namespace

uint64_t HostList::slots() const {
  return std::accumulate(hosts.begin(), hosts.end(), uint64_t{0},
                         [](uint64_t sum, const ListedHost& host) { return sum + host.slots; });
}

Result<HostList> parse_host_list(std::string_view text) {
  std::vector<Mention> mentions;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    STRIPLINE_ASSIGN_OR_RETURN(Mention mention, parse_mention(text.substr(begin, end - begin)));
    mentions.push_back(std::move(mention));
    begin = end + 1;
  }
  return merged(mentions);
}

Result<HostList> parse_hosts_file(std::string_view text, const std::string& origin) {
  std::vector<Mention> mentions;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number) {
    const auto here = [&](const Error& error) {
      return error.with_context(origin + ", line " + std::to_string(number));
    };
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    auto mention = parse_mention(host);
    if (!mention.ok()) return here(mention.error());
    for (std::string word; words >> word;) {
      const auto slots =
          word.starts_with("slots=") ? slots_of(std::string_view(word).substr(6)) : std::nullopt;
      if (!slots || mention->slots) {
        return here(malformed(quoted_text(word) +
                              " is not understood; write HOST, HOST:4 or HOST slots=4"));
      }
      mention->slots = slots;
    }
    mentions.push_back(*std::move(mention));
  }
  if (mentions.empty()) return malformed(origin + " names no host");
  auto list = merged(mentions);
  if (!list.ok()) return list.error().with_context(origin);
  return list;
}

Result<std::vector<HostRanks>> distribute(const HostList& list, std::optional<uint32_t> ranks) {
  const uint64_t slots = list.slots();
  const uint64_t wanted = ranks ? *ranks : slots;
  if (list.counted && wanted > slots) {
    return malformed(std::to_string(wanted) + " ranks do not fit the " + std::to_string(slots) +
                     " slots of the hosts; give hosts more slots, or no numbers of slots to share "
                     "the ranks out evenly");
  }
  std::vector<HostRanks> shares;
  uint64_t given = 0;
  uint64_t mention = 0;  // without numbers, slots are mentions of equal shares
  for (const ListedHost& host : list.hosts) {
    uint64_t own = std::min<uint64_t>(host.slots, wanted - given);
    if (!list.counted) {
      const uint64_t extra = wanted % slots;
      own = host.slots * (wanted / slots) + std::min<uint64_t>(mention + host.slots, extra) -
            std::min<uint64_t>(mention, extra);
      mention += host.slots;
    }
    if (own > 0) {
      shares.push_back({host.name, static_cast<uint32_t>(given), static_cast<uint32_t>(own)});
    }
    given += own;
  }
  return shares;
}

}  // namespace stripline::bootstrap
