// source: swiftlang/swift-corelibs-foundation cb6b2fa46 (#5107)
// A wrapper with the payload of an enum that it owns: a mutation replaced it by a mutable copy without a release of the old
// one. The fix holds the object by an ordinary reference.
// expect: leak Bitmap in CharacterSet.init

enum FoundationCharacterSet: LeakCase {
  final class Bitmap {
    var members: Set<Character>
    init(_ members: Set<Character>) { self.members = members }
  }

  #if FIXED
    final class Wrapper {
      private var bitmap: Bitmap
      init(_ bitmap: Bitmap) { self.bitmap = bitmap }
      func insert(_ character: Character) {
        bitmap = Bitmap(bitmap.members)
        bitmap.members.insert(character)
      }
    }
  #else
    final class Wrapper {
      private enum Wrapped {
        case immutable(Unmanaged<Bitmap>)
        case mutable(Unmanaged<Bitmap>)
      }
      private var wrapped: Wrapped
      init(_ bitmap: Bitmap) { wrapped = .immutable(.passRetained(bitmap)) }
      deinit {
        switch wrapped {
        case .immutable(let bitmap), .mutable(let bitmap): bitmap.release()
        }
      }
      func insert(_ character: Character) {
        switch wrapped {
        case .immutable(let bitmap):
          let copy = Bitmap(bitmap.takeUnretainedValue().members)
          copy.members.insert(character)
          wrapped = .mutable(.passRetained(copy))
        case .mutable(let bitmap):
          bitmap.takeUnretainedValue().members.insert(character)
        }
      }
    }
  #endif

  struct CharacterSet {
    private let wrapper: Wrapper
    @inline(never) init(_ characters: String) { wrapper = Wrapper(Bitmap(Set(characters))) }
    mutating func insert(_ character: Character) { wrapper.insert(character) }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      var characters = CharacterSet("abc")
      characters.insert("d")
      characters.insert("e")
    }
  }
}
