// A deinit lets `self` escape: the runtime ends the program for that, with the tool and without.
// EXPECT zombie kind=escape|retain type=App.Ghost allocated=haunt freed=haunt
// EXPECT crash
nonisolated(unsafe) var escaped: AnyObject?

class Ghost {
  var number = 1
  deinit { escaped = self }
}

@inline(never) @_optimize(none) func haunt() { _ = Ghost() }
haunt()
fatalError("the runtime let it pass")
