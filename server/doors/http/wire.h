// A connection's bytes, in plain text or by TLS, asynchronously. Includes Asio: for .cc files of
// this folder.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::server::http {

/// All calls and all answers are on the thread that runs the io_context. At a time at most one read
/// and one write are outstanding.
class Wire {
 public:
  using Done = std::function<void(bool ok)>;
  using Read = std::function<void(size_t bytes)>;  ///< 0: it has ended, or failed

  virtual ~Wire() = default;
  virtual void greet(Done done) = 0;  ///< the handshake, if there is one
  virtual void read(std::span<char> into, Read read) = 0;
  /// All of it, which must stay until `done`.
  virtual void write(std::string_view bytes, Done done) = 0;
  /// No more is written; the caller sees that.
  virtual void end_writing() = 0;
  virtual void close() = 0;
  /// True once the caller has closed his side, whether or not all of what he sent was read.
  virtual bool hung_up() = 0;
  virtual const std::string& peer() const = 0;  ///< his address, without the port
};

/// `tls` null: plain text. nullptr when the socket is no longer connected. What it is given must
/// outlive it.
std::unique_ptr<Wire> make_wire(boost::asio::io_context& context, boost::asio::ssl::context* tls,
                                UniqueFd socket);

}  // namespace stripline::server::http
