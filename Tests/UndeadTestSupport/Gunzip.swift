import Foundation

package struct GunzipFailure: Error {
  package let status: Int32
}

/// What `gzip` takes out of a file of that form.
package func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
  let directory = try TemporaryDirectory()
  let file = directory.url.appending(path: "file.gz")
  try Data(bytes).write(to: file)
  let process = Process()
  process.executableURL = URL(filePath: "/bin/sh")
  process.arguments = ["-c", "exec gzip -dc '\(file.path)'"]
  let output = Pipe()
  process.standardOutput = output
  try process.runUnblocked()
  let content = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw GunzipFailure(status: process.terminationStatus) }
  return Array(content)
}
