#include "redial/grpc/response_codec.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <link.h>

#include <atomic>
#include <cstdint>

#include "google/protobuf/message_lite.h"

namespace redial {
namespace {

// Whether an address lies in a segment of the program or of a library it
// loaded: where the vtables are.
bool IsInLoadedObject(uintptr_t address) {
  struct Search {
    uintptr_t address;
    bool found;
  } search{address, false};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) -> int {
        auto* wanted = static_cast<Search*>(data);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
          if (wanted->address >= begin &&
              wanted->address < begin + segment.p_memsz) {
            wanted->found = true;
            return 1;
          }
        }
        return 0;
      },
      &search);
  return search.found;
}

class ProtobufCodec final : public ResponseCodec {
 public:
  // The first word of a message is its vtable pointer; of a ByteBuffer it is
  // null or points to the heap.
  bool Recognizes(const void* response) const override {
    if (response == nullptr) return false;
    const uintptr_t first_word = *static_cast<const uintptr_t*>(response);
    if (first_word == 0 || first_word % alignof(void*) != 0) return false;
    if (first_word == last_vtable_.load(std::memory_order_relaxed)) return true;
    if (!IsInLoadedObject(first_word)) return false;
    last_vtable_.store(first_word, std::memory_order_relaxed);
    return true;
  }

  grpc::Status Deserialize(grpc::ByteBuffer* bytes,
                           void* response) const override {
    return grpc::SerializationTraits<google::protobuf::MessageLite>::
        Deserialize(bytes,
                    static_cast<google::protobuf::MessageLite*>(response));
  }

  bool is_protobuf() const override { return true; }

 private:
  mutable std::atomic<uintptr_t> last_vtable_{0};
};

class ByteBufferCodec final : public ResponseCodec {
 public:
  bool Recognizes(const void* response) const override {
    if (response == nullptr) return false;
    const uintptr_t first_word = *static_cast<const uintptr_t*>(response);
    return first_word == 0 || !IsInLoadedObject(first_word);
  }

  grpc::Status Deserialize(grpc::ByteBuffer* bytes,
                           void* response) const override {
    static_cast<grpc::ByteBuffer*>(response)->Swap(bytes);
    return grpc::Status();
  }
};

}  // namespace

std::shared_ptr<const ResponseCodec> ProtobufResponseCodec() {
  static const auto* const codec = new std::shared_ptr<const ResponseCodec>(
      std::make_shared<ProtobufCodec>());
  return *codec;
}

std::shared_ptr<const ResponseCodec> ByteBufferResponseCodec() {
  static const auto* const codec = new std::shared_ptr<const ResponseCodec>(
      std::make_shared<ByteBufferCodec>());
  return *codec;
}

}  // namespace redial
