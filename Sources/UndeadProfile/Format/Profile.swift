/// The profile format of pprof, by its published field numbers (`Tests/UndeadProfileTests/profile.proto` has all of them).
///
/// Texts are indices into ``strings``, whose first entry is empty. Identifiers count from 1. Frames are in the order from the innermost
/// outwards. ``ProfileBuilder`` fills it in, and nothing here reads one.
struct Profile: ProtobufMessage {
  var sampleTypes: [ValueType] = []
  var samples: [Sample] = []
  var mappings: [Mapping] = []
  var locations: [Location] = []
  var functions: [Function] = []
  var strings = [""]
  var timeNanoseconds: Int64 = 0
  var durationNanoseconds: Int64 = 0
  var periodType = ValueType()
  var period: Int64 = 0
  var comments: [Int64] = []
  var defaultSampleType: Int64 = 0

  func write(to writer: inout ProtobufWriter) {
    writer.write(1, sampleTypes)
    writer.write(2, samples)
    writer.write(3, mappings)
    writer.write(4, locations)
    writer.write(5, functions)
    writer.write(6, strings)
    writer.write(9, timeNanoseconds)
    writer.write(10, durationNanoseconds)
    writer.write(11, [periodType])
    writer.write(12, period)
    writer.write(13, comments)
    writer.write(14, defaultSampleType)
  }

  struct ValueType: ProtobufMessage {
    var type: Int64 = 0
    var unit: Int64 = 0

    func write(to writer: inout ProtobufWriter) {
      writer.write(1, type)
      writer.write(2, unit)
    }
  }

  /// Has one value for each sample type.
  struct Sample: ProtobufMessage {
    var locations: [UInt64]
    var values: [Int64]
    var labels: [Label]

    func write(to writer: inout ProtobufWriter) {
      writer.write(1, locations)
      writer.write(2, values)
      writer.write(3, labels)
    }
  }

  struct Label: ProtobufMessage {
    var key: Int64
    var text: Int64

    func write(to writer: inout ProtobufWriter) {
      writer.write(1, key)
      writer.write(2, text)
    }
  }

  struct Mapping: ProtobufMessage {
    var id: UInt64
    var start: UInt64 = 0
    var limit: UInt64 = 0
    var fileOffset: UInt64 = 0
    var file: Int64
    var buildID: Int64 = 0
    /// Whether the functions, files, lines and inlined frames of its locations are known.
    var isSymbolized: Bool

    func write(to writer: inout ProtobufWriter) {
      writer.write(1, id)
      writer.write(2, start)
      writer.write(3, limit)
      writer.write(4, fileOffset)
      writer.write(5, file)
      writer.write(6, buildID)
      for field in 7...10 { writer.write(field, isSymbolized ? 1 : 0 as UInt64) }
    }
  }

  struct Location: ProtobufMessage {
    var id: UInt64
    /// 0 for none.
    var mapping: UInt64
    var address: UInt64
    var lines: [Line]

    func write(to writer: inout ProtobufWriter) {
      writer.write(1, id)
      writer.write(2, mapping)
      writer.write(3, address)
      writer.write(4, lines)
    }
  }

  struct Line: ProtobufMessage {
    var function: UInt64
    var line: Int64

    func write(to writer: inout ProtobufWriter) {
      writer.write(1, function)
      writer.write(2, line)
    }
  }

  struct Function: ProtobufMessage {
    var id: UInt64
    var name: Int64
    /// The name as the linker has it.
    var systemName: Int64
    var file: Int64

    func write(to writer: inout ProtobufWriter) {
      writer.write(1, id)
      writer.write(2, name)
      writer.write(3, systemName)
      writer.write(4, file)
    }
  }
}
