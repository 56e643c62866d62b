// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "k8s/document/node.h"

namespace firetower::k8s {

// Takes what a Reflector reads, on the reflector's thread. An object has the chosen fields and
// metadata.{name, namespace, uid, resourceVersion}; a node lives for the call.
class ObjectConsumer {
 public:
  virtual ~ObjectConsumer() = default;

  // A whole set follows, beside what there is, which stays until CommitSet. Begun again, or
  // abandoned, the part that has come is forgotten.
  virtual void BeginSet() = 0;
  virtual void AddToSet(const Node& object) = 0;
  virtual void RemoveFromSet(const Node& object) = 0;
  virtual void AbandonSet() = 0;
  // The set is whole: it takes the place of what there was, and what is not in it is gone.
  virtual void CommitSet() = 0;

  // Added or changed: what is known is changed, what is not is added, whatever the server calls it.
  virtual void Upsert(const Node& object) = 0;
  // Deleted, or no longer selected; `object` is its last state.
  virtual void Delete(const Node& object) = 0;
  // Events that arrived together have all been given: a moment to publish.
  virtual void Flush() = 0;
};

}  // namespace firetower::k8s
