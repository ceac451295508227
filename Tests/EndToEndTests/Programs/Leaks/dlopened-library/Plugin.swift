final class Extension {
  let host: Host
  init(_ host: Host) { self.host = host }
}
final class Host {
  var extensions: [Extension] = []
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func load() {
  let host = Host()  // @host
  host.extensions.append(Extension(host))  // @extension
  use(host)
}
@_cdecl("plugin_start") public func start() { load() }
