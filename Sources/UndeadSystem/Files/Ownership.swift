#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// Who can change a file or a folder, besides this user and root.
  package enum Ownership {
    /// Why somebody else can change what has this status, as words after its name; nil if nobody can.
    package static func doubt(_ status: stat) -> String? {
      guard status.st_uid == geteuid() || status.st_uid == 0 else { return "belongs to \(userName(status.st_uid))" }
      if status.st_mode & S_IWOTH != 0 { return "can be written by everybody" }
      if status.st_mode & S_IWGRP != 0, !isPrivateGroup(status.st_gid) { return "can be written by its group" }
      return nil
    }

    /// True if no other user can put another folder in the place of this one, or of one that it lies in.
    package static func isOutOfReach(_ path: String) -> Bool {
      guard let real = realpath(path, nil) else { return false }
      defer { free(real) }
      var folder = String(cString: real)
      while true {
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
          isTrusted(status.st_uid), status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0
        else { return false }
        guard folder != "/", let slash = folder.lastIndex(of: "/") else { return true }
        folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
      }
    }

    private static func isTrusted(_ user: uid_t) -> Bool {
      user == geteuid() || user == 0 || user == unmapped && isInUserNamespace
    }

    /// What the owners are called that have no number in a user namespace; the root of the system is one of them.
    private static let unmapped: uid_t = 65534

    private static var isInUserNamespace: Bool {
      guard let map = WholeFile.read("/proc/self/uid_map") else { return false }
      return map.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map {
        String(decoding: $0, as: UTF8.self)
      }
        != ["0", "0", "4294967295"]
    }

    /// True for the group that only this user is in, as most systems make one for each.
    private static func isPrivateGroup(_ group: gid_t) -> Bool {
      guard geteuid() != 0, group == getegid(), let user = getpwuid(geteuid()), user.pointee.pw_gid == group else {
        return false
      }
      let name = String(cString: user.pointee.pw_name)
      guard let entry = getgrgid(group), String(cString: entry.pointee.gr_name) == name else { return false }
      var member = entry.pointee.gr_mem
      while let next = member?.pointee {
        guard String(cString: next) == name else { return false }
        member = member?.successor()
      }
      return true
    }

    private static func userName(_ user: uid_t) -> String {
      guard let entry = getpwuid(user) else { return "user \(user)" }
      return "user \(String(cString: entry.pointee.pw_name))"
    }
  }
#endif
