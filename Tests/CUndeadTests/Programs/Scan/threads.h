// What the C files of the program have in common.
#pragma once
#include <pthread.h>
#include <stdbool.h>

extern volatile bool stopped;   // the threads that wait or work until then are to end
pthread_t start(void *(*body)(void *), void *argument);
