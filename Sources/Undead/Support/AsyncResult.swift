extension Result {
  /// What an asynchronous body returns or throws: for what has to be done after it in either case.
  package nonisolated(nonsending) init(of body: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
