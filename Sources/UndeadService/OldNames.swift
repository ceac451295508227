/// What ``UndeadDebugService`` was called. While this name is there, `UndeadService` in front of others is the class, and not
/// the module.
@available(*, deprecated, renamed: "UndeadDebugService")
public typealias UndeadService = UndeadDebugService
