extension LeakReport {
  /// One function of a backtrace, as it is shown and written to JSON.
  public struct Frame: Hashable, Sendable {
    /// Demangled function name; `module+0xoffset` where no name is known.
    public var symbol: String
    /// Source file as the compiler recorded it.
    public var file: String?
    /// Line in `file`, from 1.
    public var line: Int?
    /// File name of the executable or library, without its directory.
    public var module: String
    /// Offset of the instruction from the start of the module, in bytes.
    package var offset: UInt64
    /// True for a call that the compiler inlined into the next frame.
    package var inlined: Bool
    /// True for code of the toolchain or the operating system, false for code of the program.
    package var system: Bool
    /// The dependency that the code belongs to, by where its source file lies: "swift-nio"; nil for the user's own.
    package var package: String?
    /// True if the compiler gave the code no line, and `line` is that of other code of the function near it.
    package var isNear: Bool

    /// Makes a frame; see the properties for the meaning of each part.
    package init(
      symbol: String, file: String? = nil, line: Int? = nil, module: String, offset: UInt64 = 0, inlined: Bool = false,
      system: Bool = false, isNear: Bool = false
    ) {
      self.symbol = symbol
      self.file = file
      self.line = line
      self.module = module
      self.offset = offset
      self.inlined = inlined
      self.system = system
      self.isNear = isNear
    }
  }
}

extension Frame: Codable {
  private enum Key: String, CodingKey {
    case symbol, file, line, module, offset, inlined, system, generated, package
    case isNear = "near"
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    symbol = try values.decode(String.self, forKey: .symbol)
    file = try values.decodeIfPresent(String.self, forKey: .file)
    line = try values.decodeIfPresent(Int.self, forKey: .line)
    module = try values.decodeIfPresent(String.self, forKey: .module) ?? ""
    offset = try values.decodeIfPresent(UInt64.self, forKey: .offset) ?? 0
    inlined = try values.decodeIfPresent(Bool.self, forKey: .inlined) ?? false
    system = try values.decodeIfPresent(Bool.self, forKey: .system) ?? false
    package = try values.decodeIfPresent(String.self, forKey: .package)
    isNear = try values.decodeIfPresent(Bool.self, forKey: .isNear) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(symbol, forKey: .symbol)
    try values.encodeIfPresent(file, forKey: .file)
    try values.encodeIfPresent(line, forKey: .line)
    try values.encode(module, forKey: .module)
    try values.encode(offset, forKey: .offset)
    if inlined { try values.encode(true, forKey: .inlined) }
    if system { try values.encode(true, forKey: .system) }
    try values.encodeIfPresent(package, forKey: .package)
    if isNear { try values.encode(true, forKey: .isNear) }
    // It follows from the rest, so nothing reads it.
    if isGenerated { try values.encode(true, forKey: .generated) }
  }
}

extension LeakReport {
  /// A list of frames, innermost first.
  public struct Backtrace: Hashable, Sendable, Codable {
    /// The frames, innermost first.
    public var frames: [Frame]

    /// Makes a backtrace of the given frames, innermost first.
    package init(frames: [Frame] = []) {
      self.frames = frames
    }
  }
}
