// The coordinator's side of operations: fits that somebody has asked for. They are carried out on
// the fitting thread, one after the other.
#include <utility>

#include <spdlog/spdlog.h>

#include "base/json.h"
#include "base/network_name.h"
#include "base/quantity.h"
#include "base/sha256.h"
#include "server/clock.h"
#include "server/core/coordinator.h"
#include "server/core/models/published_model.h"

namespace stripline::server {
namespace {

constexpr size_t kMostWaiting = 100;
constexpr uint32_t kMostAttempts = 2;
constexpr size_t kMostFitted = 100;  // campaigns of one fit
constexpr size_t kMaxOperationRequestId = 128;

Result<FitOrder> fit_order_of(const OperationRecord& operation) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(operation.order, "stored order"));
  return fit_order_from_json(json);
}

}  // namespace

Status Coordinator::recover_operations() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto unfinished, store_.unfinished_operations());
  const MutexLock lock(mutex_);
  for (const OperationRecord& operation : unfinished) operations_.push_back(operation.number);
  return {};
}

Answer<std::vector<FittedCampaign>> Coordinator::parts_of(const FitOrder& order) {
  if (order.campaigns.size() > kMostFitted) {
    return invalid_field("campaigns", "at most " + std::to_string(kMostFitted) + " are fitted");
  }
  std::vector<FittedCampaign> parts;
  for (const int64_t number : order.campaigns) {
    auto record = stored_campaign(number);
    if (!record) return record.problem();
    auto runs = store_.runs(number);
    if (!runs.ok()) return runs.error();
    parts.push_back({*std::move(record), *std::move(runs)});
  }
  return parts;
}

Answer<OperationRecord> Coordinator::fit_model(const FitOrder& order, const std::string& request_id,
                                               const std::string& actor) {
  if (request_id.size() > kMaxOperationRequestId) {
    return invalid_field("request_id",
                         "at most " + std::to_string(kMaxOperationRequestId) + " bytes");
  }
  const std::string text = to_json(order).dump();
  const MutexLock lock(mutex_);
  if (!request_id.empty()) {
    auto existing = store_.operation_of_request(actor, request_id);
    if (!existing.ok()) return existing.error();
    if (*existing && (*existing)->request_sha256 == sha256_hex(text)) return **std::move(existing);
    if (*existing) {
      return Problem{ErrorCode::already_exists,
                     "REQUEST_ID_REUSED",
                     "request_id '" + request_id + "' belongs to " +
                         operation_name((*existing)->number) +
                         ", which was asked for otherwise; choose a new request_id",
                     {{"name", operation_name((*existing)->number)}}};
    }
  }
  const auto parts = parts_of(order);
  if (!parts) return parts.problem();
  const auto spec = joint_spec(order, *parts);
  if (!spec) return spec.problem();
  const auto model = store_.model(order.model);
  if (!model.ok()) return model.error();
  if (*model && (*model)->fabric != spec->fabric) {
    return Problem{ErrorCode::failed_precondition,
                   "OTHER_FABRIC",
                   "'" + model_name(order.model) + "' describes fabric '" + (*model)->fabric +
                       "', the campaigns '" + spec->fabric + "'; name another model",
                   {{"name", model_name(order.model)}}};
  }
  if (operations_.size() >= kMostWaiting) {
    return Problem{ErrorCode::resource_exhausted,
                   "BUSY",
                   std::to_string(kMostWaiting) + " fits wait already; try again later",
                   {}};
  }
  const auto number = store_.next_operation_number();
  if (!number.ok()) return number.error();
  OperationRecord operation;
  operation.number = *number;
  operation.kind = kFitModel;
  operation.subject = model_name(order.model);
  operation.order = text;
  operation.message = "waits to fit " + count_text(fitted_runs(order, *parts).size(), "run");
  operation.actor = actor;
  operation.request_id = request_id;
  operation.request_sha256 = sha256_hex(text);
  operation.created_unix_s = operation.updated_unix_s = unix_seconds();
  Changes changes;
  changes.operations.push_back(operation);
  changes.audit.push_back({0, unix_seconds(), actor, "fit model", operation.subject});
  if (const Status stored = store_.apply(changes); !stored.ok()) return stored.error();
  spdlog::info("{}: {}: {}", operation_name(operation.number), operation.kind, operation.message);
  operations_.push_back(operation.number);
  fitter_wakes_.notify_all();
  return operation;
}

Answer<OperationRecord> Coordinator::cancel_operation(int64_t number, const std::string& actor) {
  const MutexLock lock(mutex_);
  const auto stored = store_.operation(number);
  if (!stored.ok()) return stored.error();
  if (!*stored) return operation_not_found(operation_name(number));
  OperationRecord operation = **stored;
  if (operation.state == OperationState::cancelled) return operation;
  if (operation.state != OperationState::running) {
    return Problem{ErrorCode::failed_precondition,
                   "OPERATION_FINISHED",
                   "'" + operation_name(number) + "' has ended: " +
                       std::string(to_string(operation.state)) + "; there is nothing to cancel",
                   {{"name", operation_name(number)}}};
  }
  operation.state = OperationState::cancelled;
  operation.message = "cancelled by " + actor;
  operation.updated_unix_s = unix_seconds();
  Changes changes;
  changes.operations.push_back(operation);
  changes.audit.push_back({0, unix_seconds(), actor, "cancel operation", operation_name(number)});
  if (const Status done = store_.apply(changes); !done.ok()) return done.error();
  spdlog::info("{}: {}", operation_name(number), operation.message);
  std::erase(operations_, number);
  if (operation_ == number) stop_operation_.request_stop();
  return operation;
}

// On the fitting thread, without the lock. Storage may be back later.
void Coordinator::carry_out_operation(int64_t number) {
  std::stop_source stop;
  {
    const MutexLock lock(mutex_);
    operation_ = number;
    stop_operation_ = stop;
  }
  const std::stop_callback with_all_fits(stop_fits_.get_token(), [&] { stop.request_stop(); });
  while (true) {
    const Status done = attempt_operation(number, stop.get_token());
    if (done.ok() || !wait_for_storage(operation_name(number), "carry it out", done.error())) break;
  }
  const MutexLock lock(mutex_);
  operation_.reset();
}

// Errors: the store's. Whatever else happens is what became of the operation. Once it is to stop,
// it is cancelled, or the next start takes it up: nothing is stored of it any more.
Status Coordinator::attempt_operation(int64_t number, const std::stop_token& stop) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto stored, store_.operation(number));
  if (!stored || stored->state != OperationState::running) return {};
  OperationRecord operation = *stored;
  const auto order = fit_order_of(operation);
  const auto job = order.ok() ? collect(*order) : Answer<FitJob>(order.error());
  {
    const MutexLock lock(mutex_);
    if (stop.stop_requested()) return {};
    if (!job) return end_operation(operation, job.problem().message);
    STRIPLINE_RETURN_IF_ERROR(
        note_operation(operation, "fits " + count_text(job->input.runs, "run")));
  }
  const Result<FittedModel> fitted = try_to_fit(*job, stop);
  {
    const MutexLock lock(mutex_);
    if (stop.stop_requested()) return {};
    if (fitted.ok()) return publish(operation, *order, *fitted);
    if (is_answer(fitted.error()) || ++operation.failures >= kMostAttempts) {
      return end_operation(operation, "no model could be fitted: " + fitted.error().message());
    }
    STRIPLINE_RETURN_IF_ERROR(note_operation(
        operation, "the fit failed and is tried again: " + fitted.error().message()));
  }
  return attempt_operation(number, stop);
}

Status Coordinator::note_operation(OperationRecord& operation, const std::string& message) {
  operation.message = message;
  operation.updated_unix_s = unix_seconds();
  Changes changes;
  changes.operations.push_back(operation);
  return store_.apply(changes);
}

Status Coordinator::end_operation(OperationRecord& operation, const std::string& why) {
  operation.state = OperationState::failed;
  spdlog::warn("{}: {}", operation_name(operation.number), why);
  return note_operation(operation, why);
}

// The version and that there is one are stored together.
Status Coordinator::publish(OperationRecord& operation, const FitOrder& order,
                            const FittedModel& fitted) {
  std::vector<std::string> campaigns;
  for (const int64_t campaign : order.campaigns) campaigns.push_back(campaign_name(campaign));
  STRIPLINE_ASSIGN_OR_RETURN(const auto first, store_.campaign(order.campaigns.front()));
  if (!first) return Error(ErrorCode::internal, campaigns.front() + " is not stored");
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, store_.model(order.model));
  const std::string network = network_name(first->spec.fabric);
  if (existing && network_name(existing->fabric) != network) {
    return end_operation(operation, "'" + model_name(order.model) + "' describes fabric '" +
                                        existing->fabric +
                                        "' since another campaign published to it");
  }
  Changes changes;
  const VersionKey key{order.model, existing ? existing->last_number + 1 : 1};
  add_version(key, network, fitted, campaigns, changes);
  NewModelVersion& version = changes.versions.back();
  for (const RunKey& run : order.without) {
    version.record.summary += "; without " + run_name(run);
  }
  operation.result = version_name(key);
  FittedModel told = fitted;
  told.summary = version.record.summary;
  const PublishedModel outcome = outcome_of(operation.result, told);
  operation.state = outcome.failed ? OperationState::failed : OperationState::succeeded;
  operation.message = outcome.message;
  operation.updated_unix_s = unix_seconds();
  changes.operations.push_back(operation);
  STRIPLINE_RETURN_IF_ERROR(store_.apply(changes));
  spdlog::info("{}: {}", operation_name(operation.number), operation.message);
  return {};
}

// The samples of all runs that are fitted, numbered one after the other. Problems: those of
// joint_spec(), the store's.
Answer<FitJob> Coordinator::collect(const FitOrder& order) {
  const auto parts = parts_of(order);
  if (!parts) return parts.problem();
  const auto spec = joint_spec(order, *parts);
  if (!spec) return spec.problem();
  FitJob job;
  job.input.campaigns = order.campaigns;
  job.input.spec = *spec;
  job.input.stop_reason = joint_stop_reason(*parts);
  job.input.planned_points = planned_points(*parts);
  job.input.fitted_at = rfc3339(unix_seconds());
  const auto runs = fitted_runs(order, *parts);
  uint32_t first_run = 0;
  for (const FittedCampaign& part : *parts) {
    const Status added = add_samples_of(part, runs, first_run, job);
    if (!added.ok()) return added.error();
    first_run += part.runs.back().key.run;
  }
  return job;
}

}  // namespace stripline::server
