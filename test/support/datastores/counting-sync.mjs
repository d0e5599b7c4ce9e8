// Stands in for `node:fs` where the embedded engine syncs: does the real thing and appends the name of each synced file to
// the log that the query names. While the file that `fail` names exists, every sync fails as on a broken disk; while the
// one that `full` names exists, every write fails as on a full one.
import fs from 'node:fs'

const query = new URL(import.meta.url).searchParams
const log = query.get('log')
const fail = query.get('fail')
const full = query.get('full')

const { writeSync } = fs
fs.writeSync = (...write) => {
  if (fs.existsSync(full)) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  return writeSync(...write)
}

export function fsyncSync(descriptor) {
  if (fs.existsSync(fail)) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
  fs.fsyncSync(descriptor)
  fs.appendFileSync(log, `${fs.readlinkSync(`/proc/self/fd/${descriptor}`)}\n`)
}
