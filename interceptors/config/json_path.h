// JSON paths: how messages name a place in a document.
//
// "methodConfig[0].retryPolicy.maxAttempts"; keys that are no plain words stand
// in brackets, `metadata["x-team"]`; "" is the whole document. Very long keys
// are cut. Pure functions; a visitor belongs to one scan.
#ifndef REDIAL_CONFIG_JSON_PATH_H_
#define REDIAL_CONFIG_JSON_PATH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "redial/config/json_scanner.h"

namespace redial {

std::string JsonPathOfKey(absl::string_view path, absl::string_view key);
std::string JsonPathOfIndex(absl::string_view path, size_t index);

// A JsonVisitor that knows the path of each value.
class JsonPathVisitor : public JsonVisitor {
 public:
  void BeginObject() final;
  void Key(absl::string_view name, absl::string_view raw) final;
  void EndObject() final;
  void BeginArray() final;
  void EndArray() final;
  void Scalar(absl::string_view raw) final;

 protected:
  // Each value comes once. `raw` is '{', '[' or a scalar as written; `key` the
  // key before it as written, empty in arrays and at the root.
  virtual void OnValue(const std::string& path, absl::string_view key,
                       absl::string_view raw) = 0;
  // '}' or ']', for each '{' and '['.
  virtual void OnEnd(absl::string_view raw) {}

 private:
  struct Level {
    bool is_array;
    size_t path_size;
    size_t next_index;
  };
  void Enter();
  void Begin(absl::string_view raw);
  void End(absl::string_view raw);

  std::string path_;
  std::string key_;
  std::vector<Level> levels_;
};

}  // namespace redial

#endif  // REDIAL_CONFIG_JSON_PATH_H_
