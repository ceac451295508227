import CUndead
import Testing

/// What is expected of one object: all of its words that lead to Swift objects.
struct Shape: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var name: String
  var skipped: [Int]
  var words: [Int: ExpectedWord]
  var describe: @Sendable () -> ObjectDescription

  /// `source` shows the shape in the test's name.
  init(
    _ source: String, name: String, skipped: [Int] = [], _ words: [Int: ExpectedWord],
    describe: @escaping @Sendable () -> ObjectDescription
  ) {
    testDescription = source
    self.name = name
    self.skipped = skipped
    self.words = words
    self.describe = describe
  }
}

struct ExpectedWord: Sendable, Equatable {
  var label: String
  var type: String
  var ownership: String
  var target: String

  init(
    _ label: String, type: String = "CUndeadTests.Item", _ ownership: String = "strong",
    to target: String = "CUndeadTests.Item"
  ) {
    self.label = label
    self.type = type
    self.ownership = ownership
    self.target = target
  }
}

@Suite struct RuntimeNamingTests {
  @Test(arguments: runtimeCorpus) func shape(_ shape: Shape) {
    let description = shape.describe()
    #expect(description.name == shape.name)
    #expect(description.skippedOffsets == shape.skipped, "the layout of weak and unowned references has changed")
    let words = description.words.filter { $0.ownership != "unused" }
    #expect(words.map(\.offset) == shape.words.keys.sorted(), "the layout has changed")
    for word in words {
      guard let expected = shape.words[word.offset] else { continue }
      #expect(
        ExpectedWord(word.label, type: word.type, word.ownership, to: word.target) == expected,
        "of the word at \(word.offset)")
    }
  }

  @Test func closureFieldsTellTheFunction() throws {
    let closures = makeClosures()
    let description = describe(closures)
    for label in ["plain", "lazyClosure (lazy)", "required"] {
      #expect(try #require(description.word(labelled: label)).isFunction)
    }
  }

  @Test func dictionariesAndSetsNameTheirMembersWithoutPosition() throws {
    let item = Item()
    let values = describeStorage(of: ["one": Pair(item: item)])
    #expect(values.strongLabels == ["[value].item"])
    #expect(values.name == "Swift._DictionaryStorage<Swift.String, CUndeadTests.Pair>")
    #expect(values.skippedOffsets == [40], "the seed of a dictionary has moved")
    let keys = describeStorage(of: [ItemKey(item: item): opaque([1])])
    #expect(Set(keys.strongLabels) == ["[key].item", "[value]"])
    #expect(describeStorage(of: Set([ItemKey(item: item)])).strongLabels == ["[element].item"])
  }

  @Test func slackOfAnArrayIsUnused() throws {
    let item = Item()
    var array = [Pair(item: item), Pair(item: item), Pair(item: item)]
    array.removeLast()
    let description = describeStorage(of: array)
    #expect(description.strongLabels == ["[0].item", "[1].item"])
    #expect(description.words.allSatisfy { $0.ownership == "strong" || $0.label == "[2]" })
  }

  @Test func errorsAreNamedByTheirType() {
    let description = describeBox(of: ItemError(item: Item()))
    #expect(description.name == "CUndeadTests.ItemError")
    #expect(description.strongLabels == ["value.item"])
  }

  /// The context of a closure that captures one variable is the variable's box: it may be called by either name.
  @Test func contextsOfOneVariable() {
    let weak = describeContext(of: closureOverWeak(Item()))
    #expect(weak.skippedOffsets == [16])
    #expect(weak.name.contains("weak Swift.Optional<CUndeadTests.Item>"))
    let variable = describeContext(of: closureOverVariable(Item()))
    #expect(variable.name.contains("CUndeadTests.Pair"))
    #expect(variable.word(at: 16)?.label.hasSuffix(".item") == true)
    let indirect = describeStorage(of: Chain.link(Item(), .end))
    #expect(indirect.name.contains("(CUndeadTests.Item, CUndeadTests.Chain)"))
  }

  @Test func packsDoNotUpsetTheRuntime() {
    let description = describeContext(of: closureOverPack(1, Item(), item: Item()))
    #expect(description.name.hasPrefix("closure context (captures "))
  }
}
