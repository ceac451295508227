// source: Alamofire/Alamofire 50ef8a028f0f
// An autoclosure of a method's argument captured `self` and stayed in a list of the request. The fix hands over a closure
// that captures it unowned.
// expect: leak DataRequest via DataRequest.validations

enum AlamofireValidation: LeakCase {
  final class DataRequest {
    private var validations: [() -> Bool] = []
    var acceptableTypes = ["text/plain"]
    var type = "text/plain"

    func validate(contentTypes: @escaping @autoclosure () -> [String]) {
      validations.append { [unowned self] in contentTypes().contains(type) }
    }

    func validate() {
      #if FIXED
        let types = { [unowned self] in acceptableTypes }
        validate(contentTypes: types())
      #else
        validate(contentTypes: self.acceptableTypes)
      #endif
    }

    func finish() -> Bool { validations.allSatisfy { $0() } }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let request = DataRequest()
      request.validate()
      precondition(request.finish())
    }
  }
}
