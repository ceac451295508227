/// A form that an answer can have.
package enum AnswerFormat: String, CaseIterable {
  case text, json, html

  package var contentType: String {
    switch self {
    case .text: "text/plain; charset=utf-8"
    case .json: "application/json"
    case .html: "text/html; charset=utf-8"
    }
  }
}
