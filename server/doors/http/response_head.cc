#include "server/doors/http/response_head.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <string_view>

#include <boost/beast/http/status.hpp>

namespace stripline::server::http {
namespace {

// Pages come from here alone, run no other code, and are not shown within those of others.
constexpr std::string_view kPolicy =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

std::string date_text(double unix_s) {
  const auto whole = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const size_t size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

}  // namespace

std::string head_of(const Response& response, const Head& head) {
  std::string text;
  text.reserve(640);
  const auto line = [&text](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  const auto reason = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(response.status)));
  text = "HTTP/1.1 " + std::to_string(response.status) + " ";
  text.append(reason.data(), reason.size()).append("\r\n");
  line("Date", date_text(head.now_unix_s));
  line("Content-Type", response.type);
  line("Content-Security-Policy", kPolicy);
  line("X-Content-Type-Options", "nosniff");
  line("Referrer-Policy", "no-referrer");
  line("Cache-Control", response.etag.empty() ? "no-store" : "no-cache");
  if (!response.etag.empty()) line("ETag", response.etag);
  if (!response.encoding.empty()) {
    if (response.encoding != kIdentity) line("Content-Encoding", response.encoding);
    line("Vary", "Accept-Encoding");
  }
  if (!response.location.empty()) line("Location", response.location);
  for (const std::string& cookie : response.cookies) line("Set-Cookie", cookie);
  if (response.status == kUnauthorised) line("WWW-Authenticate", "Bearer");
  if (response.status == kWrongMethod) line("Allow", "GET, HEAD, POST");
  if (response.status == kTooManyRequests || response.status == kUnavailable) {
    line("Retry-After", std::to_string(response.retry_after_s));
  }
  if (!head.keep_alive) line("Connection", "close");
  if (head.framing == Framing::chunked) line("Transfer-Encoding", "chunked");
  // An answer without a body says nothing of its length.
  if (head.framing == Framing::length && response.status != kNotModified) {
    line("Content-Length", std::to_string(head.body_bytes));
  }
  return text + "\r\n";
}

Response plain_refusal(int status, const std::string& why) {
  Response response;
  response.status = status;
  response.type = "text/plain; charset=utf-8";
  response.body = why + "\n";
  return response;
}

std::string chunk_of(const std::string& piece) {
  std::array<char, 24> size{};
  const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
  return std::string(size.data(), static_cast<size_t>(digits)) + piece + "\r\n";
}

}  // namespace stripline::server::http
