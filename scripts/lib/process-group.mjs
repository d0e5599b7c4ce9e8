import { spawn } from 'node:child_process'

/**
 * Starts a program in a process group of its own, so that what it starts ends with it: npm leaves the command that it runs
 * behind when npm itself is killed.
 *
 * @returns `{ child, kill }`; `kill` ends all of the group by SIGKILL, and does nothing once it is gone
 */
export function spawnGroup(program, args, options) {
  const child = spawn(program, args, { ...options, detached: true })
  function kill() {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
  return { child, kill }
}
