// RetryBudget: how much of the traffic may be retries (features 4.3).
//
// Two forms. WindowedRetryBudget: in each window, retries may be a ratio of the
// calls that ended well, plus a floor; exact for fractional ratios.
// InFlightRetryBudget: of the calls in progress only so many may be retrying,
// waits included. A budget is shared by all calls that name it, on whatever
// transport; it is thread-safe and never blocks. It never delays or refuses a
// first attempt.
#ifndef REDIAL_CORE_RETRY_BUDGET_H_
#define REDIAL_CORE_RETRY_BUDGET_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "absl/time/time.h"
#include "redial/core/instant.h"

namespace redial {

class RetryBudget {
 public:
  virtual ~RetryBudget() = default;

  virtual void CallStarted(Instant now) = 0;
  // The call is over. `answered_well`: its answer was no sign of overload (a
  // success, or a permanent error): such a call deposits, once.
  virtual void CallEnded(bool answered_well, Instant now) = 0;

  // Pays for one retry or hedge. False: it must not be made.
  virtual bool TryWithdraw(Instant now) = 0;
  // The retry that a withdrawal paid for is over, made or not.
  virtual void RetryEnded() = 0;

  // For reports and `explain`.
  virtual std::string Describe() const = 0;
};

class WindowedRetryBudget final : public RetryBudget {
 public:
  struct Parameters {
    absl::Duration ttl = absl::Seconds(10);
    // Retries per call that ended well, in millionths: 0.2 is 200000.
    int64_t ratio_millionths = 200000;
    // Retries per second that are always allowed.
    int64_t min_retries_per_second = 10;
  };
  explicit WindowedRetryBudget(const Parameters& parameters);

  void CallStarted(Instant) override {}
  void CallEnded(bool answered_well, Instant now) override;
  bool TryWithdraw(Instant now) override;
  void RetryEnded() override {}
  std::string Describe() const override;

  // Retries that may be made at `now`, in millionths of one.
  int64_t BalanceMillionths(Instant now);

 private:
  static constexpr int kSlots = 10;

  void Advance(Instant now);  // needs mu_
  int64_t Balance() const;    // needs mu_

  const Parameters parameters_;
  const absl::Duration slot_length_;
  const int64_t reserve_millionths_;
  std::mutex mu_;
  std::array<int64_t, kSlots> slots_{};  // deposits minus withdrawals
  int64_t slot_index_ = 0;               // number of slot lengths since epoch
  bool started_ = false;
};

class InFlightRetryBudget final : public RetryBudget {
 public:
  struct Parameters {
    // Of the calls in progress, in millionths.
    int64_t ratio_millionths = 200000;
    int64_t min_retries = 3;
  };
  explicit InFlightRetryBudget(const Parameters& parameters)
      : parameters_(parameters) {}

  void CallStarted(Instant) override;
  void CallEnded(bool answered_well, Instant now) override;
  bool TryWithdraw(Instant now) override;
  void RetryEnded() override;
  std::string Describe() const override;

  int64_t active_calls() const { return active_.load(); }
  int64_t retrying_calls() const { return retrying_.load(); }

 private:
  const Parameters parameters_;
  std::atomic<int64_t> active_{0};
  std::atomic<int64_t> retrying_{0};
};

}  // namespace redial

#endif  // REDIAL_CORE_RETRY_BUDGET_H_
