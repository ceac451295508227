/* New timers of other threads: Core/Inbox.swift, LoopCore.lock(), LoopCore.add(new:), takeInbox(), openInbox(), closeInbox().
 *
 * The loop has a lock, the inbox one of its own. While the loop is awake the inbox is open: other threads put timers into
 * it without the loop's lock and without waking anybody. Whoever takes the loop's lock takes what is in it first. It is
 * closed before the loop sleeps and when the loop ends; then, and when it is full, timers go to the loop itself.
 *
 * Checked: each timer that was accepted is fired once, or was in the loop when that ended; none is twice; those of one
 * thread stay in their order; a thread that scheduled a timer finds it in the loop; the loop does not sleep over one.
 *
 * holds: PLAIN ENDING
 * breaks: NOT_RECHECKED TAKEN_THEN_CLOSED STAYS_OPEN PASSED_BY NOT_TAKEN ENDING+OPENED_AGAIN ENDING+NOT_CLOSED SHARED
 */
#define CAPACITY 2
#define TIMERS 3
#define NOBODY 255

mtype = { accepted, fired, left, refused };
mtype timer[6]; /* 0: nobody has scheduled it yet */

byte holder = NOBODY, inboxHolder = NOBODY;
byte entries[CAPACITY], count;
bool isOpen, isReallyOpen, hasEntries;

byte queue[6] = NOBODY; /* the loop's timers in their order */
byte head, tail;
bool asleep, isFinished;
byte wakes;
byte last[2]; /* the next timer of each thread that may fire */

inline lockLoop() { atomic { holder == NOBODY -> holder = _pid } }
inline unlockLoop() { holder = NOBODY }
inline lockInbox() { atomic { inboxHolder == NOBODY -> inboxHolder = _pid } }
inline unlockInbox() { inboxHolder = NOBODY }

/* Under the loop's lock: the timer gets a slot. */
inline place(t) {
  d_step {
    assert(!isFinished);
    assert(timer[t] == 0 || timer[t] == accepted);
    timer[t] = accepted;
    queue[tail] = t;
    tail++
  }
}

/* Under the loop's lock. */
inline takeInbox() {
#ifndef SHARED
  lockInbox();
#endif
  d_step { taken = count; first = entries[0]; second = entries[1] };
  d_step { count = 0; hasEntries = false };
#ifndef SHARED
  unlockInbox();
#endif
  if
  :: taken > 0 -> place(first)
  :: else
  fi;
  if
  :: taken > 1 -> place(second)
  :: else
  fi;
  d_step { taken = 0; first = 0; second = 0 }
}

inline lock() {
  lockLoop();
#ifndef NOT_TAKEN
  if
  :: hasEntries -> takeInbox()
  :: else
  fi
#endif
}

inline setOpen(open) {
  lockInbox();
  d_step { isReallyOpen = open; isOpen = open };
  unlockInbox()
}

/* Under the loop's lock. */
inline closeInbox() {
#ifdef TAKEN_THEN_CLOSED
  if
  :: hasEntries -> takeInbox()
  :: else
  fi;
  setOpen(false)
#else
  setOpen(false);
  if
  :: hasEntries -> takeInbox()
  :: else
  fi
#endif
}

/* Under the loop's lock, without which nobody changes what it fires. */
inline fire() {
  d_step {
    do
    :: head < tail ->
      assert(timer[queue[head]] == accepted);
      timer[queue[head]] = fired;
      assert(last[queue[head] / TIMERS] == queue[head] % TIMERS);
      last[queue[head] / TIMERS]++;
      head++
    :: else -> break
    od
  }
}

active proctype loop() {
  byte taken, first, second;
  bool mayEnd;
  do
  :: lock();
    fire();
    unlockLoop();
    lock();
#ifndef STAYS_OPEN
    closeInbox();
#endif
    asleep = head == tail;
    unlockLoop();
    if
    :: atomic { !asleep -> skip }
    :: atomic { wakes > 0 -> skip }
    fi;
    lock();
    asleep = false;
    setOpen(true);
    unlockLoop();
    wakes = 0;
#ifdef ENDING
    if
    :: true -> break
    :: true
    fi
#endif
  od;
#ifdef ENDING
  lock();
#ifndef NOT_CLOSED
  closeInbox();
#endif
  isFinished = true;
  asleep = false;
  d_step {
    do
    :: head < tail ->
      assert(timer[queue[head]] == accepted);
      timer[queue[head]] = left;
      assert(last[queue[head] / TIMERS] == queue[head] % TIMERS);
      last[queue[head] / TIMERS]++;
      head++
    :: else -> break
    od
  };
  unlockLoop();
#ifdef OPENED_AGAIN
  /* As a look at the descriptors would, that does not ask whether the loop has ended. */
  lock();
  setOpen(true);
  unlockLoop();
#endif
#endif
}

active[2] proctype user() {
  byte taken, first, second, number, t;
  bool pushed, owed;
  do
  :: number < (_pid == 1 -> TIMERS : 1) -> /* the other has one */
    t = (_pid - 1) * TIMERS + number;
    pushed = false;
    if
    :: isOpen ->
      lockInbox();
      d_step {
        if
#ifdef NOT_RECHECKED
        :: count < CAPACITY ->
#else
        :: isReallyOpen && count < CAPACITY ->
#endif
          entries[count] = t;
          count++;
          hasEntries = true;
          timer[t] = accepted;
          pushed = true
        :: else
        fi
      };
      unlockInbox()
    :: else
    fi;
    if
    :: pushed
    :: else ->
#ifdef PASSED_BY
      lockLoop();
#else
      lock();
#endif
      if
      :: isFinished -> timer[t] = refused
      :: else ->
        place(t);
        d_step { owed = asleep; asleep = false }
      fi;
      unlockLoop();
      if
      :: owed -> atomic { wakes = 1; owed = false }
      :: else
      fi
    fi;
    /* It may ask the loop for the timer, as invalidate() and fireDate do. */
    if
    :: true -> number++; goto next
    :: true -> lock()
    fi;
    assert(timer[t] != accepted || queue[0] == t || queue[1] == t || queue[2] == t || queue[3] == t || queue[4] == t
      || queue[5] == t);
    unlockLoop();
    number++;
next:
    skip
  :: else -> break
  od
}

active proctype end() {
  byte t;
  timeout;
  assert(holder == NOBODY && inboxHolder == NOBODY);
  do
  :: t <= TIMERS ->
    assert(timer[t] == fired || timer[t] == left || timer[t] == refused);
    t++
  :: else -> break
  od
}
