#include "server/store/names.h"

#include "base/number_text.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxSegment = 63;

bool is_first(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_rest(char c) { return is_first(c) || c == '.' || c == '_' || c == '-'; }

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// A positive number without sign or leading zeros.
template <typename Integer>
std::optional<Integer> number(std::string_view text) {
  const auto value = number_from_text<Integer>(text);
  return value && *value > 0 && text[0] != '0' ? value : std::nullopt;
}

}  // namespace

bool is_segment(std::string_view text) {
  if (text.empty() || text.size() > kMaxSegment || !is_first(text[0])) return false;
  for (const char c : text) {
    if (!is_rest(c)) return false;
  }
  return true;
}

std::string to_segment(std::string_view text) {
  std::string segment;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_rest(c)) c = '-';
    if (segment.empty() && !is_first(c)) continue;
    segment.push_back(c);
    if (segment.size() == kMaxSegment) break;
  }
  return segment.empty() ? "model" : segment;
}

std::string campaign_name(int64_t campaign) { return "campaigns/c" + std::to_string(campaign); }

std::string run_name(const RunKey& key) {
  return campaign_name(key.campaign) + "/runs/" + std::to_string(key.run);
}

std::string node_name(std::string_view node) { return "nodes/" + std::string(node); }

std::string model_name(std::string_view model) { return "models/" + std::string(model); }

std::string version_name(const VersionKey& key) {
  return model_name(key.model) + "/versions/" + std::to_string(key.version);
}

std::optional<int64_t> parse_campaign_name(std::string_view name) {
  if (!take(name, "campaigns/c")) return std::nullopt;
  return number<int64_t>(name);
}

std::optional<RunKey> parse_run_name(std::string_view name) {
  const size_t slash = name.find("/runs/");
  if (slash == std::string_view::npos) return std::nullopt;
  const auto campaign = parse_campaign_name(name.substr(0, slash));
  const auto run = number<uint32_t>(name.substr(slash + 6));
  if (!campaign || !run) return std::nullopt;
  return RunKey{*campaign, *run};
}

std::optional<std::string> parse_node_name(std::string_view name) {
  if (!take(name, "nodes/") || !is_segment(name)) return std::nullopt;
  return std::string(name);
}

std::optional<std::string> parse_model_name(std::string_view name) {
  if (!take(name, "models/") || !is_segment(name)) return std::nullopt;
  return std::string(name);
}

std::optional<std::pair<std::string, std::string>> parse_label_name(std::string_view name) {
  constexpr std::string_view kLabels = "/labels/";
  const size_t slash = name.find(kLabels);
  if (slash == std::string_view::npos) return std::nullopt;
  auto model = parse_model_name(name.substr(0, slash));
  const std::string_view label = name.substr(slash + kLabels.size());
  if (!model || !is_segment(label)) return std::nullopt;
  return std::pair(std::move(*model), std::string(label));
}

std::optional<VersionKey> parse_version_name(std::string_view name) {
  const size_t slash = name.find("/versions/");
  const auto model = parse_model_name(name.substr(0, slash));
  if (!model) return std::nullopt;
  if (slash == std::string_view::npos) return VersionKey{*model, 0};
  const auto version = number<int64_t>(name.substr(slash + 10));
  if (!version) return std::nullopt;
  return VersionKey{*model, *version};
}

}  // namespace stripline::server
