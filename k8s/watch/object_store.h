// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/snapshot.h"
#include "k8s/watch/object_consumer.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {

// Listener for single changes, called on the reflector's thread.
template <typename T>
class ObjectListener {
 public:
  virtual ~ObjectListener() = default;
  virtual void OnUpsert(const std::string& key, const std::shared_ptr<const T>& value) = 0;
  // `last` is its last known state.
  virtual void OnDelete(const std::string& key, const std::shared_ptr<const T>& last) = 0;
};

// The objects of one resource as T, by "namespace/name". The reflector's thread changes it. Any
// thread reads the latest snapshot, which is immutable and always a state that the server had: an
// incomplete set is never visible.
//
// Holds at most `max_objects`; further ones are ignored and counted, and so are objects that
// `convert` refuses (their last valid state stays).
template <typename T>
class ObjectStore final : public ObjectConsumer {
 public:
  struct Entry {
    std::string uid;
    std::shared_ptr<const T> value;
  };
  using Objects = std::map<std::string, Entry>;
  using Convert = std::function<Result<T>(const Node&)>;

  // `listener` may be null; otherwise it must outlive this. `on_publish`, if set, is called on the
  // reflector's thread after each new snapshot.
  ObjectStore(Convert convert, size_t max_objects, ObjectListener<T>* listener = nullptr,
              std::function<void()> on_publish = nullptr)
      : convert_(std::move(convert)),
        max_objects_(max_objects),
        listener_(listener),
        on_publish_(std::move(on_publish)) {}

  // Returns nullptr before the first complete set.
  std::shared_ptr<const Objects> Get() const { return snapshot_.Get(); }
  // Any thread.
  uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

  void BeginSet() override { set_.clear(); }
  void AddToSet(const Node& object) override { Put(object, set_, &objects_); }
  void RemoveFromSet(const Node& object) override { set_.erase(MetaOf(object).key); }
  void AbandonSet() override { set_.clear(); }
  void CommitSet() override {
    Objects before = std::exchange(objects_, std::exchange(set_, {}));
    for (const auto& [key, entry] : before) {
      const auto now = objects_.find(key);
      if (now == objects_.end() || now->second.uid != entry.uid) NotifyDelete(key, entry);
    }
    for (const auto& [key, entry] : objects_) NotifyUpsert(key, entry);
    changed_ = true;
    Flush();
  }
  void Upsert(const Node& object) override {
    const std::string key = MetaOf(object).key;
    // The same name with another uid is another object: the old one is gone.
    const auto old = objects_.find(key);
    if (old != objects_.end() && old->second.uid != MetaOf(object).uid) {
      NotifyDelete(key, old->second);
      objects_.erase(old);
      changed_ = true;
    }
    if (!Put(object, objects_, nullptr)) return;
    changed_ = true;
    NotifyUpsert(key, objects_[key]);
  }
  void Delete(const Node& object) override {
    const auto found = objects_.find(MetaOf(object).key);
    if (found == objects_.end()) return;
    // The last state may contain more than the one before it, such as the reason of its end.
    if (found->second.uid == MetaOf(object).uid) Put(object, objects_, nullptr);
    NotifyDelete(found->first, found->second);
    objects_.erase(found);
    changed_ = true;
  }
  void Flush() override {
    if (!changed_) return;
    changed_ = false;
    snapshot_.Publish(std::make_shared<const Objects>(objects_));
    if (on_publish_) on_publish_();
  }

 private:
  // `known` holds the last valid state of an object that is refused.
  bool Put(const Node& object, Objects& into, const Objects* known) {
    const ObjectMeta meta = MetaOf(object);
    Result<T> value = convert_(object);
    if (meta.key.empty() || !value) {
      ++left_out_;
      if (known == nullptr) return false;
      const auto old = known->find(meta.key);
      if (old != known->end() && old->second.uid == meta.uid) into[meta.key] = old->second;
      return false;
    }
    if (into.size() >= max_objects_ && !into.contains(meta.key)) {
      ++left_out_;
      return false;
    }
    into[meta.key] = {meta.uid, std::make_shared<const T>(*std::move(value))};
    return true;
  }
  void NotifyUpsert(const std::string& key, const Entry& entry) {
    if (listener_ != nullptr) listener_->OnUpsert(key, entry.value);
  }
  void NotifyDelete(const std::string& key, const Entry& entry) {
    if (listener_ != nullptr) listener_->OnDelete(key, entry.value);
  }

  const Convert convert_;
  const size_t max_objects_;
  ObjectListener<T>* const listener_;
  const std::function<void()> on_publish_;
  Objects objects_;
  Objects set_;
  bool changed_ = false;
  std::atomic<uint64_t> left_out_ = 0;
  SnapshotCell<Objects> snapshot_;
};

}  // namespace firetower::k8s
