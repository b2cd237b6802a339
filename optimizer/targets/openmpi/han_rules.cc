#include "optimizer/targets/openmpi/han_rules.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/cut_text.h"
#include "base/number_text.h"
#include "base/quantity.h"
#include "optimizer/targets/lines.h"
#include "optimizer/targets/openmpi/algorithms.h"

namespace stripline::targets::openmpi {
namespace {

constexpr uint64_t kMostSizes = 10000;
constexpr uint64_t kLargestInt = std::numeric_limits<int>::max();
constexpr auto kLargestLong = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

// By their numbers.
constexpr std::array<std::string_view, kLargestCollectiveId + 1> kCollectiveNames = {
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "scatterv",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw"};
constexpr std::array<std::string_view, 7> kComponents = {"self", "basic", "libnbc", "tuned",
                                                         "sm",   "adapt", "han"};
constexpr std::array<std::string_view, 3> kLevels = {"ranks of a node", "between nodes",
                                                     "all ranks"};

// What HAN 5.0 carries out by levels.
bool has_levels(int id) {
  const auto collective = collective_of(id);
  if (!collective) return false;
  switch (*collective) {
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::allreduce:
    case Collective::barrier:
    case Collective::bcast:
    case Collective::gather:
    case Collective::reduce:
    case Collective::scatter:
      return true;
    default:
      return false;
  }
}

struct Word {
  Line line;
  std::string_view text;
};

// Comments begin where a word would.
Result<std::vector<Word>> words_in(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto lines, lines_of(text, what));
  std::vector<Word> words;
  for (const Line& line : lines) {
    for (std::string_view rest = trimmed(line.text); !rest.empty() && rest.front() != '#';
         rest = trimmed(rest)) {
      // Brackets are words of their own, whatever is beside them.
      const bool bracket = rest.front() == '[' || rest.front() == ']';
      const size_t end = bracket ? 1 : std::min(rest.find_first_of(" \t[]"), rest.size());
      const std::string_view word = rest.substr(0, end);
      rest.remove_prefix(end);
      if (word.find('#') != std::string_view::npos) {
        return bad_line(what, line, quoted_text(word) + " has a comment without a blank before it");
      }
      words.push_back({line, word});
    }
  }
  return words;
}

class Reader {
 public:
  Reader(std::vector<Word> words, std::string_view what) : words_(std::move(words)), what_(what) {}

  Result<HanRules> read() {
    HanRules rules;
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t count,
                               number("the number of collectives", kLargestCollectiveId + 1));
    // HAN refuses a file of none.
    if (count == 0) return complain("the file has no collective");
    std::set<int> seen;
    for (uint64_t i = 0; i < count; ++i) {
      HanCollective collective;
      STRIPLINE_ASSIGN_OR_RETURN(
          const size_t id, index("a collective", kCollectiveNames.data(), kCollectiveNames.size()));
      collective.id = static_cast<int>(id);
      if (!seen.insert(collective.id).second) {
        return complain(std::string(kCollectiveNames[id]) + " comes a second time");
      }
      STRIPLINE_RETURN_IF_ERROR(read_levels(collective));
      rules.collectives.push_back(std::move(collective));
    }
    if (at_ < words_.size()) {
      ++at_;
      return complain("has more than its counts say");
    }
    return rules;
  }

 private:
  // About the word that was read last.
  Error complain(const std::string& problem) const {
    return bad_line(what_, words_[at_ - 1].line, problem);
  }

  Result<std::string_view> next(std::string_view meaning) {
    if (at_ == words_.size()) {
      return Error(ErrorCode::data_loss,
                   std::string(what_) + " ends where " + std::string(meaning) + " should be");
    }
    return words_[at_++].text;
  }

  Result<uint64_t> number(std::string_view meaning, uint64_t most) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string_view word, next(meaning));
    const auto value = number_from_text<uint64_t>(word);
    if (!value) {
      return complain(quoted_text(word) + " is not a whole number, as " + std::string(meaning) +
                      " is");
    }
    if (word.size() > 1 && word.front() == '0') {
      return complain(quoted_text(word) + " begins with 0; Open MPI would read it as octal");
    }
    if (*value > most) {
      return complain(std::to_string(*value) + " is too large for " + std::string(meaning));
    }
    return *value;
  }

  // By its name, or by its number as in earlier versions.
  Result<size_t> index(std::string_view meaning, const std::string_view* names, size_t count) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string_view word, next(meaning));
    const std::string_view* const found = std::find(names, names + count, word);
    if (found != names + count) return static_cast<size_t>(found - names);
    --at_;
    const auto value = number(meaning, count - 1);
    if (value.ok()) return static_cast<size_t>(*value);
    return complain(quoted_text(word) + " is not the name of " + std::string(meaning) + " of HAN");
  }

  Status read_levels(HanCollective& collective) {
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t count,
                               number("the number of levels", kLevels.size()));
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < count; ++i) {
      HanLevelRules level;
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t id, number("a level", kLevels.size() - 1));
      if (!seen.insert(id).second) return complain("a level comes a second time");
      level.level = static_cast<HanLevel>(id);
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t sizes,
                                 number("the number of configurations", kMostSizes));
      for (uint64_t k = 0; k < sizes; ++k) {
        HanConfiguration configuration;
        STRIPLINE_ASSIGN_OR_RETURN(const uint64_t size,
                                   number("the size of a configuration", kLargestInt));
        configuration.size = static_cast<uint32_t>(size);
        if (k == 0 && size != 1) return complain("the first configuration is not of 1");
        if (k > 0 && size <= level.configurations.back().size) {
          return complain("sizes of configurations do not ascend");
        }
        STRIPLINE_RETURN_IF_ERROR(read_messages(configuration));
        level.configurations.push_back(std::move(configuration));
      }
      collective.levels.push_back(std::move(level));
    }
    return {};
  }

  Status read_messages(HanConfiguration& configuration) {
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t count,
                               number("the number of message sizes", kMostSizes));
    for (uint64_t i = 0; i < count; ++i) {
      HanMessage message;
      STRIPLINE_ASSIGN_OR_RETURN(message.bytes, number("a message size", kLargestLong));
      if (i == 0 && message.bytes != 0) return complain("the first message size is not 0");
      if (i > 0 && message.bytes <= configuration.messages.back().bytes) {
        return complain("message sizes do not ascend");
      }
      STRIPLINE_ASSIGN_OR_RETURN(const size_t component,
                                 index("a component", kComponents.data(), kComponents.size()));
      message.component = static_cast<HanComponent>(component);
      if (at_ < words_.size() && words_[at_].text == "[") {
        ++at_;
        while (at_ < words_.size() && words_[at_].text != "]") {
          STRIPLINE_ASSIGN_OR_RETURN(const uint64_t bytes, number("a segment", kLargestLong));
          message.segment_bytes.push_back(bytes);
        }
        STRIPLINE_ASSIGN_OR_RETURN(const std::string_view closing, next("the end of segments"));
        if (closing != "]" || message.segment_bytes.empty()) {
          return complain("a list of segments is empty");
        }
      }
      configuration.messages.push_back(std::move(message));
    }
    return {};
  }

  std::vector<Word> words_;
  std::string_view what_;
  size_t at_ = 0;
};

HanMessage from_0(HanComponent component) { return {.bytes = 0, .component = component}; }

// Communicators of exactly these numbers of ranks have a rule beside the built-in decision.
std::set<uint32_t> ranks_with_rules(const CollectiveRule& rule) {
  std::set<uint32_t> ranks;
  for (const CommunicatorRule& one : rule.communicators) {
    const bool has_rule = std::ranges::any_of(
        one.messages, [](const MessageRule& message) { return message.algorithm != 0; });
    if (has_rule && one.ranks > 0) ranks.insert(one.ranks);
  }
  return ranks;
}

// The component of a level for all sizes of a configuration; nullopt where sizes differ.
std::optional<HanComponent> component_at(const HanLevelRules& level, uint32_t size) {
  const HanConfiguration* last = nullptr;
  for (const HanConfiguration& one : level.configurations) {
    if (one.size <= size) last = &one;
  }
  if (last == nullptr || last->messages.empty()) return std::nullopt;
  const HanComponent first = last->messages.front().component;
  const bool same = std::ranges::all_of(
      last->messages, [&](const HanMessage& one) { return one.component == first; });
  return same ? std::optional(first) : std::nullopt;
}

}  // namespace

Result<HanRules> read_han_rules(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(auto words, words_in(text, what));
  return Reader(std::move(words), what).read();
}

bool is_han(std::string_view text) {
  const auto words = words_in(text, "file");
  return words.ok() && std::ranges::any_of(*words, [](const Word& word) {
           const char first = word.text.front();
           return first >= 'a' && first <= 'z' && !word.text.starts_with("rule-file-version");
         });
}

std::string write_han_rules(const HanRules& rules, const std::vector<std::string>& comments) {
  std::string text = comment_block(comments) + std::to_string(rules.collectives.size()) + "\n";
  for (const HanCollective& collective : rules.collectives) {
    text += std::string(kCollectiveNames[static_cast<size_t>(collective.id)]) + "\n" +
            std::to_string(collective.levels.size()) + "\n";
    for (const HanLevelRules& level : collective.levels) {
      const auto number = static_cast<size_t>(level.level);
      text += std::to_string(number) + " " + std::to_string(level.configurations.size()) + "\n";
      for (const HanConfiguration& configuration : level.configurations) {
        text += std::to_string(configuration.size) + " " +
                std::to_string(configuration.messages.size()) + "\n";
        for (const HanMessage& message : configuration.messages) {
          text += std::to_string(message.bytes) + " " +
                  std::string(kComponents[static_cast<size_t>(message.component)]);
          for (size_t i = 0; i < message.segment_bytes.size(); ++i) {
            text += (i == 0 ? " [" : " ") + std::to_string(message.segment_bytes[i]);
          }
          text += message.segment_bytes.empty() ? "\n" : "]\n";
        }
      }
    }
  }
  return text;
}

std::vector<std::string> hazards(const HanRules& rules, const RulesFile& classic) {
  std::vector<std::string> found;
  for (const HanCollective& collective : rules.collectives) {
    const std::string name(kCollectiveNames[static_cast<size_t>(collective.id)]);
    const auto classic_rule =
        std::ranges::find(classic.collectives, collective.id, &CollectiveRule::id);
    const auto made_for = classic_rule == classic.collectives.end()
                              ? std::set<uint32_t>()
                              : ranks_with_rules(*classic_rule);
    for (const HanLevelRules& level : collective.levels) {
      const std::string where =
          name + ", " + std::string(kLevels[static_cast<size_t>(level.level)]);
      const bool within_itself =
          level.level != HanLevel::all &&
          std::ranges::any_of(level.configurations, [](const auto& one) {
            return std::ranges::any_of(one.messages, [](const auto& message) {
              return message.component == HanComponent::han;
            });
          });
      if (within_itself) found.push_back(where + ": HAN is for all ranks alone, not within itself");
      if (level.level != HanLevel::between_nodes) continue;
      for (const uint32_t ranks : made_for) {
        const auto component = component_at(level, ranks);
        if (component && component != HanComponent::tuned) continue;
        found.push_back(where + ": among " + count_text(ranks, "node") +
                        " coll/tuned would follow rules that were made for " +
                        count_text(ranks, "rank") + " of one");
      }
    }
  }
  return found;
}

HanRules han_rules_of(const RulesFile& classic) {
  HanRules rules;
  for (const CollectiveRule& rule : classic.collectives) {
    const auto ranks = ranks_with_rules(rule);
    if (ranks.empty() || !has_levels(rule.id)) continue;
    HanLevelRules node{HanLevel::node, {{1, {from_0(HanComponent::tuned)}}}};
    HanLevelRules between{HanLevel::between_nodes, {{1, {from_0(HanComponent::tuned)}}}};
    auto& sizes = between.configurations;
    for (const uint32_t count : ranks) {
      if (sizes.back().size == count) sizes.pop_back();
      sizes.push_back({count, {from_0(HanComponent::basic)}});
      sizes.push_back({count + 1, {from_0(HanComponent::tuned)}});
    }
    rules.collectives.push_back({rule.id, {std::move(node), std::move(between)}});
  }
  return rules;
}

}  // namespace stripline::targets::openmpi
