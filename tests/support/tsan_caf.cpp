// Shows the thread sanitizer how actors hand over messages. It cannot see this in CAF's library, which is built without
// it.
//
// Each function below replaces CAF's function of the same name (the library calls its exported functions through the
// dynamic linker) and marks the order: sending releases the receiver, handling a message acquires it. A race between
// two actors that no message orders is still reported. Only the build with -Db_sanitize=thread has this file.
#include <caf/actor_control_block.hpp>

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdio>
#include <cstdlib>

namespace {

using word = long;

void* original(const char* symbol) {
  if (void* f = dlsym(RTLD_NEXT, symbol))
    return f;
  std::fprintf(stderr, "tests/support/tsan_caf.cpp is for CAF 0.17: there is no %s\n", symbol);
  std::abort();
}

}  // namespace

#define IN_FRONT_OF(name, symbol, ...)                                                      \
  extern "C" __attribute__((visibility("default"))) word name(__VA_ARGS__) __asm__(symbol); \
  extern "C" word name(__VA_ARGS__)
#define FIND_NEXT(symbol, ...) static auto* const next = reinterpret_cast<word (*)(__VA_ARGS__)>(original(symbol))

#define SCHEDULED_LAUNCH "_ZN3caf15scheduled_actor6launchEPNS_14execution_unitEbb"
#define SCHEDULED_ENQUEUE \
  "_ZN3caf15scheduled_actor7enqueueESt10unique_ptrINS_15mailbox_elementENS_6detail8disposerEEPNS_14execution_unitE"
#define SCHEDULED_ACTIVATE "_ZN3caf15scheduled_actor8activateEPNS_14execution_unitE"
#define SCHEDULED_REACTIVATE "_ZN3caf15scheduled_actor10reactivateERNS_15mailbox_elementE"
#define BLOCKING_ENQUEUE \
  "_ZN3caf14blocking_actor7enqueueESt10unique_ptrINS_15mailbox_elementENS_6detail8disposerEEPNS_14execution_unitE"
#define BLOCKING_AWAIT "_ZN3caf14blocking_actor10await_dataEv"
#define BLOCKING_AWAIT_UNTIL                                                               \
  "_ZN3caf14blocking_actor10await_dataENSt6chrono10time_pointINS1_3_V212system_clockENS1_" \
  "8durationIlSt5ratioILl1ELl1000000000EEEEEE"
#define RELEASE_COUNTED "_ZNK3caf11ref_counted5derefEv"
#define BOUNCE "_ZNK3caf6detail20sync_request_bouncerclERKNS_15mailbox_elementE"
#define SCHEDULED_CLEANUP "_ZN3caf15scheduled_actor7cleanupEONS_5errorEPNS_14execution_unitE"

IN_FRONT_OF(scheduled_launch, SCHEDULED_LAUNCH, void* self, void* unit, bool lazy, bool hide) {
  FIND_NEXT(SCHEDULED_LAUNCH, void*, void*, bool, bool);
  __tsan_release(self);
  return next(self, unit, lazy, hide);
}

// `element` is a unique_ptr, passed by its address.
IN_FRONT_OF(scheduled_enqueue, SCHEDULED_ENQUEUE, void* self, void** element, void* unit) {
  FIND_NEXT(SCHEDULED_ENQUEUE, void*, void**, void*);
  __tsan_release(self);
  __tsan_release(*element);
  return next(self, element, unit);
}

IN_FRONT_OF(scheduled_activate, SCHEDULED_ACTIVATE, void* self, void* unit) {
  FIND_NEXT(SCHEDULED_ACTIVATE, void*, void*);
  __tsan_acquire(self);
  const word result = next(self, unit);
  __tsan_release(self);
  return result;
}

IN_FRONT_OF(scheduled_reactivate, SCHEDULED_REACTIVATE, void* self, void* element) {
  FIND_NEXT(SCHEDULED_REACTIVATE, void*, void*);
  __tsan_acquire(self);
  const word result = next(self, element);
  __tsan_release(self);  // Another worker may run the actor next.
  return result;
}

IN_FRONT_OF(blocking_enqueue, BLOCKING_ENQUEUE, void* self, void* element, void* unit) {
  FIND_NEXT(BLOCKING_ENQUEUE, void*, void*, void*);
  __tsan_release(self);
  return next(self, element, unit);
}

IN_FRONT_OF(blocking_await, BLOCKING_AWAIT, void* self) {
  FIND_NEXT(BLOCKING_AWAIT, void*);
  const word result = next(self);
  __tsan_acquire(self);
  return result;
}

IN_FRONT_OF(blocking_await_until, BLOCKING_AWAIT_UNTIL, void* self, word deadline) {
  FIND_NEXT(BLOCKING_AWAIT_UNTIL, void*, word);
  const word result = next(self, deadline);
  __tsan_acquire(self);
  return result;
}

namespace caf {

// Copies of the library's functions, because the order lies within them: everything that was done with the actor comes
// before what the last release destroys, whoever made it.
__attribute__((visibility("default"))) void intrusive_ptr_release(actor_control_block* x) {
  __tsan_release(&x->strong_refs);
  if (x->strong_refs.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  __tsan_acquire(&x->strong_refs);
  x->data_dtor(x->get());
  intrusive_ptr_release_weak(x);
}

// The memory of an actor is freed together with its last address, which a monitoring actor may hold.
__attribute__((visibility("default"))) void intrusive_ptr_release_weak(actor_control_block* x) {
  __tsan_release(&x->weak_refs);
  if (x->weak_refs != 1 && x->weak_refs.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  __tsan_acquire(&x->weak_refs);
  x->block_dtor(x);
}

}  // namespace caf

IN_FRONT_OF(release_counted, RELEASE_COUNTED, void* counted) {
  FIND_NEXT(RELEASE_COUNTED, void*);
  __tsan_release(counted);
  __tsan_acquire(counted);
  return next(counted);
}

// An actor that ends drops its unhandled messages: here those that are in the mailbox when it begins to end.
IN_FRONT_OF(scheduled_cleanup, SCHEDULED_CLEANUP, void* self, void* reason, void* unit) {
  FIND_NEXT(SCHEDULED_CLEANUP, void*, void*, void*);
  __tsan_acquire(self);
  return next(self, reason, unit);
}

// Here it drops those that arrive after that, until its mailbox is closed.
IN_FRONT_OF(bounce, BOUNCE, void* reason, void* element) {
  FIND_NEXT(BOUNCE, void*, void*);
  __tsan_acquire(element);
  return next(reason, element);
}
