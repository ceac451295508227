/* Nested runs and what ends them: Core/ActivationStack.swift, Loop/Running.swift, Loop/RunLoopThread.swift.
 *
 * Each activation has a mark of its own. `stop()` marks the one that is the innermost at that moment, RunLoopThread.stop()
 * ends all of them for good. The mark is looked at under the hold of the lock in which the loop decides to sleep.
 *
 * Checked: an activation that is to end does so before it sleeps again; no other does, also not one that is nested into it
 * or takes its place; a stop while nothing runs changes nothing; after the thread's stop nothing runs any more.
 *
 * holds: PLAIN
 * breaks: ONE_MARK KEPT_ON_POP OUTER_FORGOTTEN CLEARED_FOR_GOOD IDLE_COUNTS INNERMOST_ONLY LOOKED_TOO_EARLY
 */
#define DEEPEST 3

/* ActivationStack */
byte depth;
bool isStopped[4], isStoppedForGood;
/* What was asked for: the end of the activation at this depth, and of the thread. */
bool asked[4], isThreadAsked;
#ifdef ONE_MARK
#define mark 1
#else
#define mark depth
#endif

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
    :: depth > 0 -> asked[depth] = true; isStopped[mark] = true; wake()
#ifdef IDLE_COUNTS
    :: depth == 0 -> isStopped[1] = true
#else
    :: depth == 0
#endif
    fi
  }
}

inline stopThread() {
  atomic {
    isThreadAsked = true;
#ifdef INNERMOST_ONLY
    if
    :: depth > 0 -> isStopped[mark] = true
    :: depth == 0 -> isStoppedForGood = true
    fi;
#else
    isStoppedForGood = true;
#endif
    wake()
  }
}

inline enter() {
  atomic {
    depth++;
#ifdef OUTER_FORGOTTEN
    isStopped[depth - 1] = false
#endif
  }
}

inline leave() {
  atomic {
    asked[depth] = false;
#ifndef KEPT_ON_POP
    isStopped[mark] = false;
#endif
#ifdef CLEARED_FOR_GOOD
    isStoppedForGood = false;
#endif
    depth--
  }
}

#define mustStop (isStoppedForGood || isStopped[mark])
#define isAsked (isThreadAsked || asked[depth])

/* The thread: it runs its loop until it is stopped; callbacks run it again, and a run may also end by its time. */
active proctype thread() {
  byte runs = 4;
  bool mustEnd;
  do
  :: depth == 0 ->
    if
    :: isStoppedForGood -> break
    :: !isStoppedForGood -> enter()
    fi
  :: depth > 0 ->
    if
    :: depth < DEEPEST && runs > 0 -> runs--; enter() /* a callback runs the loop */
    :: depth > 1 -> leave()                            /* its time is over */
    :: true                                            /* nothing happens */
    fi;
    if
    :: depth > 0 ->
#ifdef LOOKED_TOO_EARLY
      mustEnd = mustStop;
#endif
      atomic {
#ifndef LOOKED_TOO_EARLY
        mustEnd = mustStop;
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
