// Resource names (proto/stripline/v1/common.proto): paths whose segments match
// [a-z0-9][a-z0-9._-]{0,62}. Campaigns are numbered from 1 and named "campaigns/c1"; runs are
// numbered from 1 within their campaign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stripline::server {

/// One run of a campaign.
struct RunKey {
  int64_t campaign = 0;
  uint32_t run = 0;
  auto operator<=>(const RunKey&) const = default;
};

/// One version of a model; `version` 0 is the latest.
struct VersionKey {
  std::string model;  ///< without "models/"
  int64_t version = 0;
  bool operator==(const VersionKey&) const = default;
};

bool is_segment(std::string_view text);

/// The cluster of nodes that name none.
inline constexpr const char* kDefaultCluster = "default";

/// The segment closest to `text`: lower case, other characters become '-', cut to 63. "model" if
/// nothing is left.
std::string to_segment(std::string_view text);

std::string campaign_name(int64_t campaign);      ///< "campaigns/c3"
std::string run_name(const RunKey& key);          ///< "campaigns/c3/runs/1"
std::string node_name(std::string_view node);     ///< "nodes/a"
std::string model_name(std::string_view model);   ///< "models/tcp"
std::string version_name(const VersionKey& key);  ///< "models/tcp/versions/2"

/// Each returns nullopt when the name is not of its kind.
std::optional<int64_t> parse_campaign_name(std::string_view name);
std::optional<RunKey> parse_run_name(std::string_view name);
std::optional<std::string> parse_node_name(std::string_view name);
std::optional<std::string> parse_model_name(std::string_view name);
/// The model's and the label's own segments of "models/{model}/labels/{label}".
std::optional<std::pair<std::string, std::string>> parse_label_name(std::string_view name);
/// Accepts "models/{model}/versions/{version}" and "models/{model}", which is the latest.
std::optional<VersionKey> parse_version_name(std::string_view name);

}  // namespace stripline::server
