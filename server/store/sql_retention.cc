#include "server/store/sql_retention.h"

#include <string>

namespace stripline::server {

const std::string_view kExpendable =
    " FROM campaigns WHERE state IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND updated < ?1"
    " AND model_version = '' AND NOT EXISTS (SELECT 1 FROM model_versions"
    "  WHERE campaigns LIKE '%\"campaigns/c' || number || '\"%')"  // a JSON array of such names
    " ORDER BY updated, number LIMIT ?2";

namespace {

// Rows of one sweep: so few that deleting them takes milliseconds.
constexpr int kBatches = 200;
constexpr int kEvents = 1000;
constexpr int kPoints = 5000;

Result<bool> has_any(SqlDatabase& database, const std::string& table, const std::string& campaign) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string found,
      database.query_text("SELECT count(*) FROM (SELECT 1 FROM " + table +
                          " WHERE campaign = " + campaign + " LIMIT 1) AS found"));
  return !found.starts_with('0');
}

Status delete_batches(SqlDatabase& database, const std::string& campaign) {
  const std::string some = "(SELECT id FROM batches WHERE campaign = " + campaign +
                           " ORDER BY id LIMIT " + std::to_string(kBatches) + ");";
  return database.execute("DELETE FROM payloads WHERE batch IN " + some +
                          "DELETE FROM batches WHERE id IN " + some);
}

Status delete_events(SqlDatabase& database, const std::string& campaign) {
  return database.execute(
      "DELETE FROM events WHERE cursor IN (SELECT cursor FROM events"
      " WHERE campaign = " +
      campaign + " ORDER BY cursor LIMIT " + std::to_string(kEvents) + ")");
}

Status delete_points(SqlDatabase& database, const std::string& campaign) {
  const std::string of_campaign = " WHERE campaign = " + campaign;
  return database.execute("DELETE FROM points" + of_campaign +
                          " AND place IN (SELECT place FROM points" + of_campaign + " LIMIT " +
                          std::to_string(kPoints) + ")");
}

// Each before what it refers to.
Status delete_rest(SqlDatabase& database, const std::string& campaign) {
  std::string sql;
  for (const char* table : {"attempt_nodes", "attempts", "plans", "runs"}) {
    sql += "DELETE FROM " + std::string(table) + " WHERE campaign = " + campaign + ";";
  }
  return database.execute(sql + "DELETE FROM campaigns WHERE number = " + campaign +
                          ";DELETE FROM fingerprints"
                          " WHERE sha256 NOT IN (SELECT fingerprint FROM attempt_nodes)");
}

}  // namespace

Result<bool> sweep_deleted(SqlDatabase& database) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string campaign,
      database.query_text("SELECT min(number) FROM campaigns WHERE state = 'DELETED'"));
  if (campaign.empty()) return false;
  STRIPLINE_ASSIGN_OR_RETURN(const bool batches, has_any(database, "batches", campaign));
  STRIPLINE_ASSIGN_OR_RETURN(const bool events, has_any(database, "events", campaign));
  STRIPLINE_ASSIGN_OR_RETURN(const bool points, has_any(database, "points", campaign));
  STRIPLINE_RETURN_IF_ERROR(batches  ? delete_batches(database, campaign)
                            : events ? delete_events(database, campaign)
                            : points ? delete_points(database, campaign)
                                     : delete_rest(database, campaign));
  return true;
}

}  // namespace stripline::server
