// Objects that are reachable only through something that fires or waits, and that hold that thing themselves.
#pragma once
#include "platform/maps/maps.h"
#include "scan/view/collect.h"
#include "scan/mark/mark.h"

typedef struct {
  uintptr_t object, mechanism;
  uint32_t kind;               // undead_suspect_kind
} undead_found_suspect;

typedef struct {
  undead_bodies *bodies;
  const undead_roots *roots;
  const undead_scan_options *options;
  uintptr_t source_vtable;                     // first word of a dispatch source
  uintptr_t operation_vtable;  // of a read or write of DispatchIO that is under way
  uintptr_t timer_type, after_type;            // first words of what timers own, and what asyncAfter makes
  bool seen;                                   // something that fires or waits exists
  bool names_weakly;                           // an object or a closure that may name another one weakly exists
  bool no_memory;
  uintptr_t *tables;                           // NotificationCenter's tables of closures
  uint32_t table_count;
  undead_address_set idle;                     // bounds of frames whose words own nothing (suspect_graph.h)
  undead_marker again;
  undead_worklist members;                     // blocks of the cycles that were found
  undead_found_suspect *found;
  uint32_t found_count;
  undead_found_suspect *alone; // no suspects: what one thing alone keeps, without a field for it
  uint32_t alone_count;
  uint64_t alone_left_out;     // for which there was no room
  undead_observer_link *links;
  uint32_t link_count;
} undead_suspects;

// Where in a queue the address of its label lies, as libdispatch says for debuggers (dispatch_queue_offsets in queue_private.h); 0 if it does
// not. With the world running.
uint32_t undead_queue_label_place(const undead_module *dispatch);

// On the scanning thread, with the world running: finds the symbols. False without memory.
bool undead_suspects_open(undead_suspects *suspects, undead_bodies *bodies, const undead_scan_options *options);
void undead_suspects_close(undead_suspects *suspects);

// To be the first marking pass's `note`, with the suspects as its context.
uint32_t undead_suspects_note(undead_marker *marker, uintptr_t block, size_t size, const undead_body *body);

// After the first pass: fills `found`, `members` and `links`. False without memory.
bool undead_suspects_find(undead_suspects *suspects, const undead_roots *roots);
