/// Retain paths as reports draw them, for renderers in other modules.
package enum PathText {
  /// The lines of a path: the root, the first type, then each field with the type that it leads to.
  package static func lines(_ path: [PathStep], _ options: TextOptions) -> [String] {
    path.isEmpty ? [] : FindingText.lines(Chain(path: path), options)
  }

  /// The lines of a stack, without what every allocation goes through.
  package static func stack(_ backtrace: Backtrace, _ options: TextOptions) -> [String] {
    StackText.lines(backtrace, options)
  }

  /// The function and place of a frame.
  package static func place(_ frame: Frame, _ options: TextOptions) -> String {
    StackText.function(frame) + StackText.place(frame, options)
  }

  package static func faint(_ text: String, _ options: TextOptions) -> String { TextStyle.faint.apply(text, options) }
  package static func heading(_ text: String, _ options: TextOptions) -> String {
    TextStyle.heading.apply(text, options)
  }
  package static func type(_ text: String, _ options: TextOptions) -> String { TextStyle.type.apply(text, options) }
  package static func field(_ text: String, _ options: TextOptions) -> String { TextStyle.field.apply(text, options) }
}
