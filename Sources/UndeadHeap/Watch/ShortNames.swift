// Short names for this package alone: in files of others they would meet their own.

package typealias CountSeries = GrowthFindings.CountSeries
package typealias Trend = GrowthFindings.Trend
