#include "server/store/log_bound.h"

namespace stripline::server {
namespace {

constexpr double kBetweenTries_s = 1;

}  // namespace

LogBound::Cut LogBound::next(uintmax_t bytes, double now_s) {
  if (bytes < kMaxBytes) {
    *this = {};
    return Cut::no;
  }
  if (now_s < next_try_s_) return Cut::no;
  next_try_s_ = now_s + kBetweenTries_s;
  if (bytes < waits_from_bytes_) return Cut::if_unread;
  waits_from_bytes_ = 2 * bytes;
  return Cut::when_unread;
}

}  // namespace stripline::server
