// What stores that speak SQL have in common: the reads. Tables are as in sql_rows.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/sql.h"
#include "server/store/store.h"

namespace stripline::server {

class SqlStore : public Store {
 public:
  Result<std::vector<NodeRecord>> nodes(const std::string& after, size_t limit) override;
  Result<std::vector<std::string>> node_names(const std::string& after, size_t limit) override;
  Result<std::optional<NodeRecord>> node(const std::string& name) override;
  Result<std::vector<NodeHold>> node_holds() override;
  Result<uint64_t> count_nodes() override;
  Result<int64_t> next_campaign_number() override;
  Result<std::optional<CampaignRecord>> campaign(int64_t number) override;
  Result<std::optional<CampaignRecord>> campaign_of_request(const std::string& owner,
                                                            const std::string& request_id) override;
  Result<std::vector<CampaignRecord>> campaigns(int64_t before, size_t limit) override;
  Result<std::vector<VersionKey>> versions_of(int64_t campaign) override;
  Result<std::vector<CampaignRecord>> unfinished_campaigns() override;
  Result<std::vector<CampaignRecord>> expendable_campaigns(double ended_before_unix_s,
                                                           size_t limit) override;
  Result<std::vector<RunRecord>> runs(int64_t campaign) override;
  Result<std::string> run_plan(const RunKey& run) override;
  Result<std::vector<PointRecord>> points(int64_t campaign, const PointFilter& filter,
                                          uint32_t from, size_t limit) override;
  Result<std::vector<ExperimentSummary>> point_summary(int64_t campaign) override;
  Result<PointColumns> point_columns(int64_t campaign, const std::string& experiment) override;
  Result<std::optional<campaign::MedianTable>> point_medians(int64_t campaign) override;
  Result<std::optional<std::string>> sampling_node(const RunKey& run, uint64_t fence) override;
  Result<std::optional<RunAttempt>> attempt(const RunKey& run, uint64_t fence) override;
  Result<std::vector<AttemptRecord>> attempts_between(double from_unix_s, double to_unix_s,
                                                      size_t limit) override;
  Result<std::vector<AttemptFacts>> attempt_facts(const RunKey& run, uint64_t fence) override;
  Result<std::optional<bool>> has_batch(const RunKey& run, uint64_t fence, uint64_t seq,
                                        const std::string& data) override;
  Result<uint64_t> contiguous_batches(const RunKey& run, uint64_t fence) override;
  Result<std::vector<BatchRecord>> attempt_batches(const RunKey& run, uint64_t fence) override;
  Result<std::vector<BatchRecord>> batches(int64_t campaign, int64_t after, size_t limit) override;
  Result<std::vector<EventRecord>> events(int64_t campaign, uint64_t cursor, size_t limit) override;
  Result<std::vector<ModelRecord>> models(const std::string& after, size_t limit) override;
  Result<std::optional<ModelRecord>> model(const std::string& name) override;
  Result<std::vector<ModelVersionRecord>> model_versions(const std::string& model, int64_t before,
                                                         size_t limit) override;
  Result<std::optional<ModelVersionRecord>> model_version(const VersionKey& key) override;
  Result<std::string> model_content(const VersionKey& key) override;
  Result<std::vector<LabelRecord>> labels(const std::string& model) override;
  Result<std::vector<CheckRecord>> checks(const std::string& model) override;
  Result<std::vector<NodeModelRecord>> node_models() override;
  Result<std::optional<VersionKey>> version_of_content(const std::string& sha256) override;
  Result<std::vector<FeedbackRecord>> feedback(const VersionKey& key, uint64_t before,
                                               size_t limit) override;
  Result<int64_t> next_operation_number() override;
  Result<std::optional<OperationRecord>> operation(int64_t number) override;
  Result<std::optional<OperationRecord>> operation_of_request(
      const std::string& actor, const std::string& request_id) override;
  Result<std::vector<OperationRecord>> operations(int64_t before, size_t limit) override;
  Result<std::vector<OperationRecord>> unfinished_operations() override;
  Result<std::vector<TokenRecord>> tokens() override;
  Result<std::vector<NodeBound>> node_bounds() override;
  Result<std::vector<AuditRecord>> audit(int64_t before, size_t limit) override;
  Result<std::vector<AuditRecord>> audit_of_nodes(double from_unix_s, double to_unix_s,
                                                  size_t limit) override;

 protected:
  using Use = std::function<Status(SqlDatabase&)>;
  /// Calls `use` with a connection for reads, of which no other thread makes use meanwhile. Once
  /// more, from its beginning, where the connection had to be made again.
  virtual Status read(const Use& use) = 0;

 private:
  Status add_what_is_known(const std::string& model, std::vector<ModelVersionRecord>& versions);
  template <typename Read, typename... Values>
  auto select(Read read_row, std::string_view sql, const Values&... values)
      -> Result<std::vector<std::decay_t<decltype(*read_row(std::declval<SqlStatement&>()))>>>;
  template <typename Read, typename... Values>
  auto select_one(Read read_row, std::string_view sql, const Values&... values)
      -> Result<std::optional<std::decay_t<decltype(*read_row(std::declval<SqlStatement&>()))>>>;
  template <typename... Values>
  Result<std::string> select_text(std::string_view sql, const std::string& what,
                                  const Values&... values);
};

}  // namespace stripline::server
