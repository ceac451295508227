#pragma once
// Starts threads that wait in every kind of system call, calculate, and send each other signals, and see whether anything disturbs them.
void untouched_start(void);
// "ok COUNTS", or what went wrong.
const char *untouched_answer(void);
// From now on only the kernel knows the address.
void untouched_hold(void *object);
// The same, with a signal that waits for good. Before there are other threads.
void untouched_queue(void *object);
