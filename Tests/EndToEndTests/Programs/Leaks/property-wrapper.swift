// A property wrapper hides the storage behind an underscore.
// EXPECT leak kind=retainCycle types=App.Settings,App.Panel fields=_panel,settings count=3 at=settings|panel
@propertyWrapper struct Logged<Value> {
  private var value: Value
  private(set) var writes = 0
  init(wrappedValue: Value) { value = wrappedValue }
  var wrappedValue: Value {
    get { value }
    set {
      writes += 1
      value = newValue
    }
  }
}
final class Panel {
  var settings: Settings?
}
final class Settings {
  @Logged var volume = 3
  @Logged var panel: Panel?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let settings = Settings()  // @settings
  let panel = Panel()  // @panel
  settings.panel = panel
  panel.settings = settings
  use(settings)
}
for _ in 0..<3 { make() }
