/// Retain paths as reports draw them, for renderers in other modules.
package enum PathText {
  /// The lines of a path: the root, the first type, then each field with the type that it leads to.
  package static func lines(_ path: [PathStep], _ options: ReportTextOptions) -> [TextLine] {
    path.isEmpty ? [] : FindingText.lines(Chain(path: path), options)
  }

  /// The function and place of a frame.
  package static func place(_ frame: Frame, _ options: ReportTextOptions) -> TextLine {
    "\(StackText.function(frame))\(StackText.place(frame, options))"
  }

  package static func faint(_ text: TextLine) -> TextLine { TextStyle.faint.apply(text) }
  package static func heading(_ text: TextLine) -> TextLine { TextStyle.heading.apply(text) }
  package static func type(_ text: TextLine) -> TextLine { TextStyle.type.apply(text) }
  package static func field(_ text: TextLine) -> TextLine { TextStyle.field.apply(text) }
}
