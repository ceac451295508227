// Cycles through fields that hold the reference inside of a value: structs, tuples, enums, boxes, memory of a buffer.
import Foundation
import Synchronization

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// References at a stride inside arrays of structs, tuples and slices.
// EXPECT leak kind=retainCycle types=App.Table,App.Column fields=rows,table count=2 at=table|column
// EXPECT leak kind=retainCycle types=App.Track fields=pairs count=2 at=track
// EXPECT leak kind=retainCycle types=App.Window fields=tail count=2 at=window
struct Row {
  var index: Int
  var width: Double
  var column: Column?
}
final class Column {
  var table: Table?
}
final class Table {
  var rows: [Row] = []
}
final class Track {
  var pairs: [(Int, Track?)] = []
}
final class Window {
  var tail: ArraySlice<Window> = []
}

@inline(never) func makeTable() {
  let table = Table()  // @table
  let column = Column()  // @column
  column.table = table
  for index in 0..<5 { table.rows.append(Row(index: index, width: 2.5, column: index == 3 ? column : nil)) }
  use(table)
}
@inline(never) func makeTrack() {
  let track = Track()  // @track
  track.pairs = [(1, nil), (2, nil), (3, track)]
  use(track)
}
@inline(never) func makeWindow() {
  let window = Window()  // @window
  window.tail = [window, window, window][1...]
  use(window)
}
for _ in 0..<2 { makeTable() }
for _ in 0..<2 { makeTrack() }
for _ in 0..<2 { makeWindow() }

// An indirect enum: the payload is in a box.
// EXPECT leak kind=retainCycle types=App.Document fields=root,document count=3 at=document|note
final class Note {
  var document: Document?
}
indirect enum Tree {
  case leaf(Note)
  case branch(Tree, Tree)
  case none
}
final class Document {
  var root = Tree.none
}

@inline(never) func makeDocument() {
  let document = Document()  // @document
  let note = Note()  // @note
  note.document = document
  document.root = .branch(.none, .branch(.leaf(note), .none))
  use(document)
}
for _ in 0..<3 { makeDocument() }

// Class payloads in several cases: the tag lives in the spare bits of the pointer. Each case is a leak of its own.
// EXPECT leak kind=retainCycle types=App.Screen,App.Loader fields=state~loading,screen count=2 at=screen|loader
// EXPECT leak kind=retainCycle types=App.Screen,App.Letter fields=state~loaded,screen count=3 at=screen|letter
// EXPECT leak kind=retainCycle types=App.Screen,App.Failure fields=state~failed,screen count=4 at=screen|failure
final class Loader {
  var screen: Screen?
}
final class Letter {
  var pages = 1
  var screen: Screen?
}
final class Failure {
  var code = 2
  var retries = 3
  var screen: Screen?
}
enum LoadState {
  case empty
  case loading(Loader)
  case loaded(Letter)
  case failed(Failure)
}
final class Screen {
  var state = LoadState.empty
}

@inline(never) func makeLoading() {
  let screen = Screen()  // @screen
  let loader = Loader()  // @loader
  loader.screen = screen
  screen.state = .loading(loader)
  use(screen)
}
@inline(never) func makeLoaded() {
  let screen = Screen()  // @screen
  let document = Letter()  // @letter
  document.screen = screen
  screen.state = .loaded(document)
  use(screen)
}
@inline(never) func makeFailed() {
  let screen = Screen()  // @screen
  let failure = Failure()  // @failure
  failure.screen = screen
  screen.state = .failed(failure)
  use(screen)
}
for _ in 0..<2 { makeLoading() }
for _ in 0..<3 { makeLoaded() }
for _ in 0..<4 { makeFailed() }

// The owner is in the payload of an enum with one payload case.
// EXPECT leak kind=retainCycle types=App.Machine,App.Job fields=phase,machine count=3 at=machine|job
enum Phase {
  case idle
  case running(Job)
  case stopped
}
final class Job {
  var machine: Machine?
}
final class Machine {
  var speed = 2.5
  var phase = Phase.idle
}

@inline(never) func makeMachine() {
  let machine = Machine()  // @machine
  let job = Job()  // @job
  job.machine = machine
  machine.phase = .running(job)
  use(machine)
}
for _ in 0..<3 { makeMachine() }

// The reference sits two structs deep and in the second element of a tuple.
// EXPECT leak kind=retainCycle types=App.Player,App.Engine fields=state~audio~engine,link~owner count=4 at=player|engine
struct Audio {
  var volume = 0.5
  var engine: Engine?
}
struct PlayerState {
  var title = "none"
  var audio = Audio()
}
final class Player {
  var isOn = true
  var state = PlayerState()
}
final class Engine {
  var rate: Int8 = 1
  var link: (count: Int, owner: Player?) = (0, nil)
}

@inline(never) func makePlayer() {
  let player = Player()  // @player
  let engine = Engine()  // @engine
  player.state.audio.engine = engine
  engine.link.owner = player
  use(player)
}
for _ in 0..<4 { makePlayer() }

// Unlabelled tuples and an optional tuple.
// EXPECT leak kind=retainCycle types=App.Left,App.Right fields=pair,back count=3 at=left|right
final class Left {
  var pair: (Int, Right?) = (1, nil)
}
final class Right {
  var back: (Left, Int)?
}

@inline(never) func make() {
  let left = Left()  // @left
  let right = Right()  // @right
  left.pair.1 = right
  right.back = (left, 2)
  use(left)
}
for _ in 0..<3 { make() }

// Inline arrays and parameter packs.
// EXPECT leak kind=retainCycle types=App.Grid,App.Cell fields=cells,grid count=2 at=grid|cell
// EXPECT leak kind=retainCycle types=App.Packed<* fields=values count=3
final class Cell {
  var grid: Grid?
}
final class Grid {
  var cells: InlineArray<3, Cell?> = [nil, nil, nil]
}
final class Packed<each Value> {
  var values: (repeat each Value)
  init(_ values: repeat each Value) { self.values = (repeat each values) }
}
final class Shelf {
  var content: AnyObject?
}

@inline(never) func makeGrid() {
  let grid = Grid()  // @grid
  let cell = Cell()  // @cell
  cell.grid = grid
  grid.cells[1] = cell
  use(grid)
}
@inline(never) func makePacked() {
  let slot = Shelf()
  let packed = Packed(1, slot, "text")
  slot.content = packed
  use(packed)
}
for _ in 0..<2 { makeGrid() }
for _ in 0..<3 { makePacked() }

// Dependency injection by a struct of closures.
// EXPECT leak kind=retainCycle types=App.Client fields=environment~reload count=3 at=client
struct Environment {
  var date: () -> Int = { 0 }
  var reload: () -> Void = {}
}
final class Client {
  var environment = Environment()
  var loads = 0
}

@inline(never) func makeClient() {
  let client = Client()  // @client
  client.environment.reload = { client.loads += 1 }
  client.environment.reload()
  use(client)
}
for _ in 0..<3 { makeClient() }

// The reference is in an error box, in a Result and in a property of type Error.
// EXPECT leak kind=retainCycle types=App.Request fields=lastError count=2 at=request
// EXPECT leak kind=retainCycle types=App.Download fields=result count=3 at=download
struct RequestFailure: Error {
  var code = 404
  var request: Request
}
final class Request {
  var lastError: (any Error)?
}
struct DownloadFailure: Error {
  var reason = "a reason that is longer than a small string"
  var download: Download
}
final class Download {
  var result: Result<[Int], DownloadFailure> = .success([])
}

@inline(never) func failRequest() {
  let request = Request()  // @request
  request.lastError = RequestFailure(request: request)
  use(request)
}
@inline(never) func failDownload() {
  let download = Download()  // @download
  download.result = .failure(DownloadFailure(download: download))
  use(download)
}
for _ in 0..<2 { failRequest() }
for _ in 0..<3 { failDownload() }

// A property wrapper hides the storage behind an underscore.
// EXPECT leak kind=retainCycle types=App.Settings,App.Panel fields=_panel,settings count=3 at=settings|panel
@propertyWrapper struct Logged<Value> {
  private var value: Value
  private(set) var writes = 0
  init(wrappedValue: Value) { value = wrappedValue }
  var wrappedValue: Value {
    get { value }
    set {
      writes += 1
      value = newValue
    }
  }
}
final class Panel {
  var settings: Settings?
}
final class Settings {
  @Logged var volume = 3
  @Logged var panel: Panel?
}

@inline(never) func makeSettings() {
  let settings = Settings()  // @settings
  let panel = Panel()  // @panel
  settings.panel = panel
  panel.settings = settings
  use(settings)
}
for _ in 0..<3 { makeSettings() }

// The references are behind a Mutex, beside values of Foundation that look like pointers.
// EXPECT leak kind=retainCycle types=App.Pool,App.Worker fields=state~workers,pool count=3 at=pool|worker
final class Worker {
  var data = Data(repeating: 1, count: 1000)
  var date = Date()
  var pool: Pool?
}
final class Pool: @unchecked Sendable {
  struct State {
    var identifier = UUID()
    var workers: [Worker] = []
  }
  let state = Mutex(State())
}

@inline(never) func makePool() {
  let pool = Pool()  // @pool
  let worker = Worker()  // @worker
  worker.pool = pool
  pool.state.withLock { $0.workers.append(worker) }
  use(pool)
}
for _ in 0..<3 { makePool() }

// A struct with class storage is captured by a closure in that storage.
// EXPECT leak kind=retainCycle types=App.PageStorage fields=onChange count=4 at=storage
final class PageStorage {
  var text = "text"
  var onChange: (() -> Void)?
}
struct Page {
  private(set) var storage = PageStorage()  // @storage
  var title = "title"
  func watch() {
    storage.onChange = { print(self.title, self.storage.text) }
  }
}
@inline(never) func openPage() {
  let document = Page()  // @storage
  document.watch()
  document.storage.onChange?()
}
for _ in 0..<4 { openPage() }

// A ManagedBuffer whose elements hold the owner of the buffer.
// EXPECT leak kind=retainCycle types=App.Ring,App.Storage fields=storage count=3
struct Slot {
  var ring: Ring?
  var number: Int
}
final class Storage: ManagedBuffer<Int, Slot> {
  deinit {
    _ = withUnsafeMutablePointers { count, slots in slots.deinitialize(count: count.pointee) }
  }
}
final class Ring {
  var storage: ManagedBuffer<Int, Slot>?
}

@inline(never) func makeRing() {
  let ring = Ring()
  let storage = Storage.create(minimumCapacity: 4) { _ in 4 }
  storage.withUnsafeMutablePointerToElements { slots in
    for number in 0..<4 { (slots + number).initialize(to: Slot(ring: number == 2 ? ring : nil, number: number)) }
  }
  ring.storage = storage
  use(ring)
}
for _ in 0..<3 { makeRing() }

// The object owns raw memory, which holds the object.
// EXPECT leak kind=retainCycle types=App.Arena fields=slots count=4
final class Arena {
  let slots: UnsafeMutablePointer<Arena?>
  init() {
    slots = .allocate(capacity: 8)
    slots.initialize(repeating: nil, count: 8)
  }
  deinit {
    slots.deinitialize(count: 8)
    slots.deallocate()
  }
}

@inline(never) func makeArena() {
  let arena = Arena()
  arena.slots[5] = arena
  use(arena)
}
for _ in 0..<4 { makeArena() }
