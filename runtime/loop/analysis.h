// How long a rank spends deciding how to carry its loops and nests out: describing them, finding
// what is known of them, planning, and guards (Iancu et al., section 8, "run-time analysis").
//
// Whoever measures that gives a clock of the host: on an emulated network deciding may take no time
// of the fabric's. Without one, which is how programs run, it costs a comparison.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stripline::detail {

class Analysis {
 public:
  using Clock = double (*)();  ///< seconds

  struct Total {
    uint64_t executions = 0;  ///< of loops and nests
    uint64_t planned = 0;     ///< plans that were made, rather than found
    double seconds = 0;
    double planning_s = 0;  ///< of these, where a plan was made
  };

  /// Starts from zero. What reading the clock takes is left out of what is measured.
  void begin(Clock clock_s) {
    constexpr int kReadings = 1000;
    total_ = {};
    clock_s_ = clock_s;
    reading_s_ = 1;
    for (int i = 0; i < kReadings; ++i) {
      const double begun_s = clock_s();
      reading_s_ = std::min(reading_s_, clock_s() - begun_s);
    }
  }

  /// Since begin(); measures no longer.
  Total end() {
    clock_s_ = nullptr;
    return total_;
  }

  void count_execution() { ++total_.executions; }
  void count_plan() { ++total_.planned; }

  /// A part of it, until it ends.
  class Span {
   public:
    explicit Span(Analysis& analysis) : analysis_(analysis), clock_s_(analysis.clock_s_) {
      if (clock_s_ == nullptr) return;
      planned_before_ = analysis.total_.planned;
      begun_s_ = clock_s_();
    }
    ~Span() { end(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    void end() {
      if (clock_s_ == nullptr) return;
      const double seconds = std::max(0.0, clock_s_() - begun_s_ - analysis_.reading_s_);
      clock_s_ = nullptr;
      Total& total = analysis_.total_;
      total.seconds += seconds;
      if (total.planned != planned_before_) total.planning_s += seconds;
    }

   private:
    Analysis& analysis_;
    Clock clock_s_;
    uint64_t planned_before_ = 0;
    double begun_s_ = 0;
  };

 private:
  Clock clock_s_ = nullptr;
  double reading_s_ = 0;
  Total total_;
};

}  // namespace stripline::detail
