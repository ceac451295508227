// The leak is made by a library that was opened at run time.
// PLUGIN Plugin.swift
// ARGS $DIRECTORY/libPlugin.so
// EXPECT leak kind=retainCycle types=Plugin.Extension,Plugin.Host fields=host,extensions count=4 at=Plugin.swift:extension|Plugin.swift:host
import Glibc

guard let library = dlopen(CommandLine.arguments[1], RTLD_NOW), let symbol = dlsym(library, "plugin_start") else {
  print(String(cString: dlerror()))
  exit(1)
}
let start = unsafeBitCast(symbol, to: (@convention(c) () -> Void).self)
for _ in 0..<4 { start() }
