// Uses dead objects in many ways; the arguments say in which. The preloaded library keeps and reports them.
import Foundation

_ = isDead  // looked up now: the name that is handed to C may take the place of the object that is asked about
setvbuf(stdout, nil, Int32(_IONBF), 0)
for way in CommandLine.arguments.dropFirst() {
  let isKnown =
    useObject(way) || useMemory(way) || sample(way) || manage(way) || manageThreads(way) || endure(way)
  if !isKnown { print("no such way: \(way)") }
}
