import Library
import Testing

@Test func plain() {
  #expect(makeCycle("plain test") == 10)
}

@Test func clean() {
  _ = Parent()
}

@Suite struct Leaky {
  @Test(arguments: [1, 2, 3]) func parameterised(number: Int) {
    if number == 2 { #expect(makeCycle("parameterised") == 13) }
  }

  @Test func suspended() async throws {
    try await Task.sleep(nanoseconds: 1)
    #expect(makeCycle("async test") == 10)
  }

  @Test func inTask() async {
    let count = await Task.detached { makeCycle("detached test") }.value
    #expect(count == 13)
  }

  @Test func throughHelper() async {
    #expect(await makeCycleLater("helper test") == 11)
  }

  @Test func waiting() async {
    await Waiter().wait()
  }

  struct Inner {
    @Test("with a display name") func nested() {
      let count = { makeCycle("nested test!") }()
      #expect(count == 12)
    }
  }
}
