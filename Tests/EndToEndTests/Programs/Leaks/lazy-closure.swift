// A lazy closure property that captures self and was called once.
// EXPECT leak kind=retainCycle types=App.Article fields=render count=3 at=article
final class Article {
  let text: String
  lazy var render: () -> String = { "<p>\(self.text)</p>" }
  init(text: String) { self.text = text }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeArticle(_ number: Int) {
  let article = Article(text: "article number \(number) with enough text to be on the heap")  // @article
  print(article.render().count)
  use(article)
}
for number in 0..<3 { makeArticle(number) }
