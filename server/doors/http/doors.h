// The sockets at which a server of HTTP takes connections: one for each address of its host's name,
// all at one port. Includes Asio: for .cc files of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::server::http {

/// All but open() is on the thread that runs the io_context.
class Doors {
 public:
  using Serve = std::function<void(UniqueFd connection)>;

  explicit Doors(boost::asio::io_context& context) : context_(context) {}
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  /// Listens; port 0: any free one. Gives the port. Errors: already_exists when another server has
  /// it; invalid_argument, unavailable, when it cannot listen there.
  Result<uint16_t> open(const std::string& host, uint16_t port);
  /// Hands connections on, until close(). Waits while there is no descriptor for one, and refuses
  /// those that would take the last ones, which the rest of the process needs.
  void begin(Serve serve);
  void close();

 private:
  struct Door {
    explicit Door(boost::asio::io_context& context) : acceptor(context), pause(context) {}
    boost::asio::ip::tcp::acceptor acceptor;
    boost::asio::steady_timer pause;
  };
  void accept(Door& door);

  boost::asio::io_context& context_;
  Serve serve_;
  std::list<Door> doors_;
};

}  // namespace stripline::server::http
