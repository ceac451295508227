// A library whose classes may get more fields and methods without its clients being compiled again.
open class Control {
  public var title = "a title that is on the heap"
  private var revision = 1
  public init() {}
  open func draw() -> Int { title.utf8.count + revision }
  open func layOut() -> Int { revision }
  open class func style() -> Int { 1 }
}
