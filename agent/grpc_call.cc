#include "agent/grpc_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nghttp2/nghttp2.h>
#include <utility>

namespace stripline::agent {
namespace {

// Canonical codes of gRPC.
constexpr int kUnknown = 2;
constexpr int kResourceExhausted = 8;
constexpr int kInternal = 13;
constexpr int kUnavailable = 14;

constexpr const char* kNotGrpc = "what answers there does not speak HTTP/2 as a gRPC server does";

constexpr size_t kPrefixBytes = 5;  // a flag and a length in front of every message
constexpr size_t kMaxMessageBytes = size_t{64} << 20;

nghttp2_nv header(std::string_view name, std::string_view value) {
  // nghttp2 copies both and declares them mutable for historical reasons.
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string framed(std::string_view message) {
  const auto length = static_cast<uint32_t>(message.size());
  std::string out;
  out.reserve(kPrefixBytes + message.size());
  out += '\0';  // not compressed
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(length >> shift & 0xff);
  out += message;
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr ==
            text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Stops at the first character that is not base64, such as padding.
std::string base64_decoded(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

}  // namespace

struct GrpcCall::Callbacks {
  static GrpcCall& self(void* user) { return *static_cast<GrpcCall*>(user); }

  static int on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                       const uint8_t* name, size_t name_size, const uint8_t* value,
                       size_t value_size, uint8_t /*flags*/, void* user) {
    if (frame->hd.stream_id == self(user).stream_) {
      self(user).on_header({reinterpret_cast<const char*>(name), name_size},
                           {reinterpret_cast<const char*>(value), value_size});
    }
    return 0;
  }

  static int on_data(nghttp2_session* /*session*/, uint8_t /*flags*/, int32_t stream,
                     const uint8_t* data, size_t size, void* user) {
    if (stream == self(user).stream_) {
      self(user).on_data({reinterpret_cast<const char*>(data), size});
    }
    return 0;
  }

  // What the server ends by its last frame has ended, though HTTP/2 goes on until this side has
  // said its last word, too.
  static int on_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) {
    const bool carries_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (carries_end && frame->hd.stream_id == self(user).stream_ &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      self(user).on_end(NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int on_stream_close(nghttp2_session* /*session*/, int32_t stream, uint32_t error_code,
                             void* user) {
    if (stream == self(user).stream_) self(user).on_end(error_code);
    return 0;
  }

  // Fills a DATA frame from the outbox.
  static ssize_t read_outbox(nghttp2_session* /*session*/, int32_t /*stream*/, uint8_t* buffer,
                             size_t size, uint32_t* flags, nghttp2_data_source* source,
                             void* /*user*/) {
    GrpcCall& call = self(source->ptr);
    size_t filled = 0;
    while (filled < size && !call.outbox_.empty()) {
      const std::string& front = call.outbox_.front();
      const size_t part = std::min(size - filled, front.size() - call.outbox_offset_);
      std::copy_n(front.data() + call.outbox_offset_, part, buffer + filled);
      filled += part;
      call.outbox_offset_ += part;
      if (call.outbox_offset_ == front.size()) {
        call.outbox_.pop_front();
        call.outbox_offset_ = 0;
      }
    }
    if (call.outbox_.empty() && call.finishing_) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (filled == 0 && !call.finishing_) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(filled);
  }
};

void GrpcCall::Deleter::operator()(nghttp2_session* session) const { nghttp2_session_del(session); }

GrpcCall::GrpcCall(const std::string& authority, const std::string& path, const Options& options) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::on_stream_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new(&session, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  session_.reset(session);

  const std::array<nghttp2_settings_entry, 1> settings = {{{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}}};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  const std::string authorization = "Bearer " + options.bearer;
  std::vector<nghttp2_nv> headers = {header(":method", "POST"),
                                     header(":scheme", options.secure ? "https" : "http"),
                                     header(":path", path),
                                     header(":authority", authority),
                                     header("te", "trailers"),
                                     header("content-type", "application/grpc"),
                                     header("user-agent", "stripline-agent")};
  if (!options.bearer.empty()) {
    headers.push_back(header("authorization", authorization));
    headers.back().flags = NGHTTP2_NV_FLAG_NO_INDEX;  // a secret stays out of HPACK's tables
  }
  nghttp2_data_provider provider{};
  provider.source.ptr = this;
  provider.read_callback = Callbacks::read_outbox;
  stream_ =
      nghttp2_submit_request(session, nullptr, headers.data(), headers.size(), &provider, this);
  if (stream_ < 0) fail(kInternal, nghttp2_strerror(stream_));
}

GrpcCall::~GrpcCall() = default;

void GrpcCall::send(std::string_view message) {
  if (finishing_ || status_) return;
  outbox_.push_back(framed(message));
  nghttp2_session_resume_data(session_.get(), stream_);
}

void GrpcCall::finish() {
  if (finishing_ || status_) return;
  finishing_ = true;
  nghttp2_session_resume_data(session_.get(), stream_);
}

void GrpcCall::receive(std::span<const uint8_t> bytes) {
  if (status_) return;
  const ssize_t taken = nghttp2_session_mem_recv(session_.get(), bytes.data(), bytes.size());
  if (taken < 0) fail(kUnavailable, kNotGrpc);
}

void GrpcCall::connection_lost(const std::string& why) { fail(kUnavailable, why); }

std::string_view GrpcCall::output() {
  if (output_offset_ == output_.size()) {
    output_.clear();
    output_offset_ = 0;
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
    if (size > 0) {
      output_.assign(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    } else if (size < 0) {
      fail(kInternal, nghttp2_strerror(static_cast<int>(size)));
    } else if (nghttp2_session_want_read(session_.get()) == 0) {
      fail(kUnavailable, kNotGrpc);  // after a breach of HTTP/2 nghttp2 has said goodbye
    }
  }
  return std::string_view(output_).substr(output_offset_);
}

void GrpcCall::consume_output(size_t bytes) { output_offset_ += bytes; }

std::vector<std::string> GrpcCall::take_messages() { return std::exchange(messages_, {}); }

void GrpcCall::on_header(std::string_view name, std::string_view value) {
  headers_.insert_or_assign(std::string(name), std::string(value));
}

bool GrpcCall::answered_ok() const {
  const auto http = headers_.find(":status");
  return http == headers_.end() || http->second == "200";
}

void GrpcCall::on_data(std::string_view bytes) {
  if (status_ || !answered_ok()) return;  // A page for people follows another HTTP status.
  inbox_ += bytes;
  size_t at = 0;
  while (inbox_.size() - at >= kPrefixBytes) {
    size_t length = 0;
    for (size_t i = 1; i < kPrefixBytes; ++i) {
      length = length << 8 | static_cast<unsigned char>(inbox_[at + i]);
    }
    if (inbox_[at] != 0) return fail(kInternal, "the server sent a compressed message unasked");
    if (length > kMaxMessageBytes) return fail(kResourceExhausted, "a message exceeds 64 MiB");
    if (inbox_.size() - at - kPrefixBytes < length) break;
    messages_.push_back(inbox_.substr(at + kPrefixBytes, length));
    at += kPrefixBytes + length;
  }
  inbox_.erase(0, at);
}

void GrpcCall::on_end(uint32_t error_code) {
  if (status_) return;
  if (const auto status = headers_.find("grpc-status"); status != headers_.end()) {
    int code = kUnknown;
    const std::string& text = status->second;
    std::from_chars(text.data(), text.data() + text.size(), code);
    fail(code, percent_decoded(headers_["grpc-message"]));
    status_->details = base64_decoded(headers_["grpc-status-details-bin"]);
    return;
  }
  if (!answered_ok()) {
    return fail(kUnavailable, "the server answered with HTTP status " + headers_[":status"]);
  }
  fail(kUnavailable,
       error_code == NGHTTP2_NO_ERROR
           ? "the server ended the call without a status of gRPC"
           : std::string("the server closed the stream: ") + nghttp2_http2_strerror(error_code));
}

// The first end counts.
void GrpcCall::fail(int code, std::string message) {
  if (!status_) status_ = GrpcStatus{code, std::move(message), ""};
}

}  // namespace stripline::agent
