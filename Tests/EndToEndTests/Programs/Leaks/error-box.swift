// The reference is in an error box, in a Result and in a property of type Error.
// EXPECT leak kind=retainCycle types=App.Request fields=lastError count=2 at=request
// EXPECT leak kind=retainCycle types=App.Download fields=result count=3 at=download
struct RequestFailure: Error {
  var code = 404
  var request: Request
}
final class Request {
  var lastError: (any Error)?
}
struct DownloadFailure: Error {
  var reason = "a reason that is longer than a small string"
  var download: Download
}
final class Download {
  var result: Result<[Int], DownloadFailure> = .success([])
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func failRequest() {
  let request = Request()  // @request
  request.lastError = RequestFailure(request: request)
  use(request)
}
@inline(never) func failDownload() {
  let download = Download()  // @download
  download.result = .failure(DownloadFailure(download: download))
  use(download)
}
for _ in 0..<2 { failRequest() }
for _ in 0..<3 { failDownload() }
