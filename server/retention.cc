#include "server/retention.h"

#include <chrono>
#include <string>
#include <thread>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/names.h"

namespace stripline::server {
namespace {

// A campaign that has just ended may still be exported.
constexpr double kLeastKept_s = 3600;
constexpr size_t kPage = 16;
constexpr const char* kActor = "server";

}  // namespace

Status Retention::tidy(double now_unix_s, const std::stop_token& stop) {
  STRIPLINE_RETURN_IF_ERROR(sweep(stop));
  STRIPLINE_RETURN_IF_ERROR(delete_old(now_unix_s, stop));
  return delete_for_room(now_unix_s, stop);
}

Status Retention::delete_old(double now_unix_s, const std::stop_token& stop) {
  if (limits_.keep_s == 0) return {};
  while (!stop.stop_requested()) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto due,
                               store_.expendable_campaigns(now_unix_s - limits_.keep_s, kPage));
    if (due.empty()) return {};
    for (const CampaignRecord& campaign : due) {
      STRIPLINE_RETURN_IF_ERROR(
          remove(campaign, "it ended more than " + exact_seconds_text(limits_.keep_s) + " ago",
                 now_unix_s, stop));
    }
  }
  return {};
}

Status Retention::delete_for_room(double now_unix_s, const std::stop_token& stop) {
  if (limits_.keep_bytes == 0) return {};
  while (!stop.stop_requested()) {
    STRIPLINE_ASSIGN_OR_RETURN(const StoreSize size, store_.size());
    if (size.used_bytes() <= limits_.keep_bytes) {
      full_ = false;
      return {};
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto due,
                               store_.expendable_campaigns(now_unix_s - kLeastKept_s, 1));
    if (due.empty()) {
      if (!full_) {
        spdlog::warn(
            "the database holds {}, more than --keep-size ({}), and nothing is left that may be "
            "deleted",
            bytes_text(size.used_bytes()), bytes_text(limits_.keep_bytes));
      }
      full_ = true;
      return {};
    }
    STRIPLINE_RETURN_IF_ERROR(
        remove(due.front(), "the database holds more than " + bytes_text(limits_.keep_bytes),
               now_unix_s, stop));
  }
  return {};
}

Status Retention::remove(const CampaignRecord& campaign, const std::string& why, double now_unix_s,
                         const std::stop_token& stop) {
  const std::string name = campaign_name(campaign.number);
  Changes changes;
  changes.deleted_campaigns.push_back(campaign.number);
  changes.audit.push_back({0, now_unix_s, kActor, "delete campaign: " + why, name});
  STRIPLINE_RETURN_IF_ERROR(store_.apply(changes));
  meters_.count(Meters::Counter::campaigns_deleted);
  meters_.count(Meters::Counter::samples_deleted, static_cast<double>(campaign.samples));
  spdlog::info("{} is deleted, with {}: {}", name, count_text(campaign.samples, "sample"), why);
  return sweep(stop);
}

Status Retention::sweep(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const double start_s = steady_seconds();
    STRIPLINE_ASSIGN_OR_RETURN(const bool more, store_.sweep());
    if (!more) return {};
    // Others have the store for as long.
    std::this_thread::sleep_for(std::chrono::duration<double>(steady_seconds() - start_s));
  }
  return {};
}

}  // namespace stripline::server
