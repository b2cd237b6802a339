// kernel.triad: the loop of the STREAM benchmark over arrays of another rank, or of one's own.
#include <algorithm>
#include <array>
#include <optional>

#include <stripline/nest.h>

#include "suites/grids.h"
#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/symmetric_memory.h"
#include "suites/kernels/triad_problem.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr const char* kElementsFactor = "elements";
constexpr const char* kShiftFactor = "shift";

// The nest that the loop is: two arrays are fetched, strips of both in step.
NestOptions nest_options(const EngineLoop& engine, size_t elements) {
  NestOptions options;
  options.loop = engine.options.loop;
  options.local_bytes = engine.options.local_bytes;
  options.site = engine.options.site;
  options.use_model = engine.options.use_model;
  options.self_check = engine.options.self_check;
  if (engine.options.force) {
    const plan::StripCandidate& strips = *engine.options.force;
    const size_t step = std::clamp<size_t>(strips.strip_bytes / sizeof(double), 1, elements);
    options.force =
        plan::NestCandidate{strips.schedule, {0, step}, std::max<uint32_t>(strips.window, 1)};
  }
  return options;
}

// Runs the loop in any variant, over the b and c of one rank. `memory` is [b, a, c] on each: b and
// c apart, as in STREAM, so that they are not one transfer.
class Triad {
 public:
  Triad(Context& context, const SymmetricMemory<double>& memory, size_t elements, rank_t owner)
      : context_(context),
        elements_(elements),
        a_(memory.on(context.rank_me()) + static_cast<std::ptrdiff_t>(elements)),
        b_(memory.on(owner)),
        c_(memory.on(owner) + static_cast<std::ptrdiff_t>(2 * elements)),
        problem_(memory.here() + elements, elements),
        b_buffer_(elements),
        c_buffer_(elements) {
    problem_.count_work(context.work());
  }

  TriadProblem& problem() { return problem_; }

  void fine(size_t most) {
    for (size_t i = 0; i < most; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      const double b = context_.rget(b_ + at);
      const double c = context_.rget(c_ + at);
      problem_.compute(i, i + 1, &b, &c);
    }
  }

  void blocking() {
    if (b_.where() == context_.rank_me()) {
      problem_.compute(0, elements_, context_.local(b_), context_.local(c_));
      return;
    }
    context_.rget(b_, b_buffer_.data(), elements_).wait();
    context_.rget(c_, c_buffer_.data(), elements_).wait();
    problem_.compute(0, elements_, b_buffer_.data(), c_buffer_.data());
  }

  void nonblocking(size_t parts) {
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = elements_ * part / parts;
      const size_t count = elements_ * (part + 1) / parts - begin;
      const auto at = static_cast<std::ptrdiff_t>(begin);
      in_flight_[part] = {context_.rget(b_ + at, b_buffer_.data() + begin, count),
                          context_.rget(c_ + at, c_buffer_.data() + begin, count)};
    }
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = elements_ * part / parts;
      const size_t end = elements_ * (part + 1) / parts;
      wait_all(in_flight_[part]);
      problem_.compute(begin, end, b_buffer_.data() + begin, c_buffer_.data() + begin);
    }
  }

  NestPlan engine(const NestOptions& options) {
    const auto [i] = loop_indices<1>();
    return for_nest(
        context_, {elements_}, options,
        [](const double& b, const double& c, double& a) { a = b + TriadProblem::kScalar * c; },
        read(b_, i), read(c_, i), write(a_, i));
  }

 private:
  Context& context_;
  size_t elements_;
  global_ptr<double> a_;
  global_ptr<double> b_;
  global_ptr<double> c_;
  TriadProblem problem_;
  AlignedBuffer<double> b_buffer_;
  AlignedBuffer<double> c_buffer_;
  std::array<std::array<future, 2>, kHandParts> in_flight_;
};

Result<SampleSeries> run_triad(Session& session, const experiment::Point& point,
                               const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Variant variant = variant_of(point);
  const size_t elements = size_param(point, kElementsFactor);
  const auto shift = static_cast<rank_t>(size_param(point, kShiftFactor));
  if (shift == 0 &&
      (variant == Variant::hand || variant == Variant::hand4 || variant == Variant::forced)) {
    return Error(ErrorCode::invalid_argument,
                 "with shift=0 variant '" + point.variant +
                     "' has nothing to fetch; take 'blocking', the loop by hand, or 'untuned' or "
                     "'tuned', the nest in place");
  }
  LoopOptions loop;
  loop.loop.n_local_ref = 2;
  loop.loop.n_fp_alu = 2;
  loop.local_bytes = elements * sizeof(double);
  STRIPLINE_ASSIGN_OR_RETURN(EngineLoop engine, make_engine_loop(ctx, point, loop, sizeof(double)));
  const NestOptions options = nest_options(engine, elements);
  STRIPLINE_ASSIGN_OR_RETURN(const auto memory, SymmetricMemory<double>::create(ctx, 3 * elements));
  const rank_t owner = (ctx.rank_me() + shift) % ctx.rank_n();
  Triad triad(ctx, memory, elements, owner);
  const size_t fine = std::min(elements, kFineElements);
  std::optional<const NestPlan> plan;  // of the latest execution

  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    double* const b = memory.here();
    TriadProblem::fill(b, b + 2 * elements, elements, ctx.rank_me(), salt);
    triad.problem().clear_result();
  };
  parts.run = [&] {
    switch (variant) {
      case Variant::fine:
        return triad.fine(fine);
      case Variant::blocking:
        return triad.blocking();
      case Variant::hand:
        return triad.nonblocking(1);
      case Variant::hand4:
        return triad.nonblocking(kHandParts);
      case Variant::untuned:
      case Variant::tuned:
      case Variant::guarded:
      case Variant::forced:
        plan.emplace(triad.engine(options));
    }
  };
  parts.verify = [&](uint64_t salt) {
    return triad.problem().verify(owner, salt, variant == Variant::fine ? fine : elements);
  };
  if (variant == Variant::fine) {
    parts.scale = static_cast<double>(elements) / static_cast<double>(fine);
  }

  SampleSeries series = measure_kernel(session, rule, parts);
  const bool by_hand = shift == 0 && variant == Variant::blocking;
  const bool by_nest = variant >= Variant::untuned;
  series.note = !series.verified ? kWrongResult
                : by_hand        ? "in place"
                : by_nest        ? plan_text(*plan)
                                 : kernel_note(ctx, variant, engine, fine, elements);
  return series;
}

}  // namespace

Benchmark triad_benchmark() {
  return declare(
      {.known = kernels::kTriad,
       .run = run_triad,
       .title = "STREAM triad over distributed arrays",
       .description =
           "The triad of STREAM, a = b + s c: every rank makes its a of the b and c of the next "
           "rank, or of its own (shift 0). Both arrays are fetched element by element (fine: at "
           "most 1024 of them, the time scaled), one after the other (blocking), together (hand), "
           "together in four equal strips (hand4), or as a loop nest that the runtime carries out "
           "without a model (untuned), with the context's model (tuned, and guarded, which gives "
           "up plans that lose) or under a decomposition of the caller's (forced), strips being of "
           "each array. With shift 0 there is nothing to fetch: blocking is the plain loop, fine "
           "goes through global pointers, the nest runs in place; hand, hand4 and forced would be "
           "the same as others, and are refused. The nest's loop is what the compiler makes of its "
           "body, the others' one function with the same operations.",
       .factors =
           joined({integer_factor(kElementsFactor, "1", "Elements of a rank's part of each array.",
                                  {1 << 17, 1 << 13, 1 << 15, 1 << 19, 1 << 21}, 1, 1 << 26),
                   integer_factor(kShiftFactor, "1",
                                  "How many ranks further the owner of b and c is.", {1, 0}, 0, 1)},
                  decomposition_factors()),
       .variants = variant_names(),
       .metric = {"time", "s", true},
       .verification =
           "Every element of a is compared with its closed form, in every repetition, to 1e-13 of "
           "it, which STREAM asks of their mean; the owners change b and c between repetitions."});
}

}  // namespace stripline::suites
