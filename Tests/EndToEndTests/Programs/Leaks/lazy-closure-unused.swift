// A lazy closure that was never called holds nothing.
// EXPECT silent
final class Article {
  let text = "text"
  lazy var render: () -> String = { "<p>\(self.text)</p>" }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeArticle() { use(Article()) }
for _ in 0..<100 { makeArticle() }
