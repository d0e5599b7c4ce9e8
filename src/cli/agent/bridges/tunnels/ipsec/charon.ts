import { rm } from 'node:fs/promises'
import { endProgram, runningProcesses } from '../../../system/background-program.ts'
import { keepRunning, type KeptProcess } from '../../../system/kept-process.ts'
import { charonProgram, charonSign, ownFiles, ownSocket, SYSTEM_SOCKET } from './charon-program.ts'
import { createVici, isCharon, type Vici } from './vici.ts'

/** The charon of this machine: one that runs already, or one that the agent starts. */
export interface Charon {
  /** Finds it, or starts one. */
  open(): Promise<Vici>
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
  readonly log: (line: string) => void
}

/** Finds or starts charon when a tunnel needs it. */
export function createCharon({ folder, onStarted, log }: CharonDeps): Charon {
  let own: KeptProcess | undefined
  const startOwn = async () => {
    own ??= await keepRunning({ ...charonProgram(folder), onStarted, log })
    return createVici(ownSocket(folder))
  }
  const stopWatching = async () => {
    await own?.stopWatching()
    own = undefined
  }
  return {
    async open() {
      const isOwn = own !== undefined || runningProcesses(charonSign(folder)).length > 0
      return !isOwn && (await isCharon(SYSTEM_SOCKET)) ? createVici(SYSTEM_SOCKET) : startOwn()
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
      await endOwnCharon(folder)
    },
    stopWatching,
  }
}

/** Ends the charon that an agent with this state folder has started, and removes its files. */
export async function endOwnCharon(folder: string): Promise<void> {
  await endProgram(charonSign(folder))
  for (const path of ownFiles(folder)) await rm(path, { force: true })
}
