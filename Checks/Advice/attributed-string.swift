// An object among the attributes of an `NSAttributedString`.
// KEPT BY Foundation on Linux, which never releases the attributes of a string
// ADVICE Foundation on Linux never releases the attributes of an NSAttributedString
// FIX an identifier in place of the object
import Foundation

final class Attachment { let number = 7 }
@inline(never) func run() {
  let text = NSMutableAttributedString(string: "text")
  let attachment = Attachment()
  #if FIXED
    text.addAttribute(.init("attachment"), value: attachment.number, range: NSRange(location: 0, length: 4))
  #else
    text.addAttribute(.init("attachment"), value: attachment, range: NSRange(location: 0, length: 4))
  #endif
}
run()
