#include "runtime/rma/observers.h"

#include "runtime/rma/debug_checks.h"
#include "runtime/rma/program_trace.h"

namespace stripline::rma {

Observers::Observers() = default;
Observers::~Observers() = default;

void Observers::watch(std::unique_ptr<DebugChecks> debug) {
  debug_ = debug.get();
  all_.push_back(std::move(debug));
}

void Observers::watch(std::unique_ptr<ProgramTrace> trace) {
  std::erase_if(all_, [this](const auto& one) { return one.get() == trace_; });
  trace_ = trace.get();
  all_.push_back(std::move(trace));
}

void Observers::clear() {
  all_.clear();
  debug_ = nullptr;
  trace_ = nullptr;
}

}  // namespace stripline::rma
