#include "cli/watch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "base/exit_codes.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "cli/console.h"
#include "cli/names.h"
#include "optimizer/experiment/tuning.h"
#include "proto/campaign_messages.h"
#include "stripline/v1/campaigns.pb.h"

namespace stripline::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool ended(const v1::Campaign& campaign) {
  return campaign.state() == v1::Campaign::SUCCEEDED || campaign.state() == v1::Campaign::FAILED ||
         campaign.state() == v1::Campaign::CANCELLED;
}

// The server may be back soon, or another one in its place: a server that ends cancels its calls,
// and one that begins may be slow to answer.
bool is_away(const Error& error) {
  return error.code() == ErrorCode::unavailable || error.code() == ErrorCode::aborted ||
         error.code() == ErrorCode::cancelled || error.code() == ErrorCode::deadline_exceeded;
}

// Draws what it is given, each in its manner.
class Display {
 public:
  explicit Display(bool json)
      : manner_(json           ? Manner::json
                : can_redraw() ? Manner::redraw
                               : Manner::lines) {}
  ~Display() { clear(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void event(const v1::CampaignEvent& event) {
    if (manner_ == Manner::json) {
      print(json_line(event));
      return;
    }
    advise(event.campaign());
    progress_ = progress_of(event.campaign());
    last_event_ = Clock::now();
    if (manner_ == Manner::redraw) {
      draw();
      return;
    }
    const int tenth = static_cast<int>(fraction_done(*progress_) * 10);
    if (event.message().empty() && tenth == last_tenth_) return;
    last_tenth_ = tenth;
    print(
        event.time() + "  " +
        (event.message().empty() ? progress_summary(*progress_) : printable_line(event.message())) +
        "\n");
  }

  // Time passes: the estimate counts down between events.
  void tick(bool connected) {
    if (manner_ != Manner::redraw || !progress_) return;
    progress_->connected = connected;
    draw();
  }

  void server_lost(const Error& error) {
    if (manner_ != Manner::redraw) {
      print_note("stripline: the server is gone (" + error.message() + "); waiting for it\n");
    }
  }
  void server_back() {
    if (manner_ != Manner::redraw) print_note("stripline: the server is back\n");
  }

  void clear() {
    if (drawn_) erase_line();
    drawn_ = false;
  }

 private:
  enum class Manner { json, lines, redraw };

  // Once: the figure changes with every run.
  void advise(const v1::Campaign& campaign) {
    if (advised_ || budget_advice(campaign).empty()) return;
    advised_ = true;
    clear();
    print_note("stripline: " + budget_advice(campaign) + "\n");
  }

  void draw() {
    Progress shown = *progress_;
    const double since = seconds_since(last_event_);
    if (shown.left_s >= 0) shown.left_s = std::max(0.0, shown.left_s - since);
    shown.elapsed_s = seconds_since(start_);
    // One column stays free: writing into the last one would wrap on some terminals.
    const std::string line = progress_line(shown, terminal_width() - 1);
    if (drawn_ && line == line_) return;
    line_ = line;
    drawn_ = true;
    redraw_line(line);
  }

  Manner manner_;
  std::optional<Progress> progress_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_event_ = Clock::now();
  std::string line_;
  bool drawn_ = false;
  int last_tenth_ = -1;
  bool advised_ = false;
};

// Ranks that `stripline run` starts share a node and reach each other through its memory, unless
// they are asked to use what was measured; an emulated network goes by the clock that it was
// measured on.
std::string run_line(const v1::CampaignSpec& spec, const std::string& file) {
  std::string line = "stripline run -n " + std::to_string(std::max(2U, spec.ranks())) +
                     " --fabric " + spec.fabric();
  const auto& paths = spec.same_node();
  if (spec.clock() == "virtual") {
    line += " --clock virtual";
  } else if (paths.empty() && !spec.fabric().starts_with("emulated:")) {
    line += " --same-node network";
  } else if (!paths.empty() && std::ranges::find(paths, "mapped") == paths.end()) {
    line += " --same-node " + paths.Get(0);
  }
  return line + " --model " + file + " -- PROGRAM";
}

std::string use_line(const v1::CampaignSpec& spec, const std::string& file) {
  if (experiment::tuned_target(spec.fabric()).empty()) return run_line(spec, file);
  return "stripline export install --packed " + file;
}

std::string detached_text(const std::string& name) {
  const std::string id = short_name(name);
  return "\nstopped watching; " + name + " goes on\n  watch it:  stripline campaign watch " + id +
         "\n  stop it:   stripline campaign cancel " + id + "\n";
}

// Naps in small pieces, so that an interrupt ends the wait.
void nap(double seconds, Display& display) {
  const auto start = Clock::now();
  while (seconds_since(start) < seconds && !interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    display.tick(false);
  }
}

}  // namespace

Progress progress_of(const v1::Campaign& campaign) {
  Progress progress;
  switch (campaign.state()) {
    case v1::Campaign::RUNNING:
      progress.stage = Progress::Stage::measuring;
      break;
    case v1::Campaign::PAUSED:
      progress.stage = Progress::Stage::paused;
      break;
    case v1::Campaign::DRAINING:
      progress.stage = Progress::Stage::draining;
      break;
    case v1::Campaign::FITTING:
      progress.stage = Progress::Stage::fitting;
      break;
    case v1::Campaign::SUCCEEDED:
      progress.stage = Progress::Stage::succeeded;
      break;
    case v1::Campaign::FAILED:
      progress.stage = Progress::Stage::failed;
      break;
    case v1::Campaign::CANCELLED:
      progress.stage = Progress::Stage::cancelled;
      break;
    default:
      progress.stage = Progress::Stage::queued;
  }
  progress.points_done = campaign.points_done();
  progress.points_total = campaign.points_total();
  progress.runs_done = campaign.runs_done();
  progress.runs_total = campaign.runs_total();
  progress.left_s = campaign.seconds_left();
  progress.message = printable_line(campaign.message());
  return progress;
}

std::string budget_advice(const v1::Campaign& campaign) {
  const campaign::Spec spec = from_message(campaign.spec());
  const std::string options = campaign::budget_options(spec, campaign.advised_budget_s());
  if (options.empty()) return "";
  return duration_text(campaign::budget_s(spec)) + " of measuring are too few at this pace; '" +
         options + "' would do";
}

std::string outcome_text(const v1::Campaign& campaign) {
  const std::string id = short_name(campaign.name());
  const std::string why =
      campaign.message().empty() ? "" : ": " + printable_line(campaign.message());
  const std::string samples = std::to_string(campaign.samples()) + " samples of " +
                              std::to_string(campaign.runs_done()) + " runs";
  switch (campaign.state()) {
    case v1::Campaign::SUCCEEDED: {
      if (campaign.model_version().empty()) {
        return campaign.name() + " succeeded with " + samples + ", without a model" + why +
               "\n  samples:   stripline campaign export " + id + "\n";
      }
      const std::string version = short_name(campaign.model_version());
      const std::string file = model_segment(campaign.model_version()) + ".stripline.json";
      const std::string what = campaign.message().empty()
                                   ? campaign.model_version() + " from " + samples
                                   : printable_line(campaign.message());
      return campaign.name() + " succeeded: " + what + "\n  fetch it:  stripline model fetch " +
             version + "\n  look:      stripline model show " + version +
             "\n  use it:    " + use_line(campaign.spec(), file) + "\n";
    }
    case v1::Campaign::CANCELLED:
      return campaign.name() + " was cancelled" + why + "; " + samples +
             " stay\n  samples:   stripline campaign export " + id + "\n";
    default:
      return campaign.name() + " failed" + why +
             (campaign.model_version().empty() ? ""
                                               : "\n  figures:   stripline model validate " +
                                                     short_name(campaign.model_version())) +
             "\n  samples:   stripline campaign export " + id + "\n";
  }
}

int outcome_exit_code(const v1::Campaign& campaign) {
  switch (campaign.state()) {
    case v1::Campaign::SUCCEEDED:
      return kExitOk;
    case v1::Campaign::CANCELLED:
      return kExitCancelled;
    default:
      return kExitFailure;
  }
}

Result<int> watch_campaign(Service& service, const Global& global, const std::string& name) {
  constexpr double kFirstNap_s = 0.2;
  constexpr double kMaxNap_s = 2;
  catch_interrupts();
  Display display(global.json);
  std::optional<v1::Campaign> last;
  uint64_t cursor = 0;
  double pause_s = kFirstNap_s;
  std::optional<Clock::time_point> lost_since;
  while (!interrupted()) {
    const Status status = service.watch_campaign(name, cursor, [&](const v1::CampaignEvent* event) {
      if (interrupted()) return Service::Next::stop;
      if (event == nullptr) {
        display.tick(!lost_since);
        return Service::Next::go_on;
      }
      if (lost_since) display.server_back();
      lost_since.reset();
      pause_s = kFirstNap_s;
      cursor = event->cursor();
      last = event->campaign();
      display.event(*event);
      return ended(*last) ? Service::Next::stop : Service::Next::go_on;
    });
    if (last && ended(*last)) {
      // It may have gone on since: what follows then is behind this event.
      const Result<v1::Campaign> now =
          service.call<v1::Campaign>(named<v1::GetCampaignRequest>(name));
      if (now.ok() && now->retries() != last->retries()) continue;
      if (now.ok() || !is_away(now.error())) break;
    }
    if (interrupted()) break;
    if (status.ok() && !lost_since) {
      // Renewed, or the end without an event of its own: ask.
      const Result<v1::Campaign> now =
          service.call<v1::Campaign>(named<v1::GetCampaignRequest>(name));
      if (now.ok() && ended(*now)) {
        last = *now;
        break;
      }
      if (now.ok()) continue;
    }
    const bool worth_waiting = status.ok() || is_away(status.error());
    if (!worth_waiting || (!last && !status.ok())) {
      display.clear();
      return status.error();
    }
    if (!lost_since) {
      lost_since = Clock::now();
      if (!status.ok()) display.server_lost(status.error());
    }
    if (seconds_since(*lost_since) > global.timeout_s) {
      display.clear();
      return print_error("the server at " + service.server() + " has been gone for " +
                             duration_text(global.timeout_s) + "; " + name +
                             " continues when it is back: 'stripline campaign watch " +
                             short_name(name) + "'",
                         kExitTimeout);
    }
    nap(pause_s, display);
    pause_s = std::min(pause_s * 1.6, kMaxNap_s);
  }
  display.clear();
  if (!last || !ended(*last)) {
    print_note(detached_text(name));
    return kExitCancelled;
  }
  if (!global.json) {
    if (last->state() == v1::Campaign::SUCCEEDED) {
      print(outcome_text(*last));
    } else {
      print_note(outcome_text(*last));
    }
  }
  return outcome_exit_code(*last);
}

}  // namespace stripline::cli
