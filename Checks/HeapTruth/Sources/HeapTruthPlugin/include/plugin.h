#pragma once
void **truth_plugin_globals(void);
void **truth_plugin_thread_local(void);
