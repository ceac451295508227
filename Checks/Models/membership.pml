/* The life of a timer, source, observer or link: Core/Membership.swift, LoopCore.add(), TrackedTimer.invalidate().
 *
 * One word says where the item is: nowhere, in a loop, or over; `locked` while a thread looks at one that is nowhere. It is
 * changed with the lock of the loop that it names, or from nowhere. Claiming the word and entering the loop's table happen
 * under one hold of that loop's lock. Here one item and two loops, the first of which ends.
 *
 * Checked: the item is in at most one table, and in the one that its word names; it is in none after its end, nor in the
 * table of a loop that ended; its end is told exactly once, and without a lock; who has seen its end sees it ever after;
 * nobody holds the locks of two loops.
 *
 * holds: PLAIN
 * breaks: CLAIMED_BEFORE NOT_LOOKED_AGAIN TWO_LOCKS TOLD_BY_STATUS ENTERED_AFTER_END LEFT_LATE LOCKED_HIDES_END
 */
#define NOWHERE 0
#define LOCKED 8
#define OVER 9
#ifdef LOCKED_HIDES_END
#define OVER_LOCKED LOCKED
#else
#define OVER_LOCKED 10 /* over, and a thread has it for itself */
#endif
#define NOBODY 255

byte home = NOWHERE;
bool entered[3], finished[3];
byte holder[3] = NOBODY;
byte told, working = 6;
bool isInvalid;

/* Two that wait for each other's lock would wait for ever. */
inline lock(l) {
  assert(holder[3 - (l)] != _pid);
  atomic { holder[l] == NOBODY -> holder[l] = _pid }
}
inline unlock(l) { holder[l] = NOBODY }

inline tell() {
  d_step {
    assert(holder[1] != _pid && holder[2] != _pid);
    told++;
    assert(told == 1)
  }
}

#define isConsistent (!(entered[1] && entered[2]) && (!entered[1] || home == 1) && (!entered[2] || home == 2))

proctype adder(byte loop; byte times) {
  byte seen;
  do
  :: times > 0 ->
#ifdef CLAIMED_BEFORE
    atomic { seen = home; home = (seen == NOWHERE -> loop : seen) };
    lock(loop);
    if
    :: seen == NOWHERE -> d_step { entered[loop] = true; assert(!finished[loop]); assert(isConsistent) }
    :: else
    fi;
#else
    lock(loop);
    if
#ifndef ENTERED_AFTER_END
    :: finished[loop]
#endif
    :: else ->
again:
      atomic { seen = home; home = (seen == NOWHERE -> loop : seen) };
      if
      :: seen == NOWHERE -> d_step { entered[loop] = true; assert(!finished[loop]); assert(isConsistent) }
      :: seen == LOCKED -> goto again
#ifdef TWO_LOCKS
      :: seen == 3 - loop -> lock(3 - loop); unlock(3 - loop) /* the name of the other loop, for the error */
      :: seen == loop || seen == OVER || seen == OVER_LOCKED
#else
      :: seen != NOWHERE && seen != LOCKED
#endif
      fi
    fi;
#endif
    unlock(loop);
    times--
  :: times == 0 -> break
  od;
  working--
}

proctype remover(byte loop) {
  bool mine;
  lock(loop);
  d_step {
    if
    :: home == loop && entered[loop] ->
      entered[loop] = false;
#ifdef LEFT_LATE
      mine = true
#else
      home = NOWHERE;
      assert(isConsistent)
#endif
    :: else
    fi
  };
  unlock(loop);
  if
  :: mine -> d_step { home = NOWHERE; assert(isConsistent) }
  :: else
  fi;
  working--
}

inline end(loop) {
  d_step {
    mine = home != OVER && (OVER_LOCKED == LOCKED || home != OVER_LOCKED);
    if
    :: loop != NOWHERE -> entered[loop] = false
    :: else
    fi;
    home = OVER;
    assert(isConsistent)
  }
}

proctype invalidator() {
  byte seen;
  bool mine;
#ifdef TOLD_BY_STATUS
  bool first;
  d_step { first = !isInvalid; isInvalid = true };
#endif
again:
  seen = home;
  if
  :: seen == OVER
#ifndef LOCKED_HIDES_END
  :: seen == OVER_LOCKED
#endif
  :: seen == LOCKED -> goto again
  :: seen == NOWHERE ->
    atomic { seen = home; home = (seen == NOWHERE -> LOCKED : seen) };
    if
    :: seen == NOWHERE -> end(NOWHERE)
    :: else -> goto again
    fi
  :: else ->
    lock(seen);
#ifdef NOT_LOOKED_AGAIN
    end(seen);
    unlock(seen)
#else
    if
    :: home == seen -> end(seen); unlock(seen)
    :: else -> unlock(seen); goto again
    fi
#endif
  fi;
#ifdef TOLD_BY_STATUS
  mine = first;
#endif
  if
  :: mine -> tell()
  :: else
  fi;
  working--
}

proctype ender(byte loop) {
  bool mine;
  lock(loop);
  d_step {
    finished[loop] = true;
    if
    :: entered[loop] -> mine = true; entered[loop] = false; home = OVER
    :: else
    fi
  };
  unlock(loop);
  if
  :: mine -> tell()
  :: else
  fi;
  working--
}

/* One that looks into the item, as signal() does, when it is over; another asks twice whether it is. */
proctype signaller() {
  byte seen;
  atomic { seen = home; home = (seen == OVER -> OVER_LOCKED : seen) };
  if
  :: seen == OVER -> home = OVER
  :: else
  fi;
  working--
}

#define isOver (home == OVER || (OVER_LOCKED != LOCKED && home == OVER_LOCKED))

active proctype asker() {
  isOver;
  assert(isOver)
}

init {
  atomic { run adder(1, 2); run adder(2, 2); run remover(1); run invalidator(); run ender(1); run signaller() };
  timeout;
  assert(working == 0);
  assert(home == OVER && !entered[1] && !entered[2] && told == 1)
}
