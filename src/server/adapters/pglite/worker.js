// @ts-check
// Plain JavaScript, checked through JSDoc: a worker thread runs it straight from the source tree too, and Node 20 does
// not strip types.
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { DurableNodeFS } from './durable-fs.js'

/**
 * What the thread is started with.
 * @typedef {object} EngineOptions
 * @property {{ directory: string } | { image: string }} place The engine's directory, already initialised; or the archive
 *   that it begins as in memory.
 * @property {string} syncModule Module that exports `fsyncSync`: `node:fs`, or what a test puts in its place.
 * @property {readonly string[] | undefined} startParams Overrides the engine's start parameters, for tests.
 * @property {number} [filesMax] Files that the engine may have open at once, 64 at least; 1,000 when absent.
 * @property {boolean} [isScratch] Whether it is a copy to be read once: nothing is synced, and its thread runs at the
 *   lowest priority.
 * @property {boolean} [isForeground] Whether someone waits for the copy: its thread keeps the priority of the process.
 */

/**
 * What the thread answers: `Uint8Array` for wire bytes, and these.
 * @typedef {{ event: 'ready', isRecovered: boolean } | { event: 'refused', reason: string } | { event: 'failed', reason: string } | { event: 'closed' }} EngineEvent
 */

// A start runs much of the engine once or twice, which the default compiles a second time, for speed: that takes as long as
// the start itself. A hundred times the budget leaves that to what runs often (decision 0089).
setFlagsFromString('--wasm-tiering-budget=180000000')

const options = /** @type {EngineOptions} */ (workerData)
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)

/**
 * Nobody is answered while a table is analysed: a quarter of the usual sample takes a quarter of the time. The engine
 * fills its buffers at the start, so that all of them are resident; what does not fit is in the page cache.
 */
const START_PARAMS = [...PGlite.defaultStartParams, '-c', 'default_statistics_target=25', '-c', 'shared_buffers=32MB']

/** fdatasync is a stub in the engine, so the log must be flushed with fsync; `-F` would turn every sync off. */
const DURABLE_START_PARAMS = START_PARAMS.filter((param) => param !== '-F').concat(['-c', 'wal_sync_method=fsync'])

/**
 * The engine's last log lines: they say why it stopped, and whether it had to recover.
 * @type {string[]}
 */
const log = []
const LOG_LINES_MAX = 50
const onStderr = (/** @type {string} */ line) => {
  if (log.push(line) > LOG_LINES_MAX) log.shift()
  return false
}
const COMPLAINT = /\b(?:FATAL|PANIC|ERROR): +(.*)/
const lastComplaint = () => COMPLAINT.exec(log.findLast((line) => COMPLAINT.test(line)) ?? '')?.[1]

/** @param {EngineEvent} event */
const tell = (event) => port.postMessage(event)

/**
 * @param {string} image
 * @returns {Promise<PGlite>}
 */
async function openInMemory(image) {
  const archive = gunzipSync(await readFile(image))
  return PGlite.create('memory://', { onStderr, startParams: START_PARAMS, loadDataDir: new Blob([archive]) })
}

const LOWEST_PRIORITY = 19

/**
 * On Linux a priority is a thread's own. Elsewhere it would be that of the whole server.
 * @param {string} directory
 * @returns {Promise<PGlite>}
 */
async function openScratch(directory) {
  if (process.platform === 'linux' && options.isForeground !== true) setPriority(0, LOWEST_PRIORITY)
  return PGlite.create({ fs: new NodeFS(directory), onStderr, startParams: START_PARAMS })
}

/** @returns {Promise<{ engine: PGlite, fs: DurableNodeFS | undefined }>} */
async function open() {
  if ('image' in options.place) return { engine: await openInMemory(options.place.image), fs: undefined }
  if (options.isScratch === true) return { engine: await openScratch(options.place.directory), fs: undefined }
  /** @type {{ fsyncSync: (fd: number) => void }} */
  const { fsyncSync } = await import(options.syncModule)
  const fs = new DurableNodeFS(options.place.directory, fsyncSync)
  const { filesMax, startParams = DURABLE_START_PARAMS } = options
  const files = filesMax === undefined ? [] : ['-c', `max_files_per_process=${filesMax}`]
  const engine = await PGlite.create({ fs, onStderr, startParams: [...startParams, ...files] })
  return { engine, fs }
}

/**
 * Commits once and looks whether the write-ahead log was synced.
 * @param {PGlite} engine
 * @param {DurableNodeFS} fs
 * @returns {Promise<string | undefined>} why it was not
 */
async function disproof(engine, fs) {
  const before = fs.state.walSyncs
  await engine.query("SELECT pg_logical_emit_message(true, 'ctl', 'a commit that must reach the disk')")
  if (fs.state.failure !== undefined) return fs.state.failure
  return fs.state.walSyncs > before
    ? undefined
    : 'a commit was not synced to the disk, so that a power loss could undo it'
}

/**
 * Tells whether the answer ends in ReadyForQuery (`Z`, length 5, one status byte), as every answer of a living engine does.
 * @param {Uint8Array | undefined} answer
 */
const isComplete = (answer) => answer !== undefined && answer.length >= 6 && answer[answer.length - 6] === 0x5a

/** What PGlite calls until PostgreSQL has taken all of its input. */
const MAIN_LOOP = '_PostgresMainLoopOnce'

/** The exit status that the engine uses for a jump to its error handler (`PGlite.POSTGRES_MAIN_LONGJMP`). Every other ends it. */
const JUMP_TO_ERROR_HANDLER = 100

/**
 * Ends the thread as soon as PostgreSQL ends. PGlite 0.5.16 catches whatever leaves PostgreSQL's main loop and calls the
 * loop again with the same input: after a FATAL, a failed assertion or a trap it would never return, and every round
 * would add an answer (electric-sql/pglite#1058).
 * @param {PGlite} engine
 * @param {DurableNodeFS | undefined} fs
 */
function endWithPostgres(engine, fs) {
  const exported = /** @type {Record<string, () => void>} */ (/** @type {unknown} */ (engine.Module))
  const runLoop = exported[MAIN_LOOP]
  if (runLoop === undefined) throw new Error('this version of PGlite has another main loop')
  exported[MAIN_LOOP] = () => {
    try {
      runLoop()
    } catch (error) {
      if (/** @type {{ status?: unknown }} */ (error)?.status === JUMP_TO_ERROR_HANDLER) throw error
      giveUp(fs?.state.failure ?? lastComplaint() ?? String(error))
    }
  }
}

/** @param {string} reason */
function giveUp(reason) {
  tell({ event: 'failed', reason })
  process.exit(1)
}

/**
 * @param {PGlite} engine
 * @param {DurableNodeFS | undefined} fs
 */
function serve(engine, fs) {
  /** @param {Uint8Array | undefined} answer */
  const reasonToStop = (answer) => {
    if (fs?.state.failure !== undefined) return fs.state.failure
    if (isComplete(answer) && fs?.state.isAborted !== true) return undefined
    return lastComplaint() ?? 'it gave no answer'
  }
  /** @param {Uint8Array} message */
  const exchange = async (message) => {
    /** @type {Uint8Array[]} */
    const chunks = []
    // The engine reuses its buffer for the next write, hence the copy.
    const onRawData = (/** @type {Uint8Array} */ bytes) => void chunks.push(bytes.slice())
    await engine.execProtocolRawStream(message, { syncToFs: false, onRawData })
    const answer = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    const reason = reasonToStop(answer)
    // An answer given after a failed sync would acknowledge what may be lost.
    if (reason === undefined) port.postMessage(answer)
    else tell({ event: 'failed', reason })
  }
  port.on('message', (/** @type {Uint8Array | 'close'} */ message) => {
    if (message === 'close') void engine.close().then(() => tell({ event: 'closed' }))
    else exchange(message).catch((error) => tell({ event: 'failed', reason: String(error) }))
  })
}

try {
  const { engine, fs } = await open()
  const reason = fs && (await disproof(engine, fs))
  if (reason === undefined) {
    endWithPostgres(engine, fs)
    serve(engine, fs)
    tell({ event: 'ready', isRecovered: log.some((line) => line.includes('not properly shut down')) })
  } else tell({ event: 'refused', reason })
} catch (error) {
  tell({ event: 'refused', reason: lastComplaint() ?? (error instanceof Error ? error.message : String(error)) })
}
