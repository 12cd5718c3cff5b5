// TcpRelay: a wire that a test can cut.
//
// Listens on a loopback port and passes the bytes of each connection on to
// another loopback port, until told to break it: the peer then sees a reset in
// the middle, which no server can be asked to produce. One thread; thread-safe.
//
//   auto relay = TcpRelay::Start(server_port);   // absl::StatusOr
//   Connect((*relay)->port());
//   (*relay)->DropAll();
#ifndef REDIAL_TESTING_TCP_RELAY_H_
#define REDIAL_TESTING_TCP_RELAY_H_

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace redial {

class TcpRelay {
 public:
  // In front of 127.0.0.1:`upstream_port`.
  static absl::StatusOr<std::unique_ptr<TcpRelay>> Start(int upstream_port);
  // Ends all connections.
  ~TcpRelay();

  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  // Where clients connect, on 127.0.0.1.
  int port() const { return port_; }

  // Breaks the connection that the upstream server sees as coming from this
  // local port. Takes effect soon after; an unknown port does nothing.
  void Drop(int upstream_peer_port);
  // Breaks all connections that are open now.
  void DropAll();

 private:
  struct Connection;
  static constexpr int kAll = -1;

  TcpRelay(int upstream_port, int listener, int port, int wake_read,
           int wake_write);

  void Loop();
  void Accept();
  void ApplyOrders(bool* stop);
  void Order(int what);

  const int upstream_port_;
  const int listener_;
  const int port_;
  const int wake_read_;
  const int wake_write_;

  std::list<std::unique_ptr<Connection>> connections_;  // the thread's own

  std::mutex mu_;
  std::vector<int> orders_;  // ports to drop
  bool stop_ = false;

  std::thread thread_;  // the last member: it uses the others
};

}  // namespace redial

#endif  // REDIAL_TESTING_TCP_RELAY_H_
