import ArgumentParser

/// Options of every command.
struct CommonOptions: ParsableArguments {
  @Flag(help: "Do without the options of the file .undead.options and of the variable UNDEAD_OPTIONS.")
  var noConfig = false
}
