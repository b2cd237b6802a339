#include "suites/micro/put_area.h"

#include <algorithm>
#include <utility>

#include "suites/grids.h"
#include "suites/micro/transfer.h"
#include "suites/pattern.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

constexpr size_t kGapBytes = 8;
constexpr std::byte kSpoilt{0xa5};

size_t stride_of(size_t bytes) { return (bytes + 7) / 8 * 8 + kGapBytes; }

}  // namespace

Result<PutArea> PutArea::create(Session& session, size_t bytes, size_t places) {
  Context& context = session.context();
  STRIPLINE_ASSIGN_OR_RETURN(auto array,
                             context.new_symmetric_array<std::byte>(stride_of(bytes) * places));
  return PutArea(context, bytes, places, array);
}

PutArea::PutArea(Context& context, size_t bytes, size_t places, global_ptr<std::byte> array)
    : context_(&context),
      bytes_(bytes),
      places_(places),
      stride_(stride_of(bytes)),
      array_(array),
      remote_(context.on_rank(array, 1)) {
  if (context.rank_me() != 0) return;
  source_.resize(stride_ * places_);
  for (size_t i = 0; i < places_; ++i) fill_pattern({source_.data() + i * stride_, bytes_}, i);
}

PutArea::PutArea(PutArea&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      bytes_(other.bytes_),
      places_(other.places_),
      stride_(other.stride_),
      array_(other.array_),
      remote_(other.remote_),
      source_(std::move(other.source_)) {}

PutArea::~PutArea() {
  if (context_ != nullptr) context_->delete_symmetric_array(array_);
}

experiment::SampleSeries PutArea::measure(Session& session, const experiment::StopRule& rule,
                                          const std::function<void()>& put_all) {
  experiment::SampleSeries series;
  if (context_->rank_me() == 0) {
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = context_->now_s();
          put_all();
          return (context_->now_s() - start_s) / static_cast<double>(places_);
        },
        series);
  }
  context_->barrier();
  series.verified = verify(put_all);
  return series;
}

bool PutArea::verify(const std::function<void()>& put_all) {
  const bool owner = context_->rank_me() == 1;
  std::byte* const mine = context_->local(array_);
  if (owner) std::fill_n(mine, stride_ * places_, kSpoilt);
  context_->barrier();
  if (context_->rank_me() == 0) put_all();
  context_->barrier();
  uint64_t good = 1;
  for (size_t i = 0; owner && i < places_; ++i) {
    const std::byte* place = mine + i * stride_;
    if (first_mismatch({place, bytes_}, i) ||
        std::any_of(place + bytes_, place + stride_, [](std::byte b) { return b != kSpoilt; })) {
      good = 0;
    }
  }
  return context_->reduce_all(good, Context::ReduceOp::min) != 0;
}

Benchmark put_benchmark(RunFunction run, const experiment::Known& known, std::string title) {
  return declare({.known = known,
                  .run = run,
                  .title = std::move(title),
                  .metric = {"time_per_put", "s", true},
                  .verification = "Puts are made into spoilt memory and compared place by place, "
                                  "with the gaps between them."});
}

}  // namespace stripline::suites
