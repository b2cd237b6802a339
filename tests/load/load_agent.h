// An agent that measures nothing: it speaks with a real server over a real connection, by the code
// of stripline-agent, and sends samples at a steady pace. Many of them share a thread.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <poll.h>
#include <vector>

#include "agent/credentials.h"
#include "agent/link.h"
#include "agent/session.h"
#include "base/host_and_port.h"
#include "optimizer/experiment/experiment.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::load {

struct Pace {
  double points_per_s = 10;         ///< of each run; each point is a batch
  uint32_t samples_per_point = 50;  ///< values in it
};

/// A batch, in time.
struct Acknowledged {
  double due_s = 0;  ///< by the pace
  double sent_s = 0;
  double at_s = 0;
};

/// What agents have seen, together.
struct Seen {
  std::vector<Acknowledged> acknowledged;
  uint64_t samples = 0;  ///< acknowledged
  uint64_t runs_finished = 0;
  uint64_t runs_lost = 0;  ///< taken away, or given out again
};

/// What is sent of a point: samples as long as real ones are.
experiment::SampleSeries made_up(const experiment::Point& point, uint32_t run, uint32_t samples);

class LoadAgent {
 public:
  /// `hello` is what all of them say beside their names. `seen` must outlive it.
  LoadAgent(const HostAndPort& server, const std::filesystem::path& identity_file, Hello hello,
            const Pace& pace, Seen& seen, uint64_t seed);

  /// Does what is due, and takes what has come.
  void turn();
  /// When it has something to do, unless the server speaks before.
  double next_event_s() const;
  pollfd waits_for() const { return {link_->fd(), link_->poll_events(), 0}; }
  void on_ready() { link_->on_ready(); }
  bool live() const { return session_.live(); }
  uint64_t sessions() const { return sessions_; }

 private:
  struct Sent {
    SampleBatch batch;
    Acknowledged times;  // the last of them is not known yet
  };
  struct Work {
    Assignment order;
    experiment::Assignment plan;
    bool samples = false;  // it has rank 0
    bool ready = false;
    bool finished = false;
    uint64_t batches = 0;  // one a point
    double next_s = 0;
    std::deque<Sent> unacknowledged;
  };

  void follow(const agent::SessionStep& step);
  void resume();
  void on_event(const agent::LinkEvent& event);
  void handle(const HelloAck& ack);
  void handle(const Assignment& order);
  void handle(const GroupReady& ready);
  void handle(const CancelAssignment& cancel);
  void handle(const SampleAck& ack);
  void handle(const NewCertificate& /*answer*/) {}
  // Nothing is run here that could use a model.
  void handle(const ModelOffer& /*offer*/) {}
  void handle(const ModelWithdrawal& /*withdrawal*/) {}
  bool has_points_left() const;
  void send_point(double now);
  void finish_when_done();
  bool is_mine(const AssignmentId& id) const { return work_ && work_->order.id == id; }

  Hello hello_;
  Pace pace_;
  Seen& seen_;
  agent::Session session_;
  std::unique_ptr<agent::Credentials> credentials_;
  std::unique_ptr<agent::Link> link_;
  std::optional<Work> work_;
  uint64_t sessions_ = 0;  // that have become live
};

}  // namespace stripline::load
