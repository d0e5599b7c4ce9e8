// A test file whose process never ends would take the whole run with it, without a word of which file it was. Timeouts of
// single tests do not help where the event loop is blocked, or where the runner waits for a process that is gone.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    if (error.code === 'ESRCH') return false
    throw error
  }
}

/** What a process wrote of itself, or undefined when its tests are over. */
function announcement(path) {
  try {
    return { file: readFileSync(path, 'utf8'), sinceMs: statSync(path).mtimeMs }
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Test files that run, with the process of each and since when in ms since the epoch: they announce themselves in `folder`. */
function runningFiles(folder) {
  return readdirSync(folder).flatMap((name) => {
    const pid = Number(name)
    const path = join(folder, name)
    const announced = announcement(path)
    // The number of a process that crashed may become another one's.
    if (!isAlive(pid)) rmSync(path, { force: true })
    else if (announced !== undefined) return [{ pid, path, ...announced }]
    return []
  })
}

/**
 * Looks from time to time at what runs, until it is stopped. `onOverdue` gets each file that takes longer than
 * `fileMaxMs`, once its process was ended; `onIdle` is called when nothing ran for `idleMaxMs`, `onOverdue` or not.
 */
export function watchTests({ folder, fileMaxMs, idleMaxMs, everyMs, onOverdue, onIdle }) {
  let busyMs = Date.now()
  const timer = setInterval(() => {
    const running = runningFiles(folder)
    if (running.length > 0) busyMs = Date.now()
    else if (Date.now() - busyMs > idleMaxMs) onIdle()
    for (const { pid, path, file, sinceMs } of running) {
      if (Date.now() - sinceMs <= fileMaxMs) continue
      process.kill(pid, 'SIGKILL')
      rmSync(path, { force: true })
      onOverdue(file)
    }
  }, everyMs)
  return { stop: () => clearInterval(timer) }
}
