// leak-bench CASE [ROUNDS] runs one case; leak-bench --list prints their names.

import Glibc

let cases: [any LeakCase.Type] = [
  AHCDownloadThreads.self,
  AHCOpenStreams.self,
  AHCRequestKeptByDelegate.self,
  AlamofireReachability.self,
  AlamofireRetrier.self,
  AlamofireSuspendedQueue.self,
  AlamofireValidation.self,
  AsyncAlgorithmsLock.self,
  AsyncBufferStorage.self,
  ClusterLogContext.self,
  ClusterSerialization.self,
  ComposableCancellation.self,
  ComposableEffect.self,
  ComposableStoreParent.self,
  FlyingFoxMessages.self,
  FlyingFoxOption.self,
  FoundationAttributedString.self,
  FoundationCharacterSet.self,
  FoundationDataBytes.self,
  FoundationProcess.self,
  FoundationPropertyList.self,
  FoundationSessionTask.self,
  FoundationSortedIndexes.self,
  GCDTimerHandler.self,
  GRDBObservation.self,
  GRDBStatement.self,
  GRDBTrace.self,
  GRPCIdleHandler.self,
  GRPCInterceptorContexts.self,
  GRPCServerInterceptors.self,
  GRPCStartCallback.self,
  HummingbirdDateCache.self,
  KituraParser.self,
  LSPDelegate.self,
  LSPIndexTasks.self,
  LSPMessageHandler.self,
  LSPOutstandingRequests.self,
  NIOConditionLock.self,
  NIOExtrasQuiescing.self,
  NIORepeatedTask.self,
  OpenCombineCancelled.self,
  OpenCombineConduit.self,
  PostgresIdleTimer.self,
  PromiseKitNotification.self,
  ReactiveSwiftLift.self,
  ReactiveSwiftTimes.self,
  RxNestedWeakSelf.self,
  RxSingleValue.self,
  RxThreadKey.self,
  SwifterListener.self,
  ToolsRealpath.self,
  VaporAuthHelper.self,
  VaporChildInitializer.self,
  VaporClientContainer.self,
  VaporLifecycle.self,
  WebSocketCallbacks.self,
]

func fail(_ message: String) -> Never {
  print("leak-bench: \(message)")
  exit(64)
}

let arguments = CommandLine.arguments
guard arguments.count >= 2 else { fail("usage: leak-bench CASE [ROUNDS] | --list") }
if arguments[1] == "--list" {
  for leakCase in cases { print(leakCase) }
} else {
  guard let leakCase = cases.first(where: { String(describing: $0) == arguments[1] }) else {
    fail("no case \(arguments[1])")
  }
  leakCase.run(rounds: arguments.count > 2 ? Int(arguments[2]) ?? 1 : 10)
}
