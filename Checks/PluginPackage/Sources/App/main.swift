import Photos

func open(keeping: Bool) {
  let album = Album()
  album.load(keeping: keeping)
}

open(keeping: CommandLine.arguments.contains("leak"))
// There is no input, and none is waited for.
print("App got \(CommandLine.arguments.dropFirst()) and \(readLine() ?? "no line")")
if CommandLine.arguments.contains("fail") { fatalError("asked for") }
