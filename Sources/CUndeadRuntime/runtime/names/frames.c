// The asynchronous callers of a task, from one context to its parent. The names of roots.
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"
#include <unistd.h>

enum { MAX_ASYNC_DEPTH = 256 };

uint32_t undead_async_frames(uintptr_t task, undead_word_reader read, const void *reader, uintptr_t *frames, uint32_t max) {
  uintptr_t resume[2];   // function, context
  uint32_t count = 0;
  if (!read(reader, task + ABI_TASK_RESUME_FUNCTION, resume)) return 0;
  uintptr_t function = resume[0], context = resume[1];
  for (int depth = 0; count < max && depth < MAX_ASYNC_DEPTH && undead_is_executable(function); depth++) {
    // Frames are return addresses: the one that is looked up is the byte before. A task that waits for a continuation
    // has the same function in its own record and in the context.
    if (count == 0 || frames[count - 1] != function + 1) frames[count++] = function + 1;
    uintptr_t words[2];   // parent, function that resumes the parent
    if (!context || (context & 7) || !read(reader, context, words)) break;
    if (words[0] == context) break;
    context = words[0];
    function = words[1];
  }
  return count;
}

static bool read_by_kernel(const void *reader, uintptr_t address, uintptr_t words[2]) {
  (void)reader;
  return undead_copy_memory(address, words, 2 * sizeof *words);
}

uint32_t undead_node_frames(const undead_scan_result *result, uint32_t index, uintptr_t *frames, uint32_t max) {
  if (index >= result->node_count || result->nodes[index].kind != UNDEAD_KIND_TASK) return 0;
  return undead_async_frames(result->nodes[index].address, read_by_kernel, NULL, frames, max);
}

static void add_module_name(undead_text *text, uintptr_t address) {
  const undead_module *module = undead_module_of(address);
  if (module) undead_text_add(text, module->path);
}

size_t undead_name_root(const undead_scan_result *result, uint32_t index, char *text, size_t size) {
  undead_text name = undead_text_in(text, size);
  if (index >= result->path_count) return 0;
  const undead_path *path = &result->paths[index];
  static const char *const places[] = {
    [UNDEAD_ROOT_STACK] = "stack of ",
    [UNDEAD_ROOT_THREAD_LOCAL] = "thread-local variable of ",
    [UNDEAD_ROOT_REGISTER] = "register of ",
  };
  switch (path->root_kind) {
  case UNDEAD_ROOT_GLOBAL: {
    const char *symbol = undead_symbol_name(path->root_address, NULL);
    if (symbol[0]) undead_text_add(&name, symbol);
    else add_module_name(&name, path->root_address);
    break;
  }
  case UNDEAD_ROOT_STACK: case UNDEAD_ROOT_THREAD_LOCAL: case UNDEAD_ROOT_REGISTER:
    undead_text_add(&name, places[path->root_kind]);
    if (path->thread == (uint32_t)getpid()) undead_text_add(&name, "the main thread");
    else {
      undead_text_add(&name, "thread ");
      undead_text_number(&name, path->thread);
    }
    break;
  case UNDEAD_ROOT_RUN_LOOP: undead_text_add(&name, "run loop"); break;
  default: break;
  }
  return name.length;
}
