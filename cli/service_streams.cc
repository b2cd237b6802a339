// The server's calls that stream.
#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/service_impl.h"
#include "optimizer/model/model_json.h"

namespace stripline::cli {
namespace {

// A stream is renewed this often, which finds out about a server that has gone without a word.
constexpr double kWatchCall_s = 60;
constexpr auto kTick = std::chrono::milliseconds(250);

}  // namespace

Status Service::watch_campaign(const std::string& name, uint64_t cursor, const OnEvent& on_event) {
  bool begun = false;
  const auto note = [&](const v1::CampaignEvent* event) {
    begun = begun || event != nullptr;
    return on_event(event);
  };
  return impl_->at_some_server([&] { return watch_here(name, cursor, note); }, begun);
}

Status Service::watch_here(const std::string& name, uint64_t cursor, const OnEvent& on_event) {
  // The completion queue of this call: waiting for it with a limit lets the caller redraw and stop.
  enum Operation { kStart, kRead, kFinish };
  std::array<char, 3> operations{};  // whose addresses tell them apart
  const auto tag = [&](Operation operation) -> void* { return &operations[operation]; };
  grpc::ClientContext context;
  context.set_deadline(deadline_after(kWatchCall_s));
  STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
  v1::WatchCampaignRequest request;
  request.set_name(name);
  request.set_cursor(cursor);
  grpc::CompletionQueue queue;
  const auto reader =
      impl_->door().campaigns->AsyncWatchCampaign(&context, request, &queue, tag(kStart));
  v1::CampaignEvent event;
  grpc::Status status;
  bool stopped = false;
  const auto stop_if = [&](Next next) {
    if (next == Next::go_on || stopped) return;
    stopped = true;
    context.TryCancel();
  };
  while (true) {
    void* done = nullptr;
    bool ok = false;
    const auto outcome = queue.AsyncNext(&done, &ok, std::chrono::system_clock::now() + kTick);
    if (outcome == grpc::CompletionQueue::SHUTDOWN) break;
    if (outcome == grpc::CompletionQueue::TIMEOUT) {
      stop_if(on_event(nullptr));
      continue;
    }
    if (done == tag(kFinish)) {
      queue.Shutdown();
      continue;  // until the queue says that it is empty
    }
    if (done == tag(kRead) && ok && !stopped) stop_if(on_event(&event));
    if (ok) {
      reader->Read(&event, tag(kRead));
    } else {
      reader->Finish(&status, tag(kFinish));
    }
  }
  if (status.ok() || stopped || status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
    return {};
  return impl_->error_of(status);
}

Status Service::export_samples(const std::string& name,
                               const std::function<Status(std::string_view)>& sink,
                               const std::function<bool()>& stop) {
  bool begun = false;
  const auto note = [&](std::string_view data) {
    begun = true;
    return sink(data);
  };
  return impl_->at_some_server([&] { return export_here(name, note, stop); }, begun);
}

Status Service::export_here(const std::string& name,
                            const std::function<Status(std::string_view)>& sink,
                            const std::function<bool()>& stop) {
  // No limit in all, as an export may be large; a server that is gone ends the stream.
  grpc::ClientContext context;
  STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
  v1::ExportSamplesRequest request;
  request.set_name(name);
  const auto reader = impl_->door().campaigns->ExportSamples(&context, request);
  const std::jthread watcher([&](const std::stop_token& ended) {
    std::mutex mutex;
    std::condition_variable_any ends;
    std::unique_lock lock(mutex);
    while (!ended.stop_requested()) {
      if (stop()) return context.TryCancel();
      ends.wait_for(lock, ended, kTick, [] { return false; });
    }
  });
  v1::SampleChunk chunk;
  while (reader->Read(&chunk)) {
    if (Status written = sink(chunk.data()); !written.ok()) {
      context.TryCancel();
      return written;
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return impl_->error_of(status);
  return {};
}

Result<FetchedModel> Service::fetch_model(const std::string& name, const std::string& if_none_match,
                                          Failed failed) {
  v1::FetchModelVersionRequest request;
  request.set_name(name);
  request.set_if_none_match(if_none_match);
  request.set_accept_failed(failed == Failed::accept);
  return impl_->at_some_server([&] { return fetch_here(request); });
}

Result<FetchedModel> Service::fetch_here(const v1::FetchModelVersionRequest& request) {
  grpc::ClientContext context;
  context.set_deadline(deadline_after(impl_->timeout_s));
  STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
  const auto reader = impl_->door().models->FetchModelVersion(&context, request);
  FetchedModel fetched;
  v1::ModelChunk chunk;
  while (reader->Read(&chunk)) {
    if (chunk.has_version()) {
      fetched.version = chunk.version().name();
      fetched.sha256 = chunk.version().sha256();
      fetched.provisional = chunk.version().provisional();
      fetched.withdrawn = chunk.version().withdrawn();
      fetched.stale = chunk.version().stale();
      fetched.failed = chunk.version().failed();
    }
    fetched.data += chunk.data();
    if (fetched.data.size() > model::kMaxModelFileBytes) {
      context.TryCancel();
      return Error(ErrorCode::data_loss, "what the server sent as " + request.name() +
                                             " is larger than any model; it was not written");
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return impl_->error_of(status);
  // Nothing is sent of what the client has, and of nothing else.
  if (fetched.data.empty() && fetched.sha256 != request.if_none_match()) {
    return Error(ErrorCode::data_loss, "the server announced " + request.name() +
                                           " with the hash " + fetched.sha256 +
                                           " and sent nothing of it; fetch it again");
  }
  return fetched;
}

}  // namespace stripline::cli
