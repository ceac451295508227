// A closure in a field of an object that the captured one has.
// KEPT BY the closure
// ADVICE the closure stored in `done` of App.Download
// FIX `weak` in the capture list
final class Download { var done: (() -> Void)? }
final class Player {
  var download: Download?
  var count = 0
}
@inline(never) func run() {
  let player = Player()
  let download = Download()
  player.download = download
  #if FIXED
    download.done = { [weak player] in player?.count += 1 }
  #else
    download.done = { player.count += 1 }
  #endif
}
run()
