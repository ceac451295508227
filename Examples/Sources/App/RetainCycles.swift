extension Scenario {
  static let retainCycles = [
    Scenario(
      "29.1", "two objects hold each other: `owner.item` and `item.owner`",
      .leak(kind: "retainCycle", type: "App.Owner", fields: ["item", "owner"])
    ) { makeOwner() },
    Scenario(
      "29.2", "a closure stored in `onChange` captures self",
      .leak(kind: "retainCycle", type: "App.ViewModel", fields: ["onChange"])
    ) { makeViewModel() },
    Scenario(
      "29.3", "a delegate that should be weak: `screen.downloader.delegate`",
      .leak(kind: "retainCycle", type: "App.DownloadScreen", fields: ["downloader", "delegate"])
    ) { makeDownloadScreen() },
    Scenario(
      "29.4", "a lazy closure that was called once captures self",
      .leak(kind: "retainCycle", type: "App.Article", fields: ["render"])
    ) { makeArticle() },
    Scenario(
      "29.5", "an actor and its account hold each other",
      .leak(kind: "retainCycle", type: "App.Bank", fields: ["account", "bank"])
    ) { await makeBank() },
  ]
}

final class Owner {
  var name = "owner"
  var item: Item?
}

final class Item {
  var owner: Owner?
}

@inline(never) private func makeOwner() {
  let owner = Owner()
  let item = Item()
  owner.item = item
  item.owner = owner
  use(owner)
}

final class ViewModel {
  var title = ""
  var onChange: ((String) -> Void)?

  func bind() {
    onChange = { self.title = $0 }
  }
}

@inline(never) private func makeViewModel() {
  let model = ViewModel()
  model.bind()
  model.onChange?("changed")
  use(model)
}

protocol DownloaderDelegate: AnyObject {
  func downloaderDidFinish()
}

final class Downloader {
  var delegate: (any DownloaderDelegate)?
}

final class DownloadScreen: DownloaderDelegate {
  let downloader = Downloader()
  private(set) var isFinished = false

  init() { downloader.delegate = self }

  func downloaderDidFinish() { isFinished = true }
}

@inline(never) private func makeDownloadScreen() {
  let screen = DownloadScreen()
  screen.downloader.delegate?.downloaderDidFinish()
  use(screen)
}

final class Article {
  let text = "The quick brown fox jumps over the lazy dog"
  lazy var render: () -> String = { "<p>\(self.text)</p>" }
}

@inline(never) private func makeArticle() {
  let article = Article()
  _ = article.render()
  use(article)
}

actor Bank {
  var account: Account?
  func open() {
    account = Account(bank: self)
  }
}

actor Account {
  let bank: Bank
  init(bank: Bank) { self.bank = bank }
}

@inline(never) private func makeBank() async {
  let bank = Bank()
  await bank.open()
}
