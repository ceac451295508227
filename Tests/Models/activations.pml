/* Nested runs and what ends them: Core/ActivationStack.swift, Loop/Running.swift, Loop/RunLoopThread.swift.
 *
 * `stop()` ends the activation that is the innermost at that moment, RunLoopThread.stop() all of them for good. One number
 * remembers both: an activation ends if it is as deep as `stopLevel` or deeper. What is nested into an activation that
 * has to end is over, too, as soon as it looks.
 *
 * Checked: whoever is to end does so before it sleeps again; nobody else does; a stop while nothing runs changes nothing;
 * after the thread's stop nothing runs any more.
 *
 * holds: PLAIN
 * breaks: NOT_CLEARED CLEARED_FOR_GOOD LATEST_WINS IDLE_COUNTS INNERMOST_ONLY CHECKED_TOO_EARLY ENTRY_CLEARS
 */
#define DEEPEST 3
#define NOWHERE 100 /* no stop is wanted */
#define THREAD 0    /* the level of the thread's stop */

byte depth, stopLevel = NOWHERE;
bool threadIsStopped; /* what RunLoopThread knows beside the loop */
bool asked[4];        /* stop() meant the activation at this depth, asked[0]: the thread's stop came */
bool asleep;
byte wakes;
bool ended;

/* Each under the lock, with the wake-up as wakeup.pml has it. */
inline wake() {
  if
  :: asleep -> asleep = false; wakes = 1
  :: else
  fi
}

inline stop() {
  atomic {
    if
#ifndef IDLE_COUNTS
    :: depth == 0
#endif
    :: else ->
      asked[depth] = depth > 0 || asked[0];
#ifdef LATEST_WINS
      stopLevel = depth;
#else
      stopLevel = (depth < stopLevel -> depth : stopLevel);
#endif
      wake()
    fi
  }
}

inline stopThread() {
#ifdef INNERMOST_ONLY
  threadIsStopped = true;
  atomic { asked[0] = true; stopLevel = (depth < stopLevel -> depth : stopLevel); wake() }
#else
  atomic { threadIsStopped = true; asked[0] = true; stopLevel = THREAD; wake() }
#endif
}

/* What the activation at this depth was asked, or one that it is nested into. */
#define isAsked (asked[0] || (depth >= 1 && asked[1]) || (depth >= 2 && asked[2]) || (depth >= 3 && asked[3]))

inline enter() {
  atomic {
    depth++;
#ifdef ENTRY_CLEARS
    stopLevel = NOWHERE
#endif
  }
}

inline leave() {
  atomic {
    asked[depth] = false;
    depth--;
#ifdef CLEARED_FOR_GOOD
    stopLevel = (stopLevel > depth || stopLevel == THREAD -> NOWHERE : stopLevel)
#elif !defined(NOT_CLEARED)
    stopLevel = (stopLevel > depth -> NOWHERE : stopLevel)
#endif
  }
}

/* The thread: it runs its loop until it is stopped; callbacks run it again, and a run may also end by its time. */
active proctype thread() {
  byte runs = 4;
  bool mustEnd;
  do
  :: depth == 0 ->
    if
    :: threadIsStopped -> break
    :: !threadIsStopped -> enter()
    fi
  :: depth > 0 ->
    if
    :: depth < DEEPEST && runs > 0 -> runs--; enter() /* a callback runs the loop */
    :: depth > 1 -> leave()                            /* its time is over */
    :: true                                            /* nothing happens */
    fi;
    if
    :: depth > 0 ->
#ifdef CHECKED_TOO_EARLY
      mustEnd = stopLevel <= depth;
#endif
      atomic {
#ifndef CHECKED_TOO_EARLY
        mustEnd = stopLevel <= depth;
#endif
        asleep = !mustEnd;
        assert(mustEnd || !isAsked);
        assert(!mustEnd || isAsked)
      }
      if
      :: mustEnd -> leave()
      :: !mustEnd ->
        if
        :: wakes > 0
        :: depth > 1 || runs > 0 -> asleep = false /* a timer is due */
        fi;
        atomic { asleep = false; wakes = 0 }
      fi;
      mustEnd = false
    :: depth == 0
    fi
  od;
  ended = true
}

active proctype other() {
  byte stops = 3;
  do
  :: stops > 0 -> stops--; stop()
  :: true -> break
  od
}

active proctype owner() { stopThread() }

active proctype end() {
  timeout;
  assert(ended && depth == 0)
}
