#include "server/core/operations/retention.h"

#include <chrono>
#include <string>
#include <thread>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"

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
      STRIPLINE_RETURN_IF_ERROR(remove(
          campaign, "it ended more than " + exact_seconds_text(limits_.keep_s) + " ago", stop));
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
    STRIPLINE_RETURN_IF_ERROR(remove(
        due.front(), "the database holds more than " + bytes_text(limits_.keep_bytes), stop));
  }
  return {};
}

// Unless somebody has it go on meanwhile: the sweeps in between take their time.
Status Retention::remove(const CampaignRecord& campaign, const std::string& why,
                         const std::stop_token& stop) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const bool removed, coordinator_.campaigns().delete_expendable(campaign.number, kActor, why));
  return removed ? sweep(stop) : Status();
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
