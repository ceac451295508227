// Short names for this package alone: in files of others they would meet their own.

package typealias Backtrace = LeakReport.Backtrace
package typealias Certainty = LeakReport.Certainty
package typealias Culprit = LeakReport.Culprit
package typealias Diagnostic = LeakReport.Diagnostic
package typealias EarlierChecks = LeakReport.EarlierChecks
package typealias Frame = LeakReport.Frame
package typealias JSONValue = LeakReport.JSONValue
package typealias Leak = LeakReport.Leak
package typealias LeakedObject = LeakReport.LeakedObject
package typealias PathStep = LeakReport.PathStep
package typealias Reference = LeakReport.Reference
package typealias ReferenceCount = LeakReport.ReferenceCount
package typealias RefutedLeak = LeakReport.RefutedLeak
package typealias Snapshot = LeakSnapshot
package typealias Suspect = LeakReport.Suspect
package typealias KeptAlone = LeakReport.KeptAlone
package typealias TestIdentity = LeakReport.TestIdentity
package typealias TypeCount = LeakReport.TypeCount
package typealias Zombie = LeakReport.Zombie
