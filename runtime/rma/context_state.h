// What a Context consists of, for the runtime's own mechanisms and for suites: four parts, each of
// which uses those before it. Not part of the public API, and not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <stripline/context.h>

#include "optimizer/model/tuned_model.h"
#include "runtime/am/active_messages.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/fabric/fabric.h"
#include "runtime/rma/job.h"
#include "runtime/rma/mechanisms.h"
#include "runtime/rma/memory.h"
#include "runtime/rma/operations.h"
#include "runtime/rma/progress_thread.h"
#include "runtime/rma/stall_notice.h"

namespace stripline::detail {

struct ContextState {
  /// Joins the job that `bootstrap` knows: reads the model, opens the fabric, checks that the
  /// model was made for this machine, swaps addresses, connects, and waits for every rank.
  /// Errors: those of the model file (not_found, data_loss, failed_precondition if it is
  /// foreign), of open_fabric(), of Bootstrap::exchange() and of Fabric::connect(). They have
  /// been reported to the launcher.
  static Result<std::unique_ptr<Context>> join(const Options& options,
                                               std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                                               const am::Config& am_config = {});

  /// Tells the launcher that this rank cannot join the job, and why; returns the error.
  static Error refuse(bootstrap::Bootstrap& bootstrap, const Error& error);

  ContextState(const Options& options, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
               std::unique_ptr<fabric::Fabric> fabric, const am::Config& am_config);
  ~ContextState();
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;

  /// Plans by this model from now on, and makes its choices, but for what Options::tuning says.
  /// Null: the defaults. After messages().start(), while no operation is in flight. Errors: those
  /// of rma::tuning_of().
  Status use_model(std::shared_ptr<const model::TunedModel> model);

  /// Job::exclusive() and Job::fail(), which all calls need.
  rma::Exclusion::Guard exclusive() { return job.exclusive(); }
  [[noreturn]] void fail(const Error& error) const { job.fail(error); }

  /// Where loads and stores reach this range, for calls that are nothing but a copy, in few steps:
  /// null for all that needs more, be it that another thread calls, that somebody observes it, or
  /// that it is wrong. Then rma::Operation asks again, and says what is wrong.
  std::byte* at_hand(global_ptr<const std::byte> place, size_t bytes) const {
    if (!job.exclusion().is_free_here() || operations.messages().in_handler()) return nullptr;
    return memory.find(place, bytes);
  }

  /// Null unless a thread serves peers while the program computes: with Options::progress "thread",
  /// or once it pays with "tuned".
  const rma::ProgressThread* progress_thread() const { return progress_thread_.get(); }

  /// Watches where no launcher of ours does.
  rma::StallNotice& stall_notice() { return stall_notice_; }

  /// Begins a barrier of a team: barrier_async() of the Context and of teams.
  future start_barrier(Context& context, sync::Group& group, CallSite site);

  /// Collective: completes everything this rank has started, waits for all ranks, and tells the
  /// launcher that this one has left.
  void leave(Context& context);

  rma::Job job;
  rma::Memory memory;
  rma::Operations operations;
  rma::Mechanisms mechanisms;

 private:
  void consider_thread();
  /// Where this rank leaves the facts of its machine for rank 0 (rank_facts.h), and the same place
  /// as an offset in the segment of every rank.
  std::span<std::byte> place_of_facts() const;
  uint64_t offset_of_facts() const;
  /// Collective: uses a model that may not fit (Options::model_may_not_fit), unless some rank has
  /// found that it does not.
  void use_if_it_fits(Context& context, std::shared_ptr<const model::TunedModel> model);
  void find_reachable(Context& context, bool maps);

  rma::StallNotice stall_notice_;
  std::unique_ptr<rma::ProgressThread> progress_thread_;
  uint64_t missed_times_ = 0;  // of what was missed when a thread was considered last
};

}  // namespace stripline::detail
