#include "runtime/bulk/phase.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/quantity.h"
#include "base/random.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/surroundings.h"
#include "runtime/rma/explain_command.h"

namespace stripline::bulk {
namespace {

// The first visit of a phase also pays for fresh memory, and has nothing fetched ahead.
constexpr uint32_t kMeasuredVisits = 2;

uint64_t mean(uint64_t sum, uint64_t count) { return count == 0 ? 0 : sum / count; }

// Another phase, rather than the same with a little more.
bool differs(uint64_t a, uint64_t b) { return std::max(a, b) > 2 * std::min(a, b); }

}  // namespace

std::string CallTally::text(const char* what) const {
  const double calls = static_cast<double>(std::max<uint64_t>(count, 1));
  return count_text(count, what) + ": issue " + seconds_text(issue_s / calls) + ", check " +
         seconds_text(check_s / calls) + ", wait " + seconds_text(wait_s / calls) + ", copy " +
         seconds_text(copy_s / calls) + " each";
}

plan::BulkMethod Phase::begin(const Terms& terms) {
  terms_ = terms;
  const decide::Instruments instruments = state_.mechanisms.instruments();
  const std::string_view forced =
      state_.job.tuning().forced.forced(plan::BulkMechanism::kWords.command, tally_.bytes());
  has_begun_ = request_.has_value();
  measures_ = instruments.trace != nullptr || (!request_ && costs() != nullptr && forced.empty());
  if (!forced.empty()) {
    // What a phase does not do, a method says nothing about: all are allowed.
    const auto method = plan::method_named<plan::BulkMethod>(forced, plan::kBulkMethodNames);
    given_.emplace(plan::force_bulk(request_.value_or(plan::BulkRequest()), costs(),
                                    method.value_or(plan::BulkMethod::both), plan::Reason::forced));
    if (has_begun_) execution_.begin(instruments, *given_);
    return given_->method;
  }
  given_.reset();
  if (!has_begun_) return plan::BulkMethod::both;
  execution_.begin(instruments, *this, site_, {.call = {.what = site_.number()}, .for_all = true});
  return execution_.plan().method;
}

void Phase::end(const Tally& tally, double seconds) {
  tally_ = tally;
  if (std::exchange(has_begun_, false)) execution_.finish(*this, 0);
  // What changes is measured again, in the next visit.
  if (request_ && differs(tally.bytes(), bytes_of_request())) {
    request_.reset();
    measured_ = kMeasuredVisits - 1;
    return;
  }
  if (request_ || !measures_ || tally.calls() == 0 || ++measured_ < kMeasuredVisits) return;
  request_ = request_of(tally, seconds);
  decide(site_, -1);
}

plan::BulkRequest Phase::request_of(const Tally& tally, double seconds) const {
  plan::BulkRequest request;
  request.puts = tally.puts.count;
  request.put_bytes = mean(tally.puts.bytes, tally.puts.count);
  request.gets = tally.gets.count;
  request.get_bytes = mean(tally.gets.bytes, tally.gets.count);
  request.compute_s = std::max(0.0, seconds - tally.calls_s());
  const double count = static_cast<double>(std::max<uint64_t>(tally.gets.count, 1));
  request.lead_s = std::clamp(tally.lead_s / count, 0.0, request.compute_s);
  request.stable_sources = terms_.stable_sources;
  request.buffer_bytes = terms_.buffer_bytes;
  request.in_flight = terms_.in_flight;
  request.surroundings =
      decide::surroundings_of(state_.job.fabric().info(), plan::BulkRequest::kFacts,
                              {.gets = true, .puts = true, .signals = false});
  return request;
}

uint64_t Phase::bytes_of_request() const {
  if (!request_) return 0;
  return request_->puts * request_->put_bytes + request_->gets * request_->get_bytes;
}

plan::BulkPlan Phase::make(decide::Arm arm, double /*compute_s*/) const {
  if (arm == decide::kBaseline) {
    return plan::force_bulk(*request_, costs(), plan::usual_bulk(*request_), plan::Reason::guarded);
  }
  return plan::force_bulk(*request_, costs(), *rival_, plan::Reason::tied);
}

// What is surely faster than the baseline is taken, and compared with it. Else waiting for each
// call is compared, as the program would do by itself, unless that is predicted to take far longer.
void Phase::decide(Site& site, double /*compute_s*/) {
  const plan::BulkPlan plan = plan::plan_bulk(*request_, costs());
  rival_ = plan.method;
  if (plan.reason == plan::Reason::tuned) {
    const bool same = site.made(1) != nullptr && site.made(1)->method == plan.method;
    site.decide(decide::Arm{1}, plan, 2, decide::Race::Of::site, same);
    site.expect(plan);
    return;
  }
  if (plan.reason == plan::Reason::no_model || plan.method == plan::BulkMethod::blocking) {
    return site.decide(decide::kBaseline, plan);
  }
  rival_ = plan::BulkMethod::blocking;
  const plan::BulkPlan blocking = make(1, -1);
  if (blocking.predicted_s > plan::Guard::kBeyondDoubt * plan.predicted_s) {
    return site.decide(decide::kBaseline, plan);
  }
  site.compare(decide::Arm{1}, blocking, decide::Race::Of::tie);
  site.race().expect(std::array{
      plan::Guard::Forecast{plan.predicted_s, plan.predicted_s, plan.predicted_s},
      plan::Guard::Forecast{blocking.predicted_s, blocking.predicted_s, blocking.predicted_s}});
}

void Phase::note(decide::Trace& trace, double seconds) const {
  const auto parts = [this] {
    std::string text;
    if (tally_.puts.count > 0) text += "(" + tally_.puts.text("put") + ")";
    if (tally_.gets.count > 0) text += "(" + tally_.gets.text("get") + ")";
    return text;
  };
  trace.note(
      call_, stripline::hash_of(request_->puts, request_->gets),
      decide::choice_of<plan::BulkMechanism>(*request_, execution_.plan(), {.detail = parts()}),
      seconds, "phase of " + bytes_text(bytes_of_request()), [&] {
        return given_ ? std::string()
                      : detail::explain_command<plan::BulkMechanism>(state_, *request_, kPath);
      });
}

}  // namespace stripline::bulk
