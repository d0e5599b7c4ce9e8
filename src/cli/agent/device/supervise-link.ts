import { deviceFault } from './device-fault.ts'
import type { Link } from './network-link.ts'
import { noteFailure } from './note-failure.ts'
import type { Supervision } from './supervise.ts'

/** Looking whether an interface is there is one call of the system. */
const LOOK_MS = 1_000

interface SupervisedLink {
  readonly link: Pick<Link, 'isPresent' | 'addWireguard'>
  readonly logFile: string
  /** Configures the new interface; it has no peers. */
  readonly restore: () => Promise<void>
  readonly onRestarted: () => void
}

/** Makes an interface of the kernel's WireGuard again when another program has removed it. */
export function superviseLink({ link, logFile, restore, onRestarted }: SupervisedLink): Supervision {
  let isConfigured = true
  let isStopped = false
  let looking: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    if (isConfigured && link.isPresent()) return
    isConfigured = false
    try {
      if (!link.isPresent() && !(await link.addWireguard())) throw deviceFault('The kernel has no WireGuard any more.')
      await restore()
      isConfigured = true
      if (!isStopped) onRestarted()
    } catch (error) {
      noteFailure(logFile, 'Making the interface again', error)
    }
  }
  function plan(): NodeJS.Timeout {
    return setTimeout(() => {
      looking = look().then(() => {
        if (!isStopped) timer = plan()
      })
    }, LOOK_MS).unref()
  }
  let timer = plan()

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await looking
    },
  }
}
