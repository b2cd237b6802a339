#include "runtime/bulk/phase.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "base/random.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/surroundings.h"
#include "runtime/rma/explain_command.h"

namespace stripline::bulk {
namespace {

constexpr model::Path kPath = model::Path::network;

uint64_t mean(uint64_t sum, uint64_t count) { return count == 0 ? 0 : sum / count; }

}  // namespace

std::string CallTally::text(const char* what) const {
  const double calls = static_cast<double>(std::max<uint64_t>(count, 1));
  return count_text(count, what) + ": issue " + seconds_text(issue_s / calls) + ", check " +
         seconds_text(check_s / calls) + ", wait " + seconds_text(wait_s / calls) + ", copy " +
         seconds_text(copy_s / calls) + " each";
}

plan::BulkMethod Phase::begin(const Terms& terms) {
  terms_ = terms;
  decide::Instruments instruments = state_.mechanisms.instruments();
  instruments.compares = instruments.compares && terms.self_check;
  return visits_.begin(
      instruments, terms.use_model ? state_.job.compiled().path(kPath) : nullptr,
      state_.job.tuning().forced.forced(plan::BulkMechanism::kWords.command, tally_.bytes()));
}

std::optional<double> Phase::waits_until_s() const {
  const double patience_s = visits_.patience_s();
  if (patience_s == std::numeric_limits<double>::infinity()) return std::nullopt;
  return state_.job.fabric().now_s() + patience_s;
}

void Phase::end(const Tally& tally, double seconds) {
  tally_ = tally;
  visits_.end(tally.bytes(), [this](decide::Trace& trace, double took_s) { note(trace, took_s); });
  if (visits_.is_due()) visits_.decide(request_of(tally, seconds));
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

void Phase::note(decide::Trace& trace, double seconds) const {
  const plan::BulkRequest& request = *visits_.request();
  const auto parts = [this] {
    std::string text;
    if (tally_.puts.count > 0) text += "(" + tally_.puts.text("put") + ")";
    if (tally_.gets.count > 0) text += "(" + tally_.gets.text("get") + ")";
    return text;
  };
  trace.note(call_, stripline::hash_of(request.puts, request.gets),
             decide::choice_of<plan::BulkMechanism>(
                 request, visits_.plan(),
                 {.predicted_s = visits_.plan().predicted_s * visits_.share(), .detail = parts()}),
             seconds, "phase of " + bytes_text(tally_.bytes()), [&] {
               return detail::explain_command<plan::BulkMechanism>(state_, request,
                                                                   visits_.plan().reason, kPath);
             });
}

}  // namespace stripline::bulk
