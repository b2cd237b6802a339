#include "agent/agent.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>
#include <variant>

#include <spdlog/spdlog.h>

#include "agent/assignment_runner.h"
#include "agent/leftovers.h"
#include "agent/link.h"
#include "agent/model_offer.h"
#include "agent/model_orders.h"
#include "agent/order_check.h"
#include "agent/run_load.h"
#include "agent/run_reports.h"
#include "agent/target_watch.h"
#include "agent/worker_process.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/host_load.h"
#include "base/process_state.h"
#include "base/unguessable.h"

namespace stripline::agent {
namespace {

// An outcome that was sent over a session which ended soon after may not have arrived: it is said
// again in the next session.
constexpr double kRepeatOutcomeWithin_s = 60;

// Longer than any run.
constexpr double kPatience_s = 7 * 86400.0;

// From one report of a run that is passed on to the next.
constexpr double kReportPause_s = 1;

// From the end of the workers to the end of an agent that was asked to stop.
constexpr double kFarewellTimeout_s = 1;

uint64_t random_bits() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

constexpr double kBetweenLooks_s = 1;

}  // namespace

class Agent::Impl {
 public:
  Impl(AgentOptions options, Description description)
      : options_(std::move(options)),
        description_(std::move(description)),
        instance_id_(unguessable_text() + unguessable_text()),
        wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        session_(text_of(options_.servers), options_.session, random_bits()),
        stay_(options_.stay, steady_seconds()),
        credentials_(options_.identity_file),
        link_(options_.servers, credentials_),
        reports_(options_.models_folder),
        model_orders_(options_.models_folder, options_.targets, description_, [this] { wake(); }),
        target_watch_(options_.targets, description_.fingerprint, options_.target_pause_s,
                      steady_seconds(), [this] { wake(); }) {
    reports_.listen();
  }

  int run() {
    while (!exit_code_) {
      const double now = steady_seconds();
      follow(session_.on_time(now));
      if (runner_) {
        runner_->on_time(now);
        if (runner_->wants_look()) runner_->on_look(now, look_at_ranks());
        carry_out();
      }
      follow_model_orders();
      watch_targets(now);
      pass_on_reports(now);
      leave_when_due(now);
      end_when_stopped(now);
      if (link_.take_received()) session_.on_received(now);
      const std::vector<LinkEvent> events = link_.take_events();
      for (const LinkEvent& event : events) on_link_event(event);
      if (exit_code_) break;
      // What an event has changed may be due now.
      wait(events.empty() ? timeout_ms(now) : 0);
    }
    end_workers();
    return *exit_code_;
  }

  void stop(bool patiently) { wake_for(patiently ? leave_wanted_ : stop_wanted_); }

  void hang_up() { wake_for(hang_up_wanted_); }

 private:
  void wake_for(std::atomic<bool>& wish) const {
    wish = true;
    wake();
  }

  void wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(wake_fd_.get(), &one, sizeof one);
  }

  void on_wish() {
    uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_fd_.get(), &ignored, sizeof ignored);
    if (hang_up_wanted_.exchange(false)) options_.on_hang_up();
    if (leave_wanted_.exchange(false)) stay_.leave(steady_seconds(), kPatience_s);
    // Said twice, it is meant.
    if (stop_wanted_.exchange(false)) {
      stay_.leave(steady_seconds(), stay_.leaving() ? 0 : options_.drain_s);
    }
  }

  struct Worker {
    WorkerProcess process;
  };

  bool measuring() const { return runner_ && !runner_->done(); }

  void follow(const SessionStep& step) {
    if (step.log) {
      spdlog::log(step.log_is_warning ? spdlog::level::warn : spdlog::level::info, "{}", *step.log);
    }
    if (step.close_link) link_.abandon();
    if (step.open_link) link_.open(hello());
    if (step.became_live) resume();
    if (step.heartbeat) {
      link_.send(heartbeat());
      renew_certificate();
    }
    if (session_.refusal()) {
      spdlog::error("{}", session_.refusal()->message());
      exit_code_ = exit_code_for(session_.refusal()->code());
    }
  }

  Hello hello() const {
    std::map<std::string, std::string> facts = description_.fingerprint;
    for (const auto& [name, value] : target_watch_.changed()) facts[name] = value;
    return {options_.node,
            instance_id_,
            options_.version,
            std::move(facts),
            description_.fabrics,
            description_.experiments_json,
            runner_ ? runner_->id() : AssignmentId{},
            stay_.available_s(steady_seconds()).value_or(0),
            stay_.leaving(),
            options_.cluster,
            models(),
            description_.max_ranks,
            is_occupied()};
  }

  std::optional<std::map<std::string, std::string>> models() const {
    if (options_.models_folder.empty()) return std::nullopt;
    return installed_models(options_.models_folder, description_);
  }

  Heartbeat heartbeat() {
    const bool occupied = is_occupied();
    if (measuring()) return {runner_->id(), stay_.leaving(), std::nullopt, occupied};
    // Servers may want to hear of agents more often than is worth a look.
    if (steady_seconds() >= next_look_s_) look_at_host();
    return {{}, stay_.leaving(), host_load_, occupied};
  }

  // What would disturb a measurement: no run is wanted meanwhile.
  bool is_occupied() const { return model_orders_.installing() || target_watch_.looking(); }

  void look_at_host() {
    host_load_ = read_host_load();
    next_look_s_ = steady_seconds() + kBetweenLooks_s;
  }

  void renew_certificate() {
    if (auto request = credentials_.renewal_due(unix_seconds())) {
      link_.send(RenewCertificate{std::move(*request)});
    }
  }

  void on_message(const NewCertificate& answer) const {
    const Status accepted = credentials_.accept(answer.certificate_pem);
    if (accepted.ok()) {
      spdlog::info("the certificate of nodes/{} is renewed", options_.node);
    } else {
      spdlog::error("cannot renew the certificate of nodes/{}: {}", options_.node,
                    accepted.error().message());
    }
  }

  // A new session: what the server may have missed is said again.
  void resume() {
    if (!runner_) return;
    runner_->on_reconnected();
    carry_out();
  }

  void on_link_event(const LinkEvent& event) {
    if (const auto* closed = std::get_if<LinkClosed>(&event)) {
      SessionStep step = session_.on_closed(steady_seconds(), closed->error, closed->reason);
      if (stopping()) step.log.reset();  // as it was asked to
      follow(step);
      return;
    }
    std::visit([this](const auto& message) { on_message(message); },
               std::get<ServerMessage>(event));
  }

  void on_message(const HelloAck& ack) {
    follow(session_.on_hello_ack(steady_seconds(), ack.protocol, ack.heartbeat_interval_s,
                                 ack.reconnect_spread_s));
  }

  void on_message(const Assignment& assignment) {
    if (runner_ && runner_->id() == assignment.id) return;  // said twice
    if (stopping()) return;
    if (measuring()) {
      // The server gives out work only to free nodes: what runs here has been taken away.
      spdlog::warn("{} was given out while {} still ran; ending the old one", assignment.id.name,
                   runner_->id().name);
      abandon_run();
    }
    spdlog::info("starting {} (fence {}) with {} rank{} here", assignment.id.name,
                 assignment.id.fence, assignment.ranks.size(),
                 assignment.ranks.size() == 1 ? "" : "s");
    done_since_s_.reset();
    run_load_.begin();
    job_id_ = assignment.job_id;
    runner_ = std::make_unique<AssignmentRunner>(assignment, options_.node, address_of_ranks());
    const Status may_do = check_order(assignment, options_.node, description_, Room::read());
    if (may_do.ok()) {
      runner_->start(steady_seconds());
    } else {
      runner_->refuse(may_do.error());
    }
    carry_out();
  }

  void on_message(const GroupReady& ready) {
    if (!runner_ || runner_->id() != ready.assignment) return;
    runner_->on_group_ready(steady_seconds(), *ready.addresses);
    carry_out();
  }

  void on_message(const CancelAssignment& cancel) {
    if (!runner_ || runner_->id() != cancel.assignment) {
      link_.send(AssignmentUpdate{cancel.assignment, AssignmentUpdate::State::cancelled, "",
                                  "nodes/" + options_.node + " does not work on it"});
      return;
    }
    if (runner_->done()) {
      link_.send(runner_->outcome());
      return;
    }
    spdlog::info("cancelling {}: {}", cancel.assignment.name, cancel.message);
    runner_->on_cancel(steady_seconds(), cancel.message);
    carry_out();
  }

  void on_message(const ModelOffer& offer) { model_orders_.add(offer); }
  void on_message(const ModelWithdrawal& withdrawal) { model_orders_.add(withdrawal); }

  // None is begun while it measures: the server offers nothing to an agent that it has given a run,
  // but an order may have come meanwhile.
  void follow_model_orders() {
    const bool was_occupied = is_occupied();
    for (ModelAck& answer : model_orders_.follow(!measuring())) {
      if (answer.applied) reports_.listen();
      // Without a session the model is offered again.
      if (session_.live()) link_.send(std::move(answer));
    }
    say_occupation(was_occupied);
  }

  // At once, as the server may be about to give out a run, or waits to do so.
  void say_occupation(bool was_occupied) {
    if (is_occupied() != was_occupied && session_.live()) link_.send(heartbeat());
  }

  bool may_look_at_targets() const {
    return session_.live() && !measuring() && !model_orders_.installing() && !stopping();
  }

  // Facts of a node come with Hello. A run that has begun meanwhile goes first.
  void watch_targets(double now) {
    const bool was_occupied = is_occupied();
    if (target_watch_.follow(now, may_look_at_targets())) has_other_facts_ = true;
    say_occupation(was_occupied);
    if (!has_other_facts_ || measuring()) return;
    has_other_facts_ = false;
    follow(session_.renew(now));
  }

  // Reports would disturb a measurement. One at a time, once the one before has been sent: any user
  // of the node may send them.
  void pass_on_reports(double now) {
    if (measuring() || !session_.live() || now < next_report_s_ || !link_.is_drained()) return;
    auto report = reports_.take();
    if (!report) return;
    link_.send(FeedbackReport{*std::move(report)});
    next_report_s_ = now + kReportPause_s;
  }

  void on_message(const SampleAck& ack) {
    if (!runner_ || runner_->id() != ack.assignment) return;
    runner_->on_ack(ack.seq);
    carry_out();
  }

  // An address or interface that was set in the environment takes precedence.
  std::string address_of_ranks() const {
    for (const char* name : {"STRIPLINE_ADDRESS", "STRIPLINE_IFACE", "FI_TCP_IFACE", "FI_NET_IFACE",
                             "FI_UDP_IFACE", "FI_SOCKETS_IFACE"}) {
      const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
      if (value != nullptr && *value != '\0') return "";
    }
    return link_.local_address();
  }

  void abandon_run() {
    end_workers();
    runner_.reset();
  }

  void end_workers() {
    for (auto& [rank, worker] : workers_) worker.process.kill();  // all at once
    workers_.clear();                                             // reaps
    clean_up();
  }

  // Once none of the run's ranks is left.
  void clean_up() {
    if (!started_.empty()) remove_leftovers(job_id_, std::exchange(started_, {}));
  }

  // Does what the runner asks for, which may make it ask for more.
  void carry_out() {
    for (auto actions = runner_->take_actions(); !actions.empty();
         actions = runner_->take_actions()) {
      for (Action& action : actions) {
        std::visit([this](auto& alternative) { perform(alternative); }, action);
      }
    }
    if (runner_->done() && !done_since_s_) {
      done_since_s_ = steady_seconds();
      clean_up();
      report_outcome();
    } else if (!runner_->done()) {
      done_since_s_.reset();
    }
  }

  void report_outcome() const {
    const AssignmentUpdate& outcome = runner_->outcome();
    switch (outcome.state) {
      case AssignmentUpdate::State::finished:
        spdlog::info("finished {}", outcome.assignment.name);
        return;
      case AssignmentUpdate::State::failed:
        spdlog::warn("{} failed: {}", outcome.assignment.name, outcome.message);
        return;
      case AssignmentUpdate::State::cancelled:
        spdlog::info("cancelled {}", outcome.assignment.name);
        return;
      case AssignmentUpdate::State::running:
      case AssignmentUpdate::State::unspecified:
        return;
    }
  }

  void perform(const StartWorker& start) {
    std::vector<std::string> command = {options_.worker};
    if (runner_->tunes()) command = tuning_worker(options_.targets);
    Result<WorkerProcess> process = WorkerProcess::start(std::move(command), start.environment);
    if (!process.ok()) {
      runner_->on_start_failed(steady_seconds(), start.rank, process.error());
      return;
    }
    started_.push_back(process->pid());
    workers_.insert_or_assign(start.rank, Worker{std::move(*process)});
  }

  void perform(const TellWorker& tell) {
    if (const auto it = workers_.find(tell.rank); it != workers_.end()) {
      it->second.process.tell(tell.message);
    }
  }

  void perform(const KillWorker& kill) {
    if (const auto it = workers_.find(kill.rank); it != workers_.end()) it->second.process.kill();
  }

  void perform(const TellServer& tell) {
    const auto* update = std::get_if<AssignmentUpdate>(&tell.message);
    if (update != nullptr && update->state == AssignmentUpdate::State::running &&
        !update->message.empty()) {
      const auto level = runner_->tunes() ? spdlog::level::info : spdlog::level::warn;
      spdlog::log(level, "{}: {}", update->assignment.name, update->message);
    }
    if (!session_.live()) return;
    // The server decides by the host's load whether the next run begins at once: it comes first.
    if (update != nullptr && update->state == AssignmentUpdate::State::finished) {
      look_at_host();
      link_.send(Heartbeat{runner_->id(), stay_.leaving(), host_load_, is_occupied()});
    }
    link_.send(tell.message);
  }

  std::vector<experiment::Sight> look_at_ranks() const {
    std::vector<experiment::Sight> sights;
    for (const auto& [rank, worker] : workers_) {
      const auto state = process_state(worker.process.pid());
      const bool stopped = state && (state->stopped() || state->state == 't');
      sights.push_back({rank, worker.process.points_begun(), stopped});
    }
    return sights;
  }

  // Everything that the worker has sent by now.
  void read_messages(uint32_t rank, Worker& worker) {
    runner_->on_begun(rank, worker.process.points_begun());
    while (true) {
      const Result<std::optional<std::string>> line = worker.process.next_line();
      if (!line.ok()) {
        runner_->on_worker_garbage(steady_seconds(), rank, line.error());
        break;  // the run fails; what follows the garbage does not matter
      }
      if (!line->has_value()) break;
      runner_->on_worker_line(steady_seconds(), rank, **line);
    }
    runner_->flush();
    carry_out();
  }

  void on_worker_end(uint32_t rank, Worker& worker) {
    const std::optional<ExitStatus> status = worker.process.poll_exit();
    if (!status) return;
    read_messages(rank, worker);
    workers_.erase(rank);
    // Processes of a target that is tuned are not others'.
    if (workers_.empty() && !runner_->tunes()) runner_->add_facts(run_load_.facts());
    runner_->on_worker_exit(steady_seconds(), rank, *status);
    carry_out();
  }

  bool stopping() const { return stop_code_.has_value(); }

  void leave_when_due(double now) {
    if (stopping()) return;
    const Stay::Wish wish = stay_.wish(now, measuring());
    if (wish == Stay::Wish::stop) return begin_stop();
    if (wish == Stay::Wish::stay || said_leaving_) return;
    said_leaving_ = true;
    spdlog::info("leaving when {} has ended", runner_->id().name);
    if (session_.live()) link_.send(heartbeat());
  }

  void begin_stop() {
    if (stopping()) return;
    spdlog::info("{}", stay_.idle() ? "stopping: there is no work" : "stopping");
    stop_code_ = measuring()                        ? kExitCancelled
                 : stay_.idle() && !session_.live() ? kExitUnavailable
                                                    : kExitOk;
    if (measuring()) {
      runner_->on_agent_stop(steady_seconds(),
                             "the agent on nodes/" + options_.node + " was stopped");
      carry_out();
    }
  }

  // Once no worker is left: says goodbye, waits for the server's answer within limits.
  void end_when_stopped(double now) {
    if (!stopping() || measuring()) return;
    if (!farewell_until_s_) {
      farewell_until_s_ = session_.live() ? now + kFarewellTimeout_s : now;
      if (session_.live()) link_.finish();
    }
    if (!session_.live() || now >= *farewell_until_s_) exit_code_ = *stop_code_;
  }

  int timeout_ms(double now) const {
    std::optional<double> next = session_.next_event_s();
    const auto include = [&](std::optional<double> time) {
      if (time && (!next || *time < *next)) next = time;
    };
    if (runner_) include(runner_->next_event_s());
    include(farewell_until_s_);
    if (may_look_at_targets()) include(target_watch_.next_event_s());
    if (!stopping()) include(stay_.next_event_s());
    if (reports_.any() && session_.live() && !measuring() && link_.is_drained()) {
      include(next_report_s_);
    }
    if (!next) return -1;
    return static_cast<int>(std::ceil(std::clamp(*next - now, 0.0, 3600.0) * 1e3));
  }

  void wait(int limit_ms) {
    // Without a descriptor an entry is passed over.
    std::vector<pollfd> fds = {{wake_fd_.get(), POLLIN, 0},
                               {link_.fd(), link_.poll_events(), 0},
                               {reports_.fd(), POLLIN, 0}};
    const size_t first_worker = fds.size();
    std::vector<uint32_t> owners;
    for (const auto& [rank, worker] : workers_) {
      const short write = worker.process.wants_write() ? short{POLLOUT} : short{0};
      fds.push_back({worker.process.exit_fd(), POLLIN, 0});
      fds.push_back({worker.process.channel_fd(), static_cast<short>(POLLIN | write), 0});
      owners.push_back(rank);
    }
    if (::poll(fds.data(), fds.size(), limit_ms) <= 0) return;

    for (size_t i = 0; i < owners.size(); ++i) {
      const auto it = workers_.find(owners[i]);
      if (it == workers_.end()) continue;
      const pollfd& channel = fds[first_worker + 2 * i + 1];
      if ((channel.revents & POLLOUT) != 0) it->second.process.flush();
      if ((channel.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
        read_messages(owners[i], it->second);
      }
      if (fds[first_worker + 2 * i].revents != 0) on_worker_end(owners[i], it->second);
    }
    if (fds[2].revents != 0) reports_.read();
    if (fds[1].revents != 0) link_.on_ready();
    if (fds[0].revents != 0) on_wish();
    forget_old_outcome();
  }

  // Until then Hello names the run, and a late CancelAssignment is answered with how it ended.
  void forget_old_outcome() {
    if (runner_ && runner_->done() && session_.live() &&
        steady_seconds() - *done_since_s_ > kRepeatOutcomeWithin_s) {
      runner_.reset();
    }
  }

  AgentOptions options_;
  Description description_;
  std::string instance_id_;
  UniqueFd wake_fd_;  // what signals ask for, and the end of what is installed beside the loop
  std::atomic<bool> stop_wanted_ = false;
  std::atomic<bool> leave_wanted_ = false;
  std::atomic<bool> hang_up_wanted_ = false;
  Session session_;
  Stay stay_;
  bool said_leaving_ = false;
  Credentials credentials_;
  Link link_;
  RunReports reports_;
  double next_report_s_ = 0;  // not passed on before
  RunLoad run_load_;
  std::optional<HostLoad> host_load_;
  double next_look_s_ = 0;
  std::unique_ptr<AssignmentRunner> runner_;  // kept after its end until its outcome is safe
  std::optional<double> done_since_s_;
  std::map<uint32_t, Worker> workers_;
  std::string job_id_;          // of the current or last run
  std::vector<pid_t> started_;  // its ranks
  std::optional<int> stop_code_;
  std::optional<double> farewell_until_s_;
  std::optional<int> exit_code_;
  ModelOrders model_orders_;  // ends before what it reads
  TargetWatch target_watch_;
  bool has_other_facts_ = false;  // than the server has
};

Agent::Agent(AgentOptions options, Description description)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(description))) {}
Agent::~Agent() = default;
int Agent::run() { return impl_->run(); }
void Agent::stop(bool patiently) { impl_->stop(patiently); }
void Agent::hang_up() { impl_->hang_up(); }

}  // namespace stripline::agent
