#include "suites/worker/assignment.h"

#include <memory>
#include <optional>
#include <utility>

#include "optimizer/model/fingerprint.h"
#include "optimizer/model/model_json.h"
#include "runtime/rma/context_state.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

constexpr double kReportIntervalS = 1.0;
constexpr size_t kMostPendingSeries = 256;

}  // namespace

Status adopt_model(Context& context, const std::string& model_json) {
  STRIPLINE_ASSIGN_OR_RETURN(model::TunedModel parsed,
                             model::parse_model(model_json, "the assignment's model"));
  detail::ContextState& state = context.state();
  const model::MatchReport report = model::match(parsed.fingerprint, state.job.fingerprint());
  if (!report.usable()) {
    return Error(ErrorCode::failed_precondition, "the assignment's model '" + parsed.name +
                                                     "' does not fit this machine:\n" +
                                                     report.text());
  }
  return state.use_model(std::make_shared<const model::TunedModel>(std::move(parsed)));
}

Result<RunEnd> run_assignment(Session& session, const experiment::Assignment& assignment,
                              Reporter* reporter, const RunAids& aids) {
  Context& ctx = session.context();
  const bool reports = ctx.rank_me() == 0 && reporter != nullptr;
  const std::vector<experiment::Point> points = experiment::order_of_points(assignment);
  std::vector<experiment::SampleSeries> pending;
  std::optional<Error> failure;
  double reported_s = ctx.now_s();

  enum Order : uint32_t { go_on, stop, give_up };
  for (size_t done = 0; done < points.size(); ++done) {
    Order order = go_on;
    if (reports) {
      const double now_s = ctx.now_s();
      if (!pending.empty() &&
          (now_s - reported_s >= kReportIntervalS || pending.size() >= kMostPendingSeries)) {
        const Status sent = reporter->report(pending, done, points.size());
        if (!sent.ok()) {
          failure = sent.error();
          order = give_up;
        }
        pending.clear();
        reported_s = ctx.now_s();
      }
      if (order == go_on && reporter->cancelled()) order = stop;
    }
    order = ctx.broadcast(order, 0);
    if (order != go_on) {
      if (failure) return *failure;
      if (order == give_up) return RunEnd::cancelled;
      if (reports) STRIPLINE_RETURN_IF_ERROR(reporter->report(pending, done, points.size()));
      return RunEnd::cancelled;
    }
    if (aids.record != nullptr) aids.record->begin(done + 1);
    const auto left_out = aids.left_out.find(points[done].experiment);
    auto series = as_series(
        left_out == aids.left_out.end()
            ? run_point(session, points[done], assignment.stop_rule)
            : Error(ErrorCode::aborted, "the experiment was left out after " + left_out->second),
        points[done], assignment.run);
    if (reports) pending.push_back(std::move(series));
  }
  if (reports) STRIPLINE_RETURN_IF_ERROR(reporter->report(pending, points.size(), points.size()));
  return RunEnd::complete;
}

}  // namespace stripline::suites
