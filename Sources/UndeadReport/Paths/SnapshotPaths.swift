extension Snapshot {
  /// The PATHS of the snapshot as steps that a programmer sees, each to the node at its end.
  package func retainPaths(symbols: SymbolTable) -> [[PathStep]] {
    let names = NodeNames(self)
    let frames = FrameNames(self, symbols: symbols)
    let paths = RetainPaths(self)
    return self.paths.indices.map { index in
      let path = Snapshot.Index(index)
      return paths.steps(
        root: path, paths.edges(of: path), to: Int(self.paths[index].endNode), names, frames)
    }
  }

  /// What the reader of a report has to know about the check, one sentence each.
  package var reportNotes: [String] { LeakReport.notes(on: self) }
}
