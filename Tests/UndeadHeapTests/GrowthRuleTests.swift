import Testing

@testable import UndeadHeap
@testable import UndeadHeapReport

@Suite struct GrowthRuleTests {
  private static func growth(
    _ name: String, perMinute count: Double = 0, bytesPerMinute bytes: Double = 0
  ) -> TypeGrowth {
    func trend(_ slope: Double) -> Trend {
      Trend(slope: slope / 60, interval: slope * 0.9 / 60...slope * 1.1 / 60, grows: slope > 0)
    }
    return TypeGrowth(
      name: name, count: trend(count), bytes: trend(bytes), now: .init(count: 1e6, bytes: 1e9),
      risen: .init(count: count, bytes: bytes))
  }

  private static func breaks(_ rule: String, _ growth: TypeGrowth) throws -> Bool {
    try GrowthRule(rule).isBroken(by: growth)
  }

  @Test func anyIsBrokenByWhateverGrows() throws {
    #expect(try Self.breaks("any", Self.growth("App.Session", perMinute: 100)))
    #expect(try Self.breaks("any", Self.growth("App.Session", bytesPerMinute: 1e6)))
    #expect(try Self.breaks("any", Self.growth(TypeCounts.all, perMinute: 100)))
    #expect(try !Self.breaks("any", Self.growth("App.Session")))
  }

  @Test func aRateOfATypeIsBrokenOnlyByTheWholeInterval() throws {
    let session = Self.growth("App.Session", perMinute: 120)
    #expect(try Self.breaks("App.Session>100/min", session))
    #expect(try !Self.breaks("App.Session>110/min", session))
    #expect(try Self.breaks("App.Session>6000/h", session))
    #expect(try Self.breaks("App.Session > 1/s", session))
    #expect(try Self.breaks("App.Session>100000/d", session))
    #expect(try !Self.breaks("App.Session>1B/h", session))
    #expect(try Self.breaks("App.Session", session))
    #expect(try !Self.breaks("App.Other", session))
  }

  @Test func aRateWithoutATypeIsThatOfAllMemory() throws {
    #expect(try Self.breaks("10MB/h", Self.growth(TypeCounts.all, bytesPerMinute: 1_048_576)))
    #expect(try !Self.breaks("60MB/h", Self.growth(TypeCounts.all, bytesPerMinute: 1_048_576)))
    #expect(try Self.breaks("0.5 KB/s", Self.growth(TypeCounts.all, bytesPerMinute: 1_048_576)))
    #expect(try Self.breaks("1000/h", Self.growth(TypeCounts.all, perMinute: 100)))
    #expect(try !Self.breaks("10MB/h", Self.growth("App.Session", bytesPerMinute: 1e9)))
  }

  @Test func linesOfTheProcess() throws {
    let files = Self.growth(TypeCounts.descriptors, perMinute: 100)
    #expect(try Self.breaks("descriptors>60/min", files))
    #expect(try !Self.breaks("descriptors>100/min", files))
    for rule in ["threads>1/min", "resident>1B/h", "*", "any", "1/h"] {
      #expect(try !Self.breaks(rule, files), "\(rule)")
    }
    #expect(try Self.breaks("threads", Self.growth(TypeCounts.threads, perMinute: 100)))
  }

  @Test func patterns() throws {
    let box = Self.growth("App.Box<Swift.Int>", perMinute: 1000)
    for pattern in ["App.Box<Swift.Int>", "Box<Swift.Int>", "App.*", "*Box*", "*Int>", "Box<*>", "*"] {
      #expect(try Self.breaks("\(pattern)>100/min", box), "\(pattern)")
    }
    for pattern in ["App.Bo", "Swift.Int", "Other.*", "Box<*>x"] {
      #expect(try !Self.breaks("\(pattern)>100/min", box), "\(pattern)")
    }
    #expect(try Self.breaks("Box<Swift.Int>", box))
    #expect(try Self.breaks("App.*", box))
    #expect(try !Self.breaks("App.*>0/h", Self.growth(TypeCounts.all, perMinute: 1000)))
  }

  @Test(
    arguments: [
      "", "10MB", "10XB/h", "10/year", "App.Session>", ">100/min", "App.Session>100", "App.Session>-1/min", "100/min/h",
      "App.Session>nan/min", "App.Session>1e/min", "-5/min", " ",
    ])
  func whatIsNoRuleIsRefused(_ text: String) {
    #expect(throws: GrowthRuleError.self) { try GrowthRule(text) }
  }

  @Test func theErrorShowsWhatARuleIs() {
    #expect {
      try GrowthRule("10XB/h")
    } throws: {
      "\($0)".hasPrefix("'10XB/h' is no rule for growth; write for example 'any', '10MB/h', 'App.Session>100/min'")
    }
  }
}
