// What the halo exchanges have in common that are started as ranks of the runtime.
#pragma once

#include <cstddef>
#include <span>

#include <stripline/context.h>
#include <stripline/team.h>

namespace stripline::suites::compare {

class HaloJob {
 public:
  explicit HaloJob(Context& context) : context_(context), all_(team::world(context)) {}

  size_t rank() const { return all_.rank_me(); }
  size_t ranks() const { return all_.rank_n(); }
  double now_s() { return context_.now_s(); }
  void barrier() { context_.barrier(); }
  void longest(std::span<double> times) { all_.reduce(times, times, op_max{}, 0); }

 protected:
  Context& context_;
  team all_;
  size_t n_ = 0;
};

}  // namespace stripline::suites::compare
