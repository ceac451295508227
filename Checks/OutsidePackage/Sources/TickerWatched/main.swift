// The run loop in a program that links the instrument, too.
import Ticker
import Undead
import UndeadRunLoop

let screen = OwnerScope("left open")
print("ticked", try tickForAMoment())
print("loops told", try LeakDetector.checkForLeaks().runLoops != nil)
