// The job, and this rank in it. Owns what is there before any memory is shared: how the rank is
// to run, its launcher, the fabric, the tuned model and what follows from it, the rule of
// which threads may call, and those who watch what the program does. What the rank is doing is
// recorded here, and when something is wrong the rank ends here.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <stripline/context.h>

#include "base/result.h"
#include "optimizer/model/paths.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/compiled_model.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/operation_record.h"
#include "runtime/fabric/fabric.h"
#include "runtime/rma/call.h"
#include "runtime/rma/context_life.h"
#include "runtime/rma/exclusion.h"
#include "runtime/rma/observers.h"
#include "runtime/rma/tuning.h"

namespace stripline::rma {

class Job {
 public:
  Job(const Options& options, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
      std::unique_ptr<fabric::Fabric> fabric);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Options& options() const { return options_; }
  bootstrap::Bootstrap& bootstrap() const { return *bootstrap_; }
  rank_t rank() const { return rank_; }
  rank_t ranks() const { return ranks_; }

  fabric::Fabric& fabric() const { return *fabric_; }
  /// The path to another rank, as models have it.
  model::Path path_to(rank_t target) const {
    switch (fabric_->path(target)) {
      case fabric::SameNode::mapped:
        return model::Path::mapped;
      case fabric::SameNode::cma:
        return model::Path::cma;
      case fabric::SameNode::network:
        break;
    }
    return model::Path::network;
  }
  /// True if some node has more ranks than cores; the same on every rank.
  bool crowded() const { return crowded_; }
  void set_crowded(bool crowded) { crowded_ = crowded; }

  /// Plans by this model from now on, and makes its choices, but for what options().tuning says.
  /// Null: the defaults. Errors: those of tuning_of(); then nothing has changed.
  Status use_model(std::shared_ptr<const model::TunedModel> model);
  /// The tuned model, which fits this machine; null without one.
  const std::shared_ptr<const model::TunedModel>& model() const { return model_; }
  /// What planners read of the model; knows no path without one. Stays where it is.
  const plan::CompiledModel& compiled() const { return compiled_; }
  /// Choices for single operations. Measurements set others.
  Tuning& tuning() { return tuning_; }
  const Tuning& tuning() const { return tuning_; }
  /// Facts about this machine and fabric (runtime/machine/fingerprint.h), from connecting on.
  const std::map<std::string, std::string>& fingerprint() const { return fingerprint_; }
  void set_fingerprint(std::map<std::string, std::string> facts) {
    fingerprint_ = std::move(facts);
  }

  /// To be held during a call of the public interface, so that no other thread is in another one.
  Exclusion::Guard exclusive() { return Exclusion::Guard(exclusion_); }
  Exclusion& exclusion() { return exclusion_; }
  const Exclusion& exclusion() const { return exclusion_; }

  /// Says if the Context may be called; kept by what may outlive it.
  const std::shared_ptr<detail::ContextLife>& life() const { return life_; }
  /// True in a child process of the rank: nothing may be done with what the rank has.
  bool in_child() const { return life_->in_child(); }
  /// Ends a child process that makes a call which needs no Exclusion::Guard.
  void check_process() const {
    if (in_child()) [[unlikely]]
      fail_in_child("calls its Context");
  }

  /// Debug mode and --trace.
  Observers& observers() { return observers_; }
  const Observers& observers() const { return observers_; }

  /// What the rank is doing, for messages of failure, its own and its launcher's.
  bootstrap::OperationRecorder& activity() { return activity_; }

  /// Ends this rank: reports "rank R on HOST: WHAT, during OPERATION" and exits with the code's
  /// exit code, without unwinding. The launcher ends the others; of a child process it hears
  /// nothing. A mistake of the program (invalid_argument) names its own call, which need not be
  /// what was recorded last.
  [[noreturn]] void fail(const Error& error) const;
  /// The same as a function.
  fabric::FailureHandler failure() const {
    return [this](const Error& error) { fail(error); };
  }

 private:
  [[noreturn]] void fail_on_thread(const char* why) const;
  [[noreturn]] void fail_in_child(const std::string& what) const;

  const Options options_;
  const std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
  const rank_t rank_;
  const rank_t ranks_;
  // Outlives the fabric, which may fail until it is closed.
  bootstrap::OperationRecorder activity_{"start-up"};
  const std::unique_ptr<fabric::Fabric> fabric_;
  bool crowded_ = false;
  std::shared_ptr<const model::TunedModel> model_;
  plan::CompiledModel compiled_;
  Tuning tuning_;
  std::map<std::string, std::string> fingerprint_;
  const std::shared_ptr<detail::ContextLife> life_;
  Exclusion exclusion_;
  Observers observers_;
};

/// The error with "rank R on HOST: " before it.
Error on_this_rank(const bootstrap::Bootstrap& bootstrap, const Error& error);

}  // namespace stripline::rma
