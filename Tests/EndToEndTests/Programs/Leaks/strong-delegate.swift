// A delegate property that should be weak: the classic, through a class-bound existential.
// EXPECT leak kind=retainCycle types=App.Downloader,App.DownloadScreen fields=delegate,downloader count=6 at=screen|downloader
protocol DownloaderDelegate: AnyObject {
  func downloaderDidFinish(_ downloader: Downloader)
}
final class Downloader {
  var progress = 0.0
  var delegate: (any DownloaderDelegate)?
  func finish() { delegate?.downloaderDidFinish(self) }
}
final class DownloadScreen: DownloaderDelegate {
  let downloader = Downloader()  // @downloader
  var finished = false
  init() { downloader.delegate = self }
  func downloaderDidFinish(_ downloader: Downloader) { finished = true }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func showScreen() {
  let screen = DownloadScreen()  // @screen
  screen.downloader.finish()
  use(screen)
}
for _ in 0..<6 { showScreen() }
