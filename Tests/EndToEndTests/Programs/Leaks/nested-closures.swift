// Escaping closures in closures, each with captures of its own; the innermost captures self.
// EXPECT leak kind=retainCycle types=App.Form fields=submit count=3 at=form
final class Form {
  var fields = ["name", "mail"]
  var submit: ((Int) -> () -> Int)?

  func connect(extra: [Int]) {
    submit = { factor in
      let doubled = extra.map { $0 * factor }
      return { doubled.count + self.fields.count }
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeForm() {
  let form = Form()  // @form
  form.connect(extra: [1, 2, 3])
  print(form.submit?(2)() ?? 0)
  use(form)
}
for _ in 0..<3 { makeForm() }
