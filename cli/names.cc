#include "cli/names.h"

#include <algorithm>

namespace stripline::cli {
namespace {

constexpr std::string_view kCampaigns = "campaigns/";
constexpr std::string_view kModels = "models/";
constexpr std::string_view kVersions = "/versions/";
constexpr std::string_view kLabels = "/labels/";
constexpr std::string_view kNodes = "nodes/";
constexpr std::string_view kOperations = "operations/";

bool is_segment(std::string_view text) {
  constexpr size_t kMaxLength = 63;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kMaxLength && alphanumeric(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

bool is_version(std::string_view text) {
  return !text.empty() && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without(std::string_view prefix, std::string_view text) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

Error bad_name(std::string_view text, const std::string& kind, const std::string& example) {
  return {ErrorCode::invalid_argument, "'" + std::string(text) + "' is not the name of a " + kind +
                                           "; one looks like " + example};
}

}  // namespace

Result<std::string> campaign_resource(std::string_view text) {
  const std::string_view segment = without(kCampaigns, text);
  if (!is_segment(segment)) return bad_name(text, "campaign", "'c3' ('stripline campaign list')");
  return std::string(kCampaigns) + std::string(segment);
}

Result<std::string> run_resource(std::string_view text) {
  const std::string_view rest = without(kCampaigns, text);
  const size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view number = without("runs/", rest.substr(slash + 1));
    const auto campaign = campaign_resource(rest.substr(0, slash));
    if (campaign.ok() && is_version(number)) return *campaign + "/runs/" + std::string(number);
  }
  return bad_name(text, "run", "'c3/2', run 2 of campaign c3");
}

Result<std::string> operation_resource(std::string_view text) {
  const std::string_view segment = without(kOperations, text);
  if (!is_segment(segment)) return bad_name(text, "operation", "'o3' ('stripline operation list')");
  return std::string(kOperations) + std::string(segment);
}

Result<std::string> model_resource(std::string_view text) {
  std::string_view model = without(kModels, text);
  std::string_view separator;
  std::string_view rest;
  for (const std::string_view one : {kVersions, kLabels, std::string_view("@")}) {
    const size_t at = model.find(one);
    if (at == std::string_view::npos) continue;
    separator = one;
    rest = model.substr(at + one.size());
    model = model.substr(0, at);
    break;
  }
  const bool is_number = is_version(rest);
  const bool known = separator.empty() || (separator == kVersions ? is_number : is_segment(rest));
  if (!is_segment(model) || !known) {
    return bad_name(text, "model", "'tcp', 'tcp@2' or 'tcp@stable' ('stripline model list')");
  }
  std::string name = std::string(kModels) + std::string(model);
  if (separator.empty()) return name;
  if (separator == "@") separator = is_number ? kVersions : kLabels;
  return name + std::string(separator) + std::string(rest);
}

Result<std::string> node_resource(std::string_view text) {
  const std::string_view segment = without(kNodes, text);
  if (!is_segment(segment)) return bad_name(text, "node", "'node-7' ('stripline nodes')");
  return std::string(kNodes) + std::string(segment);
}

std::string short_name(std::string_view resource) {
  for (const std::string_view prefix : {kCampaigns, kModels, kNodes, kOperations}) {
    if (!resource.starts_with(prefix)) continue;
    std::string name(resource.substr(prefix.size()));
    for (const std::string_view separator : {kVersions, kLabels}) {
      const size_t at = name.find(separator);
      if (at != std::string::npos) name.replace(at, separator.size(), "@");
    }
    return name;
  }
  return std::string(resource);
}

std::string model_segment(std::string_view resource) {
  const std::string name = short_name(resource);
  return name.substr(0, name.find('@'));
}

}  // namespace stripline::cli
