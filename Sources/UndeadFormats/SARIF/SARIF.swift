import UndeadReport
import UndeadSystem

/// The parts of a SARIF 2.1.0 log that the tool writes. Names are those of the standard.
package enum SARIF {
  package struct Log: Encodable {
    var schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    var version = "2.1.0"
    package var runs: [Run]

    private enum CodingKeys: String, CodingKey {
      case schema = "$schema"
      case version, runs
    }
  }

  package struct Run: Encodable {
    package var tool: Tool
    package var invocations: [Invocation]
    package var automationDetails: AutomationDetails
    package var originalUriBaseIds: [String: ArtifactLocation]?
    package var logicalLocations: [LogicalLocation]?
    package var results: [Result] = []
    package var properties: [String: JSONValue]?
  }

  package struct Tool: Encodable {
    var driver: Driver

    package init(_ tool: LeakReport.Tool, rules: [Rule]) {
      driver = Driver(name: tool.name, version: tool.version, rules: rules)
    }
  }

  struct Driver: Encodable {
    var name: String
    var version: String
    var rules: [Rule]
  }

  package struct Rule: Encodable {
    package var id: String
    package var name: String
    package var shortDescription: Message
    package var fullDescription: Message
    package var help: Message
    package var defaultConfiguration: Configuration
    package var properties: [String: JSONValue]
  }

  package struct Configuration: Encodable {
    package var level: Level
  }

  package enum Level: String, Encodable {
    case error, warning, note
  }

  /// A plain text, and the same in Markdown.
  package struct Message: Encodable, Equatable {
    package var text: String
    package var markdown: String?

    /// Braces would be placeholders, and brackets before a parenthesis a link.
    init(_ text: String, markdown: Markup<MarkdownText>? = nil) {
      var previous: Unicode.Scalar = " "
      self.text = Self.withoutPlaceholders(
        ScalarEscapes.applied(to: VisibleText.lines(text)) { scalar in
          defer { previous = scalar }
          return scalar == "(" && previous == "]" ? " (" : nil
        })
      self.markdown = (markdown?.source).map(Self.withoutPlaceholders)
    }

    private static func withoutPlaceholders(_ text: String) -> String {
      ScalarEscapes.applied(to: text) { $0 == "{" ? "{{" : $0 == "}" ? "}}" : nil }
    }
  }

  package struct Invocation: Encodable {
    package var executionSuccessful: Bool
    package var startTimeUtc: String?
    package var toolExecutionNotifications: [Notification]?

    package init(executionSuccessful: Bool, startTimeUtc: String, notifications: [Notification]) {
      self.executionSuccessful = executionSuccessful
      self.startTimeUtc = startTimeUtc.isEmpty ? nil : startTimeUtc
      toolExecutionNotifications = notifications.isEmpty ? nil : notifications
    }
  }

  package struct Notification: Encodable {
    package var level: Level
    package var message: Message

    package init(_ level: Level, _ text: String) {
      self.level = level
      message = Message(text)
    }
  }

  package struct AutomationDetails: Encodable {
    package var id: String

    /// Systems that keep results distinguish runs of different programs by it.
    package init(program: String) {
      let name = SymbolText.fileName(program)
      id = name.isEmpty ? "undead/" : "undead/\(name)/"
    }
  }

  package struct Result: Encodable {
    package var ruleId: String
    package var ruleIndex: Int
    package var level: Level
    package var message: Message
    package var locations: [Location]
    package var relatedLocations: [Location]?
    package var codeFlows: [CodeFlow]?
    package var stacks: [Stack]?
    package var partialFingerprints: [String: String]?
    package var occurrenceCount: Int?
    package var properties: [String: JSONValue]?
  }

  package struct Location: Encodable, Equatable {
    package var physicalLocation: PhysicalLocation?
    package var logicalLocations: [LogicalLocation]?
    package var message: Message?
  }

  package struct PhysicalLocation: Encodable, Equatable {
    package var artifactLocation: ArtifactLocation
    package var region: Region?
  }

  package struct ArtifactLocation: Encodable, Equatable {
    package var uri: String
    package var uriBaseId: String?
  }

  package struct Region: Encodable, Equatable {
    package var startLine: Int
  }

  package struct LogicalLocation: Encodable, Equatable {
    package var name: String
    package var fullyQualifiedName: String
    package var kind: String
    package var index: Int?
    package var parentIndex: Int?
  }

  package struct CodeFlow: Encodable {
    package var message: Message?
    package var threadFlows: [ThreadFlow]
  }

  package struct ThreadFlow: Encodable {
    package var locations: [ThreadFlowLocation]
  }

  package struct ThreadFlowLocation: Encodable {
    package var location: Location
    package var importance: String
  }

  package struct Stack: Encodable {
    package var message: Message
    package var frames: [StackFrame]
  }

  package struct StackFrame: Encodable {
    package var location: Location
    package var module: String?
  }
}
