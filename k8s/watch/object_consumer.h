// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "k8s/document/node.h"

namespace firetower::k8s {

// Receiver of the objects that a Reflector reads, on the reflector's thread. An object has the
// chosen fields and metadata.{name, namespace, uid, resourceVersion}; a node is valid during the
// call.
class ObjectConsumer {
 public:
  virtual ~ObjectConsumer() = default;

  // Starts a complete set, which is collected beside the current objects until CommitSet. If it is
  // started again or abandoned, the collected part is dropped.
  virtual void BeginSet() = 0;
  virtual void AddToSet(const Node& object) = 0;
  virtual void RemoveFromSet(const Node& object) = 0;
  virtual void AbandonSet() = 0;
  // The set is complete: it replaces the current objects, and objects that are not in it are gone.
  virtual void CommitSet() = 0;

  // Adds or changes an object, independent of the server's event type.
  virtual void Upsert(const Node& object) = 0;
  // The object was deleted or is no longer selected; `object` is its last state.
  virtual void Delete(const Node& object) = 0;
  // All events that arrived together were delivered: a good moment to publish.
  virtual void Flush() = 0;
};

}  // namespace firetower::k8s
