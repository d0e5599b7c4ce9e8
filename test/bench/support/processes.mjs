import { readFile, readdir } from 'node:fs/promises'

/** Ticks in a second: what Linux tells processes in `/proc`. */
const TICKS = 100

/** Processor time that processes have taken so far, their ended children's included; one that has ended counts as none. */
export async function cpuSecondsOf(pids) {
  const each = await Promise.all(pids.map(async (pid) => (await statOf(pid))?.seconds ?? 0))
  return each.reduce((sum, seconds) => sum + seconds, 0)
}

/** A process and its children. */
export async function familyOf(parent) {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const stats = await Promise.all(pids.map(async (pid) => ({ pid, stat: await statOf(pid) })))
  return [parent, ...stats.filter(({ stat }) => stat?.parent === parent).map(({ pid }) => pid)]
}

async function statOf(pid) {
  let text
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined
    throw error
  }
  // The name of a process may hold spaces; it stands in parentheses.
  const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [utime, stime, cutime, cstime] = rest.slice(9, 13).map(Number)
  return { parent: Number(parent), seconds: (utime + stime + cutime + cstime) / TICKS }
}
