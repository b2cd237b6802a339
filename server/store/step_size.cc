#include "server/store/step_size.h"

namespace stripline::server {
namespace {

// A row with its entries in indexes.
constexpr size_t kRowBytes = 200;

}  // namespace

size_t bytes_of(const Changes& changes) {
  size_t bytes = 0;
  const auto rows = [&](const auto& records) { bytes += kRowBytes * records.size(); };
  rows(changes.nodes);
  rows(changes.campaigns);
  rows(changes.runs);
  rows(changes.attempts);
  rows(changes.attempt_ends);
  rows(changes.facts);
  rows(changes.audit);
  for (const PointUpdate& update : changes.point_updates) {
    bytes += kRowBytes + update.medians.size() * sizeof(double);
  }
  for (const RunPlan& plan : changes.plans) bytes += plan.assignment_json.size();
  for (const CampaignPoints& campaign : changes.points) rows(campaign.points);
  for (const BatchRecord& batch : changes.batches) bytes += kRowBytes + batch.data.size();
  for (const BatchRecord* batch : changes.live_batches) bytes += kRowBytes + batch->data.size();
  for (const EventRecord& event : changes.events) bytes += kRowBytes + event.view_json.size();
  for (const NewModelVersion& version : changes.versions) bytes += version.content.size();
  return bytes;
}

}  // namespace stripline::server
