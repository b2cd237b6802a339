#include "server/core/sessions/agent_sessions.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"

namespace stripline::server {
namespace {

// A node that describes itself with more than this is broken or hostile.
constexpr size_t kMaxListed = 4096;
constexpr size_t kMaxFactBytes = size_t{4} << 10;
constexpr size_t kMaxFacts = 256;
// All its texts together. An agent of ours sends some 100 KiB; it is kept for each session.
constexpr size_t kMaxHelloBytes = size_t{4} << 20;
// libfabric's addresses have some tens of bytes.
constexpr size_t kMaxAddressBytes = size_t{64} << 10;
// What a small machine takes in without falling behind.
constexpr double kHellosPerS = 200;
constexpr double kLongestSpreadS = 5;
// For a person to read; it is stored with every event until the next one.
constexpr size_t kMaxMessageBytes = 4000;

// What the state notes at once. The others are read without its lock, or are the door's.
template <typename Content>
constexpr bool kIsNoted =
    std::is_same_v<Content, Heartbeat> || std::is_same_v<Content, GroupJoin> ||
    std::is_same_v<Content, AssignmentUpdate> || std::is_same_v<Content, ModelAck>;

// An error that another attempt will meet again.
bool is_final_error(const std::string& code) {
  switch (error_code_from_string(code).value_or(ErrorCode::internal)) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::unimplemented:
    case ErrorCode::failed_precondition:
      return true;
    default:
      return false;
  }
}

// At most this many bytes of it, cut between characters.
std::string shortened(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return text.substr(0, limit) + " ...";
}

// A text of the Hello that is longer than any fact about a node.
bool has_long_text(const Hello& hello) {
  const auto too_long = [](const std::string& text) { return text.size() > kMaxFactBytes; };
  return too_long(hello.instance_id) || too_long(hello.agent_version) ||
         std::ranges::any_of(hello.fabrics, too_long) ||
         std::ranges::any_of(hello.fingerprint, [&](const auto& entry) {
           return too_long(entry.first) || too_long(entry.second);
         });
}

size_t bytes_of(const Hello& hello) {
  size_t bytes =
      hello.instance_id.size() + hello.agent_version.size() + hello.assignment.name.size();
  for (const std::string& fabric : hello.fabrics) bytes += fabric.size();
  for (const std::string& experiment : hello.experiments_json) bytes += experiment.size();
  const auto add = [&](const std::map<std::string, std::string>& map) {
    for (const auto& [key, value] : map) bytes += key.size() + value.size();
  };
  add(hello.fingerprint);
  if (hello.models) add(*hello.models);
  return bytes;
}

// What a node's ranks know of the fabric, beside what its agent said of the machine. True: it is
// too much, and fails the run.
bool take_facts(ActiveRun& active, const std::string& node,
                const std::map<std::string, std::string>& facts) {
  const auto too_long = [](const auto& entry) {
    return entry.first.size() > kMaxFactBytes || entry.second.size() > kMaxFactBytes;
  };
  if (facts.size() > kMaxFacts || std::ranges::any_of(facts, too_long)) {
    active.fail({node_name(node) + " describes itself in more than " + std::to_string(kMaxFacts) +
                     " facts, or in one of more than " + std::to_string(kMaxFactBytes) + " bytes",
                 true, node});
    return true;
  }
  for (const auto& [field, value] : facts) active.facts[node].insert_or_assign(field, value);
  return false;
}

}  // namespace

AgentSessions::AgentSessions(CoreState& state, RunOrders& orders, ModelRegistry& models,
                             SampleIntake& samples, OnFeedback on_feedback)
    : state_(state),
      orders_(orders),
      models_(models),
      samples_(samples),
      on_feedback_(std::move(on_feedback)) {}

// Checks the Hello and fills in what the session remembers of it.
std::optional<Problem> AgentSessions::check_hello(const Hello& hello, Session& session) {
  if (!is_segment(hello.node)) {
    return invalid_field("hello.node", "'" + hello.node +
                                           "' does not match [a-z0-9][a-z0-9._-]{0,62}; choose "
                                           "another --node");
  }
  if (!hello.cluster.empty() && !is_segment(hello.cluster)) {
    return invalid_field("hello.cluster", "'" + hello.cluster +
                                              "' does not match [a-z0-9][a-z0-9._-]{0,62}; choose "
                                              "another --cluster");
  }
  if (hello.instance_id.empty()) return invalid_field("hello.instance_id", "must not be empty");
  if (hello.protocol_min > kProtocolMax || hello.protocol_max < kProtocolMax) {
    return Problem{ErrorCode::failed_precondition,
                   "PROTOCOL_VERSION",
                   "the agent speaks protocol versions " + std::to_string(hello.protocol_min) +
                       " to " + std::to_string(hello.protocol_max) + ", this server speaks " +
                       std::to_string(kProtocolMax) +
                       "; install agent and server of neighbouring releases",
                   {{"server_protocol", std::to_string(kProtocolMax)}}};
  }
  if (hello.fingerprint.size() > kMaxListed || hello.fabrics.size() > kMaxListed ||
      (hello.models && hello.models->size() > kMaxListed) ||
      hello.experiments_json.size() > kMaxListed) {
    return invalid_field("hello", "lists more than " + std::to_string(kMaxListed) +
                                      " fabrics, experiments or facts; use an agent of this "
                                      "server's release");
  }
  if (has_long_text(hello)) {
    return invalid_field("hello", "a fabric, a fingerprint's field or another text has more than " +
                                      std::to_string(kMaxFactBytes) +
                                      " bytes; use an agent of this server's release");
  }
  if (const size_t bytes = bytes_of(hello); bytes > kMaxHelloBytes) {
    return invalid_field("hello", "describes the node in " + std::to_string(bytes) +
                                      " bytes, more than " + std::to_string(kMaxHelloBytes) +
                                      "; use an agent of this server's release");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto declared, declarations_.read(hello.experiments_json));
  session.declared = declared;
  session.fabrics =
      std::make_shared<const std::set<std::string>>(hello.fabrics.begin(), hello.fabrics.end());
  session.record = {hello.node,
                    hello.agent_version,
                    hello.fingerprint,
                    hello.fabrics,
                    {},
                    unix_seconds(),
                    hello.cluster.empty() ? kDefaultCluster : hello.cluster};
  for (const auto& experiment : session.declared->experiments) {
    session.record.experiments.push_back(experiment.name);
  }
  session.instance_id = hello.instance_id;
  session.takes_models = hello.models.has_value();
  session.max_ranks = hello.max_ranks;
  if (hello.models) session.models.has = *hello.models;
  return std::nullopt;
}

// A name costs a row for ever: only this many may be made up.
std::optional<Problem> AgentSessions::check_room(const std::string& node) {
  if (state_.unsaved_nodes.contains(node)) return std::nullopt;
  const auto known = state_.store.node(node);
  // Agents are served without the disk, too.
  if (!known.ok() || *known || !state_.save_nodes().ok()) return std::nullopt;
  const auto count = state_.store.count_nodes();
  if (!count.ok() || *count < state_.options.max_nodes) return std::nullopt;
  return Problem{ErrorCode::resource_exhausted,
                 "TOO_MANY_NODES",
                 std::to_string(state_.options.max_nodes) +
                     " nodes have connected to this server, and it takes no further names; use "
                     "one of theirs, or another server",
                 {}};
}

// Says so when a name was another machine's before.
void AgentSessions::note_identity(const NodeRecord& now) {
  std::optional<NodeRecord> before;
  if (const auto unsaved = state_.unsaved_nodes.find(now.name);
      unsaved != state_.unsaved_nodes.end()) {
    before = unsaved->second;
  } else if (auto known = state_.store.node(now.name); known.ok()) {
    before = *std::move(known);
  }
  if (!before) return;
  const std::string change = machine_change(before->fingerprint, now.fingerprint);
  if (change.empty()) return;
  state_.meters.count(Meters::Counter::nodes_changed);
  spdlog::warn("{} {}", node_name(now.name), change);
}

void AgentSessions::await_hello(const std::shared_ptr<AgentLink>& link) {
  const MutexLock lock(state_.mutex);
  state_.sessions.await_hello(link, steady_seconds() + state_.silent_s());
  state_.change_deadline();
}

Answer<uint64_t> AgentSessions::open_session(const Hello& hello, std::shared_ptr<AgentLink> link) {
  Session session;
  if (auto problem = check_hello(hello, session)) return std::move(*problem);

  const MutexLock lock(state_.mutex);
  state_.sessions.has_said_hello(link);
  session.link = std::move(link);
  if (state_.stopping) {
    return Problem{ErrorCode::unavailable, "SERVER_STOPPING", "the server is stopping", {}};
  }
  const Session* const present = state_.sessions.of_node(hello.node);
  if (present != nullptr) {
    if (present->instance_id != hello.instance_id) {
      const auto& facts = present->record.fingerprint;
      const auto host = facts.find("host");
      return Problem{ErrorCode::already_exists,
                     "NODE_IN_USE",
                     "another agent" +
                         (host == facts.end() ? std::string() : " of host '" + host->second + "'") +
                         " is connected as " + node_name(hello.node) + " and stays so until " +
                         exact_seconds_text(state_.silent_s()) +
                         " after it was heard of last; stop it or choose another --node",
                     {{"node", node_name(hello.node)}}};
    }
    // The same agent came back before its broken stream was noticed.
    state_.drop_session(
        present->id,
        Problem{
            ErrorCode::aborted, "SESSION_REPLACED", "the agent has opened a newer session", {}});
  }
  if (auto problem = check_room(hello.node)) return std::move(*problem);
  note_identity(session.record);
  state_.unsaved_nodes[hello.node] = session.record;
  state_.health.connected(hello.node, hello.instance_id);
  session.last_heard_s = steady_seconds();
  if (hello.available_s > 0) session.available_until_s = session.last_heard_s + hello.available_s;
  session.leaving = hello.leaving;
  session.installing = hello.installing;
  state_.meters.count(Meters::Counter::sessions_opened);
  Session& stored = state_.sessions.add(std::move(session));
  spdlog::info("{} connected (agent {}, {} fabrics, {} experiments)", node_name(hello.node),
               hello.agent_version, hello.fabrics.size(), hello.experiments_json.size());
  stored.link->send(
      HelloAck{kProtocolMax, state_.options.heartbeat_interval_s, reconnect_spread_s()});
  resume_assignment(hello, stored);
  state_.want_step();
  return stored.id;
}

// Over how long the agents that there are, or have been, are to come back after a restart.
double AgentSessions::reconnect_spread_s() const {
  const auto agents =
      static_cast<double>(std::max<uint64_t>(state_.sessions.size(), state_.nodes_at_start));
  return std::min(kLongestSpreadS, agents / kHellosPerS);
}

// Brings what the agent says it works on and what the server gave it together.
void AgentSessions::resume_assignment(const Hello& hello, Session& session) {
  const std::string& node = hello.node;
  const auto named = parse_run_name(hello.assignment.name);
  bool has_ended = false;  // its part of what it names, which others still measure
  for (auto& [campaign, active] : state_.active) {
    RunGroup& group = active.group;
    if (!group.has_node(node)) continue;
    const bool same_agent = active.instances[node] == hello.instance_id;
    const bool works_on_it =
        named && *named == group.run() && hello.assignment.fence == group.fence();
    if (group.finished(node)) {
      has_ended = has_ended || works_on_it;
      continue;
    }
    if (same_agent && works_on_it) {
      session.holding = Holding{group.run(), group.fence()};
      group.renew(node, steady_seconds());
      active.facts.try_emplace(node, session.record.fingerprint);
      if (group.ready()) session.send_ready(active);
      return;
    }
    if (same_agent && !group.ready()) {
      // The order was lost with the old stream. What the agent names is what it had before.
      const auto order = orders_.order_of(group.run(), group.fence(), active.points);
      group.renew(node, steady_seconds());
      active.facts.try_emplace(node, session.record.fingerprint);
      if (order.ok()) return orders_.send(session, group, *order);
    }
    active.fail({node_name(node) + " came back without the assignment", false, node});
    break;
  }
  if (named && !has_ended) {
    send_cancel(session, *named, hello.assignment.fence, "the assignment is not valid any more");
  }
}

void AgentSessions::close_session(uint64_t id) {
  const MutexLock lock(state_.mutex);
  const Session* const session = state_.sessions.find(id);
  if (session == nullptr) return;
  spdlog::info("{} disconnected", node_name(session->record.name));
  state_.drop_session(id, std::nullopt);
  state_.want_step();
}

void AgentSessions::close_all() {
  const MutexLock lock(state_.mutex);
  for (auto& [id, session] : state_.sessions.all()) {
    session.link->close({ErrorCode::unavailable,
                         "SERVER_STOPPING",
                         "the server is stopping; connect again when it is back",
                         {}});
  }
  state_.sessions.clear();
}

std::vector<std::string> AgentSessions::nodes_for_models(const std::string& fabric) {
  const MutexLock lock(state_.mutex);
  std::vector<std::string> nodes;
  for (const auto& [id, session] : state_.sessions.all()) {
    if (session.takes_models && session.fabrics->contains(fabric)) {
      nodes.push_back(session.record.name);
    }
  }
  return nodes;
}

void AgentSessions::receive(uint64_t id, const AgentMessage& message) {
  if (const auto* batch = std::get_if<SampleBatch>(&message)) return samples_.receive(id, *batch);
  if (const auto* report = std::get_if<FeedbackReport>(&message)) {
    return receive_feedback(id, *report);
  }
  const MutexLock lock(state_.mutex);
  Session* session = state_.sessions.heard(id);
  if (session == nullptr) return;
  const bool changed = std::visit(
      [&](const auto& content) STRIPLINE_REQUIRES(state_.mutex) {
        if constexpr (kIsNoted<std::decay_t<decltype(content)>>) return handle(*session, content);
        return false;
      },
      message);
  if (changed) state_.want_step();
}

void AgentSessions::receive_feedback(uint64_t id, const FeedbackReport& report) {
  std::string node;
  {
    const MutexLock lock(state_.mutex);
    const Session* session = state_.sessions.heard(id);
    if (session == nullptr) return;
    node = node_name(session->record.name);
  }
  on_feedback_(node, report);
}

void AgentSessions::send_cancel(Session& session, const RunKey& run, uint64_t fence,
                                const std::string& why) {
  session.send_cancel(run, fence, why, state_.options.lease_s);
}

bool AgentSessions::handle(Session& session, const Heartbeat& heartbeat) {
  session.leaving = session.leaving || heartbeat.leaving;
  if (heartbeat.host_load) session.host_load = heartbeat.host_load;
  const bool has_installed = session.installing && !heartbeat.installing;
  session.installing = heartbeat.installing;
  // Campaigns may wait for it to become quiet, or free.
  const bool awaited = has_installed || (heartbeat.host_load && state_.waits.any_for_quiet());
  const auto run = parse_run_name(heartbeat.assignment.name);
  if (!run) return awaited;
  const std::string& node = session.record.name;
  if (ActiveRun* active = state_.active_run(*run, heartbeat.assignment.fence, node)) {
    active->group.renew(node, steady_seconds());
  } else {
    send_cancel(session, *run, heartbeat.assignment.fence, "the assignment is not valid any more");
  }
  return false;
}

bool AgentSessions::handle(Session& session, const GroupJoin& join) {
  const auto run = parse_run_name(join.assignment.name);
  if (!run) return false;
  const std::string& node = session.record.name;
  ActiveRun* active = state_.active_run(*run, join.assignment.fence, node);
  if (active == nullptr) {
    send_cancel(session, *run, join.assignment.fence, "the assignment is not valid any more");
    return false;
  }
  RunGroup& group = active->group;
  const bool was_ready = group.ready();
  group.renew(node, steady_seconds());
  if (join.address.size() > kMaxAddressBytes) {
    active->fail({"the address of rank " + std::to_string(join.rank) + " on " + node_name(node) +
                      " has " + std::to_string(join.address.size()) +
                      " bytes; no fabric's is that long",
                  true, node});
    return true;
  }
  if (!group.join(node, join.rank, join.address)) {
    active->fail({node_name(node) + " joined as rank " + std::to_string(join.rank) +
                      ", which is not one of its ranks",
                  true, node});
    return true;
  }
  // Whoever comes back to a group that is ready has been notified with its Hello.
  if (was_ready || !group.ready()) return false;
  note_ready(*active);
  for (const std::string& member : group.nodes()) {
    const Session* const other = state_.sessions.of_node(member);
    // A member whose stream is broken gets it when it comes back.
    if (other != nullptr) other->send_ready(*active);
  }
  return false;
}

// All ranks have joined. Where they are is stored before any of them is notified, so that the run
// can go on after a restart; without that it is measured again then.
void AgentSessions::note_ready(ActiveRun& active) {
  active.pace.joined(steady_seconds());
  const RunGroup& group = active.group;
  Changes changes;
  changes.attempts.push_back({group.run(), group.fence(), group.rank_nodes().front(),
                              active.instances, group.addresses()});
  state_.report(state_.store.apply(changes));
}

// What an agent has to say of a run that goes on: followers of the campaign hear it.
Status AgentSessions::note_slow(const RunKey& run, const std::string& message) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, run.campaign));
  const std::string text = "run " + std::to_string(run.run) + ": " + message;
  if (d.campaign.message == text) return {};
  d.campaign.message = text;
  spdlog::warn("{}: {}", campaign_name(run.campaign), text);
  return commit(state_, d, text);
}

bool AgentSessions::handle(Session& session, const AssignmentUpdate& update) {
  using State = AssignmentUpdate::State;
  const auto run = parse_run_name(update.assignment.name);
  if (!run) return false;
  const std::string& node = session.record.name;
  ActiveRun* active = state_.active_run(*run, update.assignment.fence, node);
  if (update.state == State::running || update.state == State::unspecified) {
    if (active == nullptr) return false;
    active->group.renew(node, steady_seconds());
    if (!update.message.empty()) {
      state_.report(note_slow(*run, shortened(update.message, kMaxMessageBytes)));
    }
    return take_facts(*active, node, update.facts);
  }
  // Whatever it says beyond that, the node is free again.
  if (session.holds(*run, update.assignment.fence)) session.holding.reset();
  // What it says of a part that has ended well changes nothing.
  if (active == nullptr || active->group.finished(node)) return true;
  const std::string message = shortened(update.message, kMaxMessageBytes);
  // Most messages name the node themselves, with the rank.
  const bool named = message.find(node_name(node)) != std::string::npos;
  switch (update.state) {
    case State::finished:
      if (take_facts(*active, node, update.facts)) break;
      active->group.finish(node);
      state_.unsaved_ends.push_back({*run, update.assignment.fence, node, active->facts[node]});
      if (active->group.all_finished()) active->ended_s = steady_seconds();
      break;
    case State::failed:
      active->fail({named ? message : node_name(node) + ": " + message, is_final_error(update.code),
                    node, false, shortened(update.experiment, kMaxFactBytes)});
      break;
    case State::cancelled:
      // An agent that leaves, as at the end of its job, is not to blame.
      active->fail({node_name(node) + " stopped it: " + message, false,
                    session.leaving ? std::nullopt : std::optional(node), session.leaving});
      break;
    case State::running:
    case State::unspecified:
      break;
  }
  return true;
}

bool AgentSessions::handle(Session& session, const ModelAck& ack) {
  auto messages = models_.take_answer(session.record.name, *session.fabrics, session.models, ack);
  if (!messages.ok()) {
    state_.report(messages.error());  // Said again in the agent's next session.
    return false;
  }
  for (ServerMessage& message : *messages) session.link->send(std::move(message));
  return false;
}

}  // namespace stripline::server
