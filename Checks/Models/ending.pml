/* How a timer ends while its loop fires it: TrackedTimer.invalidate(), LoopCore+Firing.swift, settle().
 *
 * Whoever first marks the timer as invalid takes it out of its loop, under the lock; others return at once. A pass takes the
 * timer from the queue under the lock, calls it without, and settles it under the lock again.
 *
 * Checked: on the loop's thread the timer does not fire when that thread has seen its end; it is let go of exactly once, and
 * neither it nor what it calls while that is called; at last it is in no queue and belongs to no loop.
 *
 * holds: PLAIN ONESHOT
 * breaks: CALLED_UNSEEN ONESHOT+CALLED_UNSEEN RELEASED_WHILE_FIRING NOT_OWED
 */
#define NOBODY 255

byte holder = NOBODY;
bool isValid = true, isQueued = true, isHere = true; /* here: it has a slot, which holds a reference */
bool isFiring, isOwed, hasWork = true;
byte released, calling;

inline lock() { atomic { holder == NOBODY -> holder = _pid } }
inline unlock() { holder = NOBODY }

/* Under the lock. The slot's reference is let go of, later if the timer is firing. */
inline removeEntirely() {
  d_step {
    if
    :: isHere ->
      isHere = false;
      isQueued = false;
      if
#ifndef NOT_OWED
      :: isFiring -> isOwed = true
#endif
      :: else -> assert(calling == 0); released++
      fi
    :: else
    fi
  }
}

inline invalidate() {
  d_step { first = isValid; isValid = false };
  if
  :: first ->
    lock();
    if
#ifndef RELEASED_WHILE_FIRING
    :: !isFiring -> d_step { assert(calling == 0); hasWork = false }
#else
    :: true -> d_step { assert(calling == 0); hasWork = false }
#endif
    :: isFiring
    fi;
    removeEntirely();
    unlock();
    first = false
  :: else
  fi
}

inline settle() {
  d_step {
    isFiring = false;
    if
#ifndef ONESHOT
    :: isValid -> isQueued = isHere
#endif
    :: else ->
      isValid = false;
      hasWork = false;
      if
      :: isOwed -> isOwed = false; released++
      :: !isOwed && isHere -> isHere = false; isQueued = false; released++
      :: else
      fi
    fi
  }
}

active proctype loop() {
  byte passes = 3;
  bool first, hasSeenItsEnd;
  do
  :: passes > 0 ->
    passes--;
    /* A block of the loop. */
    if
    :: true -> invalidate(); hasSeenItsEnd = true
    :: true -> hasSeenItsEnd = hasSeenItsEnd || !isValid
    :: true
    fi;
    lock();
    if
    :: isQueued ->
      d_step { isQueued = false; isFiring = true };
      if
#ifndef CALLED_UNSEEN
      :: !isValid -> unlock(); lock()
#endif
      :: else ->
        unlock();
        atomic { assert(!hasSeenItsEnd); assert(hasWork); calling++ }
        calling--;
        lock()
      fi;
      settle()
    :: else
    fi;
    unlock()
  :: else -> break
  od;
  invalidate()
}

active[2] proctype other() {
  bool first;
  invalidate()
}

active proctype end() {
  timeout;
  assert(holder == NOBODY);
  assert(!isValid && !isQueued && !isHere && !isOwed && !hasWork && released == 1)
}
