// The program looks at the disposition of every signal, at its mask and at its alternate stack.
// EXPECT silent
// FLAGS -parse-as-library
import Glibc

@main struct Main {
  static func main() {
    for signal in 1..<65 {
      var action = sigaction()
      guard sigaction(Int32(signal), nil, &action) == 0 else { continue }
      let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      print(signal, handler == 0 ? "default" : handler == 1 ? "ignored" : "caught", action.sa_flags)
    }
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    print((1..<65).filter { sigismember(&mask, Int32($0)) == 1 })
    var pending = sigset_t()
    sigpending(&pending)
    print((1..<65).filter { sigismember(&pending, Int32($0)) == 1 })
    var stack = stack_t()
    sigaltstack(nil, &stack)
    print(stack.ss_flags, stack.ss_size)
  }
}
