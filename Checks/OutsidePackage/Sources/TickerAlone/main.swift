// The run loop without the instrument: only the tool may bring that into the program.
import Ticker

print("ticked", try tickForAMoment())
