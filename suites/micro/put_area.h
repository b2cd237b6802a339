// What the experiments on puts from rank 0 to places of rank 1 that are spread out share.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <stripline/context.h>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/registry.h"
#include "suites/session.h"

namespace stripline::suites {

/// Places of one size in rank 1's segment, with a gap after each, and what rank 0 puts there.
class PutArea {
 public:
  /// Collective. Errors: resource_exhausted, the same on every rank.
  static Result<PutArea> create(Session& session, size_t bytes, size_t places);
  /// Collective.
  ~PutArea();
  PutArea(PutArea&& other) noexcept;
  PutArea& operator=(PutArea&&) = delete;

  size_t bytes() const { return bytes_; }
  size_t places() const { return places_; }
  const std::byte* source(size_t place) const { return source_.data() + place * stride_; }
  global_ptr<std::byte> there(size_t place) const {
    return remote_ + static_cast<std::ptrdiff_t>(place * stride_);
  }

  /// Collective: the time that rank 0 needs for `put_all`, per place, and whether each place of
  /// rank 1 holds afterwards what was put there and each gap what it held.
  experiment::SampleSeries measure(Session& session, const experiment::StopRule& rule,
                                   const std::function<void()>& put_all);

 private:
  bool verify(const std::function<void()>& put_all);

  PutArea(Context& context, size_t bytes, size_t places, global_ptr<std::byte> array);

  Context* context_;
  size_t bytes_;
  size_t places_;
  size_t stride_;
  global_ptr<std::byte> array_;
  global_ptr<std::byte> remote_;
  std::vector<std::byte> source_;  // of rank 0
};

/// Declares what such experiments have in common; description and factors are still empty.
Benchmark put_benchmark(RunFunction run, const experiment::Known& known, std::string title);

}  // namespace stripline::suites
