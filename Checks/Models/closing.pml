/* Who wakes a loop that is gone: LoopCore.unlockAndWake(), LoopCore.letGoOfPoller(), LoopStatePool.
 *
 * A timer knows the state of its loop, not the loop: it may note something there while the loop goes. The wake descriptor is
 * read under the lock and written to after it. It is closed only while nobody is on the way; its number may then be that of
 * somebody else's file. The state may serve another loop, which opens a descriptor of its own.
 *
 * Checked: nobody writes to a descriptor that is not the loop's; the loop that sleeps next is woken.
 *
 * holds: PLAIN
 * breaks: NOT_COUNTED COUNTED_LATE UNCOUNTED_EARLY
 */
#define NONE 0
#define FILES 4

byte wake = 1;          /* the number that the state knows */
bool isClosed[FILES];   /* these numbers may be those of anybody's files by now */
byte written[FILES];
byte wakers;
bool asleep = true, noted;
byte holder;            /* 0: nobody */

inline lock() { atomic { holder == 0 -> holder = _pid + 1 } }
inline unlock() { holder = 0 }

active[2] proctype waker() {
  byte descriptor;
  bool owes;
  lock();
  d_step { noted = true; owes = asleep && wake != NONE; asleep = false; descriptor = wake };
#if !defined(NOT_COUNTED) && !defined(COUNTED_LATE)
  if
  :: owes -> wakers++
  :: else
  fi;
#endif
  unlock();
#ifdef COUNTED_LATE
  if
  :: owes -> wakers++
  :: else
  fi;
#endif
  if
  :: owes ->
#ifdef UNCOUNTED_EARLY
    wakers--;
#endif
    atomic { assert(!isClosed[descriptor]); written[descriptor] = 1 }
#if !defined(NOT_COUNTED) && !defined(UNCOUNTED_EARLY)
    wakers--
#endif
  :: else
  fi
}

/* The loop goes, and another one takes its state and sleeps. */
active proctype loops() {
  byte next = 2;
  /* It ended in its sleep, or another thread let go of it. */
  lock();
  asleep = false;
  if
  :: wakers == 0 -> d_step { isClosed[wake] = true; wake = NONE }
  :: else
  fi;
  unlock();
  lock();
  d_step {
    if
    :: wake == NONE -> wake = next
    :: else
    fi;
    noted = false;
    asleep = true
  };
  unlock();
  written[wake] > 0
}

active proctype end() { timeout; assert(!noted || written[wake] > 0) }
