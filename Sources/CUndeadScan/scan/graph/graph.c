#include "platform/processor/processor.h"
#include "platform/system/clock.h"
#include "scan/graph/graph_blocks.h"
#include "scan/graph/graph_together.h"
#include "world/crew.h"
#include <errno.h>
#include <unistd.h>

#define BLOCKS_ALONE (1u << 15)   // which one thread has written before others have begun

// Another allocator that is asked for the size of a block may keep the answer for its thread.
static uint32_t threads_for(const undead_graph_writer *writer, const undead_scan_options *options) {
  bool many = writer->heap->glibc && writer->ranks.count > BLOCKS_ALONE;
  return many ? undead_crew_size(options->mode == UNDEAD_SCAN_FORK) : 1;
}

static void write_blocks(undead_graph_writer *writer, const undead_scan_options *options) {
  uint32_t threads = threads_for(writer, options), blocks;
  if (threads < 2 || !undead_graph_write_together(writer, threads, &blocks)) {
    undead_graph_walk walk = {.writer = *writer};
    undead_graph_walk_all(&walk);
    undead_graph_walk_close(&walk);
    *writer = walk.writer;
    blocks = walk.rank;
  }
  writer->graph->blocks = blocks;
  writer->graph->graph_bytes = undead_stream_size(&writer->stream);
}

static bool rewind_file(const undead_graph *graph) {
  return undead_raw3(SYS_ftruncate, graph->file, (long)graph->start, 0) == 0
    && undead_raw3(SYS_lseek, graph->file, (long)graph->start, SEEK_SET) == (long)graph->start;
}

void undead_graph_write(undead_graph *graph, undead_bodies *bodies, const undead_view *view, const undead_world *world,
                        const undead_scan_options *options) {
  uint64_t begun = undead_now();
  undead_graph_writer writer = {.graph = graph, .bodies = bodies, .heap = &view->heap, .only_tasks = options->only_dead_owners};
  graph->blocks = graph->edges = graph->root_edges = 0;
  graph->complete = false;
  graph->error = ENOMEM;
  bool open = undead_graph_tables_open(&writer.tables, graph) && undead_stream_open(&writer.stream, graph->file)
    && undead_ranks_open(&writer.ranks, writer.heap);
  if (open && !rewind_file(graph)) writer.stream.error = EIO;
  if (open && !writer.stream.error) {
    write_blocks(&writer, options);
    undead_stream_align(&writer.stream);
    graph->root_offset = undead_stream_size(&writer.stream);
    undead_graph_write_roots(&writer, view, world, options);
    graph->root_bytes = undead_stream_size(&writer.stream) - graph->root_offset;
    undead_stream_align(&writer.stream);
    undead_stream_flush(&writer.stream);
  }
  if (open) graph->error = writer.stream.error ? writer.stream.error : writer.tables.full ? ENOSPC : 0;
  undead_ranks_close(&writer.ranks);
  undead_stream_close(&writer.stream);
  undead_graph_tables_close(&writer.tables);
  graph->complete = graph->error == 0;
  graph->nanoseconds = undead_now() - begun;
}
