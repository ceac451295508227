// source: groue/GRDB.swift 43a33a83036a
// The database caches its statements, each of which kept the database. The fix makes the reference unowned.
// expect: leak Database via Statement.database

enum GRDBStatement: LeakCase {
  final class Statement {
    let sql: String
    #if FIXED
      unowned let database: Database
    #else
      let database: Database
    #endif

    init(_ sql: String, in database: Database) {
      self.sql = sql
      self.database = database
    }
  }

  final class Database {
    private var statements: [String: Statement] = [:]

    func cachedStatement(_ sql: String) -> Statement {
      if let statement = statements[sql] { return statement }
      let statement = Statement(sql, in: self)
      statements[sql] = statement
      return statement
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let database = Database()
      _ = database.cachedStatement("SELECT 1")
      _ = database.cachedStatement("SELECT 2")
    }
  }
}
