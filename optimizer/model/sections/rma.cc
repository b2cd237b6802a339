#include "optimizer/model/sections/rma.h"

#include <string>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

// A message holds two of the largest puts at least, each with a word of its own.
constexpr uint64_t kSmallestMessage = 64;

Form<BufferedPutModel> buffered_put_form() {
  using B = BufferedPutModel;
  return object<B>(
      "buffered_put",
      {required("max_bytes", &B::max_bytes, bytes(), "larger puts are waited for; 0: all are"),
       optional("gain", &B::gain, gain(),
                "by how much less a put of max_bytes takes; absent where all are waited for")},
      [](const std::string& where, const B& buffered) -> Status {
        if (buffered.gain.has_value() == (buffered.max_bytes != 0)) return {};
        return wrong(where + ".gain", "belongs to puts that are copied, and only to them");
      });
}

Form<PutCombiningModel> put_combining_form() {
  using C = PutCombiningModel;
  return object<C>(
      "put_combining",
      {required("max_put_bytes", &C::max_put_bytes, bytes(), "larger puts travel alone; 0: all do"),
       required("message_bytes", &C::message_bytes, bytes(kSmallestMessage)),
       required("message_s", &C::message_s, seconds(), "what a message costs beyond its puts"),
       required("max_delay_s", &C::max_delay_s, seconds(),
                "age of a put at which its message leaves"),
       optional("gain", &C::gain, gain(),
                "by how much less a put of max_put_bytes takes; absent where all travel alone")},
      [](const std::string& where, const C& combining) -> Status {
        if (combining.max_put_bytes > combining.message_bytes / 2 - sizeof(uint64_t)) {
          return wrong(where + ".max_put_bytes", "two such puts must fit into a message");
        }
        if (combining.gain.has_value() == (combining.max_put_bytes != 0)) return {};
        return wrong(where + ".gain", "belongs to puts that are combined, and only to them");
      });
}

Form<AtomicModel> atomic_form() {
  using A = AtomicModel;
  return object<A>(
      "atomic",
      {required("way", &A::path, one_of<AtomicPath>({AtomicPath::provider, AtomicPath::message})),
       required("provider_s", &A::provider_s, seconds(), "a fetch-add that is waited for"),
       required("message_s", &A::message_s, seconds()),
       optional("gain", &A::gain, gain(), "by how much less messages take; with message only")},
      [](const std::string& where, const A& atomic) -> Status {
        if (atomic.gain.has_value() == (atomic.path == AtomicPath::message)) return {};
        return wrong(where + ".gain", "belongs to the path message, and only to it");
      });
}

Form<ProgressModel> progress_form() {
  using P = ProgressModel;
  return object<P>("progress", {required("call_s", &P::call_s, seconds(),
                                         "what the thread adds to a call that waits"),
                                required("answer_s", &P::answer_s, seconds(),
                                         "what a request to a computing rank waits all the same")});
}

std::string rma_text(const TunedModel& model) {
  if (!model.rma) return {};
  const RmaModel& rma = *model.rma;
  std::string text;
  ParameterTable table("");
  if (rma.buffered_put) {
    text += rma.buffered_put->max_bytes == 0
                ? "  buffered puts are waited for\n"
                : "  buffered puts of up to " + bytes_text(rma.buffered_put->max_bytes) +
                      " are copied, larger ones waited for\n";
    table.add("buffered put", "gain of the largest", rma.buffered_put->gain, share_text);
  }
  if (rma.put_combining) {
    const PutCombiningModel& combining = *rma.put_combining;
    text += combining.max_put_bytes == 0
                ? "  puts without handles travel alone\n"
                : "  puts without handles of up to " + bytes_text(combining.max_put_bytes) +
                      " travel together in messages of " + bytes_text(combining.message_bytes) +
                      "\n";
    table.add("put", "cost of a message", combining.message_s, time_text);
    table.add("put", "waits at most", combining.max_delay_s, time_text);
    table.add("put", "gain of the largest", combining.gain, share_text);
  }
  if (rma.atomic) {
    text += "  atomic operations by " + std::string(to_string(rma.atomic->path)) + "\n";
    table.add("fetch-add", "by provider", rma.atomic->provider_s, time_text);
    table.add("fetch-add", "by message", rma.atomic->message_s, time_text);
    table.add("fetch-add", "gain of messages", rma.atomic->gain, share_text);
  }
  if (rma.progress) {
    text += "  a thread serves peers where that pays, with STRIPLINE_PROGRESS=tuned\n";
    table.add("progress thread", "adds to a call", rma.progress->call_s, time_text);
    table.add("progress thread", "leaves a request waiting", rma.progress->answer_s, time_text);
  }
  return text.empty() ? std::string() : "\nsingle operations\n" + text + table.text();
}

void add_rma_example(TunedModel& model) {
  model.rma = RmaModel{
      .buffered_put = BufferedPutModel{32768, example_parameter(0.3)},
      .put_combining = PutCombiningModel{256, 8192, example_parameter(5e-6),
                                         example_parameter(100e-6), example_parameter(0.6)},
      .atomic = AtomicModel{AtomicPath::message, example_parameter(12e-6), example_parameter(10e-6),
                            example_parameter(0.1)},
      .progress = ProgressModel{example_parameter(40e-9), example_parameter(30e-6)}};
}

}  // namespace

std::string_view to_string(AtomicPath path) { return kAtomicNames.at(static_cast<size_t>(path)); }

Section rma_section() {
  const auto form = object<RmaModel>(
      nullptr, {optional("buffered_put", &RmaModel::buffered_put, buffered_put_form(),
                         "Which buffered puts are copied"),
                optional("put_combining", &RmaModel::put_combining, put_combining_form(),
                         "Which puts without handles travel together"),
                optional("atomic", &RmaModel::atomic, atomic_form(),
                         "Who carries out an atomic operation on another rank's variable"),
                optional("progress", &RmaModel::progress, progress_form(),
                         "What a thread that serves a rank's peers costs, and what it leaves")});
  return {optional("rma", &TunedModel::rma, form), rma_text, add_rma_example, "single operations"};
}

}  // namespace stripline::model
