import UndeadReport

/// The nodes above the blocks of a graph: one for each root, two for what hangs off none, and one above all.
package struct HeapNodes: Sendable {
  /// Number of blocks: their nodes come first.
  package let blocks: Int
  package let roots: Int

  init(_ graph: HeapGraph) {
    blocks = graph.count
    roots = graph.file.roots.count
  }

  package var count: Int { blocks + roots + 3 }
  /// The node of a root.
  package func node(ofRoot root: Int) -> Int { blocks + root }
  /// Above blocks that were reached, but that no owner leads to from a root.
  package var otherReferences: Int { blocks + roots }
  /// Above blocks that were not reached.
  package var unreachable: Int { blocks + roots + 1 }
  /// Above all.
  package var top: Int { blocks + roots + 2 }

  package func isBlock(_ node: Int) -> Bool { node < blocks }
}
