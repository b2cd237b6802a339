#include "server/core/operations/fit_operations.h"

#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "base/json.h"
#include "base/network_name.h"
#include "base/quantity.h"
#include "base/sha256.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/models/fit_samples.h"
#include "server/core/models/published_model.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxWaiting = 100;
constexpr uint32_t kMaxAttempts = 2;
constexpr size_t kMaxFitted = 100;  // campaigns of one fit
constexpr size_t kMaxOperationRequestId = 128;

Result<FitOrder> fit_order_of(const OperationRecord& operation) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(operation.order, "stored order"));
  return fit_order_from_json(json);
}

// The campaigns of an order. Problems: CAMPAIGN_NOT_FOUND, the store's.
Answer<std::vector<FittedCampaign>> parts_of(Store& store, const FitOrder& order) {
  if (order.campaigns.size() > kMaxFitted) {
    return invalid_field("campaigns", "at most " + std::to_string(kMaxFitted) + " are fitted");
  }
  std::vector<FittedCampaign> parts;
  for (const int64_t number : order.campaigns) {
    STRIPLINE_ASSIGN_OR_RETURN(auto record, stored_campaign(store, number));
    STRIPLINE_ASSIGN_OR_RETURN(auto runs, store.runs(number));
    parts.push_back({std::move(record), std::move(runs)});
  }
  return parts;
}

// Problems: those of joint_spec(), CAMPAIGN_NOT_FOUND, the store's.
Answer<FitJob> job_of(Store& store, const FitOrder& order) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto parts, parts_of(store, order));
  return collect_samples(store, order, parts);
}

}  // namespace

Status FitOperations::recover() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto unfinished, store_.unfinished_operations());
  for (const OperationRecord& operation : unfinished) fits_.add_operation(operation.number);
  return {};
}

Answer<OperationRecord> FitOperations::fit_model(const FitOrder& order,
                                                 const std::string& request_id,
                                                 const std::string& actor) {
  if (request_id.size() > kMaxOperationRequestId) {
    return invalid_field("request_id",
                         "at most " + std::to_string(kMaxOperationRequestId) + " bytes");
  }
  const std::string text = to_json(order).dump();
  const MutexLock lock(mutex_);
  if (!request_id.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(auto existing, store_.operation_of_request(actor, request_id));
    if (existing && existing->request_sha256 == sha256_hex(text)) return *std::move(existing);
    if (existing) {
      return Problem{ErrorCode::already_exists,
                     "REQUEST_ID_REUSED",
                     "request_id '" + request_id + "' belongs to " +
                         operation_name(existing->number) +
                         ", which was asked for otherwise; choose a new request_id",
                     {{"name", operation_name(existing->number)}}};
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto parts, parts_of(store_, order));
  STRIPLINE_ASSIGN_OR_RETURN(const auto spec, joint_spec(order, parts));
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, store_.model(order.model));
  if (model && model->fabric != spec.fabric) {
    return Problem{ErrorCode::failed_precondition,
                   "OTHER_FABRIC",
                   "'" + model_name(order.model) + "' describes fabric '" + model->fabric +
                       "', the campaigns '" + spec.fabric + "'; name another model",
                   {{"name", model_name(order.model)}}};
  }
  if (fits_.waiting_operations() >= kMaxWaiting) {
    return Problem{ErrorCode::resource_exhausted,
                   "BUSY",
                   std::to_string(kMaxWaiting) + " fits wait already; try again later",
                   {}};
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, store_.next_operation_number());
  OperationRecord operation;
  operation.number = number;
  operation.kind = kFitModel;
  operation.subject = model_name(order.model);
  operation.order = text;
  operation.message = "waits to fit " + count_text(fitted_runs(order, parts).size(), "run");
  operation.actor = actor;
  operation.request_id = request_id;
  operation.request_sha256 = sha256_hex(text);
  operation.created_unix_s = operation.updated_unix_s = unix_seconds();
  Changes changes;
  changes.operations.push_back(operation);
  changes.audit.push_back({0, unix_seconds(), actor, "fit model", operation.subject});
  if (const Status stored = store_.apply(changes); !stored.ok()) return stored.error();
  spdlog::info("{}: {}: {}", operation_name(operation.number), operation.kind, operation.message);
  fits_.add_operation(operation.number);
  return operation;
}

Answer<OperationRecord> FitOperations::cancel(int64_t number, const std::string& actor) {
  const MutexLock lock(mutex_);
  STRIPLINE_ASSIGN_OR_RETURN(const auto stored, store_.operation(number));
  if (!stored) return operation_not_found(operation_name(number));
  OperationRecord operation = *stored;
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
  fits_.remove_operation(number);
  if (current_ == number) stop_.request_stop();
  return operation;
}

// On the fitting thread, without the lock. Storage may be back later.
void FitOperations::carry_out(int64_t number) {
  std::stop_source stop;
  {
    const MutexLock lock(mutex_);
    current_ = number;
    stop_ = stop;
  }
  const std::stop_callback with_all_fits(fits_.stop_token(), [&] { stop.request_stop(); });
  while (true) {
    const Status done = attempt(number, stop.get_token());
    if (done.ok()) break;
    if (!fits_.wait_for_storage(operation_name(number), "carry it out", done.error())) break;
  }
  const MutexLock lock(mutex_);
  current_.reset();
}

// Errors: the store's. Whatever else happens is what became of the operation. Once it is to stop,
// it is cancelled, or the next start takes it up: nothing is stored of it any more.
Status FitOperations::attempt(int64_t number, const std::stop_token& stop) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto stored, store_.operation(number));
  if (!stored || stored->state != OperationState::running) return {};
  OperationRecord operation = *stored;
  const auto order = fit_order_of(operation);
  const auto job = order.ok() ? job_of(store_, *order) : Answer<FitJob>(order.error());
  {
    const MutexLock lock(mutex_);
    if (stop.stop_requested()) return {};
    if (!job) return end(operation, job.problem().message);
    STRIPLINE_RETURN_IF_ERROR(note(operation, "fits " + count_text(job->input.runs, "run")));
  }
  const Result<FittedModel> fitted = fits_.fit(*job, stop);
  {
    const MutexLock lock(mutex_);
    if (stop.stop_requested()) return {};
    if (fitted.ok()) return publish(operation, *order, *fitted);
    if (is_answer(fitted.error()) || ++operation.failures >= kMaxAttempts) {
      return end(operation, "no model could be fitted: " + fitted.error().message());
    }
    STRIPLINE_RETURN_IF_ERROR(
        note(operation, "the fit failed and is tried again: " + fitted.error().message()));
  }
  return attempt(number, stop);
}

Status FitOperations::note(OperationRecord& operation, const std::string& message) {
  operation.message = message;
  operation.updated_unix_s = unix_seconds();
  Changes changes;
  changes.operations.push_back(operation);
  return store_.apply(changes);
}

Status FitOperations::end(OperationRecord& operation, const std::string& why) {
  operation.state = OperationState::failed;
  spdlog::warn("{}: {}", operation_name(operation.number), why);
  return note(operation, why);
}

// The version and that there is one are stored together.
Status FitOperations::publish(OperationRecord& operation, const FitOrder& order,
                              const FittedModel& fitted) {
  std::vector<std::string> campaigns;
  for (const int64_t campaign : order.campaigns) campaigns.push_back(campaign_name(campaign));
  STRIPLINE_ASSIGN_OR_RETURN(const auto first, store_.campaign(order.campaigns.front()));
  if (!first) return Error(ErrorCode::internal, campaigns.front() + " is not stored");
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, store_.model(order.model));
  const std::string network = network_name(first->spec.fabric);
  if (existing && network_name(existing->fabric) != network) {
    return end(operation, "'" + model_name(order.model) + "' describes fabric '" +
                              existing->fabric + "' since another campaign published to it");
  }
  Changes changes;
  const VersionKey key{order.model, existing ? existing->last_number + 1 : 1};
  add_version(changes, key, network, fitted, campaigns, unix_seconds());
  NewModelVersion& version = changes.versions.back();
  for (const RunKey& run : order.without) {
    version.record.summary += "; without " + run_name(run);
  }
  operation.result = version_name(key);
  FittedModel described = fitted;
  described.summary = version.record.summary;
  const PublishedModel outcome = outcome_of(operation.result, described);
  operation.state = outcome.failed ? OperationState::failed : OperationState::succeeded;
  operation.message = outcome.message;
  operation.updated_unix_s = unix_seconds();
  changes.operations.push_back(operation);
  STRIPLINE_RETURN_IF_ERROR(store_.apply(changes));
  spdlog::info("{}: {}", operation_name(operation.number), operation.message);
  return {};
}

}  // namespace stripline::server
