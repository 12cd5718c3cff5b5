#include "redial/config/json_document.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "redial/config/json_path.h"
#include "redial/config/json_scanner.h"

namespace redial {
namespace {

class FilterVisitor final : public JsonPathVisitor {
 public:
  FilterVisitor(JsonFilter keep, std::string* out) : keep_(keep), out_(out) {}

 protected:
  void OnValue(const std::string& path, absl::string_view key,
               absl::string_view raw) override {
    const bool opens = raw == "{" || raw == "[";
    std::string value(raw);
    if (skipping_ > 0 || !keep_(path, &value)) {
      if (opens) ++skipping_;
      return;
    }
    if (!out_->empty() && out_->back() != '{' && out_->back() != '[') {
      out_->push_back(',');
    }
    if (!key.empty()) absl::StrAppend(out_, key, ":");
    absl::StrAppend(out_, value);
  }

  void OnEnd(absl::string_view raw) override {
    if (skipping_ > 0) {
      --skipping_;
    } else {
      absl::StrAppend(out_, raw);
    }
  }

 private:
  const JsonFilter keep_;
  std::string* const out_;
  int skipping_ = 0;  // levels inside a value that is left out
};

// Whether `inner` is `outer` or a place in it.
bool IsWithin(absl::string_view inner, absl::string_view outer) {
  if (outer.empty()) return true;
  if (!absl::StartsWith(inner, outer)) return false;
  inner.remove_prefix(outer.size());
  return inner.empty() || inner[0] == '.' || inner[0] == '[';
}

class ExtractVisitor final : public JsonPathVisitor {
 public:
  ExtractVisitor(absl::string_view path, std::string* out)
      : path_(path), out_(out) {}

 protected:
  void OnValue(const std::string& path, absl::string_view key,
               absl::string_view raw) override {
    const bool inside = IsWithin(path, path_);
    if (raw == "{" || raw == "[") inside_.push_back(inside);
    if (!inside) return;
    if (path != path_) {
      if (out_->back() != '{' && out_->back() != '[') out_->push_back(',');
      if (!key.empty()) absl::StrAppend(out_, key, ":");
    }
    absl::StrAppend(out_, raw);
  }

  void OnEnd(absl::string_view raw) override {
    if (inside_.back()) absl::StrAppend(out_, raw);
    inside_.pop_back();
  }

 private:
  const absl::string_view path_;
  std::string* const out_;
  std::vector<bool> inside_;
};

}  // namespace

absl::StatusOr<JsonDocument> JsonDocument::Parse(absl::string_view text) {
  if (text.size() > kMaxJsonSize) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the text has ", text.size(), " bytes; at most ",
                     kMaxJsonSize, " (4 MiB) are read"));
  }
  absl::Status status = ScanJson(text);
  if (!status.ok()) return status;
  auto root = std::make_shared<google::protobuf::Value>();
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      {text.data(), text.size()}, root.get());
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text is not JSON: ", parsed.ToString()));
  }
  return JsonDocument(std::move(root));
}

std::string FilterJson(absl::string_view text, JsonFilter keep) {
  std::string out;
  FilterVisitor visitor(keep, &out);
  ScanJson(text, &visitor).IgnoreError();
  return out;
}

std::string JsonTextAt(absl::string_view text, absl::string_view path) {
  std::string out;
  ExtractVisitor visitor(path, &out);
  ScanJson(text, &visitor).IgnoreError();
  return out;
}

}  // namespace redial
