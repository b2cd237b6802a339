#include "optimizer/targets/nccl/nccl.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/cut_text.h"
#include "base/number_text.h"
#include "optimizer/targets/lines.h"

namespace stripline::targets::nccl {
namespace {

constexpr std::string_view kCollectives[] = {"allreduce", "broadcast", "reduce", "allgather",
                                             "reducescatter"};
constexpr std::string_view kAlgorithms[] = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::string_view kProtocols[] = {"ll", "ll128", "simple"};
constexpr int64_t kMostCount = 1 << 24;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find(',', at), line.size());
    columns.push_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return columns;
}

// What is wrong with a rule, or nothing.
std::string mistake(const TunerRule& rule) {
  if (!is_one_of(rule.collective, kCollectives)) {
    return quoted_text(rule.collective) + " is not a collective of NCCL's tuners";
  }
  if (!is_one_of(rule.algorithm, kAlgorithms)) {
    return quoted_text(rule.algorithm) + " is not an algorithm of NCCL";
  }
  if (!is_one_of(rule.protocol, kProtocols)) {
    return quoted_text(rule.protocol) + " is not a protocol of NCCL";
  }
  if (rule.least_bytes > rule.most_bytes || rule.most_bytes > TunerRule::kMostBytes) {
    return "sizes do not go from a smaller to a larger one of at most 4294967295";
  }
  for (const int64_t count : {rule.channels, rule.nodes, rule.ranks, rule.pipelined_operations}) {
    if (count != -1 && (count < 1 || count > kMostCount))
      return "a count is neither -1 nor above 0";
  }
  if (rule.registered < -1 || rule.registered > 1) return "regBuff is neither -1, 0 nor 1";
  return {};
}

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "nccl", .title = "NCCL"};
  return kTarget;
}

Result<std::vector<TunerRule>> read_tuner_file(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto lines, lines_of(text, what));
  std::vector<TunerRule> rules;
  for (const Line& line : lines) {
    const std::string_view rest = trimmed(line.text);
    if (rest.empty() || rest.front() == '#') continue;
    const auto columns = columns_of(rest);
    if (columns.size() < 8 || columns.size() > 10) {
      return bad_line(what, line, "has not 8 to 10 columns");
    }
    TunerRule rule{.collective = std::string(columns[0]),
                   .algorithm = std::string(columns[3]),
                   .protocol = std::string(columns[4])};
    std::vector<int64_t> numbers;
    for (const size_t column : {1U, 2U, 5U, 6U, 7U, 8U, 9U}) {
      if (column >= columns.size()) break;
      const auto number = number_from_text<int64_t>(columns[column]);
      if (!number || (column < 3 && *number < 0)) {
        return bad_line(what, line, quoted_text(columns[column]) + " is not a valid number");
      }
      numbers.push_back(*number);
    }
    rule.least_bytes = static_cast<uint64_t>(numbers[0]);
    rule.most_bytes = static_cast<uint64_t>(numbers[1]);
    rule.channels = numbers[2];
    rule.nodes = numbers[3];
    rule.ranks = numbers[4];
    if (numbers.size() > 5) rule.pipelined_operations = numbers[5];
    if (numbers.size() > 6) rule.registered = numbers[6];
    if (const std::string wrong = mistake(rule); !wrong.empty()) return bad_line(what, line, wrong);
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::string> write_tuner_file(const std::vector<TunerRule>& rules,
                                     const std::vector<std::string>& comments) {
  std::string text = comment_block(comments);
  const bool registered =
      std::ranges::any_of(rules, [](const TunerRule& rule) { return rule.registered != -1; });
  const bool pipelined = registered || std::ranges::any_of(rules, [](const TunerRule& rule) {
                           return rule.pipelined_operations != -1;
                         });
  text += std::string("# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,") +
          "nRanks" + (pipelined ? ",numPipeOps" : "") + (registered ? ",regBuff" : "") + "\n";
  for (const TunerRule& rule : rules) {
    if (const std::string wrong = mistake(rule); !wrong.empty()) {
      return Error(ErrorCode::invalid_argument, "a rule for NCCL's tuner: " + wrong);
    }
    text += rule.collective + "," + std::to_string(rule.least_bytes) + "," +
            std::to_string(rule.most_bytes) + "," + rule.algorithm + "," + rule.protocol + "," +
            std::to_string(rule.channels) + "," + std::to_string(rule.nodes) + "," +
            std::to_string(rule.ranks);
    if (pipelined) text += "," + std::to_string(rule.pipelined_operations);
    if (registered) text += "," + std::to_string(rule.registered);
    text += "\n";
  }
  return text;
}

}  // namespace stripline::targets::nccl
