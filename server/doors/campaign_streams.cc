#include "server/doors/campaign_streams.h"

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "optimizer/campaign/offline_results.h"
#include "server/core/reads.h"
#include "server/doors/reactor_step.h"
#include "server/doors/rpc_status.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr size_t kEventPage = 64;

class WatchReactor final : public grpc::ServerWriteReactor<v1::CampaignEvent>,
                           public EventListener {
 public:
  WatchReactor(Store& store, WatchHub& hub, int64_t campaign, uint64_t cursor,
               StreamRefusal refusal, std::shared_ptr<void> place)
      : place_(std::move(place)),
        store_(store),
        hub_(hub),
        campaign_(campaign),
        refusal_(std::move(refusal)),
        cursor_(cursor) {
    const ReactorStep first(this);  // the others lock
    if (hub_.add(campaign_, this)) {
      on_event();
    } else {
      on_shutdown();
    }
  }

  void on_event() override {
    const std::lock_guard lock(mutex_);
    advance();
  }

  void on_look() override {
    const std::lock_guard lock(mutex_);
    if (const auto refusal = refusal_()) end(*refusal);
  }

  void on_shutdown() override {
    const std::lock_guard lock(mutex_);
    end({ErrorCode::unavailable,
         "SERVER_STOPPING",
         "the server is stopping; watch again from the last cursor when it is back",
         {}});
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    page_.pop_front();
    if (!ok) gone_ = true;
    advance();
  }

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    advance();
  }

  void OnDone() override {
    {
      const ReactorStep last(this);
      hub_.remove(campaign_, this);
      const std::lock_guard lock(mutex_);
    }
    delete this;  // NOLINT(cppcoreguidelines-owning-memory)
  }

 private:
  // Writes the next event, or ends the stream, or waits for on_event().
  void advance() {
    if (writing_ || finished_) return;
    if (gone_) return finish(grpc::Status::OK);
    if (page_.empty()) {
      if (last_written_) return finish(final_);
      if (const auto refusal = refusal_()) return end(*refusal);
      load_page();
    }
    if (page_.empty()) return;
    writing_ = true;
    StartWrite(&page_.front());
  }

  void load_page() {
    // Asked before the events are read: what ends the campaign and the event that says so are
    // stored together, so that an end seen here is among the events, or behind the cursor.
    const auto campaign = store_.campaign(campaign_);
    if (!campaign.ok()) return end(problem_from(campaign.error()));
    const bool over = !*campaign || is_final((*campaign)->state);
    const auto events = store_.events(campaign_, cursor_, kEventPage);
    if (!events.ok()) return end(problem_from(events.error()));
    for (const EventRecord& event : *events) {
      auto message = event_message(event);
      if (!message.ok()) return end(problem_from(message.error()));
      const bool last = *campaign && is_last(*message, **campaign);
      page_.push_back(std::move(*message));
      cursor_ = event.cursor;
      if (last) {
        last_written_ = true;
        break;
      }
    }
    // A client that continues after the last event, or a campaign that has been deleted.
    if (events->empty() && over) {
      last_written_ = true;
      finish(final_);
    }
  }

  void end(const Problem& problem) {
    page_.resize(writing_ ? 1 : 0);
    last_written_ = true;
    final_ = rpc_status(problem);
    if (!writing_) finish(final_);
  }

  void finish(const grpc::Status& status) {
    if (finished_) return;
    finished_ = true;
    Finish(status);
  }

  const std::shared_ptr<void> place_;  // among the watches of its caller
  Store& store_;
  WatchHub& hub_;
  const int64_t campaign_;
  const StreamRefusal refusal_;
  std::mutex mutex_;
  uint64_t cursor_;
  std::deque<v1::CampaignEvent> page_;  // front: being written, if writing_
  bool writing_ = false;
  bool last_written_ = false;  // page_ holds all that will be written
  bool gone_ = false;
  bool finished_ = false;
  grpc::Status final_;
};

class ExportReactor final : public grpc::ServerWriteReactor<v1::SampleChunk> {
 public:
  ExportReactor(Store& store, LongStreams& streams, LongStreams::Admitted admitted,
                int64_t campaign, StreamRefusal refusal)
      : store_(store),
        streams_(streams),
        admitted_(std::move(admitted)),
        campaign_(campaign),
        refusal_(std::move(refusal)) {
    ReactorStep step(this);
    advance(step);
  }

  void OnWriteDone(bool ok) override {
    ReactorStep step(this);
    if (ok) {
      advance(step);
    } else {
      Finish(grpc::Status::OK);
    }
  }

  void OnCancel() override { gone_ = true; }

  void OnDone() override {
    { const ReactorStep last(this); }
    delete this;  // NOLINT(cppcoreguidelines-owning-memory)
  }

 private:
  void advance(ReactorStep& step) {
    if (const auto refusal = refusal_()) return Finish(rpc_status(*refusal));
    if (sent_ < lines_.size()) return write_next(step);
    step.hand_over();
    if (!streams_.work(admitted_, [this](bool stopping) { read_on(stopping); })) {
      Finish(rpc_status(stopping_problem()));
    }
  }

  // In the pool.
  void read_on(bool stopping) {
    ReactorStep step(this);
    if (stopping) return Finish(rpc_status(stopping_problem()));
    if (gone_) return Finish(grpc::Status::CANCELLED);
    lines_.clear();
    sent_ = 0;
    while (lines_.size() < kStreamChunkBytes) {
      // One after the other: each may have megabytes.
      const auto batches = store_.batches(campaign_, after_, 1);
      if (!batches.ok()) return Finish(rpc_status(problem_from(batches.error())));
      if (batches->empty()) break;
      after_ = batches->front().id;
      const Status status = add_lines(batches->front());
      if (!status.ok()) return Finish(rpc_status(problem_from(status.error())));
    }
    if (lines_.empty()) return Finish(end());
    write_next(step);
  }

  void write_next(ReactorStep& step) {
    chunk_.set_data(lines_.substr(sent_, kStreamChunkBytes));
    sent_ += chunk_.data().size();
    step.hand_over();
    StartWrite(&chunk_);
  }

  // A campaign that was deleted meanwhile has not been exported whole.
  grpc::Status end() {
    const auto campaign = store_.campaign(campaign_);
    if (!campaign.ok()) return rpc_status(problem_from(campaign.error()));
    if (*campaign) return grpc::Status::OK;
    const std::string name = campaign_name(campaign_);
    return rpc_status(Problem{ErrorCode::not_found,
                              "CAMPAIGN_NOT_FOUND",
                              name + " was deleted while it was exported",
                              {{"name", name}}});
  }

  Status add_lines(const BatchRecord& batch) {
    STRIPLINE_ASSIGN_OR_RETURN(Json array, parse_json(batch.data, "stored samples"));
    for (Json& series : array) {
      series["assignment"] = run_name(batch.run);
      series["fence"] = batch.fence;
      series["orphan"] = batch.orphan;
      lines_ += dumped(series);
      lines_ += '\n';
    }
    return {};
  }

  Store& store_;
  LongStreams& streams_;
  const LongStreams::Admitted admitted_;
  const int64_t campaign_;
  const StreamRefusal refusal_;
  std::atomic<bool> gone_ = false;
  int64_t after_ = 0;
  std::string lines_;
  size_t sent_ = 0;  // of them
  v1::SampleChunk chunk_;
};

class ResultsReactor final : public grpc::ServerReadReactor<v1::ResultsChunk> {
 public:
  ResultsReactor(v1::Campaign* response, TakeResults take, std::atomic<size_t>& incoming,
                 ReadingPool& reading, std::string payer)
      : response_(response),
        take_(std::move(take)),
        incoming_(incoming),
        reading_(reading),
        payer_(std::move(payer)) {
    ReactorStep step(this);
    step.hand_over();
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {
    ReactorStep step(this);
    if (!ok) return end(step);
    if (text_.size() + chunk_.data().size() > campaign::kMaxResultsBytes) {
      return Finish(rpc_status(Problem{ErrorCode::resource_exhausted,
                                       "TOO_LARGE",
                                       "results of at most " +
                                           std::to_string(campaign::kMaxResultsBytes >> 20) +
                                           " MiB are taken",
                                       {}}));
    }
    counted_ += chunk_.data().size();
    if ((incoming_ += chunk_.data().size()) > kMaxIncomingBytes) {
      return Finish(rpc_status(Problem{ErrorCode::resource_exhausted,
                                       "BUSY",
                                       "other results are coming in, and there is no room for "
                                       "these; try again when those are stored",
                                       {}}));
    }
    text_ += chunk_.data();
    step.hand_over();
    StartRead(&chunk_);
  }

  void OnCancel() override { gone_ = true; }

  void OnDone() override {
    { const ReactorStep last(this); }
    incoming_ -= counted_;
    delete this;  // NOLINT(cppcoreguidelines-owning-memory)
  }

 private:
  // A client that has gone has not sent all. What has come is bounded: it is not refused any more.
  void end(ReactorStep& step) {
    if (gone_) return Finish(grpc::Status::CANCELLED);
    step.hand_over();
    if (!reading_.go_on(payer_, [this](bool stopping) { store(stopping); })) {
      Finish(rpc_status(stopping_problem()));
    }
  }

  // In the pool.
  void store(bool stopping) {
    const ReactorStep step(this);
    if (stopping) return Finish(rpc_status(stopping_problem()));
    const auto campaign = take_(text_);
    if (campaign) *response_ = *campaign;
    Finish(campaign ? grpc::Status::OK : rpc_status(campaign.problem()));
  }

  v1::Campaign* const response_;
  const TakeResults take_;
  std::atomic<size_t>& incoming_;
  ReadingPool& reading_;
  const std::string payer_;
  size_t counted_ = 0;  // of it
  std::atomic<bool> gone_ = false;
  std::string text_;
  v1::ResultsChunk chunk_;
};

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-owning-memory): reactors own themselves.
grpc::ServerWriteReactor<v1::CampaignEvent>* watch_campaign(Store& store, WatchHub& hub,
                                                            int64_t campaign, uint64_t cursor,
                                                            StreamRefusal refusal,
                                                            std::shared_ptr<void> place) {
  return new WatchReactor(store, hub, campaign, cursor, std::move(refusal), std::move(place));
}

grpc::ServerWriteReactor<v1::CampaignEvent>* reject_watch(const Problem& problem) {
  return new RejectReactor<grpc::ServerWriteReactor<v1::CampaignEvent>>(problem);
}

grpc::ServerWriteReactor<v1::SampleChunk>* export_samples(Store& store, LongStreams& streams,
                                                          LongStreams::Admitted admitted,
                                                          int64_t campaign, StreamRefusal refusal) {
  return new ExportReactor(store, streams, std::move(admitted), campaign, std::move(refusal));
}

grpc::ServerWriteReactor<v1::SampleChunk>* reject_export(const Problem& problem) {
  return new RejectReactor<grpc::ServerWriteReactor<v1::SampleChunk>>(problem);
}

grpc::ServerReadReactor<v1::ResultsChunk>* read_results(v1::Campaign* response, TakeResults take,
                                                        std::atomic<size_t>& incoming,
                                                        ReadingPool& reading, std::string payer) {
  return new ResultsReactor(response, std::move(take), incoming, reading, std::move(payer));
}

grpc::ServerReadReactor<v1::ResultsChunk>* reject_results(const Problem& problem) {
  return new RejectReactor<grpc::ServerReadReactor<v1::ResultsChunk>>(problem);
}
// NOLINTEND(cppcoreguidelines-owning-memory)

}  // namespace stripline::server
