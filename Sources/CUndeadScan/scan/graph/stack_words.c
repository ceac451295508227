#include "scan/graph/graph_tables.h"
#include "platform/processor/processor.h"
#include "unwind/walk_x86_64.h"

static const undead_stopped_thread *thread_of_tid(const undead_world *world, int32_t tid) {
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].tid == tid) return &world->threads[i];
  return NULL;
}

// Threads stand still, or their stacks are copied to where they were.
static void walk_thread(undead_stack_frames *self, undead_graph *graph, int32_t tid) {
  self->tid = tid;
  self->count = 0;
  self->first = graph->frame_count;
  const undead_stopped_thread *thread = thread_of_tid(self->world, tid);
  if (!thread || thread->phase != UNDEAD_THREAD_STOPPED) return;
  // Behind its instruction, as a return address is.
  undead_frame frame = {thread->pc + 1, thread->sp, thread->general[UNDEAD_FP]};
  do {
    if (graph->frame_count == UNDEAD_GRAPH_FRAMES) return;
    self->low[self->count++] = frame.sp;
    graph->frames[graph->frame_count++] = frame.pc;
  } while (self->count < UNDEAD_MOST_STACK_FRAMES && undead_walk_step(&frame) == UNDEAD_STEP_CALLER);
}

void undead_stack_word_note(undead_stack_frames *self, undead_graph *graph, int32_t tid, uintptr_t address) {
  if (graph->stack_word_count == UNDEAD_STACK_WORDS) return;
  if (self->tid != tid) walk_thread(self, graph, tid);
  uint32_t inner = 0;
  while (inner + 1 < self->count && self->low[inner + 1] <= address) inner++;
  // Beyond the last frame that was found it may be any function's.
  if (inner + 1 >= self->count) return;
  graph->stack_words[graph->stack_word_count++] =
    (undead_graph_stack_word){graph->root_edges, self->first + inner, self->count - inner};
}
