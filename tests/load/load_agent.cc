#include "tests/load/load_agent.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/json.h"
#include "optimizer/experiment/json.h"

namespace stripline::load {

experiment::SampleSeries made_up(const experiment::Point& point, uint32_t run, uint32_t samples) {
  experiment::SampleSeries series;
  series.point = point;
  series.run = run;
  series.verified = true;
  for (uint32_t i = 0; i < samples; ++i) {
    series.values.push_back(1.2345678901234e-6 * (i + 1));
    series.timestamps_s.push_back(0.123456789 * (i + 1));
  }
  return series;
}

LoadAgent::LoadAgent(const HostAndPort& server, const std::filesystem::path& identity_file,
                     Hello hello, const Pace& pace, Seen& seen, uint64_t seed)
    : hello_(std::move(hello)),
      pace_(pace),
      seen_(seen),
      session_(server.text(), {}, seed),
      credentials_(std::make_unique<agent::Credentials>(identity_file)),
      link_(std::make_unique<agent::Link>(std::vector{server}, *credentials_)) {}

void LoadAgent::turn() {
  const double now = steady_seconds();
  follow(session_.on_time(now));
  if (link_->take_received()) session_.on_received(now);
  for (const agent::LinkEvent& event : link_->take_events()) on_event(event);
  if (session_.live() && has_points_left() && now >= work_->next_s) send_point(now);
}

double LoadAgent::next_event_s() const {
  const double next = session_.next_event_s().value_or(steady_seconds() + 1);
  return session_.live() && has_points_left() ? std::min(next, work_->next_s) : next;
}

void LoadAgent::follow(const agent::SessionStep& step) {
  if (step.close_link) link_->abandon();
  if (step.open_link) {
    hello_.assignment = work_ ? work_->order.id : AssignmentId{};
    link_->open(hello_);
  }
  if (step.became_live) {
    ++sessions_;
    resume();
  }
  if (step.heartbeat) {
    const bool working = work_ && !work_->finished;
    link_->send(Heartbeat{working ? work_->order.id : AssignmentId{}});
  }
}

// Says what the server may not have heard.
void LoadAgent::resume() {
  if (!work_) return;
  const AssignmentId& id = work_->order.id;
  if (work_->finished) {
    link_->send(AssignmentUpdate{id, AssignmentUpdate::State::finished, "", ""});
    return;
  }
  link_->send(AssignmentUpdate{id, AssignmentUpdate::State::running, "", ""});
  if (!work_->ready) {
    for (const uint32_t rank : work_->order.ranks) link_->send(GroupJoin{id, rank, "-"});
  }
  for (const Sent& sent : work_->unacknowledged) link_->send(sent.batch);
}

void LoadAgent::on_event(const agent::LinkEvent& event) {
  if (const auto* closed = std::get_if<agent::LinkClosed>(&event)) {
    return follow(session_.on_closed(steady_seconds(), closed->error, closed->reason));
  }
  std::visit([this](const auto& message) { handle(message); }, std::get<ServerMessage>(event));
}

void LoadAgent::handle(const HelloAck& ack) {
  follow(session_.on_hello_ack(steady_seconds(), ack.protocol, ack.heartbeat_interval_s,
                               ack.reconnect_spread_s));
}

void LoadAgent::handle(const Assignment& order) {
  if (is_mine(order.id)) return;
  const auto json = parse_json(*order.assignment_json, "order");
  auto plan = json.ok() ? experiment::assignment_from_json(*json) : json.error();
  if (!plan.ok()) return;  // The run is lost, and counted below when it comes again.
  if (order.id.fence > 1) ++seen_.runs_lost;
  Work work;
  work.order = order;
  work.plan = std::move(*plan);
  work.samples = std::ranges::find(order.ranks, 0U) != order.ranks.end();
  work_ = std::move(work);
  resume();
}

void LoadAgent::handle(const GroupReady& ready) {
  if (!is_mine(ready.assignment) || work_->ready) return;
  work_->ready = true;
  work_->next_s = steady_seconds();
  finish_when_done();
}

void LoadAgent::handle(const CancelAssignment& cancel) {
  if (is_mine(cancel.assignment)) {
    if (work_->finished) return resume();
    ++seen_.runs_lost;
    work_.reset();
  }
  link_->send(
      AssignmentUpdate{cancel.assignment, AssignmentUpdate::State::cancelled, "", cancel.message});
}

void LoadAgent::handle(const SampleAck& ack) {
  if (!is_mine(ack.assignment)) return;
  const double now = steady_seconds();
  auto& sent = work_->unacknowledged;
  for (; !sent.empty() && sent.front().batch.seq <= ack.seq; sent.pop_front()) {
    sent.front().times.at_s = now;
    seen_.acknowledged.push_back(sent.front().times);
    seen_.samples += pace_.samples_per_point;
  }
  finish_when_done();
}

bool LoadAgent::has_points_left() const {
  return work_ && work_->ready && work_->samples && work_->batches < work_->plan.points.size();
}

void LoadAgent::send_point(double now) {
  const experiment::SampleSeries series =
      made_up(work_->plan.points[work_->batches], work_->plan.run, pace_.samples_per_point);
  const auto data =
      std::make_shared<const std::string>(Json::array({experiment::to_json(series)}).dump());
  const auto points = static_cast<uint32_t>(work_->plan.points.size());
  const auto done = static_cast<uint32_t>(++work_->batches);
  work_->unacknowledged.push_back(
      {{work_->order.id, work_->batches, data, done, points}, {work_->next_s, now, 0}});
  work_->next_s += 1 / pace_.points_per_s;
  link_->send(work_->unacknowledged.back().batch);
}

void LoadAgent::finish_when_done() {
  if (work_->finished || !work_->ready || has_points_left() || !work_->unacknowledged.empty()) {
    return;
  }
  work_->finished = true;
  if (work_->samples) ++seen_.runs_finished;
  link_->send(AssignmentUpdate{work_->order.id, AssignmentUpdate::State::finished, "", ""});
}

}  // namespace stripline::load
