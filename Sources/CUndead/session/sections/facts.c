#include "session/sections/facts.h"
#include "runtime/abi.h"
#include "session/state/process.h"
#include <string.h>

#define SOURCE_LIMIT 16
#define TEXT_LIMIT (1u << 30)
#define WATCHED_LIMIT (1u << 16)
#define ITEM_LIMIT (1u << 17)
#define DIAGNOSTIC_LIMIT (1u << 12)
#define FACT_FRAME_LIMIT 512u
#define TRACE_LIMIT 16u

// Not with the instrument's own variables: perhaps nobody else holds a context.
static struct {
  undead_facts_source function;
  void *context;
} sources[SOURCE_LIMIT];
static uint32_t source_count;   // claimed; a source whose function is not set yet is skipped

bool undead_add_facts_source(undead_facts_source source, void *context) {
  uint32_t index = __atomic_fetch_add(&source_count, 1, __ATOMIC_ACQ_REL);
  if (index >= SOURCE_LIMIT) return false;
  sources[index].context = context;
  __atomic_store_n(&sources[index].function, source, __ATOMIC_RELEASE);
  return true;
}

bool undead_facts_are_last(void) { return undead_exit_under_way(); }

bool undead_facts_have_sources(void) { return __atomic_load_n(&source_count, __ATOMIC_ACQUIRE) > 0; }

static void append_fact(undead_facts *facts, undead_vector *vector, const void *entry, size_t size) {
  if (!undead_vector_append(vector, entry, size)) facts->failed = true;
}

static uint32_t add_text(undead_facts *facts, const char *text) {
  if (facts->texts.size == 0) append_fact(facts, &facts->texts, "", 1);
  if (!text || !*text || facts->failed) return 0;
  size_t bytes = strlen(text) + 1, offset = facts->texts.size;
  if (bytes > TEXT_LIMIT - offset) facts->failed = true;
  else append_fact(facts, &facts->texts, text, bytes);
  return facts->failed ? 0 : (uint32_t)offset;
}

static uint32_t add_frames(undead_facts *facts, const uintptr_t *frames, uint32_t count) {
  uint32_t first = (uint32_t)(facts->frames.size / sizeof(uintptr_t));
  if (count) append_fact(facts, &facts->frames, frames, count * sizeof(uintptr_t));
  return first;
}

static uint32_t frames_taken(uint32_t count) { return count < FACT_FRAME_LIMIT ? count : FACT_FRAME_LIMIT; }

// Counts what does not fit in.
static bool has_room(undead_facts *facts, const undead_vector *vector, size_t size, uint32_t limit) {
  if (facts->failed) return false;
  bool room = vector->size / size < limit;
  facts->dropped += !room;
  return room;
}

void undead_facts_add_watched(undead_facts *facts, const undead_watched_object *watched) {
  if (!has_room(facts, &facts->watched, sizeof(undead_watched_fact), WATCHED_LIMIT)) return;
  const uintptr_t *words = watched->object;
  uint64_t refcount = words[ABI_OBJECT_REFCOUNT / sizeof(*words)];
  // As long as somebody refers to it weakly, no other object can have its side table.
  bool has_side_table = refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == ABI_REFCOUNT_SIDE_TABLE_TOP;
  undead_watched_target target = {(uintptr_t)words, words[0], has_side_table ? refcount : 0};
  uint32_t count = frames_taken(watched->frame_count);
  undead_watched_fact fact = {
      .scope = add_text(facts, watched->scope),
      .first_frame = add_frames(facts, watched->frames, count),
      .frame_count = count,
  };
  append_fact(facts, &facts->watched, &fact, sizeof(fact));
  if (!facts->failed) append_fact(facts, &facts->targets, &target, sizeof(target));
}

void undead_facts_add_candidate(undead_facts *facts, const void *object, uintptr_t isa, const char *scope) {
  if (!has_room(facts, &facts->watched, sizeof(undead_watched_fact), WATCHED_LIMIT)) return;
  undead_watched_target target = {(uintptr_t)object, isa, 0};
  undead_watched_fact fact = {.scope = add_text(facts, scope)};
  append_fact(facts, &facts->watched, &fact, sizeof(fact));
  if (!facts->failed) append_fact(facts, &facts->targets, &target, sizeof(target));
}

void undead_facts_add_run_loop_item(undead_facts *facts, const undead_run_loop_item *item) {
  if (!has_room(facts, &facts->run_loop_items, sizeof(undead_run_loop_fact), ITEM_LIMIT)) return;
  undead_loop_item target = {(uintptr_t)item->object, (uintptr_t)item->loop};
  undead_run_loop_fact fact = {
      .loop_name = add_text(facts, item->loop_name),
      .modes = add_text(facts, item->modes),
      .kind = add_text(facts, item->kind),
      .name = add_text(facts, item->name),
  };
  append_fact(facts, &facts->run_loop_items, &fact, sizeof(fact));
  if (!facts->failed) append_fact(facts, &facts->items, &target, sizeof(target));
}

static void add_trace(undead_facts *facts, uint32_t diagnostic, const undead_trace *trace) {
  uint32_t count = frames_taken(trace->frame_count);
  undead_trace_fact fact = {
      .diagnostic = diagnostic,
      .role = add_text(facts, trace->role),
      .first_frame = add_frames(facts, trace->frames, count),
      .frame_count = count,
  };
  append_fact(facts, &facts->traces, &fact, sizeof(fact));
}

void undead_facts_add_diagnostic(undead_facts *facts, const undead_diagnostic *diagnostic) {
  if (!has_room(facts, &facts->diagnostics, sizeof(undead_diagnostic_fact), DIAGNOSTIC_LIMIT)) return;
  uint32_t count = frames_taken(diagnostic->frame_count);
  undead_diagnostic_fact fact = {
      .kind = add_text(facts, diagnostic->kind),
      .message = add_text(facts, diagnostic->message),
      .details = add_text(facts, diagnostic->details),
      .first_frame = add_frames(facts, diagnostic->frames, count),
      .frame_count = count,
  };
  uint32_t index = (uint32_t)(facts->diagnostics.size / sizeof(fact));
  append_fact(facts, &facts->diagnostics, &fact, sizeof(fact));
  for (uint32_t i = 0; i < diagnostic->trace_count && i < TRACE_LIMIT; i++)
    add_trace(facts, index, &diagnostic->traces[i]);
}

void undead_facts_set_run_loops(undead_facts *facts, const char *json) { facts->run_loops = add_text(facts, json); }

void undead_facts_add_note(undead_facts *facts, const char *note) {
  uint32_t text = add_text(facts, note);
  append_fact(facts, &facts->notes, &text, sizeof(text));
}

void undead_facts_collect(undead_facts *facts) {
  uint32_t count = __atomic_load_n(&source_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count && i < SOURCE_LIMIT; i++) {
    undead_facts_source source = __atomic_load_n(&sources[i].function, __ATOMIC_ACQUIRE);
    if (source) source(facts, sources[i].context);
  }
}

const char *undead_facts_text(const undead_facts *facts, uint32_t offset) {
  return offset < facts->texts.size ? (const char *)facts->texts.bytes + offset : "";
}

void undead_facts_free(undead_facts *facts) {
  undead_vector *vectors[] = {&facts->texts, &facts->frames,         &facts->watched,     &facts->targets,
                              &facts->items, &facts->run_loop_items, &facts->diagnostics, &facts->traces,
                              &facts->notes};
  for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) undead_vector_free(vectors[i]);
}
