// What functions of this module take and return, to be named with `import Undead` alone: these types and no others, so that
// no further name of the reports comes into the user's files.
@_exported import struct UndeadReport.LeakReport
@_exported import struct UndeadReport.LeakSnapshot
@_exported import struct UndeadReport.ReportOptions
@_exported import struct UndeadReport.Suppressions
@_exported import struct UndeadReport.ZombieLog
