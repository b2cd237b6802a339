#include "tests/load/worst_viewer.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/testing/http_attacks.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "stripline/v1/fleet.grpc.pb.h"
#include "tests/load/visitor_calls.h"

namespace stripline::load {
namespace {

constexpr const char* kAddress = "127.0.2.3";
constexpr size_t kPageThreads = 4;
constexpr size_t kCallThreads = 2;
// What is held takes its place before his reads have used up what he may take.
constexpr double kBeforeReads_s = 2;
constexpr double kHold_s = 15;
// More than a caller can have of each; the server takes 256 calls at a time on a connection.
constexpr size_t kExports = 8;
constexpr size_t kWatchConnections = 3;
constexpr size_t kWatchesOfConnection = 200;
constexpr size_t kUnread = 16;
constexpr int kSmallBuffer_bytes = 4096;

// Streams that are open, and of which little is read.
template <typename Message>
class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    for (auto& [context, reader] : streams_) context->TryCancel();
    for (auto& [context, reader] : streams_) (void)reader->Finish();
  }

  // `open` begins the call with a context.
  template <typename Open>
  void add(const std::string& secret, Open open) {
    auto context = std::make_unique<grpc::ClientContext>();
    show(*context, secret);
    auto reader = open(*context);
    streams_.emplace_back(std::move(context), std::move(reader));
  }

  // How many of the first streams have said something.
  size_t answered(size_t most) {
    size_t answered = 0;
    Message message;
    for (size_t i = 0; i < std::min(most, streams_.size()); ++i) {
      answered += streams_[i].second->Read(&message) ? 1 : 0;
    }
    return answered;
  }

 private:
  std::vector<
      std::pair<std::unique_ptr<grpc::ClientContext>, std::unique_ptr<grpc::ClientReader<Message>>>>
      streams_;
};

}  // namespace

WorstViewer::WorstViewer(const Visited& visited, std::function<std::string()> measured)
    : visited_(visited), measured_(std::move(measured)) {
  static_assert(kThreads == kPageThreads + kCallThreads + 3);
}

void WorstViewer::act(size_t thread, const std::stop_token& stop) {
  lower_priority();
  switch (thread) {
    case 0:
      return hold_exports(stop);
    case 1:
      return hold_watches(stop);
    case 2:
      return leave_answers_unread(stop);
    default:
      break;
  }
  if (!pause(stop, kBeforeReads_s)) return;
  const size_t reader = thread - 3;
  return reader < kCallThreads ? call(stop) : read_pages(stop, reader);
}

uint64_t WorstViewer::rounds() const {
  uint64_t least = UINT64_MAX;
  for (const std::atomic<uint64_t>& one : rounds_) least = std::min(least, one.load());
  return least;
}

void WorstViewer::read_pages(const std::stop_token& stop, size_t first) {
  httplib::Client client = client_of(pages_of(visited_), kAddress, visited_.viewer_secret);
  const auto& [one, other] = visited_.large_campaigns;
  const std::array paths = {
      "/api/v1/campaigns/" + one + "/compare?with=" + other,
      "/api/v1/campaigns/" + one + "/points",
      "/api/v1/campaigns/" + other + "/points/columns?experiment=" + visited_.measured_experiment,
      "/api/v1/campaigns/" + one + "/points/1",
      std::string("/api/v1/explain"),
  };
  for (size_t next = first; !stop.stop_requested(); ++next) {
    const auto answer = client.Get(paths[next % paths.size()]);
    if (answer && answer->status == 200) count(pages);
    if (!pause(stop, kBetweenCalls_s)) return;
  }
}

void WorstViewer::call(const std::stop_token& stop) {
  const auto channel = channel_to(visited_);
  const auto campaigns = v1::Campaigns::NewStub(channel);
  const auto fleet = v1::Fleet::NewStub(channel);
  const auto& [one, other] = visited_.large_campaigns;
  v1::ListPointsRequest points;
  points.set_name("campaigns/" + one);
  points.set_page_size(1000);
  v1::CompareCampaignsRequest compare;
  compare.set_baseline("campaigns/" + one);
  compare.set_candidate("campaigns/" + other);
  const auto ask = [&](auto& stub, auto method, const auto& request, auto response) {
    grpc::ClientContext context;
    show(context, visited_.viewer_secret);
    if ((stub.*method)(&context, request, &response).ok()) count(calls);
    return pause(stop, kBetweenCalls_s);
  };
  while (ask(*campaigns, &v1::Campaigns::Stub::ListPoints, points, v1::ListPointsResponse()) &&
         ask(*campaigns, &v1::Campaigns::Stub::CompareCampaigns, compare,
             v1::CompareCampaignsResponse()) &&
         ask(*campaigns, &v1::Campaigns::Stub::ListCampaigns, v1::ListCampaignsRequest(),
             v1::ListCampaignsResponse()) &&
         ask(*fleet, &v1::Fleet::Stub::GetHistory, v1::GetHistoryRequest(), v1::FleetHistory())) {
  }
}

void WorstViewer::hold_exports(const std::stop_token& stop) {
  const auto campaigns = v1::Campaigns::NewStub(channel_to(visited_));
  v1::ExportSamplesRequest request;
  request.set_name("campaigns/" + visited_.large_campaigns.front());
  while (!stop.stop_requested()) {
    Held<v1::SampleChunk> held;
    for (size_t i = 0; i < kExports; ++i) {
      held.add(visited_.viewer_secret, [&](grpc::ClientContext& context) {
        return campaigns->ExportSamples(&context, request);
      });
    }
    if (held.answered(kExports) > 0) count(exports);
    if (!pause(stop, kHold_s)) return;
  }
}

void WorstViewer::hold_watches(const std::stop_token& stop) {
  std::vector<std::unique_ptr<v1::Campaigns::Stub>> connections;
  for (size_t i = 0; i < kWatchConnections; ++i) {
    connections.push_back(v1::Campaigns::NewStub(channel_to(visited_)));
  }
  while (!stop.stop_requested()) {
    const std::string measured = measured_();
    if (measured.empty()) {
      if (!pause(stop, kBetweenCalls_s)) return;
      continue;
    }
    v1::WatchCampaignRequest request;
    request.set_name("campaigns/" + measured);
    Held<v1::CampaignEvent> held;
    for (const auto& campaigns : connections) {
      for (size_t i = 0; i < kWatchesOfConnection; ++i) {
        held.add(visited_.viewer_secret, [&](grpc::ClientContext& context) {
          return campaigns->WatchCampaign(&context, request);
        });
      }
    }
    if (held.answered(1) > 0) count(watches);
    if (!pause(stop, kHold_s)) return;
  }
}

void WorstViewer::leave_answers_unread(const std::stop_token& stop) {
  const server::HttpDoor door{"pages", visited_.pages_port, true,
                              "/api/v1/campaigns/" + visited_.large_campaigns.back() +
                                  "/points/columns?experiment=" + visited_.measured_experiment,
                              kAddress};
  const std::string request =
      server::request_for(door, "Authorization: Bearer " + visited_.viewer_secret + "\r\n");
  while (!stop.stop_requested()) {
    server::RudeCallers callers;
    for (size_t i = 0; i < kUnread && !stop.stop_requested(); ++i) {
      callers.push_back(std::make_unique<server::RudeCaller>(door, kSmallBuffer_bytes));
      if (callers.back()->send(request)) count(unread);
    }
    if (!pause(stop, kHold_s)) return;
  }
}

}  // namespace stripline::load
