/* How a loop that sleeps is woken: Core/SleepState.swift, LoopCore.unlock(), Loop/Pass.swift, Loop/Driving.swift.
 *
 * One thread runs the loop; others perform, stop, add, move and remove a timer, and let time pass. Whoever changes
 * something under the lock notes it there; giving the lock back writes to the wake descriptor if a sleeper has to know.
 * What is done under the lock is one step here: nobody else sees anything of it but the clock and the descriptors.
 *
 * Checked: when nothing can happen any more, the loop has done all that is due (no wake-up is lost, nobody hangs); nobody
 * writes to the descriptor with the lock in his hands; a pass that was refused its sleep finds something to do.
 *
 * holds: PLAIN DRIVEN VIRTUAL
 * breaks: DISCARDED WIDENED REARMED DECIDED_LATE DRAINED_LATE GAP_FOR_WORK WRITTEN_LOCKED
 * breaks: DRIVEN+DISCARDED DRIVEN+ARMED_LATE DRIVEN+NOT_ASLEEP VIRTUAL+ASKED_EARLY VIRTUAL+JUMP_IGNORED
 */
#define NEVER 200
#define LAST 2 /* the last instant */
#define NOBODY 255
#define GAP 2

byte now, lastWake, holder = NOBODY;
byte wakes; /* the counter of the wake descriptor */
/* SleepState: the loop sleeps until then. A driven one does from the moment that somebody asks for its descriptor. */
#if defined(DRIVEN) && !defined(NOT_ASLEEP)
bool asleep = true;
#else
bool asleep;
#endif
byte sleepUntil = NEVER;
byte due = NEVER;
bool block, stopped, inMode = true;
#define hasWork (block || stopped)
#define isDue (inMode && due <= now)

inline lock() { holder == NOBODY -> holder = _pid }

inline write() {
  assert(holder != _pid);
  if
  :: wakes < 2 -> wakes++
  :: else
  fi
}

/* What giving the lock back owes to a sleeper. */
inline tell() {
  if
  :: owed -> owed = false; write()
  :: else
  fi
}

/* The end of what is done under the lock. */
inline unlock() {
#ifdef WRITTEN_LOCKED
  tell();
#endif
  holder = NOBODY
}

/* Under the lock: there is something to do at `instant`, or at once. */
inline noteDue(instant) {
  if
  :: asleep && instant < sleepUntil -> asleep = false; owed = true
  :: else
  fi
}
inline noteWork() {
#ifdef GAP_FOR_WORK
  noteDue(lastWake + GAP)
#else
  noteDue(0)
#endif
}

/* What a pass does. A stop ends an activation, and the next one begins. */
inline serve() {
  atomic {
    lock();
    didSomething = hasWork || isDue;
    block = false;
    stopped = false;
    if
    :: isDue -> due = NEVER
    :: else
    fi;
    unlock()
  }
}

inline findNext() {
  if
  :: inMode -> until = due
  :: else -> until = NEVER
  fi
}

#ifdef DRIVEN
/* Somebody polls the loop's descriptors and lets it do one pass; between passes its timer descriptor is armed. */
active proctype driver() {
  byte until, armed = NEVER;
  bool owed, woken, didSomething;
  do
  :: atomic { (wakes > 0 || armed <= now) -> woken = wakes > 0 }
    atomic { lock(); asleep = false; lastWake = now; unlock() }
    if
    :: woken -> wakes = 0; woken = false
    :: else
    fi;
    serve();
    atomic {
      lock();
      if
      :: hasWork -> until = 0
      :: else -> findNext()
      fi;
#ifdef ARMED_LATE
      unlock();
    }
    /* Somebody adds an earlier timer: nobody is asleep yet. */
    atomic {
      lock();
#endif
      armed = until;
#ifndef NOT_ASLEEP
      asleep = until != 0;
      sleepUntil = until;
#endif
      unlock()
    }
  od
}
#else
active proctype loop() {
  byte until;
  bool owed, idle, woken, waits, didSomething;
  do
  :: serve();
#ifdef ASKED_EARLY
    atomic { findNext(); waits = until > now }
#endif
    atomic {
      lock();
      idle = !hasWork;
#ifdef DECIDED_LATE
      unlock();
    }
    atomic {
      lock();
#endif
      findNext();
      sleepUntil = until;
      asleep = idle;
      unlock()
    }
#ifdef DRAINED_LATE
    wakes = 0;
#endif
    if
    :: !idle -> woken = wakes > 0
#ifdef VIRTUAL
    /* The clock is asked whether its time has come; if not it is slept until somebody wakes, whatever the time. */
    :: idle ->
#ifndef ASKED_EARLY
      waits = until > now;
#endif
      if
      :: waits -> atomic { wakes > 0 -> woken = true }
      :: else -> woken = wakes > 0
      fi
#else
    :: idle -> atomic { (wakes > 0 || until <= now) -> woken = wakes > 0 }
#endif
    fi;
    atomic { lock(); asleep = false; sleepUntil = NEVER; lastWake = now; unlock() }
#ifndef DRAINED_LATE
    if
    :: woken -> wakes = 0
    :: else
    fi;
#endif
    woken = false;
    waits = false;
    if
    :: !idle -> serve(); assert(didSomething)
    :: else
    fi;
    didSomething = false
  od
}
#endif

proctype user(byte operations) {
  bool owed;
  byte instant;
  do
  :: operations > 0 ->
    select(instant : 0 .. LAST + 1);
    atomic {
      lock();
      if
      :: block = true; noteWork()
      :: stopped = true; noteWork()
      :: due = instant; noteDue(due)
      :: inMode = false
      :: !inMode -> inMode = true;
#ifdef DISCARDED
        /* The sleep counts as ended, but who was told so forgot it. */
        if
        :: asleep && due < sleepUntil -> asleep = false
        :: else
        fi
#elif !defined(WIDENED) /* Nobody is told that the mode has become common, and the timer is in it now. */
        noteDue(due)
#endif
#ifdef REARMED
      /* Somebody asks for the descriptor while the loop runs: it is armed for a mode without timers, or with work. */
      :: asleep -> sleepUntil = NEVER
      :: asleep = false
#endif
      fi;
      unlock();
      instant = 0;
      operations--
    }
    atomic { tell() }
  :: operations == 0 -> break
  od
}

active proctype time() {
  bool owed;
  do
  :: now < LAST ->
    now++;
#if defined(VIRTUAL) && !defined(JUMP_IGNORED)
    atomic { lock(); noteDue(0); unlock() }
    atomic { tell() }
#endif
  :: now == LAST -> break
  od
}

init {
  atomic { run user(2); run user(2) }
  timeout;
  assert(now == LAST && holder == NOBODY);
  assert(!hasWork && !isDue)
}
