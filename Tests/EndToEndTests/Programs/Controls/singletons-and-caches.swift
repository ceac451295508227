// Singletons, lazy globals and statics, caches, registries, and one deliberate cycle below a global.
// EXPECT silent
import Foundation

final class Service {
  static let shared = Service()
  static nonisolated(unsafe) var registry: [String: Service] = [:]
  lazy var helper = Helper(service: self)
  let cache = NSCache<NSString, Helper>()
  var handlers: [() -> Void] = []
}
final class Helper {
  let service: Service
  init(service: Service) { self.service = service }
}
struct Constants {
  static let table: [Int: Helper] = [1: Helper(service: .shared), 2: Helper(service: .shared)]
  static let formatter: NumberFormatter = {
    let formatter = NumberFormatter()
    formatter.numberStyle = .spellOut
    return formatter
  }()
}
func register() {
  for index in 0..<30 {
    Service.registry["name \(index)"] = Service()
    Service.shared.cache.setObject(Helper(service: .shared), forKey: "key \(index)" as NSString)
    Service.shared.handlers.append { Service.shared.handlers.removeAll() }
  }
  Service.registry["name 3"] = nil
  print(Service.shared.helper.service === Service.shared, Constants.table.count)
  print(Constants.formatter.string(from: 7) ?? "")
  UserDefaults.standard.set(3, forKey: "three")
  print(UserDefaults.standard.integer(forKey: "three"), ProcessInfo.processInfo.processorCount > 0)
}
register()
