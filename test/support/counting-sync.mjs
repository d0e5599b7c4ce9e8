// Stands in for `node:fs` where the embedded engine syncs: does the real thing and appends the name of each synced file to
// the log that the query names, unless the file that `fail` names exists: then every sync fails as on a broken disk.
import fs from 'node:fs'

const query = new URL(import.meta.url).searchParams
const log = query.get('log')
const fail = query.get('fail')

export function fsyncSync(descriptor) {
  if (fs.existsSync(fail)) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
  fs.fsyncSync(descriptor)
  fs.appendFileSync(log, `${fs.readlinkSync(`/proc/self/fd/${descriptor}`)}\n`)
}
