// Records of the program that begin with a class, as an object does: registries of types and their instances. What
// the class says of its fields is not true of them.
// EXPECT silent
import Glibc

class Service {
  var own: Service?
}
final class Observer: Service {
  weak var first: Service?
  unowned(unsafe) var second: Service
  unowned var third: Service
  var fourth: UInt = 0
  init(_ service: Service) { (second, third) = (service, service) }
}
struct Entry {
  var type: AnyClass
  var instance: Unmanaged<Service>
  var next: UnsafeMutablePointer<Entry>?
}
struct Record {
  var type: AnyClass
  var flags: Int
  var instances: (Unmanaged<Service>, Unmanaged<Service>, Unmanaged<Service>, Unmanaged<Service>, Unmanaged<Service>)
}

// Keeps itself alive, so that its count shows nothing.
@inline(never) func make() -> Unmanaged<Service> {
  let service = Service()
  service.own = service
  return .passUnretained(service)
}
var entries: UnsafeMutablePointer<Entry>?
var records: [UnsafeMutablePointer<Record>] = []
@inline(never) func fill(_ record: UnsafeMutablePointer<Record>, _ type: AnyClass, _ flags: Int) {
  record.initialize(to: Record(type: type, flags: flags, instances: (make(), make(), make(), make(), make())))
  records.append(record)
}
for type in [Service.self, Observer.self] as [AnyClass] {
  let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
  entry.initialize(to: Entry(type: type, instance: make(), next: entries))
  entries = entry
  // Numbers that reference counts may have, and others.
  for flags in [0, 1, 3, 7, 16, 0x1_0000_0003, 0x2_0000_0003] {
    fill(.allocate(capacity: 1), type, flags)
    fill(malloc(MemoryLayout<Record>.size)!.bindMemory(to: Record.self, capacity: 1), type, flags)
  }
}
exit(0)
