#include "redial/grpc/grpc_outcome.h"

#include <grpcpp/support/client_callback.h>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "redial/core/error_details.h"
#include "redial/core/pushback.h"

namespace redial {
namespace {

// InternalTrailersOnly is a member of every reactor; it needs none of its own
// state.
class TrailersOnlyProbe final : public grpc::internal::ClientReactor {
 public:
  bool Ask(const grpc_call* call) const { return InternalTrailersOnly(call); }
  void OnDone(const grpc::Status&) override {}
};

// As gRPC writes the address of a connection; where it has none it gives the
// channel's target instead.
bool IsAddress(absl::string_view peer) {
  for (const absl::string_view scheme : {"ipv4:", "ipv6:", "unix", "inproc"}) {
    if (absl::StartsWith(peer, scheme)) return true;
  }
  return false;
}

absl::optional<absl::string_view> FindIn(const GrpcMetadata& metadata,
                                         absl::string_view name) {
  const auto found = metadata.find(grpc::string_ref(name.data(), name.size()));
  if (found == metadata.end()) return absl::nullopt;
  return absl::string_view(found->second.data(), found->second.size());
}

}  // namespace

absl::StatusCode CanonicalCode(grpc::StatusCode code) {
  // The numbers are the same; a peer may send one that is not a code.
  const int number = static_cast<int>(code);
  return number >= 0 && number <= 16 ? static_cast<absl::StatusCode>(number)
                                     : absl::StatusCode::kUnknown;
}

grpc::Status GrpcStatus(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()),
                      std::string(status.message()));
}

GrpcOutcome::GrpcOutcome(const grpc::Status& status,
                         const GrpcMetadata& trailers,
                         const GrpcMetadata* headers)
    : trailers_(trailers),
      headers_(headers),
      message_(status.error_message()),
      details_(status.error_details()) {
  outcome_.code = CanonicalCode(status.error_code());
  outcome_.message = message_;
  outcome_.metadata = this;
  outcome_.pushback =
      ReadPushback(this, details_, absl::Now(), /*http_headers=*/true);
  const ErrorDetails details = ParseErrorDetails(details_);
  outcome_.error_reason = details.error_reason;
  outcome_.error_domain = details.error_domain;
}

absl::optional<absl::string_view> GrpcOutcome::Find(
    absl::string_view name) const {
  absl::optional<absl::string_view> value = FindIn(trailers_, name);
  if (!value.has_value() && headers_ != nullptr) {
    value = FindIn(*headers_, name);
  }
  return value;
}

bool ReceivedHeaders(grpc::ClientContext& context, bool cancelled) {
  if (context.c_call() == nullptr) return false;
  const TrailersOnlyProbe probe{};
  if (probe.Ask(context.c_call())) return false;
  // Not trailers-only is also what gRPC says of a call that never reached a
  // server. Then the error is a local one; where it came from a filter (call
  // credentials that failed, say) gRPC calls it the peer's too, but there is no
  // address of that peer.
  return (cancelled || IsAddress(context.peer())) &&
         absl::StrContains(context.debug_error_string(),
                           "Error received from peer");
}

bool CancelledHere(const grpc::ClientContext& context,
                   const grpc::Status& status) {
  // A cancel makes gRPC forget the address.
  return status.error_code() == grpc::StatusCode::CANCELLED &&
         !IsAddress(context.peer());
}

}  // namespace redial
