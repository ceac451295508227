/// What a word in the data of a file refers to when the file is loaded.
package enum ELFReference: Equatable {
  /// Something in the same file, as linked.
  case address(UInt64)
  /// What the loader finds by this name.
  case name(String)
}
