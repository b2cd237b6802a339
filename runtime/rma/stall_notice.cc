#include "runtime/rma/stall_notice.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/quantity.h"
#include "runtime/bootstrap/job_watch.h"

namespace stripline::rma {

StallNotice::StallNotice(Job& job, am::ActiveMessages& messages)
    : job_(job),
      messages_(messages),
      request_(messages.serve("where are you", am::Purpose::answer,
                              [this](fabric::Rank source, std::span<const std::byte> payload) {
                                take_request(source, payload);
                              })),
      answer_(messages.serve("here I am", am::Purpose::answer,
                             [this](fabric::Rank source, std::span<const std::byte> payload) {
                               take_answer(source, payload);
                             })) {}

void StallNotice::watch(double notice_s) {
  notice_s_ = notice_s;
  record_ = std::make_unique<bootstrap::OperationMemory>();
  job_.activity().attach(record_.get());
  job_.fabric().count_waits(job_.activity().waits());
  since_s_ = job_.fabric().now_s();
  has_work_ = true;
  messages_.add_background(*this);
}

double StallNotice::same_s(double now_s) const {
  const uint64_t waits = record_->waits.load(std::memory_order_relaxed);
  if (waits != waits_) {
    waits_ = waits;
    since_s_ = now_s;
  }
  return (waits & 1) == 0 ? 0 : now_s - since_s_;
}

bool StallNotice::ready() const {
  if (++looks_ % kLooks != 0) return false;
  const double now_s = job_.fabric().now_s();
  const double waited_s = same_s(now_s);
  return job_.rank() == 0 && !told_ && waited_s >= notice_s_ && now_s >= next_s_;
}

// Asks; who has answered is concluded from in take_answer().
void StallNotice::advance() {
  const double now_s = job_.fabric().now_s();
  if (job_.rank() != 0 || told_ || same_s(now_s) < notice_s_ || now_s < next_s_) return;
  next_s_ = now_s + notice_s_;
  ++round_;
  answers_.assign(job_.ranks(), std::nullopt);
  answers_[0] = own(round_);
  const Request request{round_};
  for (rank_t rank = 1; rank < job_.ranks(); ++rank) {
    messages_.send(rank, request_, std::as_bytes(std::span(&request, 1)), {});
  }
}

StallNotice::Answer StallNotice::own(uint64_t round) const {
  Answer answer{.round = round, .same_s = 0, .operation = {}};
  if (record_ == nullptr) return answer;
  answer.same_s = same_s(job_.fabric().now_s());
  const std::string text = bootstrap::last_operation(std::span<const std::byte, sizeof *record_>(
      reinterpret_cast<const std::byte*>(record_.get()), sizeof *record_));
  std::copy_n(text.begin(), std::min(text.size(), answer.operation.size() - 1),
              answer.operation.begin());
  return answer;
}

void StallNotice::take_request(fabric::Rank source, std::span<const std::byte> payload) {
  Request request{};
  if (payload.size() == sizeof request) std::memcpy(&request, payload.data(), sizeof request);
  const Answer answer = own(request.round);
  messages_.send(source, answer_, std::as_bytes(std::span(&answer, 1)), {});
}

void StallNotice::take_answer(fabric::Rank source, std::span<const std::byte> payload) {
  Answer answer{};
  if (payload.size() == sizeof answer) std::memcpy(&answer, payload.data(), sizeof answer);
  // One to an earlier question has come too late: the rank was busy.
  if (answer.round != round_ || source >= answers_.size()) return;
  answer.operation.back() = '\0';
  answers_[source] = answer;
  if (std::ranges::all_of(answers_, &std::optional<Answer>::has_value)) conclude();
}

void StallNotice::conclude() {
  if (told_) return;
  const double now_s = job_.fabric().now_s();
  double shortest_s = same_s(now_s);
  std::vector<bootstrap::RankSight> ranks(answers_.size());
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (i > 0) shortest_s = std::min(shortest_s, answers_[i]->same_s);
    ranks[i].stage = bootstrap::RankSight::Stage::joined;
    ranks[i].waits = 1;
    ranks[i].operation = answers_[i]->operation.data();
  }
  if (shortest_s < notice_s_) {  // when it can be true at the earliest
    next_s_ = now_s + std::max(notice_s_ - shortest_s, notice_s_ / 8);
    return;
  }
  told_ = true;
  bootstrap::JobWatch watch(0, job_.ranks(), {});
  (void)watch.look(0, ranks);
  (void)watch.look(shortest_s, ranks);
  std::fprintf(stderr,
               "stripline: no rank has made progress for %s; the job goes on. Where the ranks "
               "are:\n%s\n",
               seconds_text(notice_s_).c_str(), watch.where(ranks).c_str());
}

}  // namespace stripline::rma
