import UndeadAttach

/// Options of the verb that puts the sample of zombies into a process.
struct SampledZombieOptions: ParsableArguments {
  @Flag(
    "--zombies",
    help:
      "Report uses of dead objects: one of many that are allocated from now on is watched. Allocations are recorded "
      + "only with --sample, or if they are already.")
  var zombies = false

  @Option(
    "--zombie-rate <objects>", help: "Watch one of so many objects, by default 1000; implies --zombies.",
    brief: "with --zombies: one object in so many")
  var zombieRate: UInt32?

  @Option(
    "--zombie-types <types>",
    help: "Watch all objects of these types and their subclasses, beside the sample; implies --zombies.")
  var zombieTypes: String?

  var isOn: Bool { zombies || zombieRate != nil || zombieTypes != nil }

  var sample: LiveRecording.Zombies? {
    isOn ? LiveRecording.Zombies(rate: zombieRate ?? LiveRecording.Zombies.usualRate, types: zombieTypes ?? "") : nil
  }

  func validate() throws {
    if zombieRate == 0 { throw ValidationError("--zombie-rate 0: give 1 or more") }
    if let zombieTypes, zombieTypes.utf8.count > LiveRecording.Zombies.mostBytesOfTypes {
      throw ValidationError("--zombie-types: \(LiveRecording.Zombies.mostBytesOfTypes) bytes of names are the most")
    }
  }
}
