// Checks that networks are still as the stable versions of models say: sentinels are measured again
// from time to time while no run is active, and what becomes of a version that does not hold.
// Settings of another runtime are validated again where they were tuned; they do not hold either
// once the runtime, its configuration or the kernel is another one there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/coordinator.h"
#include "server/store/store.h"

namespace stripline::server {

/// What becomes of a stable version that is stale.
enum class StalePolicy {
  keep,      ///< It is marked, and stays stable.
  rollback,  ///< The label goes back to the version of before; where there is none, to nothing.
  replace  ///< Besides, the campaign that it was fitted to is repeated: its version becomes canary,
           ///< and stable once the nodes that try it have it. It does so once: what a person has
           ///< taken back, or labelled himself, is his.
};
std::optional<StalePolicy> stale_policy_from_string(std::string_view name);

struct SentinelOptions {
  double interval_s = 86400;  ///< From one measurement of a version to the next; 0: never.
  StalePolicy policy = StalePolicy::keep;
};

/// What is measured of a version: single operations, and of the campaign that it was fitted to, if
/// that is known, bursts and transfers of many regions, on the same kind of group.
CampaignSpec sentinel_spec(const std::optional<CampaignRecord>& fitted_to,
                           const std::string& fabric);

/// The campaign that validates settings again, which this one has tuned on these nodes
/// ("nodes/{node}").
CampaignSpec settings_check_spec(const CampaignRecord& tuned, const std::vector<std::string>& nodes,
                                 const VersionKey& key);

/// The campaign whose version is to replace one of this model.
CampaignSpec replacement_spec(const std::optional<CampaignRecord>& fitted_to,
                              const std::string& fabric, const std::string& model);

/// When the sentinels of a version are due that has been stable since then: an interval after the
/// last reading, or soon after one that was off.
double sentinels_due_unix_s(const ModelVersionRecord& version, double stable_since_unix_s,
                            double interval_s);

/// Not thread-safe: of one thread, beside those that use coordinator and store.
class Sentinels {
 public:
  /// The actor that the audit trail names.
  static constexpr std::string_view kActor = kServersOwn;

  /// `coordinator` and `store` must outlive it.
  Sentinels(Coordinator& coordinator, Store& store, const SentinelOptions& options)
      : coordinator_(coordinator), store_(store), options_(options) {}

  /// How often tend() is to be called.
  static double pause_s(const SentinelOptions& options);

  /// Does what is due, and returns at once: campaigns that it starts are looked at in later calls.
  /// What fails of one model is logged, and keeps no other from being looked after. Errors: the
  /// store's, where it cannot list the models.
  Status tend(double now_unix_s);

 private:
  Status tend_model(const ModelRecord& model, double now_unix_s);
  Status measure(const ModelRecord& model, const ModelVersionRecord& version,
                 double stable_since_unix_s, double now_unix_s);
  Status judge(const ModelVersionRecord& version, const CampaignRecord& campaign);
  // The attempts of a campaign that have finished.
  Result<std::vector<AttemptFacts>> finished_attempts(const CampaignRecord& campaign);
  // Returns whether the target has changed, so that the version is stale.
  Result<bool> look_at_target(const ModelRecord& model, const ModelVersionRecord& version);
  // Nullopt: it is not known where and how the version was measured.
  Result<std::optional<CampaignSpec>> check_spec(const ModelRecord& model,
                                                 const ModelVersionRecord& version);
  Status replace(const ModelRecord& model, const std::vector<LabelRecord>& moves);
  Status introduce(const ModelRecord& model, const VersionKey& version,
                   const std::vector<LabelRecord>& moves);
  Result<std::optional<CampaignRecord>> fitted_to(const ModelVersionRecord& version);
  void say_once(const std::string& text);

  Coordinator& coordinator_;
  Store& store_;
  const SentinelOptions options_;
  // By name of the version: the attempt in progress or to come, and when it may be made.
  struct Attempt {
    uint32_t number = 0;
    double not_before_unix_s = 0;
  };
  std::map<std::string, Attempt> attempts_;
  std::set<std::string> said_;
};

}  // namespace stripline::server
