#include "runtime/rma/job.h"

#include <cstdio>
#include <unistd.h>
#include <utility>

#include "base/exit_codes.h"
#include "base/host_name.h"

namespace stripline::rma {
namespace {

// Whatever the fabric says of a failure: this rank has lost its peers (Context's promise).
Error as_lost_peer(const Error& error) { return {ErrorCode::aborted, error.message()}; }

}  // namespace

Error on_this_rank(const bootstrap::Bootstrap& bootstrap, const Error& error) {
  return error.with_context("rank " + std::to_string(bootstrap.rank()) + " on " + host_name());
}

Job::Job(const Options& options, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
         std::unique_ptr<fabric::Fabric> fabric)
    : options_(options),
      bootstrap_(std::move(bootstrap)),
      rank_(bootstrap_->rank()),
      ranks_(bootstrap_->ranks()),
      fabric_(std::move(fabric)),
      life_(std::make_shared<detail::ContextLife>(ranks_)),
      exclusion_(
          options.threads, *life_, [this](const char* why) { fail_on_thread(why); },
          [this] { fail_in_child("calls its Context"); }) {
  fabric_->set_failure_handler([this](const Error& error) { fail(as_lost_peer(error)); });
  activity_.attach(bootstrap_->operation_memory());
  fabric_->count_waits(activity_.waits());
}

Status Job::use_model(std::shared_ptr<const model::TunedModel> model) {
  STRIPLINE_ASSIGN_OR_RETURN(Tuning tuning, tuning_of(model.get(), options_.tuning));
  // Rules follow from the settings, and the old ones know which of them were applied.
  if (!tuning_.forced.empty()) tuning.forced = std::move(tuning_.forced);
  tuning_ = std::move(tuning);
  model_ = std::move(model);
  compiled_ = model_ != nullptr ? plan::CompiledModel(*model_) : plan::CompiledModel();
  return {};
}

void Job::fail(const Error& error) const {
  if (in_child()) fail_in_child("has found this: " + error.message());
  const bool names_call = error.code() == ErrorCode::invalid_argument;
  const Error located = on_this_rank(
      *bootstrap_, names_call ? error
                              : Error(error.code(), error.message() + ", during " +
                                                        std::string(activity_.name())));
  std::fflush(stdout);  // what the program printed explains how far it came
  if (!bootstrap_->report_failure(located)) {
    std::fprintf(stderr, "error: %s\n", located.message().c_str());
  }
  ::_exit(exit_code_for(error.code()));
}

// The child has a copy of what its parent had not written to standard output yet, which stays
// unwritten here.
void Job::fail_in_child(const std::string& what) const {
  std::fprintf(
      stderr,
      "error: process %d, which rank %u (process %d on %s) has forked, %s; a child process "
      "is not a rank: it may compute, end, and run other programs (exec), and the job goes "
      "on without it\n",
      static_cast<int>(::getpid()), rank_, static_cast<int>(life_->process()), host_name().c_str(),
      what.c_str());
  ::_exit(exit_code_for(ErrorCode::invalid_argument));
}

void Job::fail_on_thread(const char* why) const {
  fail(Error(ErrorCode::invalid_argument,
             "thread " + std::to_string(::gettid()) + " of this rank " + why));
}

}  // namespace stripline::rma
