/// What is asked for is not there, or not here.
package struct Missing: Error, CustomStringConvertible {
  package var status: Int
  package var description: String

  package init(status: Int, description: String) {
    self.status = status
    self.description = description
  }
}
