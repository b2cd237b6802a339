#include "optimizer/targets/openmpi/rules_file.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "base/cut_text.h"
#include "base/quantity.h"
#include "optimizer/targets/lines.h"
#include "optimizer/targets/openmpi/algorithms.h"

namespace stripline::targets::openmpi {
namespace {

// Far above any file that makes sense; a count beyond it is a mistake.
constexpr uint64_t kMostSizes = 10000;
constexpr uint64_t kLargestInt = std::numeric_limits<int>::max();
constexpr auto kLargestLong = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

struct Token {
  Line line;
  uint64_t number = 0;
};

Result<std::vector<Token>> tokens_of(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto lines, lines_of(text, what));
  std::vector<Token> tokens;
  for (const Line& line : lines) {
    std::string_view rest = line.text.substr(0, std::min(line.text.find('#'), line.text.size()));
    for (rest = trimmed(rest); !rest.empty(); rest = trimmed(rest)) {
      const std::string_view word =
          rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
      rest.remove_prefix(word.size());
      if (word == "rule-file-version-2") {
        return bad_line(what, line,
                        "is the format of Open MPI 4.1.8, 5.0.7 and later, which 4.1.4 refuses");
      }
      Token token{.line = line};
      const auto [end, error] =
          std::from_chars(word.data(), word.data() + word.size(), token.number);
      if (error != std::errc() || end != word.data() + word.size() || token.number > kLargestLong) {
        return bad_line(what, line,
                        quoted_text(word) + " is not a whole number; Open MPI would skip it");
      }
      if (word.size() > 1 && word.front() == '0') {
        return bad_line(what, line,
                        quoted_text(word) + " begins with 0; Open MPI would read it as octal");
      }
      tokens.push_back(token);
    }
  }
  return tokens;
}

class Reader {
 public:
  Reader(std::vector<Token> tokens, std::string_view what)
      : tokens_(std::move(tokens)), what_(what) {}

  Result<RulesFile> read() {
    RulesFile file;
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t count,
                               next("the number of collectives", kLargestCollectiveId + 1));
    std::set<int> seen;
    for (uint64_t i = 0; i < count; ++i) {
      CollectiveRule rule;
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t id,
                                 next("the number of a collective", kLargestCollectiveId));
      rule.id = static_cast<int>(id);
      if (!seen.insert(rule.id).second) {
        return complain("collective " + std::to_string(id) + " comes a second time");
      }
      STRIPLINE_RETURN_IF_ERROR(read_communicators(rule));
      file.collectives.push_back(std::move(rule));
    }
    if (at_ < tokens_.size()) {
      ++at_;
      return complain("has more numbers than its counts say");
    }
    return file;
  }

 private:
  Result<uint64_t> next(std::string_view meaning, uint64_t most) {
    if (at_ == tokens_.size()) {
      return Error(ErrorCode::data_loss,
                   std::string(what_) + " ends where " + std::string(meaning) + " should be");
    }
    const uint64_t number = tokens_[at_++].number;
    if (number > most) {
      return complain(std::to_string(number) + " is too large for " + std::string(meaning) +
                      ", which is at most " + std::to_string(most));
    }
    return number;
  }

  // About the number that was read last.
  Error complain(const std::string& problem) const {
    return bad_line(what_, tokens_[at_ - 1].line, problem);
  }

  Status read_communicators(CollectiveRule& rule) {
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t count,
                               next("the number of communicator sizes", kMostSizes));
    for (uint64_t i = 0; i < count; ++i) {
      CommunicatorRule communicator;
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t ranks, next("a number of ranks", kLargestInt));
      communicator.ranks = static_cast<uint32_t>(ranks);
      if (!rule.communicators.empty() && communicator.ranks <= rule.communicators.back().ranks) {
        return complain("numbers of ranks do not ascend");
      }
      STRIPLINE_RETURN_IF_ERROR(read_messages(rule.id, communicator));
      rule.communicators.push_back(std::move(communicator));
    }
    return {};
  }

  Status read_messages(int id, CommunicatorRule& communicator) {
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t count,
                               next("the number of message sizes", kMostSizes));
    for (uint64_t i = 0; i < count; ++i) {
      MessageRule message;
      STRIPLINE_ASSIGN_OR_RETURN(message.bytes, next("a message size", kLargestLong));
      if (i == 0 && message.bytes != 0) return complain("the first message size is not 0");
      if (i > 0 && message.bytes <= communicator.messages.back().bytes) {
        return complain("message sizes do not ascend");
      }
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t number, next("an algorithm", kLargestInt));
      message.algorithm = static_cast<int>(number);
      const auto collective = collective_of(id);
      if (number != 0 && collective && !algorithm(*collective, message.algorithm)) {
        return complain("Open MPI 4.1.4 has no algorithm " + std::to_string(number) + " of " +
                        std::string(to_string(*collective)) +
                        "; calls would fail with MPI_ERR_ARG");
      }
      if (number != 0 && !collective) {
        return complain("algorithms of collective " + std::to_string(id) +
                        " are not known here; 0 leaves them alone");
      }
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t fan, next("a fan in and out", kLargestInt));
      message.fan = static_cast<uint32_t>(fan);
      STRIPLINE_ASSIGN_OR_RETURN(message.segment_bytes, next("a segment size", kLargestInt));
      communicator.messages.push_back(message);
    }
    return {};
  }

  std::vector<Token> tokens_;
  std::string_view what_;
  size_t at_ = 0;
};

bool only_default(const CommunicatorRule& rule) {
  return std::ranges::all_of(rule.messages,
                             [](const MessageRule& one) { return one.algorithm == 0; });
}

std::string name_of(int id) {
  const auto collective = collective_of(id);
  return collective ? std::string(to_string(*collective)) : "collective " + std::to_string(id);
}

std::string name_of(int id, const MessageRule& rule) {
  if (rule.algorithm == 0) return "the built-in decision";
  const auto collective = collective_of(id);
  const auto found = collective ? algorithm(*collective, rule.algorithm) : std::nullopt;
  std::string name = found ? found->name : "algorithm " + std::to_string(rule.algorithm);
  if (rule.fan > 0) name += ", fan of " + std::to_string(rule.fan);
  if (rule.segment_bytes > 0) name += ", segments of " + exact_bytes_text(rule.segment_bytes);
  return name;
}

// Hazards of the messages of one communicator.
void add_hazards(Collective collective, const CommunicatorRule& rule, const Safety& safety,
                 std::vector<std::string>& found) {
  const std::string where =
      std::string(to_string(collective)) + " of " + count_text(rule.ranks, "rank");
  if (rule.messages.size() > 1 && ranks_may_see_other_sizes(collective)) {
    found.push_back(where +
                    " has rules by size: ranks may see other sizes in one call, choose different "
                    "algorithms and hang");
  }
  for (const MessageRule& message : rule.messages) {
    if (message.algorithm == 0) continue;
    const std::string reason =
        rule_refusal(collective, rule.ranks, message.bytes, message.algorithm, safety);
    if (reason.empty()) continue;
    found.push_back(where + " from " + exact_bytes_text(message.bytes) +
                    " on: " + algorithm(collective, message.algorithm)->name + " " + reason);
  }
}

}  // namespace

Result<RulesFile> read_rules(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(auto tokens, tokens_of(text, what));
  return Reader(std::move(tokens), what).read();
}

std::string write_rules(const RulesFile& file, const std::vector<std::string>& comments) {
  std::string text = comment_block(comments);
  text += std::to_string(file.collectives.size()) + "  # collectives\n";
  for (const CollectiveRule& collective : file.collectives) {
    text += std::to_string(collective.id) + "  # " + name_of(collective.id) + "\n" +
            std::to_string(collective.communicators.size()) + "  # communicator sizes\n";
    for (const CommunicatorRule& communicator : collective.communicators) {
      text += std::to_string(communicator.ranks) + " " +
              std::to_string(communicator.messages.size()) + "  # from " +
              count_text(communicator.ranks, "rank") +
              " on: " + count_text(communicator.messages.size(), "size") + "\n";
      for (const MessageRule& message : communicator.messages) {
        text += std::to_string(message.bytes) + " " + std::to_string(message.algorithm) + " " +
                std::to_string(message.fan) + " " + std::to_string(message.segment_bytes) +
                "  # from " + exact_bytes_text(message.bytes) +
                " on: " + name_of(collective.id, message) + "\n";
      }
    }
  }
  return text;
}

std::vector<std::string> hazards(const RulesFile& file, const Safety& safety) {
  std::vector<std::string> found;
  for (const CollectiveRule& rule : file.collectives) {
    const auto collective = collective_of(rule.id);
    const auto& communicators = rule.communicators;
    if (!collective || communicators.empty()) continue;
    const std::string name(to_string(*collective));
    if (communicators.front().ranks > 0 && !only_default(communicators.front())) {
      found.push_back(name + ": communicators of fewer than " +
                      count_text(communicators.front().ranks, "rank") +
                      " get the first rule; begin with one of the built-in decision for 0 ranks");
    }
    for (size_t i = 0; i < communicators.size(); ++i) {
      add_hazards(*collective, communicators[i], safety, found);
      if (only_default(communicators[i])) continue;
      const bool last = i + 1 == communicators.size();
      if (last || communicators[i + 1].ranks > communicators[i].ranks + 1) {
        found.push_back(name + ": the rule for " + count_text(communicators[i].ranks, "rank") +
                        " holds for " + std::to_string(communicators[i].ranks + 1) +
                        (last ? " and more" : " and more, up to the next one") +
                        ", too; follow it by one of the built-in decision");
      }
    }
  }
  return found;
}

Result<RulesFile> rules_file(const std::vector<CollectiveRules>& rules, const Safety& safety) {
  RulesFile file;
  for (const CollectiveRules& of_one : rules) {
    if (of_one.by_ranks.empty()) continue;
    const Collective collective = of_one.collective;
    CollectiveRule rule{.id = collective_id(collective)};
    // Smaller communicators than the first one listed would get its rule.
    rule.communicators.push_back({0, {MessageRule{}}});
    for (const RankRules& of_ranks : of_one.by_ranks) {
      auto& communicators = rule.communicators;
      if (communicators.back().ranks == of_ranks.ranks) communicators.pop_back();
      CommunicatorRule communicator{.ranks = of_ranks.ranks};
      auto& messages = communicator.messages;
      if (of_ranks.ranges.front().first > 0) messages.push_back({});
      for (const SizeRange& range : of_ranks.ranges) {
        const uint64_t first = rule_bytes(collective, of_ranks.ranks, range.first);
        if (!messages.empty() && messages.back().bytes == first) messages.pop_back();
        const Candidate& chosen = range.candidate;
        messages.push_back({first, chosen.id, chosen.fan, chosen.segment_bytes});
        const uint64_t last = rule_bytes(collective, of_ranks.ranks, range.last);
        if (last < kLargestLong) messages.push_back({last + 1, 0, 0, 0});
      }
      communicators.push_back(std::move(communicator));
      communicators.push_back({of_ranks.ranks + 1, {MessageRule{}}});
    }
    file.collectives.push_back(std::move(rule));
  }
  const auto found = hazards(file, safety);
  if (!found.empty()) {
    return Error(ErrorCode::failed_precondition, "the rules are not safe: " + found.front());
  }
  return file;
}

RulesFile with_probe(const RulesFile& file, Collective collective, uint32_t ranks,
                     const Candidate& probe) {
  RulesFile probed = file;
  const int id = collective_id(collective);
  auto found = std::ranges::find(probed.collectives, id, &CollectiveRule::id);
  if (found == probed.collectives.end()) {
    found = probed.collectives.insert(found, {id, {{0, {MessageRule{}}}}});
  }
  auto& communicators = found->communicators;
  const auto first_from = [&](uint32_t size) {
    return std::ranges::lower_bound(communicators, size, {}, &CommunicatorRule::ranks);
  };
  // What held for the next number of ranks goes on to hold for it.
  if (auto next = first_from(ranks + 1); next == communicators.end() || next->ranks != ranks + 1) {
    CommunicatorRule after{ranks + 1, {MessageRule{}}};
    if (next != communicators.begin()) after.messages = std::prev(next)->messages;
    communicators.insert(next, std::move(after));
  }
  auto at = first_from(ranks);
  if (at->ranks != ranks) at = communicators.insert(at, {ranks, {}});
  at->messages = {{0, probe.id, probe.fan, probe.segment_bytes}};
  return probed;
}

MessageRule rule_for(const RulesFile& file, Collective collective, uint32_t ranks, uint64_t bytes) {
  const auto rule =
      std::ranges::find(file.collectives, collective_id(collective), &CollectiveRule::id);
  if (rule == file.collectives.end() || rule->communicators.empty()) return {};
  // Open MPI begins with the first entry, whatever its size.
  const CommunicatorRule* communicator = &rule->communicators.front();
  for (const CommunicatorRule& one : rule->communicators) {
    if (one.ranks <= ranks) communicator = &one;
  }
  if (communicator->messages.empty()) return {};
  MessageRule best = communicator->messages.front();
  for (const MessageRule& one : communicator->messages) {
    if (one.bytes <= bytes) best = one;
  }
  return best;
}

}  // namespace stripline::targets::openmpi
