#include "redial/testing/tcp_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace redial {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

sockaddr_in Loopback(int port) {
  sockaddr_in address;
  std::memset(&address, 0, sizeof(address));
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

int LocalPort(int fd) {
  sockaddr_in address;
  socklen_t length = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return 0;
  }
  return ntohs(address.sin_port);
}

void Prepare(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void CloseQuietly(int fd) { close(fd); }

// A reset in place of an orderly end.
void CloseWithReset(int fd) {
  const linger hard = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  close(fd);
}

bool WouldBlock() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

absl::Status SystemError(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(error)));
}

// One direction of a connection.
struct Flow {
  std::string buffer;
  bool ended = false;      // nothing more comes in
  bool passed_on = false;  // and the other side was told

  bool wants_input() const { return !ended && buffer.size() < kBufferBytes; }

  // Both return false where the connection is broken.
  bool Fill(int from) {
    char bytes[16 * 1024];
    const ssize_t n = recv(from, bytes, sizeof(bytes), 0);
    if (n < 0) return WouldBlock();
    if (n == 0) ended = true;
    buffer.append(bytes, static_cast<size_t>(n));
    return true;
  }
  bool Empty(int to) {
    if (!buffer.empty()) {
      const ssize_t n = send(to, buffer.data(), buffer.size(), MSG_NOSIGNAL);
      if (n < 0) return WouldBlock();
      buffer.erase(0, static_cast<size_t>(n));
    }
    if (buffer.empty() && ended && !passed_on) {
      passed_on = true;
      shutdown(to, SHUT_WR);
    }
    return true;
  }
};

}  // namespace

struct TcpRelay::Connection {
  Connection(int client_fd, int server_fd)
      : client(client_fd), server(server_fd), peer_port(LocalPort(server_fd)) {}
  ~Connection() {
    void (*const end)(int) = orderly ? CloseQuietly : CloseWithReset;
    end(client);
    end(server);
  }

  void AddTo(std::vector<pollfd>* polled) const {
    const auto events = [](const Flow& in, const Flow& out) {
      return static_cast<short>((in.wants_input() ? POLLIN : 0) |
                                (out.buffer.empty() ? 0 : POLLOUT));
    };
    polled->push_back({client, events(to_server, to_client), 0});
    polled->push_back({server, events(to_client, to_server), 0});
  }

  // False where it is over.
  bool Advance(short client_events, short server_events) {
    constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
    if ((client_events & kReadable) != 0 && to_server.wants_input() &&
        !to_server.Fill(client)) {
      return false;
    }
    if ((server_events & kReadable) != 0 && to_client.wants_input() &&
        !to_client.Fill(server)) {
      return false;
    }
    // A hang-up that nobody reads any more would be reported for ever.
    if (((client_events | server_events) & POLLERR) != 0) return false;
    if (!to_server.Empty(server) || !to_client.Empty(client)) return false;
    orderly = to_server.passed_on && to_client.passed_on;
    return !orderly;
  }

  const int client;
  const int server;
  const int peer_port;
  Flow to_server;
  Flow to_client;
  bool orderly = false;  // both sides ended of themselves
};

absl::StatusOr<std::unique_ptr<TcpRelay>> TcpRelay::Start(int upstream_port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return SystemError("socket", errno);
  sockaddr_in address = Loopback(0);
  int wake[2];
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
          0 ||
      listen(listener, SOMAXCONN) != 0 || pipe2(wake, O_CLOEXEC) != 0) {
    const int error = errno;
    close(listener);
    return SystemError("cannot listen on loopback", error);
  }
  Prepare(listener);
  fcntl(wake[0], F_SETFL, O_NONBLOCK);
  fcntl(wake[1], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<TcpRelay>(new TcpRelay(
      upstream_port, listener, LocalPort(listener), wake[0], wake[1]));
}

TcpRelay::TcpRelay(int upstream_port, int listener, int port, int wake_read,
                   int wake_write)
    : upstream_port_(upstream_port),
      listener_(listener),
      port_(port),
      wake_read_(wake_read),
      wake_write_(wake_write),
      thread_([this] { Loop(); }) {}

TcpRelay::~TcpRelay() {
  {
    std::lock_guard<std::mutex> lock(mu_);
    stop_ = true;
  }
  Order(kAll);
  thread_.join();
  close(listener_);
  close(wake_read_);
  close(wake_write_);
}

void TcpRelay::Drop(int upstream_peer_port) { Order(upstream_peer_port); }

void TcpRelay::DropAll() { Order(kAll); }

void TcpRelay::Order(int what) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    orders_.push_back(what);
  }
  // A full pipe wakes the thread just as well.
  const char byte = 0;
  if (write(wake_write_, &byte, 1) < 0) return;
}

void TcpRelay::ApplyOrders(bool* stop) {
  char bytes[64];
  while (read(wake_read_, bytes, sizeof(bytes)) > 0) {
  }
  std::vector<int> orders;
  {
    std::lock_guard<std::mutex> lock(mu_);
    orders.swap(orders_);
    *stop = stop_;
  }
  for (int port : orders) {
    connections_.remove_if([port](const std::unique_ptr<Connection>& c) {
      return port == kAll || c->peer_port == port;
    });
  }
}

void TcpRelay::Accept() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(upstream_port_);
  if (server < 0 || connect(server, reinterpret_cast<sockaddr*>(&address),
                            sizeof(address)) != 0) {
    CloseWithReset(client);
    if (server >= 0) close(server);
    return;
  }
  Prepare(client);
  Prepare(server);
  connections_.push_back(std::make_unique<Connection>(client, server));
}

void TcpRelay::Loop() {
  std::vector<pollfd> polled;
  while (true) {
    polled.clear();
    polled.push_back({wake_read_, POLLIN, 0});
    polled.push_back({listener_, POLLIN, 0});
    for (const auto& connection : connections_) connection->AddTo(&polled);
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;

    size_t at = 2;
    for (auto it = connections_.begin(); it != connections_.end(); at += 2) {
      const bool open =
          (*it)->Advance(polled[at].revents, polled[at + 1].revents);
      it = open ? std::next(it) : connections_.erase(it);
    }
    bool stop = false;
    if (polled[0].revents != 0) ApplyOrders(&stop);
    if (stop) {
      connections_.clear();
      return;
    }
    if (polled[1].revents != 0) Accept();
  }
}

}  // namespace redial
