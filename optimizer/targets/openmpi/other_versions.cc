#include "optimizer/targets/openmpi/other_versions.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "optimizer/targets/openmpi/han_rules.h"
#include "optimizer/targets/openmpi/json_rules.h"

namespace stripline::targets::openmpi {
namespace {

constexpr std::string_view kVader = "btl_vader_";
constexpr std::string_view kSm = "btl_sm_";
// A component (smsc) in place of a parameter.
constexpr std::string_view kSingleCopy = "btl_vader_single_copy_mechanism";

enum class Format : uint8_t { unknown, classic_4_1, classic_5_0, json };

Format format_of(const Version& version) {
  const uint32_t first = version.numbers[0];
  const uint32_t second = version.numbers[1];
  if (first == 4 && second == 1) return Format::classic_4_1;
  if (first == 5 && second == 0) return Format::classic_5_0;
  return first == 6 ? Format::json : Format::unknown;
}

// The settings of 5.0 and later.
std::vector<Setting> renamed(const std::vector<Setting>& settings,
                             std::vector<std::string>& left_out) {
  std::vector<Setting> all;
  for (Setting setting : settings) {
    if (setting.name == kSingleCopy) {
      left_out.push_back(setting.name + " = " + setting.value +
                         ": there is no such parameter; copies by the kernel are a component "
                         "(smsc) from 5.0 on");
      continue;
    }
    if (setting.name.starts_with(kVader)) setting.name.replace(0, kVader.size(), kSm);
    all.push_back(std::move(setting));
  }
  return all;
}

}  // namespace

Result<OtherVersion> for_version(const std::vector<Setting>& settings, const RulesFile& rules,
                                 const Version& version, std::vector<std::string> comments) {
  const Format format = format_of(version);
  if (format == Format::unknown) {
    return Error(ErrorCode::unimplemented, "the files of Open MPI " + to_string(version) +
                                               " are not known here; there are 4.1, 5.0 and 6");
  }
  OtherVersion other{.settings = settings};
  if (format != Format::classic_4_1) other.settings = renamed(settings, other.left_out);
  JsonRulesFile ranges;
  if (format == Format::json) {
    // What was measured had all its ranks on one node.
    ranges = json_rules_of(rules, Distribution::single_node, other.left_out);
  }
  other.comments = std::move(comments);
  for (const std::string& one : other.left_out) other.comments.push_back("Left out: " + one);
  if (!ranges.collectives.empty()) other.rules = write_json_rules(ranges);
  if (format != Format::json && !rules.collectives.empty()) {
    other.rules = write_rules(rules, other.comments);
  }
  if (format == Format::classic_5_0) {
    const HanRules levels = han_rules_of(rules);
    if (!levels.collectives.empty()) other.han_rules = write_han_rules(levels, other.comments);
  }
  if (other.rules.empty() && other.settings.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "Open MPI " + to_string(version) + " has a word for none of these settings: " +
                     (other.left_out.empty() ? "there are none" : other.left_out.front()));
  }
  return other;
}

}  // namespace stripline::targets::openmpi
