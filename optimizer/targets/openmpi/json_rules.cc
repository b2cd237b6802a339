#include "optimizer/targets/openmpi/json_rules.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/cut_text.h"
#include "base/json.h"
#include "base/quantity.h"
#include "optimizer/targets/lines.h"
#include "optimizer/targets/openmpi/algorithms.h"

namespace stripline::targets::openmpi {
namespace {

constexpr uint64_t kNoEnd = std::numeric_limits<uint64_t>::max();
constexpr uint32_t kMostRanks = std::numeric_limits<int>::max();
constexpr auto kLargestLong = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
constexpr int kFormatVersion = 3;
constexpr int kLargestAlgorithm = 9;

using C = Collective;

// Names of Open MPI 6 that are not those of 4.1, or of algorithms that 4.1 does not have.
struct Named {
  Collective collective;
  int id;
  std::string_view name;
  bool in_4_1;  // the number means the same algorithm there
};
constexpr Named kNames[] = {
    {C::allgather, 2, "bruck-k-fanout", false},
    {C::allgather, 7, "sparbit", false},
    {C::allgather, 8, "direct-messaging", false},
    {C::allgatherv, 1, "default", true},
    {C::allgatherv, 6, "sparbit", false},
    {C::allreduce, 7, "allgather_reduce", false},
    {C::bcast, 4, "split_binary_tree", true},
    {C::bcast, 5, "binary_tree", true},
    {C::reduce, 8, "knomial", false},
};

const Named* find_name(Collective collective, int id) {
  const auto* const found = std::ranges::find_if(
      kNames, [&](const Named& one) { return one.collective == collective && one.id == id; });
  return found == std::end(kNames) ? nullptr : found;
}

// Empty: Open MPI 6 has no such algorithm.
std::string name_of(Collective collective, int id) {
  if (id == 0) return "ignore";  // which leaves calls to the built-in decision
  if (const Named* const named = find_name(collective, id); named != nullptr) {
    return std::string(named->name);
  }
  const auto known = algorithm(collective, id);
  return known ? known->name : std::string();
}

// True if its number means the algorithm that it means in 4.1.
bool is_known(Collective collective, int id) {
  const Named* const named = find_name(collective, id);
  return named != nullptr ? named->in_4_1 : algorithm(collective, id).has_value();
}

struct Word {
  Distribution distribution;
  std::string_view word;
};
constexpr Word kDistributions[] = {{Distribution::any, "any"},
                                   {Distribution::single_node, "single-node"},
                                   {Distribution::one_per_node, "one-per-node"}};

// Blanks in place of commas between a last element and what ends its list or object.
std::string without_last_commas(std::string_view text) {
  std::string plain(text);
  bool in_string = false;
  size_t comma = std::string::npos;
  char before = ',';  // the last character that is not a blank
  for (size_t at = 0; at < plain.size(); ++at) {
    const char c = plain[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    if ((c == '}' || c == ']') && comma != std::string::npos) plain[comma] = ' ';
    const bool ends_element = std::string_view(",:[{").find(before) == std::string_view::npos;
    comma = c == ',' && ends_element ? at : std::string::npos;
    before = c;
    in_string = c == '"';
  }
  return plain;
}

class Reader {
 public:
  explicit Reader(std::string_view what) : what_(what) {}

  Result<JsonRulesFile> read(const Json& whole) const {
    const std::string where = "the file";
    STRIPLINE_RETURN_IF_ERROR(check_fields(
        whole, {"$schema", "rule_file_version", "module", "collectives", "comm_rank_distribution"},
        where));
    const auto version = whole.find("rule_file_version");
    if (version == whole.end() || *version != Json(kFormatVersion)) {
      return bad(where, "its rule_file_version is not 3, the one that Open MPI 6 reads");
    }
    const auto module = whole.find("module");
    if (module == whole.end() || *module != Json("tuned")) {
      return bad(where, "its module is not \"tuned\"");
    }
    STRIPLINE_ASSIGN_OR_RETURN(const Distribution usual,
                               distribution_of(whole, Distribution::any, where));
    const auto collectives = whole.find("collectives");
    if (collectives == whole.end() || !collectives->is_object()) {
      return bad(where, "it has no object of collectives");
    }
    JsonRulesFile file;
    for (const auto& [name, entries] : collectives->items()) {
      STRIPLINE_ASSIGN_OR_RETURN(const Collective collective, collective_of_name(name));
      CollectiveEntries all{.collective = collective};
      if (!entries.is_array()) return bad(name, "is not a list of entries");
      for (const Json& entry : entries) {
        const std::string place = name + ", entry " + std::to_string(all.entries.size() + 1);
        STRIPLINE_ASSIGN_OR_RETURN(auto made, entry_of(collective, entry, usual, place));
        all.entries.push_back(std::move(made));
      }
      file.collectives.push_back(std::move(all));
    }
    return file;
  }

 private:
  Error bad(const std::string& where, const std::string& problem) const {
    return {ErrorCode::data_loss, std::string(what_) + ": " + where + ": " + problem};
  }

  Status check_fields(const Json& object, std::initializer_list<std::string_view> known,
                      const std::string& where) const {
    if (!object.is_object()) return bad(where, "is not an object");
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
      return bad(where, quoted_text(key) + " is not a field that is known there");
    }
    return {};
  }

  Result<Collective> collective_of_name(const std::string& name) const {
    if (name == "reducescatter" || name == "reducescatterblock") {
      return bad(name,
                 "Open MPI reads this spelling of its own schema as an unknown collective, and "
                 "ignores the file; it is reduce_scatter and reduce_scatter_block");
    }
    const auto collective = collective_from_string(name);
    if (!collective) return bad(quoted_text(name), "is not a collective that is known here");
    return *collective;
  }

  // `absent` where there is no such field.
  Result<uint64_t> number_of(const Json& object, const char* field, uint64_t absent, uint64_t most,
                             const std::string& where) const {
    const auto found = object.find(field);
    if (found == object.end()) return absent;
    const bool endless = *found == Json("inf") || *found == Json("Inf") || *found == Json("INF");
    if (endless && absent == kNoEnd) return kNoEnd;
    if (!found->is_number_unsigned() || found->get<uint64_t>() > most) {
      return bad(where,
                 std::string(field) + " is not a whole number of at most " + std::to_string(most));
    }
    return found->get<uint64_t>();
  }

  Result<Distribution> distribution_of(const Json& object, Distribution absent,
                                       const std::string& where) const {
    const auto found = object.find("comm_rank_distribution");
    if (found == object.end()) return absent;
    for (const Word& one : kDistributions) {
      if (*found == Json(std::string(one.word))) return one.distribution;
    }
    return bad(where,
               "its comm_rank_distribution is not \"any\", \"single-node\" or \"one-per-node\"; "
               "Open MPI would take it for \"any\"");
  }

  Result<CommunicatorEntry> entry_of(Collective collective, const Json& json, Distribution usual,
                                     const std::string& where) const {
    STRIPLINE_RETURN_IF_ERROR(check_fields(
        json, {"comm_size_min", "comm_size_max", "comm_rank_distribution", "rules"}, where));
    CommunicatorEntry entry;
    // Without an end the field is left out: numbers of ranks are of C's type int there.
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t least,
                               number_of(json, "comm_size_min", 0, kMostRanks, where));
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t most,
                               number_of(json, "comm_size_max", kMostRanks, kMostRanks, where));
    if (least > most) return bad(where, "its numbers of ranks hold nothing");
    entry.least_ranks = static_cast<uint32_t>(least);
    entry.most_ranks = static_cast<uint32_t>(most);
    STRIPLINE_ASSIGN_OR_RETURN(entry.distribution, distribution_of(json, usual, where));
    const auto rules = json.find("rules");
    if (rules == json.end() || !rules->is_array()) return bad(where, "it has no list of rules");
    for (const Json& rule : *rules) {
      const std::string place = where + ", rule " + std::to_string(entry.rules.size() + 1);
      STRIPLINE_ASSIGN_OR_RETURN(const SizeRule made, rule_of(collective, rule, place));
      entry.rules.push_back(made);
    }
    return entry;
  }

  Result<SizeRule> rule_of(Collective collective, const Json& json,
                           const std::string& where) const {
    STRIPLINE_RETURN_IF_ERROR(check_fields(
        json, {"msg_size_min", "msg_size_max", "alg", "reqs", "faninout", "seg_size"}, where));
    SizeRule rule;
    STRIPLINE_ASSIGN_OR_RETURN(rule.least_bytes,
                               number_of(json, "msg_size_min", 0, kLargestLong, where));
    STRIPLINE_ASSIGN_OR_RETURN(rule.most_bytes,
                               number_of(json, "msg_size_max", kNoEnd, kLargestLong, where));
    if (rule.least_bytes > rule.most_bytes) return bad(where, "its sizes hold nothing");
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t requests,
                               number_of(json, "reqs", 0, kMostRanks, where));
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t fan,
                               number_of(json, "faninout", 0, kMostRanks, where));
    STRIPLINE_ASSIGN_OR_RETURN(rule.segment_bytes,
                               number_of(json, "seg_size", 0, kMostRanks, where));
    rule.requests = static_cast<uint32_t>(requests);
    rule.fan = static_cast<uint32_t>(fan);
    const auto given = json.find("alg");
    if (given == json.end()) return bad(where, "it has no alg");
    for (int id = 0; id <= kLargestAlgorithm; ++id) {
      const std::string name = name_of(collective, id);
      const bool is_it =
          *given == Json(name) || (given->is_number_unsigned() && *given == Json(id));
      if (name.empty() || !is_it) continue;
      rule.algorithm = id;
      return rule;
    }
    return bad(where, quoted_text(given->dump(-1, ' ', true)) + " is not an algorithm of " +
                          std::string(to_string(collective)) +
                          " in Open MPI 6, which would ignore the rule");
  }

  std::string_view what_;
};

nlohmann::ordered_json json_of(Collective collective, const SizeRule& rule) {
  nlohmann::ordered_json json = {{"msg_size_min", rule.least_bytes}};
  if (rule.most_bytes != kNoEnd) json["msg_size_max"] = rule.most_bytes;
  json["alg"] = name_of(collective, rule.algorithm);
  if (rule.requests > 0) json["reqs"] = rule.requests;
  if (rule.fan > 0) json["faninout"] = rule.fan;
  if (rule.segment_bytes > 0) json["seg_size"] = rule.segment_bytes;
  return json;
}

nlohmann::ordered_json json_of(Collective collective, const CommunicatorEntry& entry) {
  nlohmann::ordered_json json = {{"comm_size_min", entry.least_ranks}};
  if (entry.most_ranks != kMostRanks) json["comm_size_max"] = entry.most_ranks;
  for (const Word& one : kDistributions) {
    if (one.distribution == entry.distribution) {
      json["comm_rank_distribution"] = std::string(one.word);
    }
  }
  json["rules"] = nlohmann::ordered_json::array();
  for (const SizeRule& rule : entry.rules) json["rules"].push_back(json_of(collective, rule));
  return json;
}

// Why a rule may not be used by all numbers of ranks of its entry, as part of a sentence; empty: it
// may. What restricts numbers of ranks shows at the ends or beside the first one: of three
// successive numbers one is odd, and one is not a power of two.
std::string refusal_in(Collective collective, const CommunicatorEntry& entry, const SizeRule& rule,
                       const Safety& safety) {
  if (!is_known(collective, rule.algorithm)) {
    return "is of a version that was not tried: what it needs is not known here";
  }
  const uint32_t first = std::max(entry.least_ranks, 1U);  // no communicator has fewer
  for (const uint32_t ranks : {first, first + 1, first + 2, entry.most_ranks}) {
    if (ranks > entry.most_ranks) continue;
    const std::string reason =
        rule_refusal(collective, ranks, rule.least_bytes, rule.algorithm, safety);
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace

bool is_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

Result<JsonRulesFile> read_json_rules(std::string_view text, std::string_view what) {
  if (text.size() > kMostFileBytes) {
    return Error(ErrorCode::data_loss, std::string(what) + " is too large for a rules file");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json whole, parse_json(without_last_commas(text), what));
  return Reader(what).read(whole);
}

std::string write_json_rules(const JsonRulesFile& file) {
  nlohmann::ordered_json collectives = nlohmann::ordered_json::object();
  for (const CollectiveEntries& one : file.collectives) {
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    for (const CommunicatorEntry& entry : one.entries) {
      entries.push_back(json_of(one.collective, entry));
    }
    collectives[std::string(to_string(one.collective))] = std::move(entries);
  }
  nlohmann::ordered_json whole = {{"rule_file_version", kFormatVersion}, {"module", "tuned"}};
  whole["collectives"] = std::move(collectives);
  return whole.dump(2) + "\n";
}

JsonRulesFile json_rules_of(const RulesFile& file, Distribution distribution,
                            std::vector<std::string>& left_out) {
  JsonRulesFile converted;
  for (const CollectiveRule& rule : file.collectives) {
    const auto collective = collective_of(rule.id);
    if (!collective) continue;  // its rules are of the built-in decision
    CollectiveEntries all{.collective = *collective};
    const auto& communicators = rule.communicators;
    for (size_t i = 0; i < communicators.size(); ++i) {
      const bool last = i + 1 == communicators.size();
      CommunicatorEntry entry{.least_ranks = i == 0 ? 0 : communicators[i].ranks,
                              .most_ranks = last ? kMostRanks : communicators[i + 1].ranks - 1,
                              .distribution = distribution};
      const auto& messages = communicators[i].messages;
      for (size_t k = 0; k < messages.size(); ++k) {
        const MessageRule& message = messages[k];
        if (message.algorithm == 0) continue;
        if (!is_known(*collective, message.algorithm)) {
          left_out.push_back(std::string(to_string(*collective)) + " of " +
                             count_text(communicators[i].ranks, "rank") + " from " +
                             exact_bytes_text(message.bytes) + " on: algorithm " +
                             std::to_string(message.algorithm) +
                             " is another one in Open MPI 6; the built-in decision is kept");
          continue;
        }
        const bool end = k + 1 == messages.size();
        entry.rules.push_back({.least_bytes = message.bytes,
                               .most_bytes = end ? kNoEnd : messages[k + 1].bytes - 1,
                               .algorithm = message.algorithm,
                               .fan = message.fan,
                               .segment_bytes = message.segment_bytes});
      }
      if (!entry.rules.empty()) all.entries.push_back(std::move(entry));
    }
    if (!all.entries.empty()) converted.collectives.push_back(std::move(all));
  }
  return converted;
}

std::vector<std::string> hazards(const JsonRulesFile& file, const Safety& safety) {
  std::vector<std::string> found;
  for (const CollectiveEntries& all : file.collectives) {
    for (const CommunicatorEntry& entry : all.entries) {
      std::string where =
          std::string(to_string(all.collective)) + " of " + std::to_string(entry.least_ranks);
      where += entry.most_ranks == kMostRanks ? " ranks and more"
                                              : " to " + count_text(entry.most_ranks, "rank");
      const bool by_size = std::ranges::any_of(entry.rules, [](const SizeRule& rule) {
        return rule.least_bytes > 0 || rule.most_bytes != kNoEnd;
      });
      if (by_size && ranks_may_see_other_sizes(all.collective)) {
        found.push_back(where +
                        " has rules by size: ranks may see other sizes in one call, choose "
                        "different algorithms and hang");
      }
      for (const SizeRule& rule : entry.rules) {
        if (rule.algorithm == 0) continue;
        const std::string reason = refusal_in(all.collective, entry, rule, safety);
        if (reason.empty()) continue;
        found.push_back(where + " from " + exact_bytes_text(rule.least_bytes) +
                        " on: " + name_of(all.collective, rule.algorithm) + " " + reason);
      }
    }
  }
  return found;
}

std::optional<SizeRule> rule_for(const JsonRulesFile& file, Collective collective, uint32_t ranks,
                                 uint64_t bytes, Distribution distribution) {
  const auto all = std::ranges::find(file.collectives, collective, &CollectiveEntries::collective);
  if (all == file.collectives.end()) return std::nullopt;
  const auto entry = std::ranges::find_if(all->entries, [&](const CommunicatorEntry& one) {
    return ranks >= one.least_ranks && ranks <= one.most_ranks &&
           (one.distribution == Distribution::any || one.distribution == distribution);
  });
  if (entry == all->entries.end()) return std::nullopt;
  const auto rule = std::ranges::find_if(entry->rules, [&](const SizeRule& one) {
    return bytes >= one.least_bytes && bytes <= one.most_bytes;
  });
  if (rule == entry->rules.end() || rule->algorithm == 0) return std::nullopt;
  return *rule;
}

}  // namespace stripline::targets::openmpi
