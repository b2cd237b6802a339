// What the runtime itself declares (stripline/work.h), on a clock that goes by it.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/nest.h>
#include <stripline/vis.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/fabric/emulated/profile.h"

namespace stripline {
namespace {

constexpr const char* kNetwork = "emulated:opteron-vapi,jitter=off,compute=";

// What `body` takes on rank 0, on a network with this kind of computation.
double elapsed_s(const std::string& compute, const std::function<void(Context&)>& body) {
  bootstrap::ThreadGroupOptions options;
  options.context.fabric = kNetwork + compute;
  options.context.clock = "virtual";
  options.context.same_node = "network";
  options.context.segment_bytes = size_t{8} << 20;
  double elapsed = 0;
  bootstrap::on_ranks(options, [&](Context& context) {
    context.barrier();
    const double begin_s = context.now_s();
    body(context);
    if (context.rank_me() == 0) elapsed = context.now_s() - begin_s;
    context.barrier();
  });
  return elapsed;
}

// The time of what is declared, on top of what the network takes.
double work_s(const std::function<void(Context&)>& body) {
  return elapsed_s("declared", body) - elapsed_s("none", body);
}

double processor_s(const Work& work) {
  return fabric::resolve_profile(std::string(kNetwork) + "none")->profile.processor->seconds(work);
}

constexpr double kRounding_s = 1e-12;

TEST(DeclaredWork, IsWhatTheProgramSays) {
  const Work work{.flops = 5e5, .bytes = 2e5, .rows = 10};
  EXPECT_NEAR(work_s([&](Context& context) {
                if (context.work() != nullptr) *context.work() = work;
              }),
              processor_s(work), kRounding_s);
}

TEST(DeclaredWork, CopiesToAndFromOneself) {
  constexpr size_t kDoubles = 4096;
  Work copied;
  count_copy(&copied, 1, kDoubles * sizeof(double));
  std::vector<double> memory(kDoubles);
  const auto array = [](Context& context) {
    return context.on_rank(context.new_symmetric_array<double>(kDoubles).value(),
                           context.rank_me());
  };
  EXPECT_NEAR(work_s([&](Context& context) {
                const auto here = array(context);
                if (context.rank_me() == 0) context.rput(memory.data(), here, kDoubles).wait();
              }),
              processor_s(copied), kRounding_s);
  EXPECT_NEAR(work_s([&](Context& context) {
                const auto here = array(context);
                if (context.rank_me() == 0) context.rget(here, memory.data(), kDoubles).wait();
              }),
              processor_s(copied), kRounding_s);
}

// Rows of a block that is every other element, packed into one message and unpacked.
TEST(DeclaredWork, PackingAndUnpacking) {
  constexpr size_t kRows = 100;
  constexpr std::array<std::ptrdiff_t, 1> kApart = {2 * sizeof(double)};
  constexpr std::array<size_t, 1> kExtent = {kRows};
  Work copied;
  count_copy(&copied, kRows, sizeof(double));
  const VisOptions packed{.method = VisMethod::packed};
  const auto put = [&](Context& context) {
    const auto array = context.new_symmetric_array<double>(2 * kRows).value();
    std::vector<double> source(2 * kRows);
    if (context.rank_me() != 0) return;
    rput_strided<1, double>(context, source.data(), kApart, context.on_rank(array, 1), kApart,
                            kExtent, packed)
        .wait();
  };
  EXPECT_NEAR(work_s(put), 2 * processor_s(copied), kRounding_s);
  const auto get = [&](Context& context) {
    const auto array = context.new_symmetric_array<double>(2 * kRows).value();
    std::vector<double> target(2 * kRows);
    if (context.rank_me() != 0) return;
    rget_strided<1, double>(context, context.on_rank(array, 1), kApart, target.data(), kApart,
                            kExtent, packed)
        .wait();
  };
  EXPECT_NEAR(work_s(get), 2 * processor_s(copied), kRounding_s);
}

// Each iteration of a nest is what its description says.
TEST(DeclaredWork, BodiesOfNests) {
  constexpr size_t kRows = 30;
  constexpr size_t kColumns = 50;
  NestOptions options;
  options.loop = {.n_local_ref = 0, .n_int_alu = 1, .n_fp_alu = 2, .n_div = 0};
  const auto nest = [&](Context& context) {
    const auto a = context.new_symmetric_array<double>(kRows * kColumns).value();
    const auto b = context.new_symmetric_array<double>(kRows * kColumns).value();
    if (context.rank_me() != 0) return;
    const auto [i, j] = loop_indices<2>();
    const auto at = kColumns * i + j;
    for_nest(
        context, {kRows, kColumns}, options, [](const double& x, double& y) { y += 2 * x; },
        read(context.on_rank(a, 0), at), update(context.on_rank(b, 0), at));
  };
  Work body;
  body.compute(3 * kRows * kColumns, 3 * sizeof(double) * kRows * kColumns);
  EXPECT_NEAR(work_s(nest), processor_s(body), kRounding_s);
}

}  // namespace
}  // namespace stripline
