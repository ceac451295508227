// Several threads write the blocks of a heap file. The heap is cut into parts of some MiB. Each thread takes the next one, and
// writes it into memory of its own: the stream, and the lists that are in the order of blocks. What was written goes to the file
// when that of all parts before has gone there:
//
//     thread 1   | part 0 | part 2      | part 4 |
//     thread 2   | part 1    | part 3 |   part 5 ...
//     file       0  1  2  3  4
//
// Numbers of types, shapes and places are given by one table for all, under a lock. Each thread remembers those that it has met.
#include "scan/graph/graph_together.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include "scan/graph/graph_blocks.h"
#include "world/crew.h"
#include <linux/futex.h>
#include <string.h>
#include <time.h>

typedef struct {
  undead_graph_walk walk;
  undead_graph lists;        // tasks, words that name them, queues, holders and areas of a part; the rest is that of all
  undead_bodies bodies;
  undead_makers makers;
} graph_member;

typedef struct {
  undead_graph_writer *writer;
  graph_member *members;
  uint32_t count;            // of members
  uint32_t parts, next;      // the next part that nobody has taken
  uint32_t turn;             // of undead_graph_walk
  uint32_t appended;         // parts that are in the file
  bool failed;
  uintptr_t before;          // the last block in the file
  const undead_mapping *mapping;   // of it
  uint32_t blocks;
} graph_team;

typedef struct {
  void **entries;
  uint32_t *count, limit;
  size_t size;
} part_list;
enum { AREAS, LIST_COUNT = 6 };

// What a part has of its own. Areas are appended in their own way.
static void name_lists(undead_graph *graph, part_list lists[LIST_COUNT]) {
  lists[AREAS] = (part_list){(void **)&graph->areas, &graph->area_count, UNDEAD_AREA_LIMIT, sizeof *graph->areas};
  lists[1] = (part_list){(void **)&graph->tasks, &graph->task_count, UNDEAD_TASK_LIMIT, sizeof *graph->tasks};
  lists[2] = (part_list){(void **)&graph->holders, &graph->holder_count, UNDEAD_HOLDER_LIMIT, sizeof *graph->holders};
  lists[3] = (part_list){(void **)&graph->queues, &graph->queue_count, UNDEAD_QUEUE_LIMIT, sizeof *graph->queues};
  lists[5] = (part_list){(void **)&graph->task_memory, &graph->task_memory_count, UNDEAD_TASK_LIMIT, sizeof *graph->task_memory};
  lists[4] = (part_list){(void **)&graph->inner_words, &graph->inner_word_count, UNDEAD_INNER_WORDS, sizeof *graph->inner_words};
}

static bool open_member(graph_member *member, graph_team *team) {
  undead_graph_writer *writer = team->writer;
  member->lists = (undead_graph){.timer_type = writer->graph->timer_type, .after_type = writer->graph->after_type,
                                 .salt = writer->graph->salt};
  part_list lists[LIST_COUNT];
  bool open = true;
  name_lists(&member->lists, lists);
  for (int i = 0; i < LIST_COUNT; i++) open &= (*lists[i].entries = undead_map(lists[i].limit * lists[i].size)) != NULL;
  // Caches are filled by each for itself.
  member->bodies = *writer->bodies;
  if (member->bodies.makers) {
    member->makers = *member->bodies.makers;
    member->bodies.makers = &member->makers;
  }
  member->walk = (undead_graph_walk){.writer = *writer, .turn = &team->turn};
  undead_graph_writer *own = &member->walk.writer;
  own->graph = &member->lists;
  own->bodies = &member->bodies;
  own->tables = undead_graph_tables_of_member(&writer->tables, &member->lists);
  return undead_stream_open(&own->stream, -1) && open;
}

static void close_member(graph_member *member) {
  part_list lists[LIST_COUNT];
  name_lists(&member->lists, lists);
  for (int i = 0; i < LIST_COUNT; i++)
    if (*lists[i].entries) undead_unmap(*lists[i].entries, lists[i].limit * lists[i].size);
  undead_stream_close(&member->walk.writer.stream);
  undead_graph_tables_close(&member->walk.writer.tables);
  undead_graph_walk_close(&member->walk);
}

// One mapping may reach over the border of two parts.
static void append_areas(graph_team *team, const undead_graph *from) {
  undead_graph *graph = team->writer->graph;
  for (uint32_t i = 0; i < from->area_count; i++) {
    const undead_mapping *mapping = undead_mapping_of(from->areas[i].address);
    if (graph->area_count && mapping == team->mapping) graph->areas[graph->area_count - 1].live += from->areas[i].live;
    else if (graph->area_count < UNDEAD_AREA_LIMIT) graph->areas[graph->area_count++] = from->areas[i];
    team->mapping = mapping;
  }
}

static void append_lists(graph_team *team, undead_graph *from) {
  undead_graph *graph = team->writer->graph;
  part_list to[LIST_COUNT], lists[LIST_COUNT];
  append_areas(team, from);
  name_lists(graph, to);
  name_lists(from, lists);
  for (int i = 0; i < LIST_COUNT; i++) {
    uint32_t room = to[i].limit - *to[i].count, count = *lists[i].count < room ? *lists[i].count : room;
    if (i != AREAS) memcpy((char *)*to[i].entries + *to[i].count * to[i].size, *lists[i].entries, count * to[i].size);
    if (i != AREAS) *to[i].count += count;
    *lists[i].count = 0;
  }
  graph->edges += from->edges;
  from->edges = 0;
}

static void append_part(graph_team *team, graph_member *member) {
  undead_graph_walk *walk = &member->walk;
  undead_stream *stream = &team->writer->stream;
  if (walk->first) {
    undead_stream_varint(stream, (walk->first >> 4) - (team->before >> 4));
    undead_stream_append(stream, &walk->writer.stream);
    team->before = walk->before;
    team->blocks = walk->rank;
  }
  walk->writer.stream.used = 0;
  append_lists(team, &member->lists);
}

static bool fails(const graph_team *team) { return __atomic_load_n(&team->failed, __ATOMIC_RELAXED) || undead_crew_leaves(); }

// False if all are to end. On a busy machine the one that is waited for needs the processor.
static bool wait_for_parts_before(graph_team *team, uint32_t part) {
  enum { TURNS = 100 };
  struct timespec most = {0, 2000000};   // then it looks whether all are to end
  uint32_t appended;
  for (uint32_t turns = 1; (appended = __atomic_load_n(&team->appended, __ATOMIC_ACQUIRE)) != part; turns++) {
    if (fails(team)) return false;
    if (turns < TURNS) undead_spin();
    else undead_raw4(SYS_futex, (long)&team->appended, FUTEX_WAIT, appended, (long)&most);
  }
  return true;
}

static void note_appended(graph_team *team, uint32_t parts) {
  __atomic_store_n(&team->appended, parts, __ATOMIC_RELEASE);
  undead_raw4(SYS_futex, (long)&team->appended, FUTEX_WAKE, UNDEAD_MOST_CREW, 0);
}

static void write_parts(graph_team *team, graph_member *member) {
  undead_graph_writer *own = &member->walk.writer;
  for (uint32_t part; (part = __atomic_fetch_add(&team->next, 1, __ATOMIC_RELAXED)) < team->parts;) {
    bool done = undead_graph_walk_part(&member->walk, part) && !own->tables.full && !own->stream.error;
    if (done && wait_for_parts_before(team, part)) {
      append_part(team, member);
      done = !team->writer->stream.error;
      note_appended(team, part + 1);
    }
    if (done && !fails(team)) continue;
    __atomic_store_n(&team->failed, true, __ATOMIC_RELAXED);
    return;
  }
}

static void work_on_graph(void *context, uint32_t index) {
  graph_team *team = context;
  write_parts(team, &team->members[index]);
}

static bool write_as_team(graph_team *team) {
  uint32_t others = undead_crew_start(team->count - 1, work_on_graph, team);
  if (!others) return false;
  write_parts(team, &team->members[0]);
  undead_crew_join();
  for (uint32_t i = 0; i < team->count; i++) {
    const undead_graph_writer *own = &team->members[i].walk.writer;
    team->writer->tables.full |= own->tables.full;
    if (!team->writer->stream.error) team->writer->stream.error = own->stream.error;
  }
  if (team->appended != team->parts && !team->writer->stream.error) team->writer->tables.full = true;
  return true;
}

bool undead_graph_write_together(undead_graph_writer *writer, uint32_t threads, uint32_t *blocks) {
  graph_team team = {.writer = writer, .count = threads, .parts = undead_heap_part_count(writer->heap)};
  size_t bytes = threads * sizeof *team.members;
  team.members = undead_map(bytes);
  if (!team.members) return false;
  bool open = true;
  for (uint32_t i = 0; open && i < threads; i++) open = open_member(&team.members[i], &team);
  bool written = open && write_as_team(&team);
  for (uint32_t i = 0; i < threads; i++) close_member(&team.members[i]);
  undead_unmap(team.members, bytes);
  *blocks = team.blocks;
  return written;
}
