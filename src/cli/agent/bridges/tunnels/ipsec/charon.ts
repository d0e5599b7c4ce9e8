import { rm } from 'node:fs/promises'
import { endMarked, markedProcesses } from '../../../system/marked-processes.ts'
import { requireTun } from '../../../system/privileges.ts'
import { keepRunning, type KeptProcess } from '../kept-process.ts'
import { tunnelFault } from '../tunnel-fault.ts'
import { charonMarks, charonProgram, ownLog, ownSocket, SYSTEM_SOCKET } from './charon-program.ts'
import { createVici, isCharon, type Vici } from './vici.ts'

/** The charon of this machine: one that runs already, or one that the agent starts. */
export interface Charon {
  /** A charon that leaves ESP to the kernel. */
  forKernel(): Promise<Vici>
  /** A charon of the agent's own that does ESP itself, over a TUN interface that it makes. */
  forUserspace(): Promise<Vici>
  /** Those that answer now, the agent's own first. */
  running(): Promise<readonly { readonly isOwn: boolean; readonly vici: Vici }[]>
  /** Why the agent's own does not run. */
  fault(): string | undefined
  /** Ends the agent's own. */
  endOwn(): Promise<void>
  stopWatching(): Promise<void>
}

/** What the agent's own charon needs. `onStarted`: it has nothing loaded. */
export interface CharonDeps {
  readonly folder: string
  readonly onStarted: () => Promise<void>
}

/** Finds or starts charon when a tunnel needs it. */
export function createCharon({ folder, onStarted }: CharonDeps): Charon {
  let own: KeptProcess | undefined
  const startOwn = async (esp: 'kernel' | 'charon') => {
    const program = charonProgram(folder, { esp, onStarted })
    if (own === undefined && markedProcesses(program.marks).length === 0) await endMarked(charonMarks(folder))
    own ??= await keepRunning(program)
    return createVici(ownSocket(folder))
  }
  const stopWatching = async () => {
    await own?.stopWatching()
    own = undefined
  }
  return {
    async forKernel() {
      const isOwn = own !== undefined || markedProcesses(charonMarks(folder)).length > 0
      if (!isOwn && (await isCharon(SYSTEM_SOCKET))) return createVici(SYSTEM_SOCKET)
      return startOwn('kernel')
    },
    async forUserspace() {
      if (await isCharon(SYSTEM_SOCKET)) {
        throw tunnelFault(
          'The kernel of this machine has no XFRM interfaces (CONFIG_XFRM_INTERFACE), which the strongSwan that runs here needs.',
          {
            hint: 'Run a kernel that has them, or stop it, so that the agent starts one with ESP of its own: systemctl disable --now strongswan strongswan-starter',
          },
        )
      }
      requireTun('charon-systemd')
      return startOwn('charon')
    },
    async running() {
      const socket = ownSocket(folder)
      const paths = [socket, SYSTEM_SOCKET]
      const answers = await Promise.all(paths.map(isCharon))
      const answering = paths.filter((_path, index) => answers[index])
      return answering.map((path) => ({ isOwn: path === socket, vici: createVici(path) }))
    },
    fault: () => own?.fault(),
    async endOwn() {
      await stopWatching()
      await endMarked(charonMarks(folder))
      for (const path of [ownSocket(folder), ownLog(folder)]) await rm(path, { force: true })
    },
    stopWatching,
  }
}
