#include "session/facts.h"
#include <string.h>

#define SOURCE_LIMIT 16

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

static void append(undead_facts *facts, undead_vector *vector, const void *entry, size_t size) {
  if (!undead_vector_append(vector, entry, size)) facts->failed = true;
}

static uint32_t add_text(undead_facts *facts, const char *text) {
  if (facts->texts.size == 0) append(facts, &facts->texts, "", 1);
  if (!text || !*text || facts->failed) return 0;
  uint32_t offset = (uint32_t)facts->texts.size;
  append(facts, &facts->texts, text, strlen(text) + 1);
  return facts->failed ? 0 : offset;
}

static uint32_t add_frames(undead_facts *facts, const uintptr_t *frames, uint32_t count) {
  uint32_t first = (uint32_t)(facts->frames.size / sizeof(uintptr_t));
  if (count) append(facts, &facts->frames, frames, count * sizeof(uintptr_t));
  return first;
}

void undead_facts_add_watched(undead_facts *facts, const undead_watched_object *watched) {
  undead_watched_fact fact = {
      .object = (uintptr_t)watched->object,
      .scope = add_text(facts, watched->scope),
      .first_frame = add_frames(facts, watched->frames, watched->frame_count),
      .frame_count = watched->frame_count,
  };
  append(facts, &facts->watched, &fact, sizeof(fact));
}

void undead_facts_add_run_loop_item(undead_facts *facts, const undead_run_loop_item *item) {
  undead_run_loop_fact fact = {
      .object = (uintptr_t)item->object,
      .loop = (uintptr_t)item->loop,
      .loop_name = add_text(facts, item->loop_name),
      .modes = add_text(facts, item->modes),
      .kind = add_text(facts, item->kind),
      .name = add_text(facts, item->name),
  };
  append(facts, &facts->run_loop_items, &fact, sizeof(fact));
}

void undead_facts_add_diagnostic(undead_facts *facts, const undead_diagnostic *diagnostic) {
  undead_diagnostic_fact fact = {
      .kind = add_text(facts, diagnostic->kind),
      .message = add_text(facts, diagnostic->message),
      .details = add_text(facts, diagnostic->details),
      .first_frame = add_frames(facts, diagnostic->frames, diagnostic->frame_count),
      .frame_count = diagnostic->frame_count,
  };
  append(facts, &facts->diagnostics, &fact, sizeof(fact));
}

void undead_facts_set_run_loops(undead_facts *facts, const char *json) { facts->run_loops = add_text(facts, json); }

void undead_facts_add_note(undead_facts *facts, const char *note) {
  uint32_t text = add_text(facts, note);
  append(facts, &facts->notes, &text, sizeof(text));
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
  undead_vector *vectors[] = {&facts->texts, &facts->frames, &facts->watched, &facts->run_loop_items,
                              &facts->diagnostics, &facts->notes};
  for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) undead_vector_free(vectors[i]);
}
