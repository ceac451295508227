// Writes a program of random functions or of random layouts, or makes one that fails short.
//
//   function-writer write SEED COUNT [KIND,KIND...]      the program, on standard output
//   function-writer layouts SEED COUNT                   one that compares layouts of COUNT containers
//   function-writer shrink FILE COMMAND...               FILE, made as short as COMMAND still ends with 1 for it
import Foundation

func fail(_ text: String) -> Never {
  FileHandle.standardError.write(Data("function-writer: \(text)\n".utf8))
  exit(64)
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "write" where arguments.count >= 3:
  guard let seed = UInt64(arguments[1]), let count = Int(arguments[2]) else { fail("SEED and COUNT are numbers") }
  let names = arguments.count > 3 ? Set(arguments[3].split(separator: ",").map(String.init)) : []
  let kinds = ValueKind.all.filter { names.isEmpty || names.contains($0.name) }
  guard kinds.contains(where: { !$0.isGeneric }) else { fail("these kinds are unknown: \(names.sorted())") }
  var writer = FunctionWriter(seed: seed, kinds: kinds)
  print(writer.program(count: count), terminator: "")
case "layouts" where arguments.count == 3:
  guard let seed = UInt64(arguments[1]), let count = Int(arguments[2]) else { fail("SEED and COUNT are numbers") }
  var writer = LayoutWriter(seed: seed)
  print(writer.program(containers: count), terminator: "")
case "shrink" where arguments.count >= 3:
  Shrinker(file: arguments[1], command: Array(arguments[2...])).run()
default: fail("write SEED COUNT [KINDS], layouts SEED COUNT, or shrink FILE COMMAND")
}
