import Foundation

// A cycle of an object that has a Data and a timer, and one that nothing refers to: what is known of Foundation is checked, too.
final class Holder: @unchecked Sendable {
  var data = Data(count: 1000)
  var timer: Timer?
  var other: Holder?
}

@inline(never) func leak() {
  let holder = Holder()
  holder.other = holder
  holder.timer = Timer(timeInterval: 1000, repeats: true) { _ in }
}

leak()
