#include "redial/core/policy_table.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace redial {

bool PolicyTable::Add(absl::string_view service, absl::string_view method,
                      std::shared_ptr<const MethodPolicy> policy) {
  if (service.empty()) {
    if (has_default_) return false;
    has_default_ = true;
    default_ = std::move(policy);
    return true;
  }
  if (method.empty()) {
    return by_service_
        .emplace(absl::StrCat("/", service, "/"), std::move(policy))
        .second;
  }
  return by_method_
      .emplace(absl::StrCat("/", service, "/", method), std::move(policy))
      .second;
}

const std::shared_ptr<const MethodPolicy>* PolicyTable::Find(
    absl::string_view full_method) const {
  const std::shared_ptr<const MethodPolicy>* found = FindEntry(full_method);
  return found != nullptr && *found != nullptr ? found : nullptr;
}

const std::shared_ptr<const MethodPolicy>* PolicyTable::FindEntry(
    absl::string_view full_method) const {
  if (!by_method_.empty()) {
    const auto method = by_method_.find(full_method);
    if (method != by_method_.end()) return &method->second;
  }
  if (!by_service_.empty()) {
    const size_t slash = full_method.rfind('/');
    if (slash != absl::string_view::npos) {
      const auto service = by_service_.find(full_method.substr(0, slash + 1));
      if (service != by_service_.end()) return &service->second;
    }
  }
  return has_default_ ? &default_ : nullptr;
}

}  // namespace redial
