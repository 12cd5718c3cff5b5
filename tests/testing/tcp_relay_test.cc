#include "redial/testing/tcp_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

namespace redial {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(fd_); }
  static std::unique_ptr<Socket> Connected(int port) {
    auto made = std::make_unique<Socket>(socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = Loopback(port);
    const int failed =
        connect(made->fd_, reinterpret_cast<const sockaddr*>(&address),
                sizeof(address));
    return failed != 0 ? nullptr : std::move(made);
  }
  void Send(const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n =
          send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<size_t>(n);
    }
  }
  // Until so many bytes or the end.
  std::string Receive(size_t count) {
    std::string bytes;
    char part[4096];
    while (bytes.size() < count) {
      const ssize_t n =
          recv(fd_, part, std::min(sizeof(part), count - bytes.size()), 0);
      if (n <= 0) break;
      bytes.append(part, static_cast<size_t>(n));
    }
    return bytes;
  }
  // 0 at an orderly end, else errno.
  int End() {
    char byte;
    const ssize_t n = recv(fd_, &byte, 1, 0);
    return n < 0 ? errno : 0;
  }
  void HalfClose() { shutdown(fd_, SHUT_WR); }
  int local_port() const {
    sockaddr_in address = {};
    socklen_t length = sizeof(address);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    return ntohs(address.sin_port);
  }
  int peer_port() const {
    sockaddr_in address = {};
    socklen_t length = sizeof(address);
    getpeername(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    return ntohs(address.sin_port);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

class TcpRelayTest : public ::testing::Test {
 protected:
  TcpRelayTest() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in address = Loopback(0);
    EXPECT_EQ(bind(listener_.fd(), reinterpret_cast<const sockaddr*>(&address),
                   sizeof(address)),
              0);
    EXPECT_EQ(listen(listener_.fd(), 8), 0);
    auto relay = TcpRelay::Start(listener_.local_port());
    EXPECT_TRUE(relay.ok()) << relay.status();
    relay_ = *std::move(relay);
  }
  // A client, and the server's end of its connection.
  void Connect(std::unique_ptr<Socket>* client,
               std::unique_ptr<Socket>* server) {
    *client = Socket::Connected(relay_->port());
    ASSERT_NE(*client, nullptr);
    *server =
        std::make_unique<Socket>(accept(listener_.fd(), nullptr, nullptr));
  }

  Socket listener_;
  std::unique_ptr<TcpRelay> relay_;
};

TEST_F(TcpRelayTest, PassesEveryByteAndTheEndsOn) {
  std::unique_ptr<Socket> client, server;
  Connect(&client, &server);
  // More than any buffer on the way holds.
  std::string sent;
  for (int i = 0; i < (4 << 20); ++i) sent.push_back(static_cast<char>(i * 7));
  std::thread sender([&] {
    client->Send(sent);
    client->HalfClose();
  });
  EXPECT_EQ(server->Receive(sent.size() + 1), sent);
  sender.join();
  server->Send("thanks");
  server->HalfClose();
  EXPECT_EQ(client->Receive(100), "thanks");
  EXPECT_EQ(client->End(), 0);
}

TEST_F(TcpRelayTest, DropsTheOneConnectionThatIsNamed) {
  std::unique_ptr<Socket> first, first_server, second, second_server;
  Connect(&first, &first_server);
  Connect(&second, &second_server);
  relay_->Drop(first_server->peer_port());
  EXPECT_EQ(first->End(), ECONNRESET);
  EXPECT_EQ(first_server->End(), ECONNRESET);
  second->Send("still here");
  EXPECT_EQ(second_server->Receive(10), "still here");
}

TEST_F(TcpRelayTest, DropAllAndTheDestructorEndEveryConnection) {
  std::unique_ptr<Socket> client, server;
  Connect(&client, &server);
  relay_->DropAll();
  EXPECT_EQ(client->End(), ECONNRESET);
  Connect(&client, &server);
  relay_.reset();
  EXPECT_EQ(client->End(), ECONNRESET);
}

TEST_F(TcpRelayTest, RefusesWhereNobodyListensBehind) {
  int unused = 0;
  {
    Socket gone(socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = Loopback(0);
    bind(gone.fd(), reinterpret_cast<const sockaddr*>(&address),
         sizeof(address));
    unused = gone.local_port();
  }
  auto relay = TcpRelay::Start(unused);
  ASSERT_TRUE(relay.ok());
  auto client = Socket::Connected((*relay)->port());
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(client->End(), ECONNRESET);
}

}  // namespace
}  // namespace redial
