#include "redial/config/json_path.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace redial {
namespace {

constexpr size_t kMaxKeyLength = 64;

bool IsPlainWord(absl::string_view key) {
  if (key.empty() || key.size() > kMaxKeyLength) return false;
  for (char c : key) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return !absl::ascii_isdigit(key[0]);
}

void AppendKey(absl::string_view key, std::string* path) {
  if (IsPlainWord(key)) {
    absl::StrAppend(path, path->empty() ? "" : ".", key);
  } else {
    const bool cut = key.size() > kMaxKeyLength;
    absl::StrAppend(path, "[\"", absl::CEscape(key.substr(0, kMaxKeyLength)),
                    cut ? "..." : "", "\"]");
  }
}

void AppendIndex(size_t index, std::string* path) {
  absl::StrAppend(path, "[", index, "]");
}

}  // namespace

std::string JsonPathOfKey(absl::string_view path, absl::string_view key) {
  std::string result(path);
  AppendKey(key, &result);
  return result;
}

std::string JsonPathOfIndex(absl::string_view path, size_t index) {
  std::string result(path);
  AppendIndex(index, &result);
  return result;
}

void JsonPathVisitor::Key(absl::string_view name, absl::string_view raw) {
  path_.resize(levels_.back().path_size);
  AppendKey(name, &path_);
  key_ = std::string(raw);
}

void JsonPathVisitor::Enter() {
  if (levels_.empty() || !levels_.back().is_array) return;
  Level& level = levels_.back();
  path_.resize(level.path_size);
  AppendIndex(level.next_index++, &path_);
}

void JsonPathVisitor::Begin(absl::string_view raw) {
  Enter();
  OnValue(path_, key_, raw);
  key_.clear();
  levels_.push_back({raw == "[", path_.size(), 0});
}

void JsonPathVisitor::End(absl::string_view raw) {
  OnEnd(raw);
  path_.resize(levels_.back().path_size);
  levels_.pop_back();
}

void JsonPathVisitor::BeginObject() { Begin("{"); }
void JsonPathVisitor::EndObject() { End("}"); }
void JsonPathVisitor::BeginArray() { Begin("["); }
void JsonPathVisitor::EndArray() { End("]"); }

void JsonPathVisitor::Scalar(absl::string_view raw) {
  Enter();
  OnValue(path_, key_, raw);
  key_.clear();
}

}  // namespace redial
