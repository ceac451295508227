import UndeadHeap

/// What a heap report shows, and what it leaves out.
package struct HeapReportOptions: Sendable {
  /// Most rows of each table; nil for all, but of sites for a number that a reader can use.
  package var top: Int?
  /// Most instances, sites and paths of a detail; nil for a few.
  package var detailLimit: Int?
  /// Rows that retain fewer bytes are left out.
  package var minBytes = 0
  /// Count storage of collections, strings and Data with the objects that own it.
  package var foldsStorage = false
  package var subject: HeapSelection.Subject?
  /// Allocation sites cost a look at debug information, unless the file has the names.
  package var includesSites = true
  package var includesResources = true

  package init() {}
}
