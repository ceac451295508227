import UndeadSystem

extension UndeadDebugService {
  /// What distinguishes one service, host and version from another in an engine that has the profiles of all of them.
  public enum Labels {
    /// Labels from the environment, by the rules of OpenTelemetry.
    ///
    /// `OTEL_RESOURCE_ATTRIBUTES` gives `service_name`, `service_namespace`, `service_version`, `service_instance_id`,
    /// `deployment_environment_name`, `host_name` and the `k8s_…` names of pod, namespace, container, deployment and node;
    /// `OTEL_SERVICE_NAME` goes before the service's name there. Without one the name is that of the executable, without
    /// a host's name it is `HOSTNAME`, else what the system calls itself.
    public static func fromEnvironment() -> [String: String] {
      fromEnvironment(
        { name in getenv(name).map { String(cString: $0) } }, executable: executable(), host: hostName())
    }

    static func fromEnvironment(
      _ variable: (String) -> String?, executable: String, host: String
    ) -> [String: String] {
      var labels = attributes(variable("OTEL_RESOURCE_ATTRIBUTES") ?? "")
      if let name = variable("OTEL_SERVICE_NAME"), !name.isEmpty { labels["service_name"] = name }
      if labels["service_name"] == nil, !executable.isEmpty { labels["service_name"] = executable }
      if labels["host_name"] == nil {
        let name = variable("HOSTNAME") ?? ""
        labels["host_name"] = name.isEmpty ? host : name
      }
      return labels.filter { !$0.value.isEmpty }
    }

    /// What is the same in all samples of a process, and of use to distinguish processes.
    private static let known: Set<String> = [
      "service.name", "service.namespace", "service.version", "service.instance.id", "deployment.environment.name",
      "host.name", "k8s.pod.name", "k8s.namespace.name", "k8s.container.name", "k8s.deployment.name", "k8s.node.name",
    ]

    /// `key=value` with commas between, values percent-encoded.
    private static func attributes(_ text: String) -> [String: String] {
      var labels: [String: String] = [:]
      for pair in text.split(separator: ",") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
        guard parts.count == 2 else { continue }
        // The name of the attribute until it was renamed.
        let key = parts[0] == "deployment.environment" ? "deployment.environment.name" : parts[0]
        guard known.contains(key), let item = Request(target: "/?v=\(parts[1])")?.query.first else { continue }
        labels[String(key.map { $0 == "." ? "_" : $0 })] = item.value
      }
      return labels
    }

    private static func trimmed(_ text: Substring) -> String {
      String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      private static func executable() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return "" }
        return String(decoding: buffer[..<count].split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
      }

      private static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    #else
      // Nobody is sent a profile from these platforms.
      private static func executable() -> String { "" }
      private static func hostName() -> String { "" }
    #endif
  }
}
