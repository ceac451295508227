import CUndeadTrace
import UndeadSystem

/// The user that a process runs as.
package struct ProcessUser: Sendable, Equatable {
  /// Real, effective and saved: with any of them the process can have the rights of that user.
  package let users: [uid_t]
  private let user: uid_t
  private let group: gid_t
  private let groups: [gid_t]

  /// nil if there is no such process.
  package init?(of pid: pid_t) {
    guard let text = ProcFile.text("/proc/\(pid)/status") else { return nil }
    func numbers(_ name: String) -> [UInt32] {
      let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      return (line ?? "").dropFirst(name.utf8.count + 1).split { $0 == "\t" || $0 == " " }.compactMap { UInt32($0) }
    }
    let (users, groups) = (numbers("Uid"), numbers("Gid"))
    guard users.count == 4, groups.count == 4 else { return nil }
    self.users = Array(users[..<3])
    // Of a process with several, such as one with the set-user-ID bit, the one that has fewer rights than this tool counts: its
    // environment is that user's.
    let number = self.users.firstIndex { $0 != geteuid() } ?? 1
    (user, group) = (users[number], groups[number])
    self.groups = numbers("Groups")
  }

  /// True if the process has the rights of this tool and no others, as far as users go.
  package var isOwn: Bool { users.allSatisfy { $0 == geteuid() } }

  /// True if the process can be the one that made a file of that owner.
  package func includes(_ owner: uid_t) -> Bool { users.contains(owner) }

  /// Runs a body with the rights to files that the process has, and no others, in this thread alone.
  ///
  /// - Throws: `AttachError` if this tool may not act for the user; then the body was not run.
  package func useFiles<Output>(_ body: () -> Output) throws(AttachError) -> Output {
    let count = max(0, getgroups(0, nil))
    var ownGroups = [gid_t](repeating: 0, count: Int(count))
    getgroups(count, &ownGroups)
    let result = undead_trace_use_files_as(user, group, groups, groups.count)
    guard result == 0 else {
      throw .failure(
        "the files of user \(user) cannot be used in that user's name (\(SystemError.text(-result))); run 'undead' as that user"
      )
    }
    let output = body()
    let code = errno
    guard undead_trace_use_files_as(geteuid(), getegid(), ownGroups, ownGroups.count) == 0 else {
      fatalError("undead: the rights of this process cannot be restored")
    }
    errno = code
    return output
  }
}
