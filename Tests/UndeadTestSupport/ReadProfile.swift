/// A profile of pprof, read by its published format and not by what the writer does; names are those of `profile.proto`.
package struct ReadProfile {
  package let sampleType: [ValueType]
  package let sample: [Sample]
  package let mapping: [Mapping]
  package let location: [Location]
  package let function: [Function]
  package let stringTable: [String]
  package let timeNanos: Int64
  package let durationNanos: Int64
  package let period: Int64
  package let defaultSampleType: Int64

  package init(_ bytes: [UInt8]) throws {
    let fields = try ProtobufFields(bytes)
    sampleType = try fields.messages(1).map { ValueType(type: $0.signed(1), unit: $0.signed(2)) }
    sample = try fields.messages(2).map(Sample.init)
    mapping = try fields.messages(3).map(Mapping.init)
    location = try fields.messages(4).map(Location.init)
    function = try fields.messages(5).map(Function.init)
    stringTable = try fields.texts(6)
    timeNanos = fields.signed(9)
    durationNanos = fields.signed(10)
    period = fields.signed(12)
    defaultSampleType = fields.signed(14)
  }

  package struct ValueType {
    package let type: Int64
    package let unit: Int64
  }

  package struct Sample {
    package let locationID: [UInt64]
    package let value: [Int64]
    package let label: [Label]

    init(_ fields: ProtobufFields) throws {
      locationID = try fields.numbers(1)
      value = try fields.signed(2)
      label = try fields.messages(3).map { Label(key: $0.signed(1), str: $0.signed(2)) }
    }
  }

  package struct Label {
    package let key: Int64
    package let str: Int64
  }

  package struct Mapping {
    package let memoryStart: UInt64
    package let memoryLimit: UInt64
    package let filename: Int64
    package let buildID: Int64
    package let hasFunctions: Bool
    package let hasLineNumbers: Bool

    init(_ fields: ProtobufFields) {
      memoryStart = fields.number(2)
      memoryLimit = fields.number(3)
      filename = fields.signed(5)
      buildID = fields.signed(6)
      hasFunctions = fields.flag(7)
      hasLineNumbers = fields.flag(9)
    }
  }

  package struct Location {
    package let mappingID: UInt64
    package let address: UInt64
    package let line: [Line]

    init(_ fields: ProtobufFields) throws {
      mappingID = fields.number(2)
      address = fields.number(3)
      line = try fields.messages(4).map { Line(functionID: $0.number(1), line: $0.signed(2)) }
    }
  }

  package struct Line {
    package let functionID: UInt64
    package let line: Int64
  }

  package struct Function {
    package let id: UInt64
    package let name: Int64
    package let filename: Int64

    init(_ fields: ProtobufFields) {
      id = fields.number(1)
      name = fields.signed(2)
      filename = fields.signed(4)
    }
  }
}
