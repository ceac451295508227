// Foundation's Process, pipes, file handles with handlers, and output of a child.
// EXPECT silent
import Foundation

let process = Process()
let output = Pipe()
process.executableURL = URL(fileURLWithPath: "/bin/sh")
process.arguments = ["-c", "echo out; cat"]
process.standardOutput = output
let input = Pipe()
process.standardInput = input
try process.run()
input.fileHandleForWriting.write(Data("through\n".utf8))
try input.fileHandleForWriting.close()
let data = output.fileHandleForReading.readDataToEndOfFile()
process.waitUntilExit()
print(String(decoding: data, as: UTF8.self), process.terminationStatus)
